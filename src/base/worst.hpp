// The largest of many errors, where one that is no number is the largest and stays: std::max and `if (e > worst)` let
// it pass, and `if (!(e <= worst))` forgets it at the next number (tests/scripts/nan_rule.py looks for these).
#pragma once
#include <cmath>

namespace ridge::base {

inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

class Worst {
 public:
  // Whether this one is the worst so far.
  bool add(double error) {
    if (std::isnan(value_) || error <= value_) return false;
    value_ = error;
    return true;
  }
  double value() const {
    return value_;
  }  // a NaN fails EXPECT_LE, EXPECT_LT and EXPECT_NEAR, and !(value <= bound) is true

 private:
  double value_ = 0;
};

}  // namespace ridge::base
