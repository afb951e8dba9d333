// The grouping that the paper proposed but did not implement: stages in groups of (2, 4, 4) for 1024 points, that is
// passes of radix 4, 16 and 16, each in registers with one load and one store per point. Other lengths start with one
// pass for the remainder of log2 n divided by 4, followed by passes of radix 16.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "papers/fft/classic/v244.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cstdint>
#include <numbers>
#include <type_traits>
#include <utility>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::classic::HWY_NAMESPACE {
namespace {
#include "papers/fft/classic/split-inl.hpp"

// kLanes complex numbers. Constructors are explicit: implicit ones would lack Highway's target attributes.
template <class T, size_t kLanes>
struct Points {
  using R = typename Lanes<T, kLanes>::R;
  HWY_INLINE Points() {}
  HWY_INLINE Points(R real, R imaginary) : re(real), im(imaginary) {}
  R re, im;
};

template <class P>
HWY_INLINE P add(P a, P b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class P>
HWY_INLINE P sub(P a, P b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class P>
HWY_INLINE P add_i(P a, P b) {  // a + i b
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}
template <class P>
HWY_INLINE P sub_i(P a, P b) {  // a - i b
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class P, class R>
HWY_INLINE P turn(P a, R re, R im) {
  return {hn::NegMulAdd(a.im, im, hn::Mul(a.re, re)), hn::MulAdd(a.im, re, hn::Mul(a.re, im))};
}

template <class P>
HWY_INLINE void dft4(P& a, P& b, P& c, P& d) {
  const P p = add(a, c), q = sub(a, c), r = add(b, d), s = sub(b, d);
  a = add(p, r);
  b = sub_i(q, s);
  c = sub(p, r);
  d = add_i(q, s);
}

// Forward butterflies of a pass, in place, outputs in natural order.
template <class T, size_t kLanes, size_t kRadix>
HWY_INLINE void dft(Points<T, kLanes>* v) {
  using P = Points<T, kLanes>;
  const typename Lanes<T, kLanes>::D d;
  if constexpr (kRadix == 2) {
    const P difference = sub(v[0], v[1]);
    v[0] = add(v[0], v[1]);
    v[1] = difference;
  } else if constexpr (kRadix == 4) {
    dft4(v[0], v[1], v[2], v[3]);
  } else if constexpr (kRadix == 8) {
    const auto half = hn::Set(d, T(1) / std::numbers::sqrt2_v<T>);
    dft4(v[0], v[2], v[4], v[6]);
    dft4(v[1], v[3], v[5], v[7]);
    const P one = sub_i(v[3], v[3]), three = add_i(v[7], v[7]);  // multiplied by (1 - i) and (1 + i)
    const P w1{hn::Mul(half, one.re), hn::Mul(half, one.im)};
    const P w3{hn::Mul(half, three.re), hn::Mul(half, three.im)};  // negated when used
    const P y[8] = {add(v[0], v[1]), add(v[2], w1), sub_i(v[4], v[5]), sub(v[6], w3),
                    sub(v[0], v[1]), sub(v[2], w1), add_i(v[4], v[5]), add(v[6], w3)};
    for (size_t t = 0; t < 8; ++t) v[t] = y[t];
  } else {
    constexpr T c1 = T(0.92387953251128675613), s1 = T(0.38268343236508977173), h = T(1) / std::numbers::sqrt2_v<T>;
    for (size_t s = 0; s < 4; ++s) dft4(v[s], v[s + 4], v[s + 8], v[s + 12]);
    const auto by = [&](size_t i, T re, T im) HWY_ATTR { v[i] = turn(v[i], hn::Set(d, re), hn::Set(d, im)); };
    by(5, c1, -s1), by(6, h, -h), by(7, s1, -c1);
    by(9, h, -h), by(10, T(0), T(-1)), by(11, -h, -h);
    by(13, s1, -c1), by(14, -h, -h), by(15, -c1, s1);
    for (size_t f = 0; f < 4; ++f) dft4(v[4 * f], v[4 * f + 1], v[4 * f + 2], v[4 * f + 3]);
    for (size_t f = 0; f < 4; ++f) {
      for (size_t t = f + 1; t < 4; ++t) std::swap(v[4 * f + t], v[4 * t + f]);
    }
  }
}

template <class T, size_t kLanes>
HWY_INLINE Points<T, kLanes> load(Arrays<T> from) {
  const typename Lanes<T, kLanes>::D d;
  return {hn::LoadU(d, from.re), hn::LoadU(d, from.im)};
}
template <class T, size_t kLanes>
HWY_INLINE void store(Points<T, kLanes> v, Arrays<T> to) {
  const typename Lanes<T, kLanes>::D d;
  hn::StoreU(v.re, d, to.re);
  hn::StoreU(v.im, d, to.im);
}

// Vectors along the points of a block, which share their twiddles.
template <class T, size_t kLanes, size_t kRadix>
void along_blocks(size_t n, const GroupPass<T>& pass, Arrays<T> x, Arrays<T> y) {
  const typename Lanes<T, kLanes>::D d;
  const size_t rest = n / (pass.done * kRadix);
  for (size_t j = 0; j < pass.done; ++j) {
    for (size_t k = 0; k < rest; k += kLanes) {
      Points<T, kLanes> v[kRadix];
      for (size_t s = 0; s < kRadix; ++s) v[s] = load<T, kLanes>(x.at((j * kRadix + s) * rest + k));
      for (size_t s = 1; s < kRadix && j > 0; ++s) {
        const size_t at = s * pass.done + j;
        v[s] = turn(v[s], hn::Set(d, pass.re[at]), hn::Set(d, pass.im[at]));
      }
      dft<T, kLanes, kRadix>(v);
      for (size_t t = 0; t < kRadix; ++t) store<T, kLanes>(v[t], y.at(t * (n / kRadix) + j * rest + k));
    }
  }
}

// The last pass: a block is kRadix neighbours, so vectors run across blocks and are transposed in a small tile.
template <class T, size_t kLanes, size_t kRadix>
void across_blocks(size_t n, const GroupPass<T>& pass, Arrays<T> x, Arrays<T> y) {
  const typename Lanes<T, kLanes>::D d;
  HWY_ALIGN T re[kRadix * kLanes], im[kRadix * kLanes];
  for (size_t j = 0; j < pass.done; j += kLanes) {
    const Arrays<T> from = x.at(j * kRadix);
    for (size_t s = 0; s < kRadix; ++s) {
      for (size_t l = 0; l < kLanes; ++l) {
        re[s * kLanes + l] = from.re[l * kRadix + s];
        im[s * kLanes + l] = from.im[l * kRadix + s];
      }
    }
    Points<T, kLanes> v[kRadix];
    for (size_t s = 0; s < kRadix; ++s) {
      v[s] = load<T, kLanes>({re + s * kLanes, im + s * kLanes});
      if (s == 0) continue;
      const size_t at = s * pass.done + j;
      v[s] = turn(v[s], hn::LoadU(d, pass.re.data() + at), hn::LoadU(d, pass.im.data() + at));
    }
    dft<T, kLanes, kRadix>(v);
    for (size_t t = 0; t < kRadix; ++t) store<T, kLanes>(v[t], y.at(t * (n / kRadix) + j));
  }
}

template <class T, size_t kRadix>
void pass_of(size_t n, const GroupPass<T>& pass, Arrays<T> x, Arrays<T> y) {
  constexpr size_t kLanes = kFullLanes<T>;
  const size_t rest = n / (pass.done * kRadix);
  if (rest >= kLanes) return along_blocks<T, kLanes, kRadix>(n, pass, x, y);
  if (rest == 1 && pass.done >= kLanes) return across_blocks<T, kLanes, kRadix>(n, pass, x, y);
  along_blocks<T, 1, kRadix>(n, pass, x, y);
}

template <class T>
void transform(Direction direction, size_t n, const std::vector<GroupPass<T>>& passes, const std::complex<T>* in,
               std::complex<T>* out, T* scratch) {
  Arrays<T> x{scratch, scratch + n}, y{scratch + 2 * n, scratch + 3 * n};
  n < kFullLanes<T> ? split<T, 1>(direction, in, x, n) : split<T, kFullLanes<T>>(direction, in, x, n);
  for (const GroupPass<T>& pass : passes) {
    if (pass.radix == 2) pass_of<T, 2>(n, pass, x, y);
    if (pass.radix == 4) pass_of<T, 4>(n, pass, x, y);
    if (pass.radix == 8) pass_of<T, 8>(n, pass, x, y);
    if (pass.radix == 16) pass_of<T, 16>(n, pass, x, y);
    std::swap(x, y);
  }
  n < kFullLanes<T> ? join<T, 1>(direction, x, out, n) : join<T, kFullLanes<T>>(direction, x, out, n);
}

void run_float(Direction direction, size_t n, const std::vector<GroupPass<float>>& passes,
               const std::complex<float>* in, std::complex<float>* out, float* scratch) {
  transform<float>(direction, n, passes, in, out, scratch);
}
void run_double(Direction direction, size_t n, const std::vector<GroupPass<double>>& passes,
                const std::complex<double>* in, std::complex<double>* out, double* scratch) {
  transform<double>(direction, n, passes, in, out, scratch);
}

}  // namespace
}  // namespace ridge::fft::classic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft {
namespace classic {
namespace {

HWY_EXPORT(run_float);
HWY_EXPORT(run_double);

std::vector<std::size_t> groups(std::size_t n) {
  std::vector<std::size_t> radices;
  const std::size_t stages = log2_of(n);
  if (stages % 4 != 0) radices.push_back(std::size_t{1} << stages % 4);
  radices.insert(radices.end(), stages / 4, 16);
  return radices;
}

double group_flops(std::size_t n, const std::vector<std::size_t>& radices) {
  double flops = 0;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const std::size_t r = radices[i];
    const double butterfly = r == 2 ? 4 : r == 4 ? 16 : r == 8 ? 56 : 8 * 16 + 9 * 6;
    flops += static_cast<double>(n / r) * (butterfly + (i > 0 ? 6 * static_cast<double>(r - 1) : 0));
  }
  return flops;
}

std::string stages_of(const std::vector<std::size_t>& radices) {
  std::string text;
  for (const std::size_t r : radices) text += fmt::format("{}{}", text.empty() ? "(" : ", ", log2_of(r));
  return text.empty() ? "copy" : text + ") stages per pass on split arrays";
}

template <class T>
class Cpu244 final : public ClassicLine<T> {
 public:
  using typename ClassicLine<T>::Complex;
  Cpu244(std::size_t n, const std::vector<std::size_t>& radices)
      : ClassicLine<T>(n, stages_of(radices), group_flops(n, radices), 2 * n) {
    std::size_t done = 1;
    for (const std::size_t radix : radices) {
      GroupPass<T> pass{radix, done, std::vector<T>(radix * done), std::vector<T>(radix * done)};
      const power2::Roots<T> exact(radix * done);
      for (std::size_t s = 0; s < radix; ++s) {
        for (std::size_t j = 0; j < done; ++j) {
          const Complex w = exact.at(s * j);
          pass.re[s * done + j] = w.real();
          pass.im[s * done + j] = w.imag();
        }
      }
      passes_.push_back(std::move(pass));
      done *= radix;
    }
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    T* work = reinterpret_cast<T*>(scratch);
    if constexpr (sizeof(T) == sizeof(float)) {
      HWY_DYNAMIC_DISPATCH(run_float)(direction, this->length(), passes_, in, out, work);
    } else {
      HWY_DYNAMIC_DISPATCH(run_double)(direction, this->length(), passes_, in, out, work);
    }
  }

 private:
  std::vector<GroupPass<T>> passes_;
};

}  // namespace
}  // namespace classic

template <class T>
std::unique_ptr<LineKernel<T>> make_cpu_244(std::size_t n) {
  return std::make_unique<classic::Cpu244<T>>(classic::checked_length(n), classic::groups(n));
}

template std::unique_ptr<LineKernel<float>> make_cpu_244<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_cpu_244<double>(std::size_t);

}  // namespace ridge::fft
#endif
