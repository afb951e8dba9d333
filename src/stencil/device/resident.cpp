// Occupancy of a kernel on a device.
#include "stencil/device/resident.hpp"

#include <algorithm>

namespace ridge::stencil {

std::size_t resident_groups(const Device& device, const Kernel& kernel, std::size_t items, std::size_t local_bytes,
                            std::size_t guess) {
  const Limits& limits = device.limits();
  const std::size_t registers = kernel.registers() > 0 ? kernel.registers() : guess;
  if (registers == 0 || limits.registers == 0 || limits.sub_group == 0) return 4 * limits.compute_units;
  const std::size_t quarter = limits.registers / 4;
  const std::size_t warp_registers = (registers * limits.sub_group + 255) / 256 * 256;
  const std::size_t warps = 4 * (quarter / warp_registers);
  const std::size_t group_warps = (items + limits.sub_group - 1) / limits.sub_group;
  std::size_t groups = warps / group_warps;
  if (limits.items_per_unit > 0) groups = std::min(groups, limits.items_per_unit / items);
  // OpenCL reports the limit of one group, not the capacity of a compute unit.
  if (local_bytes > 0 && kernel.registers() > 0) groups = std::min(groups, limits.local_memory / local_bytes);
  return std::max<std::size_t>(1, groups) * limits.compute_units;
}

}  // namespace ridge::stencil
