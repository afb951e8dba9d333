// Real transforms of even length n by a complex transform of n/2 points.
#include <algorithm>

#include <fmt/format.h>

#include "fft/host/prime/pointwise.hpp"
#include "fft/host/real/real.hpp"
#include "fft/host/real/spectra.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

using namespace real;

// Even samples as real parts, odd ones as imaginary parts of n/2 complex points.
template <class T>
class RealEven final : public RealKernel<T> {
 public:
  using Complex = std::complex<T>;

  explicit RealEven(std::shared_ptr<const LineKernel<T>> half)
      : half_(std::move(half)), m_(half_->length()), factors_(m_ / 2 + 1) {
    const AnyRoots<T> roots(2 * m_);
    for (std::size_t k = 0; k <= m_ / 2; ++k) {
      const Complex w = roots.at(k);  // halving is exact
      factors_.set(k, Complex(w.imag() / 2, -w.real() / 2));
    }
  }

  std::size_t length() const override { return 2 * m_; }
  std::string describe() const override { return fmt::format("{} complex points: {}", m_, half_->describe()); }
  double flops() const override { return half_->flops() + 7.0 * static_cast<double>(m_); }
  std::size_t scratch() const override { return lines() * distance() + half_->scratch(); }

  void forward(const T* in, Complex* out, Complex* scratch) const override {
    half_->run(Direction::forward, reinterpret_cast<const Complex*>(in), out, scratch);
    unpack(out);
  }

  void inverse(const Complex* in, T* out, Complex* scratch) const override {
    pack(in, scratch);
    half_->run(Direction::inverse, scratch, reinterpret_cast<Complex*>(out), scratch + lines() * distance());
  }

  void forward_many(const T* in, std::size_t in_distance, Complex* out, std::size_t out_distance, std::size_t count,
                    Complex* scratch) const override {
    if (in_distance % 2 != 0) {
      return RealKernel<T>::forward_many(in, in_distance, out, out_distance, count, scratch);
    }
    for (std::size_t i = 0; i < count; i += lines()) {
      const std::size_t now = std::min(lines(), count - i);
      half_->run_many(Direction::forward, reinterpret_cast<const Complex*>(in + i * in_distance), in_distance / 2,
                      out + i * out_distance, out_distance, now, scratch);
      for (std::size_t j = i; j < i + now; ++j) unpack(out + j * out_distance);
    }
  }

  void inverse_many(const Complex* in, std::size_t in_distance, T* out, std::size_t out_distance, std::size_t count,
                    Complex* scratch) const override {
    if (out_distance % 2 != 0) {
      return RealKernel<T>::inverse_many(in, in_distance, out, out_distance, count, scratch);
    }
    for (std::size_t i = 0; i < count; i += lines()) {
      const std::size_t now = std::min(lines(), count - i);
      for (std::size_t j = 0; j < now; ++j) pack(in + (i + j) * in_distance, scratch + j * distance());
      half_->run_many(Direction::inverse, scratch, distance(), reinterpret_cast<Complex*>(out + i * out_distance),
                      out_distance / 2, now, scratch + lines() * distance());
    }
  }

 private:
  // Short lines pass through the complex transform several at a time, as many as fit L1.
  std::size_t lines() const { return std::clamp<std::size_t>(16 * 1024 / sizeof(Complex) / m_, 1, 64); }
  std::size_t distance() const {
    constexpr std::size_t kLine = 64 / sizeof(Complex);
    return (m_ + kLine - 1) / kLine * kLine;
  }
  void unpack(Complex* z) const {
    spectra<T>().unpack(reinterpret_cast<T*>(z), factors_.re.data(), factors_.im.data(), m_);
  }
  void pack(const Complex* x, Complex* z) const {
    spectra<T>().pack(reinterpret_cast<const T*>(x), factors_.re.data(), factors_.im.data(), reinterpret_cast<T*>(z),
                      m_);
  }

  std::shared_ptr<const LineKernel<T>> half_;
  std::size_t m_;
  prime::DoubledTable<T> factors_;
};

}  // namespace

template <class T>
std::unique_ptr<RealKernel<T>> make_real_even(std::shared_ptr<const LineKernel<T>> half) {
  return std::make_unique<RealEven<T>>(std::move(half));
}

template std::unique_ptr<RealKernel<float>> make_real_even(std::shared_ptr<const LineKernel<float>>);
template std::unique_ptr<RealKernel<double>> make_real_even(std::shared_ptr<const LineKernel<double>>);

}  // namespace ridge::fft
