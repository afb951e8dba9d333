// Base of the device variants: one kernel, one launch, and staged copies of host memory to and from the device.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "device/staging.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose {

// Most work-groups of a launch. The grid is flattened to one dimension: CUDA allows only 65535 groups along the others.
inline constexpr std::uint64_t kMostGroups = 0x7fffffff;

// Unsigned type of the kernel dialect with this many bytes.
std::string unit_type(std::size_t bytes);

// Runs one kernel. Its first arguments are the input and the output, or the data alone if it works in place; the rest
// are `scalars`.
class DeviceVariant final : public Variant {
 public:
  DeviceVariant(const Device& device, const Layout& layout, const KernelSource& source, const Launch& launch,
                std::vector<Argument> scalars);
  void run(const std::byte* in, std::byte* out) const override;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const override;

 private:
  Layout layout_;
  Kernel kernel_;
  Launch launch_;
  std::vector<Argument> scalars_;
  Staging staging_;
};

planner::Cost device_cost(const Layout& layout, double efficiency);

}  // namespace ridge::transpose
