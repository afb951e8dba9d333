#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/prime/direct_table.hpp"
#include "fft/prime/prime.hpp"
#include "fft/prime/strip_columns.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

template <class T>
class Direct final : public StripColumns<T> {
 public:
  using Complex = std::complex<T>;

  explicit Direct(std::size_t n)
      : n_(n),
        columns_(direct_columns<T>(n)),
        table_(direct_table<T>(n, columns_, 2,
                               // The signs turn the sum of differences and sines by -i when its parts are exchanged.
                               [](std::size_t kind, std::complex<T> root) {
                                 return kind == 0 ? std::complex<T>(root.real(), root.real())
                                                  : std::complex<T>(root.imag(), -root.imag());
                               })) {}

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("direct {}", n_); }
  double flops() const override { return 2.0 * static_cast<double>((n_ - 1) * (n_ - 1) + 3 * n_); }
  std::size_t scratch() const override { return n_ - 1; }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    pointwise<T>().direct(direction == Direction::inverse, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                          n_, table_.data(), columns_, reinterpret_cast<T*>(scratch));
  }

 private:
  std::size_t n_, columns_;
  base::AlignedArray<T> table_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_direct(std::size_t n) {
  if (n % 2 == 0 || n < 3 || n > kMaxDirect || direct_columns<T>(n) >= n) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} points: the direct sum takes odd lengths from 17 to {}", n, kMaxDirect));
  }
  return std::make_unique<Direct<T>>(n);
}

template std::unique_ptr<LineKernel<float>> make_direct(std::size_t);
template std::unique_ptr<LineKernel<double>> make_direct(std::size_t);

}  // namespace ridge::fft
