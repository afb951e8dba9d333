// Cosine and sine transforms of type I: the samples are extended by symmetry to twice the length, whose real transform
// has the result in one of its parts. This takes twice the work of the fastest algorithms, but avoids their loss of
// precision.
#include <algorithm>

#include "fft/tensor/real_line.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Extended final : public RealLine<T> {
 public:
  using Complex = std::complex<T>;
  Extended(RealKind kind, std::size_t n, std::shared_ptr<const RealKernel<T>> real)
      : kind_(kind), n_(n), real_(std::move(real)) {}
  std::size_t length() const override { return n_; }
  std::string describe() const override {
    return std::string(to_string(kind_)) + " by mirroring, " + real_->describe();
  }
  double flops() const override { return real_->flops(); }
  std::size_t scratch() const override { return whole_lines(real_->length() / 2 + 1) + real_->scratch(); }

  void run(const T* in, T* out, Complex* scratch) const override {
    T* const mirrored = reinterpret_cast<T*>(scratch);
    Complex* const inner = scratch + whole_lines(real_->length() / 2 + 1);
    const std::size_t period = real_->length();
    if (kind_ == RealKind::dct1) {
      std::copy_n(in, n_, mirrored);
      for (std::size_t j = 1; j + 1 < n_; ++j) mirrored[period - j] = in[j];
      real_->forward(mirrored, scratch, inner);
      for (std::size_t k = 0; k < n_; ++k) out[k] = scratch[k].real();
    } else {
      mirrored[0] = mirrored[n_ + 1] = 0;
      for (std::size_t j = 0; j < n_; ++j) {
        mirrored[j + 1] = in[j];
        mirrored[period - 1 - j] = -in[j];
      }
      real_->forward(mirrored, scratch, inner);
      for (std::size_t k = 0; k < n_; ++k) out[k] = -scratch[k + 1].imag();
    }
  }

 private:
  RealKind kind_;
  std::size_t n_;
  std::shared_ptr<const RealKernel<T>> real_;
};

}  // namespace

template <class T>
std::unique_ptr<RealLine<T>> make_extended(RealKind kind, std::size_t n, const LineSource<T>& source) {
  const std::size_t period = kind == RealKind::dct1 ? 2 * (n - 1) : 2 * (n + 1);
  return std::make_unique<Extended<T>>(kind, n, source.real(period));
}

template std::unique_ptr<RealLine<float>> make_extended(RealKind, std::size_t, const LineSource<float>&);
template std::unique_ptr<RealLine<double>> make_extended(RealKind, std::size_t, const LineSource<double>&);

}  // namespace ridge::fft
