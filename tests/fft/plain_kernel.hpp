// A line kernel by the reference transform, for tests of algorithms that need an inner kernel.
#pragma once
#include <string>
#include <vector>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/reference.hpp"

namespace ridge::fft::reference {

// The reference transform as a line kernel: any length, slow and exact.
template <class T>
class Plain final : public prime::ColumnsByLines<T> {
 public:
  using Complex = std::complex<T>;
  explicit Plain(std::size_t n) : n_(n) {}
  std::size_t length() const override { return n_; }
  std::string describe() const override { return "reference"; }
  double flops() const override { return 1; }
  std::size_t scratch() const override { return 0; }
  void run(Direction direction, const Complex* in, Complex* out, Complex*) const override {
    const auto points = dft(std::vector<Complex>(in, in + n_), direction == Direction::inverse);
    for (std::size_t i = 0; i < n_; ++i) {
      out[i] =
          Complex(static_cast<T>(static_cast<double>(points[i].re)), static_cast<T>(static_cast<double>(points[i].im)));
    }
  }

 private:
  std::size_t n_;
};

}  // namespace ridge::fft::reference
