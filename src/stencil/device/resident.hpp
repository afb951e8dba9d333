// How many work-groups of a kernel run at once on a device.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::stencil {

// Where registers decide, as on NVIDIA's devices: their file is cut into four, a warp's registers come in units of 256.
// Where the back end does not tell the kernel's registers, `guess` of them; without either, four groups a compute unit.
std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes = 0,
                            std::size_t guess = 0);

}  // namespace ridge::stencil
