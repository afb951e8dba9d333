// What heat and waves share.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace ridge::stencil {

void check_spacing(const std::vector<double>& spacing);  // Error where an axis has none that makes sense
double inverse_squares(const std::vector<double>& spacing);
// The central second derivative: the centre's weight, then those at distance 1, 2, ... Error but for 2, 4, 6 and 8.
const std::array<double, 5>& second_difference(int accuracy);

// The weight of a neighbour in an update of T cells, a multiple of what the last bit of the centre's is worth (`most`:
// 1 or 2, what all weights add up to), so that the centre's makes the sum exact: a grid of equal values must not drift,
// and does by 2e-8 a step where weights are rounded one by one. Very small steps are left as they are: they would
// change by more.
template <class T>
double grained(double weight, double largest, double most) {
  const double grain = most * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  return largest < 4096 * grain ? weight : grain * std::nearbyint(weight / grain);
}

}  // namespace ridge::stencil
