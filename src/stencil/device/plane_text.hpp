#pragma once
#include <string>

#include "stencil/device/plane_kernel.hpp"

namespace ridge::stencil {

std::string plane_text(const PlaneKernel& kernel);

}  // namespace ridge::stencil
