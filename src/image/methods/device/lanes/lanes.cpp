// Variant `lanes`: separable filters of float images. All rows are loaded up front; horizontal neighbours come from
// other lanes by shuffles.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kLaneItems = 32, kMostLent = 4, kMostLaneTaps = 17;

struct LanesDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Product product = {};
  std::size_t rows_each = 8, sub_groups = 1, resident = 1;
  // Lanes that only provide neighbours.
  std::size_t left() const { return (product.across.size() / 2 * shape.channels + 3) / 4; }
  std::size_t right() const {
    return ((product.across.size() - 1 - product.across.size() / 2) * shape.channels + 3) / 4;
  }
  std::size_t own() const { return 4 * (kLaneItems - left() - right()); }
};

KernelSource lanes_source(const LanesDesign& design) {
  KernelSource source = vec4_source("image_lanes", design.shape, design.border, design.constant);
  source.text += float_table("down_weights", design.product.down) +
                 float_table("across_weights", design.product.across) + detail::kernel_text("image/operator_lanes");
  for (const auto& [name, value] :
       {std::pair{"DOWN", design.product.down.size()}, std::pair{"ACROSS", design.product.across.size()},
        std::pair{"ROWS_EACH", design.rows_each}, std::pair{"SUB_GROUPS", design.sub_groups},
        std::pair{"RESIDENT", design.resident}, std::pair{"STEP", design.product.step}})
    source.defines.emplace_back(name, std::to_string(value));
  return source;
}

Launch lanes_launch(const LanesDesign& design) {
  return {
      .groups = {groups_for(design.shape.columns * design.shape.channels, design.own()) *
                 groups_for(groups_for(design.shape.rows, design.product.step), design.rows_each * design.sub_groups)},
      .items = {kLaneItems * design.sub_groups}};
}

}  // namespace

void list_lanes(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  LanesDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  if (link.in.depth != Depth::f32 || link.operations.size() != 1 ||
      !product_of(link.operations.front(), Depth::f32, design.product))
    return;
  const std::size_t down = design.product.down.size(), across = design.product.across.size();
  std::string refusal;
  if (std::max(design.left(), design.right()) > kMostLent || down > kMostLaneTaps) {
    refusal =
        fmt::format("needs a window of at most {} rows and {} channels on either side, got {} rows and {} channels",
                    kMostLaneTaps, 4 * kMostLent, down, across / 2 * link.in.channels);
  } else if (device.limits().work_group < kLaneItems) {
    refusal = fmt::format("needs work-groups of 32 work-items, the device allows {}", device.limits().work_group);
  }
  const bool several = device.limits().sub_group == kLaneItems && device.limits().work_group >= 8 * kLaneItems;
  const double values = values_of(link.in);
  struct Way {
    std::size_t rows, sub_groups, resident;  // resident: groups per compute unit, as the registers allow
  };
  std::vector<Way> ways{{4, 1, 1}};
  if (several && design.product.step == 2) {
    ways = {{4, 8, 3}, {4, 4, 5}};
  } else if (several) {  // fastest first (H200)
    const Way low{8, 4, down < 7 ? 5U : 4U}, high{12, 8, 2}, many{8, 8, 2};
    ways = down > 12  ? std::vector<Way>{many, {12, 4, 3}}
           : down < 7 ? std::vector<Way>{low, high, many}
                      : std::vector<Way>{high, low, many};
  }
  for (const Way& way : ways) {
    design.rows_each = way.rows;
    design.sub_groups = way.sub_groups;
    design.resident = way.resident;
    StepPlan plan{.name = "lanes",
                  .parameters = {{"rows", std::to_string(way.rows)}, {"sub-groups", std::to_string(way.sub_groups)}},
                  .refusal = refusal};
    plan.cost = {.flops = 2 * values * static_cast<double>(down + across),
                 .bytes = 4 * (values + values_of(link.out)),
                 .launches = 1,
                 .efficiency = !several        ? 0.3
                               : down < 13     ? 0.95
                               : way.rows == 8 ? 0.91
                                               : 0.8};  // ranks behind `march` (0.9)
    plan.kernels = [design] { return std::vector<KernelSource>{lanes_source(design)}; };
    plan.build = [design](const Device& there) {
      return std::make_shared<const Vec4Step>(there.compile(lanes_source(design)).kernel("lanes"),
                                              lanes_launch(design));
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
