// Roots of unity of any order, each rounded once to T, and complex numbers of wider types.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "base/double_double.hpp"

namespace ridge::fft {

using base::DoubleDouble;

// A complex number of any type, DoubleDouble (about 106 bits) included.
template <class Real>
struct Point {
  Real re{}, im{};
};
template <class Real>
Point<Real> operator+(Point<Real> a, Point<Real> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
Point<Real> operator*(Point<Real> a, Point<Real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(-2 pi i k / n), k < n, as the product of two tables of about sqrt(n) entries with twice the precision of double.
// Fast enough for millions of entries; the only error is the final rounding.
template <class T>
class AnyRoots {
 public:
  explicit AnyRoots(std::size_t n);
  std::complex<T> at(std::size_t k) const;
  Point<DoubleDouble> wide(std::size_t k) const {
    const Part& a = coarse_[k >> shift_];
    const Part& b = fine_[k & ((std::size_t{1} << shift_) - 1)];
    return Point<DoubleDouble>{{a.re, a.re_low}, {a.im, a.im_low}} *
           Point<DoubleDouble>{{b.re, b.re_low}, {b.im, b.im_low}};
  }
  std::size_t order() const { return n_; }

 private:
  struct Part {  // value = high + low
    double re, im, re_low, im_low;
  };
  static Part exact(std::size_t k, std::size_t n);

  std::size_t n_;
  int shift_;
  std::vector<Part> coarse_, fine_;
};

extern template class AnyRoots<float>;
extern template class AnyRoots<double>;

}  // namespace ridge::fft
