// Numbers with about 106 bits: for tables that must be right to the last bit of double, and for references.
#pragma once
#include <cmath>

namespace ridge::fft {

// An unevaluated sum of two doubles: just the arithmetic a transform needs.
struct Wide {
  double high = 0, low = 0;
  Wide() = default;
  Wide(double value) : high(value) {}
  Wide(double h, double l) : high(h), low(l) {}
  static Wide from(long double value) {
    const double h = static_cast<double>(value);
    return {h, static_cast<double>(value - static_cast<long double>(h))};
  }
  explicit operator double() const { return high + low; }
};

inline Wide operator+(Wide a, Wide b) {
  const double s = a.high + b.high, t = s - a.high;
  const double e = (a.high - (s - t)) + (b.high - t) + (a.low + b.low);
  return {s + e, e - ((s + e) - s)};
}
inline Wide operator-(Wide a) { return {-a.high, -a.low}; }
inline Wide operator-(Wide a, Wide b) { return a + -b; }
inline Wide operator*(Wide a, Wide b) {
  const double p = a.high * b.high;
  const double e = std::fma(a.high, b.high, -p) + (a.high * b.low + a.low * b.high);
  return {p + e, e - ((p + e) - p)};
}

inline Wide operator/(Wide a, double b) {
  const double q = a.high / b;
  const Wide rest = a - Wide(q) * Wide(b);
  return Wide(q) + Wide(rest.high / b);
}

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
