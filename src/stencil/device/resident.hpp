// Number of work-groups of a kernel that run concurrently on a device.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::stencil {

// Limited by registers on NVIDIA devices: the register file has four parts, and a warp's registers are allocated in
// units of 256. If the back end does not report the kernel's registers, `guess` is used; without either, four groups
// per compute unit.
std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes = 0,
                            std::size_t guess = 0);

}  // namespace ridge::stencil
