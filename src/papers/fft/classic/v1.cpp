// CPU version 1 of the paper (section 4.2.2): split real and imaginary arrays, one radix-2 stage per pass. The distance
// between partners shrinks from stage to stage. In the last log2(width) stages partners share a vector, and each loaded
// pair of vectors is permuted into one of first partners and one of second partners.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "papers/fft/classic/v1.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cstdint>
#include <type_traits>
#include <utility>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::classic::HWY_NAMESPACE {
namespace {
#include "papers/fft/classic/split-inl.hpp"

// Selects the points whose index has bit log2(kRest) clear, and those with the bit set.
template <class T, size_t kLanes, size_t kRest, class R>
HWY_INLINE void part(R& a, R& b) {
#if HWY_TARGET != HWY_SCALAR
  const typename Lanes<T, kLanes>::D d;
  const R first = a, second = b;
  if constexpr (kRest == kLanes / 2) {
    a = hn::ConcatLowerLower(d, second, first);
    b = hn::ConcatUpperUpper(d, second, first);
  } else if constexpr (kRest == 1) {
    a = hn::ConcatEven(d, second, first);
    b = hn::ConcatOdd(d, second, first);
  } else {
    size_t source[2 * kLanes];
    for (size_t l = 0; l < kLanes; ++l) {
      source[l] = l / kRest * 2 * kRest + l % kRest;
      source[kLanes + l] = source[l] + kRest;
    }
    a = pick<T, kLanes>(source, first, second);
    b = pick<T, kLanes>(source + kLanes, first, second);
  }
#endif
}

// The stage with kRest = n / (2 done) < kLanes; one twiddle per lane, all real parts and then all imaginary parts.
template <class T, size_t kLanes, size_t kRest>
HWY_INLINE void narrow_stage(size_t n, const T* twiddles, Arrays<T> x, Arrays<T> y) {
  const typename Lanes<T, kLanes>::D d;
  for (size_t i = 0; i < n / 2; i += kLanes) {
    auto are = hn::LoadU(d, x.re + 2 * i), bre = hn::LoadU(d, x.re + 2 * i + kLanes);
    auto aim = hn::LoadU(d, x.im + 2 * i), bim = hn::LoadU(d, x.im + 2 * i + kLanes);
    part<T, kLanes, kRest>(are, bre);
    part<T, kLanes, kRest>(aim, bim);
    butterfly(d, are, aim, bre, bim, hn::LoadU(d, twiddles + i), hn::LoadU(d, twiddles + n / 2 + i));
    hn::StoreU(are, d, y.re + i);
    hn::StoreU(aim, d, y.im + i);
    hn::StoreU(bre, d, y.re + n / 2 + i);
    hn::StoreU(bim, d, y.im + n / 2 + i);
  }
}

template <class T, size_t kLanes, size_t kRest>
HWY_INLINE void narrow_stages(size_t n, const T* twiddles, Arrays<T>& x, Arrays<T>& y) {
  if constexpr (kRest > 0) {
    narrow_stage<T, kLanes, kRest>(n, twiddles, x, y);
    std::swap(x, y);
    narrow_stages<T, kLanes, kRest / 2>(n, twiddles + n, x, y);
  }
}

template <class T, size_t kLanes>
void transform(Direction direction, size_t n, const std::complex<T>* wide, const T* narrow, const std::complex<T>* in,
               std::complex<T>* out, T* scratch) {
  Arrays<T> x{scratch, scratch + n}, y{scratch + 2 * n, scratch + 3 * n};
  split<T, kLanes>(direction, in, x, n);
  for (size_t done = 1; n / (2 * done) >= kLanes; done *= 2) {
    wide_stage<T, kLanes>(n, done, wide + done - 1, x, y);
    std::swap(x, y);
  }
  narrow_stages<T, kLanes, kLanes / 2>(n, narrow, x, y);
  join<T, kLanes>(direction, x, out, n);
}

template <class T>
size_t lanes_for(size_t n) {
  return n >= 2 * kFullLanes<T> ? kFullLanes<T> : 1;
}
template <class T>
void run_v1(Direction direction, size_t n, const std::complex<T>* wide, const T* narrow, const std::complex<T>* in,
            std::complex<T>* out, T* scratch) {
  if (lanes_for<T>(n) == 1) return transform<T, 1>(direction, n, wide, narrow, in, out, scratch);
  transform<T, kFullLanes<T>>(direction, n, wide, narrow, in, out, scratch);
}

size_t lanes_float(size_t n) { return lanes_for<float>(n); }
size_t lanes_double(size_t n) { return lanes_for<double>(n); }
void run_float(Direction direction, size_t n, const std::complex<float>* wide, const float* narrow,
               const std::complex<float>* in, std::complex<float>* out, float* scratch) {
  run_v1<float>(direction, n, wide, narrow, in, out, scratch);
}
void run_double(Direction direction, size_t n, const std::complex<double>* wide, const double* narrow,
                const std::complex<double>* in, std::complex<double>* out, double* scratch) {
  run_v1<double>(direction, n, wide, narrow, in, out, scratch);
}

}  // namespace
}  // namespace ridge::fft::classic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft {
namespace classic {
namespace {

HWY_EXPORT(lanes_float);
HWY_EXPORT(lanes_double);
HWY_EXPORT(run_float);
HWY_EXPORT(run_double);

template <class T>
std::size_t lanes_of(std::size_t n) {
  if constexpr (sizeof(T) == sizeof(float)) return HWY_DYNAMIC_DISPATCH(lanes_float)(n);
  if constexpr (sizeof(T) == sizeof(double)) return HWY_DYNAMIC_DISPATCH(lanes_double)(n);
}

double v1_flops(std::size_t n) {
  return n < 2 ? 0 : static_cast<double>(n) / 2 * (4 + 12 * (static_cast<double>(log2_of(n)) - 1));
}

template <class T>
class CpuV1 final : public ClassicLine<T> {
 public:
  using typename ClassicLine<T>::Complex;
  CpuV1(std::size_t n, std::size_t lanes)
      : ClassicLine<T>(
            n, fmt::format("radix-2 passes on split arrays, {} lanes, permutes where partners share them", lanes),
            v1_flops(n), 2 * n) {
    for (std::size_t done = 1; done < n; done *= 2) {
      const power2::Roots<T> exact(2 * done);
      const std::size_t rest = n / (2 * done);
      if (rest >= lanes) {
        for (std::size_t j = 0; j < done; ++j) wide_.push_back(exact.at(j));
        continue;
      }
      for (std::size_t i = 0; i < n / 2; ++i) narrow_.push_back(exact.at(i / rest).real());
      for (std::size_t i = 0; i < n / 2; ++i) narrow_.push_back(exact.at(i / rest).imag());
    }
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    if (this->length() == 1) {
      *out = *in;
      return;
    }
    T* work = reinterpret_cast<T*>(scratch);
    if constexpr (sizeof(T) == sizeof(float)) {
      HWY_DYNAMIC_DISPATCH(run_float)(direction, this->length(), wide_.data(), narrow_.data(), in, out, work);
    } else {
      HWY_DYNAMIC_DISPATCH(run_double)(direction, this->length(), wide_.data(), narrow_.data(), in, out, work);
    }
  }

 private:
  std::vector<Complex> wide_;  // one per block: stages 1, 2, 4, ... concatenated
  std::vector<T> narrow_;      // one per lane
};

}  // namespace
}  // namespace classic

template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_v1(std::size_t n) {
  classic::checked_length(n);
  return std::make_unique<classic::CpuV1<T>>(n, classic::lanes_of<T>(n));
}

template std::unique_ptr<LineKernel<float>> make_cpu_v1<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_cpu_v1<double>(std::size_t);

}  // namespace ridge::fft
#endif
