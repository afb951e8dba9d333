// Split radix: a half-length transform of the even points and two quarter-length ones of the odd points. It has the
// fewest operations of the classic algorithms: 4 n log2 n - 6 n + 8.
#include <algorithm>
#include <numbers>

#include "fft/host/power2/tables.hpp"
#include "papers/fft/classic/line.hpp"

namespace ridge::fft {
namespace {

using base::product;
using classic::quarter_turn;
using classic::root;

double split_radix_flops(std::size_t n) {
  if (n < 2) return 0;
  const double points = static_cast<double>(n);
  return 4 * points * static_cast<double>(classic::log2_of(n)) - 6 * points + 8;
}

template <class T>
class SplitRadix final : public classic::ClassicLine<T> {
 public:
  using typename classic::ClassicLine<T>::Complex;
  explicit SplitRadix(std::size_t n)
      : classic::ClassicLine<T>(n, "split radix, recursive", split_radix_flops(n), n), roots_(3 * n / 4) {
    const power2::Roots<T> exact(n);
    for (std::size_t k = 0; k < roots_.size(); ++k) roots_[k] = exact.at(k);
  }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    if (in == out) {
      std::copy_n(in, this->length(), scratch);
      in = scratch;
    }
    direction == Direction::inverse ? transform<true>(in, 1, out, this->length())
                                    : transform<false>(in, 1, out, this->length());
  }

 private:
  // Transforms `n` points of `in`, `step` apart; step * n is the whole length, so roots_[k * step] is exp(-2 pi i k /
  // n).
  template <bool kInverse>
  void transform(const Complex* in, std::size_t step, Complex* out, std::size_t n) const {
    if (n == 1) {
      out[0] = in[0];
      return;
    }
    if (n == 2) {
      const Complex a = in[0], b = in[step];
      out[0] = a + b;
      out[1] = a - b;
      return;
    }
    const std::size_t quarter = n / 4;
    transform<kInverse>(in, 2 * step, out, n / 2);
    transform<kInverse>(in + step, 4 * step, out + n / 2, quarter);
    transform<kInverse>(in + 3 * step, 4 * step, out + 3 * quarter, quarter);
    combine<kInverse>(out, quarter, 0, out[n / 2], out[3 * quarter]);
    for (std::size_t k = 1; k < quarter; ++k) {
      const Complex y = out[n / 2 + k], z = out[3 * quarter + k];
      if (2 * k == quarter) {  // angles of pi/4 and 3 pi/4
        combine<kInverse>(out, quarter, k, eighth_turn<kInverse>(y), quarter_turn<kInverse>(eighth_turn<kInverse>(z)));
      } else {
        combine<kInverse>(out, quarter, k, product(root<kInverse>(roots_[k * step]), y),
                          product(root<kInverse>(roots_[3 * k * step]), z));
      }
    }
  }

  // Outputs k, k + n/4, k + n/2 and k + 3n/4 from two outputs of the even half and one of each twiddled odd quarter.
  template <bool kInverse>
  static void combine(Complex* out, std::size_t quarter, std::size_t k, Complex y, Complex z) {
    const Complex sum = y + z, difference = quarter_turn<kInverse>(y - z);
    const Complex even0 = out[k], even1 = out[k + quarter];
    out[k] = even0 + sum;
    out[k + 2 * quarter] = even0 - sum;
    out[k + quarter] = even1 + difference;
    out[k + 3 * quarter] = even1 - difference;
  }

  template <bool kInverse>
  static Complex eighth_turn(Complex a) {
    constexpr T half = T(1) / std::numbers::sqrt2_v<T>;
    const Complex turned = quarter_turn<kInverse>(a);
    return {half * (a.real() + turned.real()), half * (a.imag() + turned.imag())};
  }

  std::vector<Complex> roots_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_split_radix(std::size_t n) {
  return std::make_unique<SplitRadix<T>>(classic::checked_length(n));
}

template std::unique_ptr<LineKernel<float>> make_split_radix<float>(std::size_t);
template std::unique_ptr<LineKernel<double>> make_split_radix<double>(std::size_t);

}  // namespace ridge::fft
