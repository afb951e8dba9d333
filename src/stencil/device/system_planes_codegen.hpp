// The text of the kernel that marches through planes of a system.
#pragma once
#include <string>

#include "stencil/device/system_planes_kernel.hpp"

namespace ridge::stencil {

std::string system_planes_text(const SystemPlanesKernel& kernel);

}  // namespace ridge::stencil
