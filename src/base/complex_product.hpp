// Product of complex numbers without the NaN check of std::complex, which costs more than the product.
#pragma once
#include <complex>

namespace ridge::base {

template <class T>
constexpr std::complex<T> product(const std::complex<T>& a, const std::complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace ridge::base
