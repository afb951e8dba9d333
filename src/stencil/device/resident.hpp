// How many work-groups of a kernel run at once on a device.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::stencil {

// Where registers decide, as on NVIDIA's devices: their file is cut into four, a warp's registers come in units of 256.
// Elsewhere a guess of four groups a compute unit.
std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes = 0);

}  // namespace ridge::stencil
