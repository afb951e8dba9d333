// The larger of two errors, where one that is no number is the largest: std::max would let it pass.
#pragma once
#include <cmath>

namespace ridge::test {

inline double worse(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

}  // namespace ridge::test
