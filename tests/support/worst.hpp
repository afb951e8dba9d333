// The largest of many errors, where one that is no number is the largest and stays: std::max and `if (e > worst)` let
// it pass, and `if (!(e <= worst))` forgets it at the next number.
#pragma once
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>

namespace ridge::test {

inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

class Worst {
 public:
  void add(double error) { value_ = worse(value_, error); }
  double value() const { return value_; }  // a NaN fails EXPECT_LE, EXPECT_LT and EXPECT_NEAR

 private:
  double value_ = 0;
};

// The largest distance between two sequences, real or complex; infinite where one is shorter than the other.
template <class A, class B>
double largest_difference(const A& a, const B& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  Worst worst;
  for (std::size_t i = 0; i < a.size(); ++i) worst.add(static_cast<double>(std::abs(a[i] - b[i])));
  return worst.value();
}

}  // namespace ridge::test
