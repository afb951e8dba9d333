// Divisors of sizes.
#pragma once
#include <cmath>
#include <cstddef>

namespace ridge::base {

// The largest divisor of n that is at most its square root: divides n points into rows and columns.
inline std::size_t balanced_divisor(std::size_t n) {
  // The double may be rounded, so the comparison in integers decides.
  for (auto d = static_cast<std::size_t>(std::sqrt(static_cast<double>(n))) + 1; d > 1; --d) {
    if (n % d == 0 && d <= n / d) return d;
  }
  return 1;
}

}  // namespace ridge::base
