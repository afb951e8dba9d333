// What heat and waves share.
#pragma once
#include <array>
#include <vector>

namespace ridge::stencil {

void check_spacing(const std::vector<double>& spacing);  // Error where an axis has none that makes sense
double inverse_squares(const std::vector<double>& spacing);
// The central second derivative: the centre's weight, then those at distance 1, 2, ... Error but for 2, 4, 6 and 8.
const std::array<double, 5>& second_difference(int accuracy);

}  // namespace ridge::stencil
