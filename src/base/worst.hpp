// The largest of many errors, with NaN larger than any number. std::max and `if (e > worst)` ignore a NaN, and `if (!(e
// <= worst))` forgets it at the next number (tests/scripts/nan_rule.py finds these).
#pragma once
#include <cmath>

namespace ridge::base {

inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

class Worst {
 public:
  // Returns true if this error is the largest so far.
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
