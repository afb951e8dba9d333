// Complex numbers of double-double precision (about 106 bits).
#pragma once
#include "base/double_double.hpp"

namespace ridge::fft {

using base::DoubleDouble;

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

}  // namespace ridge::fft
