// Rader's algorithm: a transform of prime length p as a cyclic convolution of p - 1 points.
#include <cstdint>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/prime/filter_spectrum.hpp"
#include "fft/host/prime/numbers.hpp"
#include "fft/host/prime/pointwise.hpp"
#include "fft/host/prime/prime.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

// With a generator g, X[g^-q] - x[0] is the cyclic convolution of x[g^q] and exp(-2 pi i g^-q / p) over q.
template <class T>
class Rader final : public ColumnsByLines<T> {
 public:
  using Complex = std::complex<T>;

  Rader(std::size_t p, std::unique_ptr<LineKernel<T>> inner)
      : p_(p), inner_(std::move(inner)), input_(p - 1), output_(p - 1), filter_(p - 1) {
    const std::size_t m = p - 1, g = primitive_root(p), inverse = power_modulo(g, p - 2, p);
    const AnyRoots<double> roots(p);
    WidePoints filter(wide_room(m));
    // g^(m/2) is -1: the second half of the powers, and of the filter, mirrors the first.
    for (std::size_t q = 0, a = 1, b = 1; q < m / 2; ++q, a = a * g % p, b = b * inverse % p) {
      input_[q] = static_cast<std::uint32_t>(a), input_[q + m / 2] = static_cast<std::uint32_t>(p - a);
      output_[b - 1] = static_cast<std::uint32_t>(q), output_[p - b - 1] = static_cast<std::uint32_t>(q + m / 2);
      const Point<DoubleDouble> w = roots.wide(b);
      filter.set(q, w), filter.set(q + m / 2, {w.re, -w.im});
    }
    const std::vector<Complex> spectrum = filter_spectrum<T>(filter, m, DoubleDouble(1) / static_cast<double>(m));
    for (std::size_t q = 0; q < m; ++q) filter_.set(q, spectrum[q]);
  }

  std::size_t length() const override { return p_; }
  std::string describe() const override { return fmt::format("Rader {} on {}", p_ - 1, inner_->describe()); }
  double flops() const override { return 2 * inner_->flops() + 6.0 * static_cast<double>(p_ - 1) + 4; }
  std::size_t scratch() const override { return 2 * padded_points<T>(p_ - 1) + inner_->scratch(); }

  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const std::size_t m = p_ - 1;
    Complex *a = scratch, *b = a + padded_points<T>(m), *rest = b + padded_points<T>(m);
    const Complex x0 = in[0];
    for (std::size_t q = 0; q < m; ++q) a[q] = in[input_[q]];
    inner_->run(Direction::forward, a, b, rest);
    const Complex sum = x0 + b[0];
    pointwise<T>().multiply(false, reinterpret_cast<T*>(b), filter_.re.data(), filter_.im.data(),
                            reinterpret_cast<T*>(b), m);
    b[0] += x0;  // adds x[0] to every output
    inner_->run(Direction::inverse, b, a, rest);
    out[0] = sum;
    // The inverse transform is the forward one in reverse order.
    if (direction == Direction::forward) {
      for (std::size_t k = 0; k < m; ++k) out[k + 1] = a[output_[k]];
    } else {
      for (std::size_t k = 0; k < m; ++k) out[m - k] = a[output_[k]];
    }
  }

 private:
  std::size_t p_;
  std::unique_ptr<LineKernel<T>> inner_;
  base::AlignedArray<std::uint32_t> input_, output_;
  DoubledTable<T> filter_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_rader(std::size_t p, const MakeLine<T>& make_inner) {
  if (p < 3 || p > UINT32_MAX || !is_prime(p)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("got {} points: Rader's transform needs an odd prime below 2^32", p));
  }
  return std::make_unique<Rader<T>>(p, make_inner(p - 1));
}

template std::unique_ptr<LineKernel<float>> make_rader(std::size_t, const MakeLine<float>&);
template std::unique_ptr<LineKernel<double>> make_rader(std::size_t, const MakeLine<double>&);

}  // namespace ridge::fft
