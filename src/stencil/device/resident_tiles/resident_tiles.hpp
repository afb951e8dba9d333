// The pass of the variant resident_tiles, for its tests.
#pragma once
#include <memory>

#include "stencil/device/pass.hpp"
#include "stencil/device/resident_tiles/resident_tiles_kernel.hpp"

namespace ridge::stencil {

// Any number of steps in one launch; one launch per `depth` steps on devices without cooperative launches.
std::shared_ptr<const Pass> make_resident_pass(const Device& device, const ResidentKernel& kernel);

}  // namespace ridge::stencil
