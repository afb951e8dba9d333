// Largest coordinates that plans accept, and the error for others.
#pragma once
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "nufft/variant.hpp"

namespace ridge::nufft {

// Coordinates beyond 2^12 (float) or 2^40 (double) periods are refused: neighbouring numbers are more than about 1e-3
// radians apart there. Without folding, those outside [-pi, pi].
template <class T>
T farthest(bool fold) {
  if (!fold) return std::numbers::pi_v<T>;
  return static_cast<T>(2 * std::numbers::pi * (sizeof(T) == 8 ? 1099511627776.0 : 4096.0));
}

template <class T>
[[noreturn]] void refuse_coordinate(std::size_t axis, std::size_t j, T value, T most) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("nufft: set_points() needs finite coordinates of at most {:.3g} radians, got {}[{}] = {}: "
                          "remove the point or fold it into one period",
                          most, "xyz"[axis], j, value));
}

// Throws for the first coordinate that is NaN or farther than `most`.
template <class T>
void refuse_point(const Coordinates<T>& points, std::size_t axes, T most) {
  for (std::size_t j = 0; j < points.count; ++j) {
    for (std::size_t i = 0; i < axes; ++i) {
      if (!(std::abs(points.axis[i][j]) <= most)) refuse_coordinate(i, j, points.axis[i][j], most);
    }
  }
}

}  // namespace ridge::nufft
