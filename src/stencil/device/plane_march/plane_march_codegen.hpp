// Kernel text of plane_march.
#pragma once
#include <string>

#include "stencil/device/plane_march/plane_march_kernel.hpp"

namespace ridge::stencil {

std::string plane_march_text(const PlaneMarchKernel& kernel);

}  // namespace ridge::stencil
