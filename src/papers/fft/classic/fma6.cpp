// Radix 2 with a butterfly of six fused multiply-adds (Linzer and Feig; section 2.1.3 of the paper): with w = wr + i wi
// and t = wi / wr, w b = wr (br - t bi, bi + t br), so the factor wr joins the additions that follow.
//
// At an angle of pi/2, wr is 0 and t infinite. The safe choice divides by the larger of the two parts: with c = wr /
// wi, w b = wi (c br - bi, c bi + br), and no ratio exceeds 1. Within a stage the larger part changes only at 1/4 and
// 3/4 of the twiddles, so the choice is three loops without branches. The older choice (Divisor::imaginary) always
// divides by wi and puts 1e-7 in place of wi = 0, which costs accuracy; it is kept for figure 2.7 of the thesis.
#include "papers/fft/classic/fma6.hpp"

#include <cmath>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/radix2_passes.hpp"

namespace ridge::fft {
namespace {

double fma6_flops(std::size_t n) {
  // 4 per butterfly of the first stage, 12 (six fused multiply-adds) in the others.
  const double stages = static_cast<double>(classic::log2_of(n));
  return n < 2 ? 0 : static_cast<double>(n) / 2 * (4 + 12 * (stages - 1));
}

template <class T>
class Fma6 final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  Fma6(std::size_t n, Divisor divisor)
      : classic::ClassicLine<T>(n,
                                divisor == Divisor::larger ? "radix 2, six-FMA butterflies, the larger part divides"
                                                           : "radix 2, six-FMA butterflies, the imaginary part divides",
                                fma6_flops(n), 0),
        divisor_(divisor),
        passes_(n) {
    // One stage after another, in the order of use.
    for (std::size_t half = 2; half < n; half *= 2) {
      const power2::Roots<double> exact(2 * half);
      for (std::size_t k = 0; k < half; ++k) {
        std::complex<double> w = exact.at(k);
        const bool by_cosine = divisor == Divisor::larger && cosine_divides(k, half);
        if (divisor == Divisor::imaginary && w.imag() == 0) w.imag(-1e-7);
        const double factor = by_cosine ? w.real() : w.imag();
        twiddles_.push_back({static_cast<T>((by_cosine ? w.imag() : w.real()) / factor), static_cast<T>(factor)});
      }
    }
  }

  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    passes_.bit_reverse(in, out);
    direction == Direction::inverse ? stages<true>(out) : stages<false>(out);
  }

 private:
  struct Twiddle {
    T ratio, factor;
  };
  static bool cosine_divides(std::size_t k, std::size_t half) { return 4 * k <= half || 4 * k >= 3 * half; }

  template <bool kInverse>
  void stages(Complex* x) const {
    const std::size_t n = this->length();
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      const Complex b = x[i + 1];
      x[i + 1] = x[i] - b;
      x[i] += b;
    }
    const Twiddle* table = twiddles_.data();
    for (std::size_t half = 2; half < n; table += half, half *= 2) {
      const bool all_by_sine = divisor_ == Divisor::imaginary;
      const std::size_t first = all_by_sine ? 0 : half / 4 + 1, last = all_by_sine ? half : (3 * half + 3) / 4;
      for (std::size_t block = 0; block < n; block += 2 * half) {
        Complex *a = x + block, *b = a + half;
        for (std::size_t k = 0; k < first; ++k) by_cosine<kInverse>(a[k], b[k], table[k]);
        for (std::size_t k = first; k < last; ++k) by_sine<kInverse>(a[k], b[k], table[k]);
        for (std::size_t k = last; k < half; ++k) by_cosine<kInverse>(a[k], b[k], table[k]);
      }
    }
  }

  static void finish(Complex& a, Complex& b, T re, T im, T factor) {
    b = {std::fma(-factor, re, a.real()), std::fma(-factor, im, a.imag())};
    a = {std::fma(factor, re, a.real()), std::fma(factor, im, a.imag())};
  }
  template <bool kInverse>
  static void by_cosine(Complex& a, Complex& b, Twiddle w) {
    const T t = kInverse ? -w.ratio : w.ratio;
    finish(a, b, std::fma(-t, b.imag(), b.real()), std::fma(t, b.real(), b.imag()), w.factor);
  }
  template <bool kInverse>
  static void by_sine(Complex& a, Complex& b, Twiddle w) {
    const T c = kInverse ? -w.ratio : w.ratio, factor = kInverse ? -w.factor : w.factor;
    finish(a, b, std::fma(c, b.real(), -b.imag()), std::fma(c, b.imag(), b.real()), factor);
  }

  Divisor divisor_;
  classic::Radix2Passes<T> passes_;  // only its bit reversal is used
  std::vector<Twiddle> twiddles_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_fma6_divided_by(Divisor divisor, std::size_t n) {
  return std::make_unique<Fma6<T>>(classic::checked_length(n), divisor);
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
