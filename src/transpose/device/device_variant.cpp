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
    : device_(device),
      layout_(layout),
      kernel_(device.compile(source).kernel("corner_turn")),
      launch_(launch),
      scalars_(std::move(scalars)) {}

void DeviceVariant::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  std::vector<Argument> arguments;
  arguments.reserve(scalars_.size() + 2);
  arguments.emplace_back(in);
  if (!layout_.in_place) arguments.emplace_back(out);
  arguments.insert(arguments.end(), scalars_.begin(), scalars_.end());
  queue.launch(kernel_, launch_, arguments);
}

void DeviceVariant::run(const std::byte* in, std::byte* out) const {
  std::lock_guard lock(scratch_.mutex);
  if (!scratch_.queue) {
    scratch_.in = device_.buffer(layout_.input_bytes(), {.name = "transpose input"});
    scratch_.out =
        layout_.in_place ? scratch_.in : device_.buffer(layout_.output_bytes(), {.name = "transpose output"});
    scratch_.queue = device_.queue();
  }
  Queue& queue = *scratch_.queue;
  queue.upload(in, scratch_.in, layout_.input_bytes());
  // What lies between the rows is the caller's and comes back as it was.
  if (!layout_.in_place && layout_.output_has_gaps()) queue.upload(out, scratch_.out, layout_.output_bytes());
  enqueue(queue, scratch_.in, scratch_.out);
  queue.download(scratch_.out, out, layout_.output_bytes());
  queue.finish();
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
