// Radix 2 with a butterfly of six fused multiply-adds (Linzer and Feig; section 2.1.3 of the paper): with w = wr + i wi
// and t = wi / wr, w b = wr (br - t bi, bi + t br), so the factor wr joins the additions that follow.
//
// At an angle of pi/2, wr is 0 and t infinite. The safe choice divides by the larger of the two parts: with c = wr /
// wi, w b = wi (c br - bi, c bi + br), and no ratio exceeds 1. Within a stage the larger part changes only at 1/4 and
// 3/4 of the twiddles, so the choice is three loops without branches. The older choice (Divisor::imaginary) always
// divides by wi and puts 1e-7 in place of wi = 0, which costs accuracy; it is kept for figure 2.7 of the thesis.
//
// The same loops with the ordinary butterfly of ten operations (Divisor::none) show the gain of the six: both are
// compiled for each instruction set. Without FMA (SSE4) std::fma is a function of the C library.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "papers/fft/classic/fma6.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cmath>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/classic.hpp"
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/radix2_passes.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::classic::HWY_NAMESPACE {
namespace {

enum class Form { cosine, sine, plain };

// a, b = a + w b, a - w b. `w` is (ratio, factor), or the root of the plain form. Real and imaginary parts alternate.
template <class T, Form kForm, bool kInverse>
HWY_INLINE void butterflies(T* a, T* b, const T* w, std::size_t first, std::size_t last) {
  for (std::size_t k = first; k < last; ++k) {
    const T ar = a[2 * k], ai = a[2 * k + 1], br = b[2 * k], bi = b[2 * k + 1], factor = w[2 * k + 1];
    if constexpr (kForm == Form::plain) {
      const T c = w[2 * k], s = kInverse ? -factor : factor, re = c * br - s * bi, im = c * bi + s * br;
      b[2 * k] = ar - re, b[2 * k + 1] = ai - im;
      a[2 * k] = ar + re, a[2 * k + 1] = ai + im;
    } else {
      const T t = kInverse ? -w[2 * k] : w[2 * k], by = kForm == Form::sine && kInverse ? -factor : factor;
      const T re = kForm == Form::sine ? std::fma(t, br, -bi) : std::fma(-t, bi, br);
      const T im = kForm == Form::sine ? std::fma(t, bi, br) : std::fma(t, br, bi);
      b[2 * k] = std::fma(-by, re, ar), b[2 * k + 1] = std::fma(-by, im, ai);
      a[2 * k] = std::fma(by, re, ar), a[2 * k + 1] = std::fma(by, im, ai);
    }
  }
}

// The stages after the first one; `table` has one factor per butterfly of a block, one stage after another.
template <class T, bool kInverse>
void stages(Divisor divisor, std::size_t n, const T* table, T* x) {
  for (std::size_t half = 2; half < n; table += 2 * half, half *= 2) {
    const bool by_sine = divisor == Divisor::imaginary;
    const std::size_t first = by_sine ? 0 : half / 4 + 1, last = by_sine ? half : (3 * half + 3) / 4;
    for (std::size_t block = 0; block < n; block += 2 * half) {
      T *a = x + 2 * block, *b = a + 2 * half;
      if (divisor == Divisor::none) {
        butterflies<T, Form::plain, kInverse>(a, b, table, 0, half);
      } else {
        butterflies<T, Form::cosine, kInverse>(a, b, table, 0, first);
        butterflies<T, Form::sine, kInverse>(a, b, table, first, last);
        butterflies<T, Form::cosine, kInverse>(a, b, table, last, half);
      }
    }
  }
}

void stages_float(Direction direction, Divisor divisor, std::size_t n, const float* table, float* x) {
  direction == Direction::inverse ? stages<float, true>(divisor, n, table, x)
                                  : stages<float, false>(divisor, n, table, x);
}
void stages_double(Direction direction, Divisor divisor, std::size_t n, const double* table, double* x) {
  direction == Direction::inverse ? stages<double, true>(divisor, n, table, x)
                                  : stages<double, false>(divisor, n, table, x);
}

}  // namespace
}  // namespace ridge::fft::classic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft {
namespace classic {
namespace {

HWY_EXPORT(stages_float);
HWY_EXPORT(stages_double);

// 4 per butterfly of the first stage; in the others 12 (six fused multiply-adds) or 10.
double fma6_flops(std::size_t n, Divisor divisor) {
  const double stages = static_cast<double>(log2_of(n)), each = divisor == Divisor::none ? 10 : 12;
  return n < 2 ? 0 : static_cast<double>(n) / 2 * (4 + each * (stages - 1));
}

const char* fma6_text(Divisor divisor) {
  return divisor == Divisor::none     ? "radix 2, butterflies of ten operations"
         : divisor == Divisor::larger ? "radix 2, six-FMA butterflies, the larger part divides"
                                      : "radix 2, six-FMA butterflies, the imaginary part divides";
}

template <class T>
class Fma6 final : public ClassicLine<T> {
 public:
  using typename ClassicLine<T>::Complex;
  Fma6(std::size_t n, Divisor divisor)
      : ClassicLine<T>(n, fma6_text(divisor), fma6_flops(n, divisor), 0), divisor_(divisor), passes_(n) {
    // One stage after another, in the order of use.
    for (std::size_t half = 2; half < n; half *= 2) {
      const power2::Roots<double> exact(2 * half);
      for (std::size_t k = 0; k < half; ++k) {
        std::complex<double> w = exact.at(k);
        const bool by_cosine = divisor == Divisor::larger && cosine_divides(k, half);
        if (divisor == Divisor::imaginary && w.imag() == 0) w.imag(-1e-7);
        const double factor = by_cosine ? w.real() : w.imag();
        const double ratio = divisor == Divisor::none ? w.real() : (by_cosine ? w.imag() : w.real()) / factor;
        twiddles_.insert(twiddles_.end(), {static_cast<T>(ratio), static_cast<T>(factor)});
      }
    }
  }

  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    const std::size_t n = this->length();
    passes_.bit_reverse(in, out);
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const Complex b = out[i + 1];
      out[i + 1] = out[i] - b;
      out[i] += b;
    }
    T* x = reinterpret_cast<T*>(out);
    if constexpr (sizeof(T) == sizeof(float)) {
      HWY_DYNAMIC_DISPATCH(stages_float)(direction, divisor_, n, twiddles_.data(), x);
    } else {
      HWY_DYNAMIC_DISPATCH(stages_double)(direction, divisor_, n, twiddles_.data(), x);
    }
  }

 private:
  static bool cosine_divides(std::size_t k, std::size_t half) { return 4 * k <= half || 4 * k >= 3 * half; }

  Divisor divisor_;
  Radix2Passes<T> passes_;   // only its bit reversal is used
  std::vector<T> twiddles_;  // pairs of ratio and factor
};

}  // namespace
}  // namespace classic

template <class T>
std::unique_ptr<LineKernel<T>> make_fma6_divided_by(Divisor divisor, std::size_t n) {
  return std::make_unique<classic::Fma6<T>>(classic::checked_length(n), divisor);
}
template <class T>
std::unique_ptr<LineKernel<T>> make_fma6(std::size_t n) {
  return make_fma6_divided_by<T>(Divisor::larger, n);
}

template std::unique_ptr<LineKernel<float>> make_fma6_divided_by<float>(Divisor, std::size_t);
template std::unique_ptr<LineKernel<double>> make_fma6_divided_by<double>(Divisor, std::size_t);
template std::unique_ptr<LineKernel<float>> make_fma6<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_fma6<double>(std::size_t);

}  // namespace ridge::fft
#endif
