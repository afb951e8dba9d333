// Single passes of a self-sorting (Stockham) transform, so that the radix planner can time each pass separately.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft::classic {

inline constexpr std::size_t kStockhamRadices[] = {2, 4, 8, 16};

// The pass of one radix that starts after `done` points have been combined: it reads x and writes y, after which done *
// radix points are combined. Any order of radices whose product is n makes a transform.
template <class T>
class StockhamPass {
 public:
  using Complex = std::complex<T>;
  StockhamPass(std::size_t n, std::size_t done, std::size_t radix);
  void run(Direction direction, const Complex* x, Complex* y) const;
  std::size_t radix() const { return radix_; }
  double flops() const;

 private:
  template <std::size_t kRadix, bool kInverse>
  void pass(const Complex* x, Complex* y) const;
  template <std::size_t kRadix>
  void either(Direction direction, const Complex* x, Complex* y) const {
    direction == Direction::inverse ? pass<kRadix, true>(x, y) : pass<kRadix, false>(x, y);
  }

  std::size_t n_, done_, radix_;
  std::vector<Complex> twiddles_;  // radix - 1 for each of the `done` blocks
};

extern template class StockhamPass<float>;
extern template class StockhamPass<double>;

}  // namespace ridge::fft::classic
