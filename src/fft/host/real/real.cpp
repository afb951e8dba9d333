// Chooses how a real length is transformed, and implements the shortest by definition.
#include "fft/host/real/real.hpp"

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/prime/direct_table.hpp"

namespace ridge::fft {

std::size_t real_line_length(std::size_t n) {
  if (n <= kMaxShortReal) return 0;
  if (n % 2 == 0) return n / 2;
  return n <= kMaxDirectReal && real_odd_factor(n) == 0 ? 0 : n;
}

template <class T>
std::unique_ptr<RealKernel<T>> make_real(std::size_t n, const ShareLine<T>& line) {
  if (n == 0) throw Error(ErrorKind::invalid_argument, "a real transform needs at least 1 sample, got 0");
  if (n <= kMaxShortReal) return make_real_short<T>(n);
  if (n % 2 == 0) return make_real_even<T>(line(n / 2));
  if (real_odd_factor(n) != 0) return make_real_paired<T>(line(n), make_real_odd<T>(n, line));
  return n <= kMaxDirectReal ? make_real_direct<T>(n) : make_real_paired<T>(line(n));
}

template std::unique_ptr<RealKernel<float>> make_real(std::size_t, const ShareLine<float>&);
template std::unique_ptr<RealKernel<double>> make_real(std::size_t, const ShareLine<double>&);

// Real transforms of short odd lengths by the definition.

namespace {

using namespace prime;

// Short odd lengths by definition. Forward, a pair is (x[j] + x[n-j], x[j] - x[n-j]) and each sum is one point of the
// spectrum minus x[0]. Inverse, a pair is one point of the spectrum and each sum holds the parts of x[j] and x[n-j].
// Both use the factors (cos, -sin).
template <class T>
class RealDirect final : public RealKernel<T> {
 public:
  using Complex = std::complex<T>;

  explicit RealDirect(std::size_t n)
      : n_(n),
        columns_(direct_columns<T>(n)),
        table_(direct_table<T>(AnyRoots<T>(n), columns_, 1, [](std::size_t, std::complex<T> root) { return root; })) {}

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("direct {}", n_); }
  double flops() const override { return static_cast<double>((n_ - 1) * (n_ - 1) + 3 * n_); }
  std::size_t scratch() const override { return padded_points<T>(half()) + columns_; }

  void forward(const T* in, Complex* out, Complex* scratch) const override {
    Complex *pairs = scratch, *sums = pairs + padded_points<T>(half());
    const T x0 = in[0];
    T total = x0;
    for (std::size_t j = 1; j <= half(); ++j) {
      pairs[j - 1] = Complex(in[j] + in[n_ - j], in[j] - in[n_ - j]);
      total += pairs[j - 1].real();
    }
    multiply(pairs, sums);
    out[0] = Complex(total, 0);
    for (std::size_t k = 1; k <= half(); ++k) out[k] = Complex(x0 + sums[k - 1].real(), sums[k - 1].imag());
  }

  void inverse(const Complex* in, T* out, Complex* scratch) const override {
    Complex *pairs = scratch, *sums = pairs + padded_points<T>(half());
    const T x0 = in[0].real();
    T total = 0;
    for (std::size_t k = 1; k <= half(); ++k) {
      pairs[k - 1] = in[k];
      total += in[k].real();
    }
    multiply(pairs, sums);
    out[0] = x0 + 2 * total;
    for (std::size_t j = 1; j <= half(); ++j) {
      const T even = x0 + 2 * sums[j - 1].real(), odd = 2 * sums[j - 1].imag();
      out[j] = even + odd;
      out[n_ - j] = even - odd;
    }
  }

 private:
  std::size_t half() const { return (n_ - 1) / 2; }
  void multiply(const Complex* pairs, Complex* sums) const {
    pointwise<T>().pair_sums(reinterpret_cast<const T*>(pairs), half(), table_.data(), columns_,
                             reinterpret_cast<T*>(sums));
  }

  std::size_t n_, columns_;
  base::AlignedArray<T> table_;
};

}  // namespace

template <class T>
std::unique_ptr<RealKernel<T>> make_real_direct(std::size_t n) {
  if (n % 2 == 0 || n > kMaxDirectReal) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("got {} samples: the direct sum needs odd lengths up to {}", n, kMaxDirectReal));
  }
  return std::make_unique<RealDirect<T>>(n);
}

template std::unique_ptr<RealKernel<float>> make_real_direct(std::size_t);
template std::unique_ptr<RealKernel<double>> make_real_direct(std::size_t);

}  // namespace ridge::fft
