// Second derivatives shared by the heat and wave equations.
#pragma once
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace ridge::stencil {

void check_spacing(const std::vector<double>& spacing);  // throws Error if an axis has no valid spacing
double inverse_squares(const std::vector<double>& spacing);
// Central second derivative: the centre's weight, then those at distance 1, 2, ... Accuracy 2, 4, 6 or 8; Error
// otherwise.
const std::array<double, 5>& second_difference(int accuracy);
// Central first derivative: weights[k] (u(k) - u(-k)), of the same order; weights[0] is 0.
const std::array<double, 5>& first_difference(int accuracy);

// Weight of a neighbour in an update of T cells, rounded to a multiple of the last bit of the centre's weight (`most`:
// 1 or 2, the sum of all weights), so that the centre's weight makes the sum exact. A grid of equal values must not
// drift; it does by 2e-8 per step if weights are rounded one by one. Very small steps are left unchanged, because
// rounding would change them by more.
template <class T>
double grained(double weight, double largest, double most) {
  const double grain = most * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  return largest < 4096 * grain ? weight : grain * std::nearbyint(weight / grain);
}

}  // namespace ridge::stencil
