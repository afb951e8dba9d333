// What heat and waves share.
#pragma once
#include <vector>

namespace ridge::stencil {

void check_spacing(const std::vector<double>& spacing);  // Error where an axis has none that makes sense
double inverse_squares(const std::vector<double>& spacing);

}  // namespace ridge::stencil
