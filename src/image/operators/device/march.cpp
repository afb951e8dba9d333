// A column of weights times a row of them for floats, windows of a few pixels: rows come long before they are used.
#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/operators/device/fours.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kMarchItems = 128, kMarchStep = 4, kMostMarchDown = 17, kMostMarchFours = 6;

struct MarchDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Product product = {};
  int rows_each = 16;
  std::size_t batches = 2;
  std::size_t left = 0, right = 0;  // fours beside a work-item's own
  std::size_t local_bytes() const { return batches * kMarchStep * (kMarchItems + left + right) * 16; }
};

KernelSource march_source(const MarchDesign& design) {
  KernelSource source = fours_source("image_march", design.shape, design.border, design.constant);
  source.text += float_table("down_weights", design.product.down) +
                 float_table("across_weights", design.product.across) + detail::kernel_text("image/operator_march");
  for (const auto& [name, value] :
       {std::pair{"DOWN", design.product.down.size()}, std::pair{"ACROSS", design.product.across.size()},
        std::pair{"ROWS_EACH", static_cast<std::size_t>(design.rows_each)}, std::pair{"BATCHES", design.batches},
        std::pair{"LEFT", design.left}, std::pair{"RIGHT", design.right}})
    source.defines.emplace_back(name, std::to_string(value));
  return source;
}

Launch march_launch(const MarchDesign& design) {
  return {.groups = {groups_for(design.shape.columns * design.shape.channels, 4 * kMarchItems),
                     groups_for(design.shape.rows, static_cast<std::size_t>(design.rows_each))},
          .items = {kMarchItems}};
}

}  // namespace

void list_march(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  MarchDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  if (link.in.depth != Depth::f32 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), Depth::f32, design.product) || design.product.step != 1)
    return;
  const std::size_t down = design.product.down.size(), across = design.product.across.size();
  design.left = (across / 2 * link.in.channels + 3) / 4;
  design.right = ((across - 1 - across / 2) * link.in.channels + 3) / 4;
  const double values = static_cast<double>(link.in.rows * link.in.columns * link.in.channels);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  for (const int rows_each : {16, 32, 128}) {
    design.rows_each = rows_each;
    design.batches = rows_each == 16 ? 2 : rows_each == 32 ? 3 : 4;
    const Launch launch = march_launch(design);
    if (rows_each == 128 && launch.groups[0] * launch.groups[1] < 8 * device.limits().compute_units)
      continue;  // too few groups
    StepPlan plan{.name = "march", .parameters = {{"rows", std::to_string(rows_each)}}};
    if (down > kMostMarchDown || design.left + design.right > kMostMarchFours) {
      plan.refusal = fmt::format("{} rows and {} channels to either side fit the registers at most", kMostMarchDown,
                                 2 * kMostMarchFours);
    } else if (device.limits().local_memory < design.local_bytes()) {
      plan.refusal = fmt::format("needs {} KiB of local memory", design.local_bytes() / 1024);
    } else if (device.limits().work_group < kMarchItems) {
      plan.refusal = fmt::format("needs {} work-items a group", kMarchItems);
    }
    const double again = (static_cast<double>(down) - 1) / rows_each;
    plan.cost = {.flops = 2 * values * (static_cast<double>(down) + (1 + again) * static_cast<double>(across)),
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = 0.9};
    plan.kernels = [design] { return std::vector<KernelSource>{march_source(design)}; };
    plan.build = [design, launch](const Device& there) {
      return std::make_shared<const FoursStep>(there.compile(march_source(design)).kernel("march"), launch);
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
