// Roots of unity whose order is a power of two.
#pragma once
#include "fft/roots.hpp"

namespace ridge::fft::power2 {

template <class T>
class Roots {
 public:
  explicit Roots(std::size_t n) : roots_(n) {}  // a power of two
  std::complex<T> at(std::size_t k) const { return roots_.at(k & (length() - 1)); }
  Point<DoubleDouble> wide(std::size_t k) const { return roots_.wide(k & (length() - 1)); }
  std::size_t length() const { return roots_.order(); }

 private:
  AnyRoots<T> roots_;
};

}  // namespace ridge::fft::power2
