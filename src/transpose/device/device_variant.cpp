// Launches a transpose kernel, on device buffers or through staging for host memory.
#include "transpose/device/device_variant.hpp"

#include <utility>

namespace ridge::transpose {

std::string unit_type(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    case 8:
      return "uint2";
    default:
      return "uint4";
  }
}

DeviceVariant::DeviceVariant(const Device& device, const Layout& layout, const KernelSource& source,
                             const Launch& launch, std::vector<Argument> scalars)
    : layout_(layout),
      kernel_(device.compile(source).kernel("corner_turn")),
      launch_(launch),
      scalars_(std::move(scalars)),
      staging_(device, "transpose") {}

void DeviceVariant::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  std::vector<Argument> arguments;
  arguments.reserve(scalars_.size() + 2);
  arguments.emplace_back(in);
  if (!layout_.in_place) arguments.emplace_back(out);
  arguments.insert(arguments.end(), scalars_.begin(), scalars_.end());
  queue.launch(kernel_, launch_, arguments);
}

void DeviceVariant::run(const std::byte* in, std::byte* out) const {
  staging_.run({.in = in,
                .in_bytes = layout_.input_bytes(),
                .out = out,
                .out_bytes = layout_.output_bytes(),
                .in_place = layout_.in_place,
                .output_first = layout_.output_has_gaps()},
               [this](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, from, to); });
}

planner::Cost device_cost(const Layout& layout, double efficiency) {
  return {.flops = 0,
          .bytes = 2.0 * static_cast<double>(layout.elements()) * static_cast<double>(layout.element_bytes),
          .launches = 1,
          .efficiency = efficiency,
          .float64 = false,
          .threads = 0};
}

}  // namespace ridge::transpose
