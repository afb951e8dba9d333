// Variant `stream`: separable filters in one launch; column sums pass through local memory.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr int kStreamItems = 128;
constexpr std::size_t kMostDown = 33;  // the loop is unrolled
constexpr int kMostBlocks = 16;        // vec4s on either side, in registers

struct StreamDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Product product = {};
  int rows_each = 8, left = 0, right = 0;
};

KernelSource stream_source(const StreamDesign& design) {
  KernelSource source = vec4_source("image_stream", design.shape, design.border, design.constant);
  source.text += float_table("down_weights", design.product.down) +
                 float_table("across_weights", design.product.across) + detail::kernel_text("image/operator_stream");
  for (const auto& [name, value] :
       {std::pair{"DOWN", static_cast<int>(design.product.down.size())},
        std::pair{"ACROSS", static_cast<int>(design.product.across.size())}, std::pair{"ROWS_EACH", design.rows_each},
        std::pair{"LEFT", design.left}, std::pair{"RIGHT", design.right}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  return source;
}

Launch stream_launch(const StreamDesign& design) {
  const std::size_t vec4s = (design.shape.columns * design.shape.channels + 3) / 4;
  return {.groups = {groups_for(vec4s, static_cast<std::size_t>(kStreamItems - design.left - design.right)),
                     groups_for(design.shape.rows, static_cast<std::size_t>(design.rows_each))},
          .items = {kStreamItems}};
}

}  // namespace

void list_stream(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  StreamDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  if (link.operations.size() != 1 || !product_of(link.operations.front(), link.in.depth, design.product) ||
      design.product.step != 1)
    return;
  const std::size_t down = design.product.down.size(), across = design.product.across.size();
  const auto blocks = [&](std::size_t taps) { return static_cast<int>((taps * link.in.channels + 3) / 4); };
  design.left = blocks(across / 2);
  design.right = blocks(across - 1 - across / 2);
  const double values = values_of(link.in);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  for (const int rows_each : {8, 16}) {
    design.rows_each = rows_each;
    StepPlan plan{.name = "stream", .parameters = {{"rows", std::to_string(rows_each)}}};
    if (down > kMostDown || design.left > kMostBlocks || design.right > kMostBlocks) {
      plan.refusal =
          fmt::format("needs a window of at most {} rows and {} channels on either side, got {} rows and {} channels",
                      kMostDown, 4 * kMostBlocks, down, across / 2 * link.in.channels);
    } else if (device.limits().local_memory < static_cast<std::size_t>(rows_each) * kStreamItems * 16) {
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}",
                                 rows_each * kStreamItems * 16 / 1024, device.limits().local_memory / 1024);
    }
    const double again = 1 + (static_cast<double>(down) - 1) / rows_each;
    plan.cost = {.flops = 2 * values * static_cast<double>(down + across),
                 .bytes = bytes / 2 * (1 + 0.15 * (again - 1)) + bytes / 2,
                 .launches = 1,
                 .efficiency = 0.8};
    plan.kernels = [design] { return std::vector<KernelSource>{stream_source(design)}; };
    plan.build = [design](const Device& there) {
      return std::make_shared<const Vec4Step>(there.compile(stream_source(design)).kernel("stream"),
                                              stream_launch(design));
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
