// Double-double numbers (about 106 bits), for tables exact to the last bit of double and for references.
#pragma once
#include <cmath>

namespace ridge::base {

// An unevaluated sum of two doubles, with the arithmetic that roots of unity and a transform need.
struct DoubleDouble {
  double high = 0, low = 0;
  DoubleDouble() = default;
  DoubleDouble(double value) : high(value) {}
  DoubleDouble(double h, double l) : high(h), low(l) {}
  static DoubleDouble from(long double value) {
    const double h = static_cast<double>(value);
    return {h, static_cast<double>(value - static_cast<long double>(h))};
  }
  explicit operator double() const { return high + low; }
};

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const double s = a.high + b.high, t = s - a.high;
  const double e = (a.high - (s - t)) + (b.high - t) + (a.low + b.low);
  return {s + e, e - ((s + e) - s)};
}
inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const double p = a.high * b.high;
  const double e = std::fma(a.high, b.high, -p) + (a.high * b.low + a.low * b.high);
  return {p + e, e - ((p + e) - p)};
}

inline DoubleDouble operator/(DoubleDouble a, double b) {
  const double q = a.high / b;
  const DoubleDouble rest = a - DoubleDouble(q) * DoubleDouble(b);
  return DoubleDouble(q) + DoubleDouble(rest.high / b);
}

}  // namespace ridge::base
