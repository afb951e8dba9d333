// Half-complex transforms (real spectrum storage) in both directions, and the discrete Hartley transform.
#include <algorithm>

#include "fft/tensor/real_line.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Halfcomplex final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Halfcomplex(RealKind kind, std::shared_ptr<const RealKernel<T>> real) : kind_(kind), real_(std::move(real)) {}
  std::size_t length() const override { return real_->length(); }
  std::string describe() const override { return std::string(to_string(kind_)) + " of " + real_->describe(); }
  double flops() const override {
    return real_->flops() + (kind_ == RealKind::hartley ? static_cast<double>(length()) : 0);
  }
  std::size_t scratch() const override { return whole_lines(length() / 2 + 1) + real_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    const std::size_t n = length();
    Complex* const spectrum = scratch;
    Complex* const inner = scratch + whole_lines(n / 2 + 1);
    if (kind_ == RealKind::halfcomplex_inverse) {
      spectrum[0] = {in[0], 0};
      for (std::size_t k = 1; k < (n + 1) / 2; ++k) spectrum[k] = {in[k], in[n - k]};
      if (n % 2 == 0) spectrum[n / 2] = {in[n / 2], 0};
      real_->inverse(spectrum, out, inner);
      return;
    }
    real_->forward(in, spectrum, inner);
    out[0] = spectrum[0].real();
    if (kind_ == RealKind::halfcomplex) {
      for (std::size_t k = 1; k < (n + 1) / 2; ++k) {
        out[k] = spectrum[k].real();
        out[n - k] = spectrum[k].imag();
      }
    } else {
      for (std::size_t k = 1; k < (n + 1) / 2; ++k) {
        out[k] = spectrum[k].real() - spectrum[k].imag();
        out[n - k] = spectrum[k].real() + spectrum[k].imag();
      }
    }
    if (n % 2 == 0) out[n / 2] = spectrum[n / 2].real();
  }

 private:
  RealKind kind_;
  std::shared_ptr<const RealKernel<T>> real_;
};

}  // namespace

template <class T>
std::unique_ptr<RealLine<T>> make_halfcomplex(RealKind kind, std::size_t n, const LineSource<T>& source) {
  return std::make_unique<Halfcomplex<T>>(kind, source.real(n));
}

template std::unique_ptr<RealLine<float>> make_halfcomplex(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_halfcomplex(RealKind, std::size_t, const LineSource<double>&);

}  // namespace ridge::fft
