// Kernel text of system_planes.
#pragma once
#include <string>

#include "stencil/device/system_planes/system_planes_kernel.hpp"

namespace ridge::stencil {

std::string system_planes_text(const SystemPlanesKernel& kernel);

}  // namespace ridge::stencil
