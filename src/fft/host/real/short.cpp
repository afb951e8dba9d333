// Real transforms of short lengths that have a kernel of their own.
#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/real/real.hpp"
#include "fft/host/real/spectra.hpp"

namespace ridge::fft {
namespace {

using namespace real;

template <class T>
class RealShort final : public RealKernel<T> {
 public:
  using Complex = std::complex<T>;

  explicit RealShort(std::size_t n) : n_(n), rows_(tiny<T>(n)) {}

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("codelet {}", n_); }
  double flops() const override {
    // Splits by two until the remainder is odd, which is computed by definition.
    double flops = 0, parts = 1;
    std::size_t odd = n_;
    for (; odd % 2 == 0; odd /= 2, parts *= 2) flops += 2.5 * static_cast<double>(n_);
    return flops + parts * static_cast<double>((odd - 1) * (odd + 2));
  }
  std::size_t scratch() const override { return 0; }
  void forward(const T* in, Complex* out, Complex*) const override {
    rows_.forward(in, 0, reinterpret_cast<T*>(out), 0, 1);
  }
  void inverse(const Complex* in, T* out, Complex*) const override {
    rows_.inverse(reinterpret_cast<const T*>(in), 0, out, 0, 1);
  }
  void forward_many(const T* in, std::size_t in_distance, Complex* out, std::size_t out_distance, std::size_t count,
                    Complex*) const override {
    rows_.forward(in, in_distance, reinterpret_cast<T*>(out), 2 * out_distance, count);
  }
  void inverse_many(const Complex* in, std::size_t in_distance, T* out, std::size_t out_distance, std::size_t count,
                    Complex*) const override {
    rows_.inverse(reinterpret_cast<const T*>(in), 2 * in_distance, out, out_distance, count);
  }

 private:
  std::size_t n_;
  Tiny<T> rows_;
};

}  // namespace

template <class T>
std::unique_ptr<RealKernel<T>> make_real_short(std::size_t n) {
  if (n < 1 || n > kMaxShortReal) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("got {} samples: codelets exist for 1 to {}", n, kMaxShortReal));
  }
  return std::make_unique<RealShort<T>>(n);
}

template std::unique_ptr<RealKernel<float>> make_real_short(std::size_t);
template std::unique_ptr<RealKernel<double>> make_real_short(std::size_t);

}  // namespace ridge::fft
