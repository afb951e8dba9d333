// Real transforms of two rows at once, as the real and imaginary part of one complex row.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/real/real.hpp"
#include "fft/host/real/spectra.hpp"

namespace ridge::fft {
namespace {

using namespace real;

// Odd lengths: two rows are the real and the imaginary part of one complex row. A single row is paired with zeros.
template <class T>
class RealPaired final : public RealKernel<T> {
 public:
  using Complex = std::complex<T>;

  RealPaired(std::shared_ptr<const LineKernel<T>> whole, std::unique_ptr<RealKernel<T>> alone)
      : whole_(std::move(whole)), alone_(std::move(alone)), n_(whole_->length()) {}

  std::size_t length() const override { return n_; }
  std::string describe() const override {
    const std::string pairs = fmt::format("two rows at once: {}", whole_->describe());
    return alone_ ? fmt::format("{}; alone: {}", pairs, alone_->describe()) : pairs;
  }
  double flops() const override { return whole_->flops() / 2 + 2.0 * static_cast<double>(n_); }
  std::size_t scratch() const override {
    return std::max(2 * part() + whole_->scratch(), alone_ ? alone_->scratch() : 0);
  }

  void forward(const T* in, Complex* out, Complex* scratch) const override {
    if (alone_) return alone_->forward(in, out, scratch);
    Complex *z = scratch, *rest = z + 2 * part();
    for (std::size_t i = 0; i < n_; ++i) z[i] = Complex(in[i], 0);
    whole_->run(Direction::forward, z, z + part(), rest);
    std::copy_n(z + part(), n_ / 2 + 1, out);
    out[0].imag(0);
  }

  void inverse(const Complex* in, T* out, Complex* scratch) const override {
    if (alone_) return alone_->inverse(in, out, scratch);
    Complex *z = scratch, *rest = z + 2 * part();
    z[0] = Complex(in[0].real(), 0);
    for (std::size_t k = 1; k <= n_ / 2; ++k) z[k] = in[k], z[n_ - k] = std::conj(in[k]);
    whole_->run(Direction::inverse, z, z + part(), rest);
    for (std::size_t i = 0; i < n_; ++i) out[i] = z[part() + i].real();
  }

  void forward_many(const T* in, std::size_t in_distance, Complex* out, std::size_t out_distance, std::size_t count,
                    Complex* scratch) const override {
    Complex *z = scratch, *y = z + part(), *rest = y + part();
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
      spectra<T>().interleave(in + i * in_distance, in + (i + 1) * in_distance, reinterpret_cast<T*>(z), n_);
      whole_->run(Direction::forward, z, y, rest);
      Complex* a = out + i * out_distance;
      if (not_finite(y[0])) {
        forward(in + i * in_distance, a, scratch);
        forward(in + (i + 1) * in_distance, a + out_distance, scratch);
        continue;
      }
      spectra<T>().separate(reinterpret_cast<const T*>(y), reinterpret_cast<T*>(a),
                            reinterpret_cast<T*>(a + out_distance), n_);
    }
    if (i < count) forward(in + i * in_distance, out + i * out_distance, scratch);
  }

  void inverse_many(const Complex* in, std::size_t in_distance, T* out, std::size_t out_distance, std::size_t count,
                    Complex* scratch) const override {
    Complex *z = scratch, *y = z + part(), *rest = y + part();
    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
      const Complex* a = in + i * in_distance;
      spectra<T>().join(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(a + in_distance),
                        reinterpret_cast<T*>(z), n_);
      whole_->run(Direction::inverse, z, y, rest);
      if (not_finite(y[0])) {
        inverse(a, out + i * out_distance, scratch);
        inverse(a + in_distance, out + (i + 1) * out_distance, scratch);
        continue;
      }
      spectra<T>().deinterleave(reinterpret_cast<const T*>(y), out + i * out_distance, out + (i + 1) * out_distance,
                                n_);
    }
    if (i < count) inverse(in + i * in_distance, out + i * out_distance, scratch);
  }

 private:
  // Point 0 is the sum over both rows. If it is not finite, one row holds NaN or overflows; each row is then
  // transformed alone, so that its partner is not affected.
  static bool not_finite(const Complex& first) { return !std::isfinite(first.real()) || !std::isfinite(first.imag()); }
  std::size_t part() const { return prime::padded_points<T>(n_); }

  std::shared_ptr<const LineKernel<T>> whole_;
  std::unique_ptr<RealKernel<T>> alone_;
  std::size_t n_;
};

}  // namespace

template <class T>
std::unique_ptr<RealKernel<T>> make_real_paired(std::shared_ptr<const LineKernel<T>> whole,
                                                std::unique_ptr<RealKernel<T>> alone) {
  return std::make_unique<RealPaired<T>>(std::move(whole), std::move(alone));
}

template std::unique_ptr<RealKernel<float>> make_real_paired(std::shared_ptr<const LineKernel<float>>,
                                                             std::unique_ptr<RealKernel<float>>);
template std::unique_ptr<RealKernel<double>> make_real_paired(std::shared_ptr<const LineKernel<double>>,
                                                              std::unique_ptr<RealKernel<double>>);

}  // namespace ridge::fft
