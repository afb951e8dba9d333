// One element per work-item: neighbouring work-items read contiguous elements and write one output row apart. Accepts
// any strides, so at least one variant always runs.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "transpose/device/device_variant.hpp"

namespace ridge::transpose {
namespace {

struct Group {
  std::size_t down, across;
};

Group group_shape(const Limits& limits) {
  const std::size_t across = std::min<std::size_t>({32, limits.work_group, limits.work_group_sides[0]});
  return {.down = std::min<std::size_t>({8, limits.work_group / across, limits.work_group_sides[1]}), .across = across};
}

std::uint64_t groups_along(std::size_t count, std::size_t group) { return count / group + (count % group != 0); }

std::string refusal(const Layout& layout, std::uint64_t groups_down, std::uint64_t groups_across) {
  if (std::max(layout.rows, layout.columns) > kMostGroups)
    return fmt::format("needs fewer than 2^31 rows and columns, got {} x {}", layout.rows, layout.columns);
  if (groups_down * groups_across > kMostGroups / layout.batch) {
    return fmt::format("needs more than {} work-groups, the limit of one launch", kMostGroups);
  }
  return {};
}

}  // namespace

void list_device_naive(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const Group group = group_shape(device.limits());
  const std::uint64_t down = groups_along(layout.rows, group.down), across = groups_along(layout.columns, group.across);
  const KernelSource source{.name = "transpose naive",
                            .text = ridge::detail::kernel_text("transpose/naive"),
                            .defines = {{"ELEMENT", unit_type(layout.element_bytes)},
                                        {"ITEMS_DOWN", std::to_string(group.down)},
                                        {"ITEMS_ACROSS", std::to_string(group.across)},
                                        {"IN_PLACE", layout.in_place ? "1" : "0"}}};
  entries.push_back(
      {.candidate = planner::Candidate{.variant = "naive",
                                       .parameters = {{"items", fmt::format("{}x{}", group.down, group.across)}},
                                       .refusal = refusal(layout, down, across),
                                       .cost = device_cost(layout, 0.3)},
       .kernels = [source] { return std::vector{source}; },
       .build =
           [=] {
             std::vector<Argument> scalars;
             for (const std::size_t count : {layout.rows, layout.columns}) {
               scalars.emplace_back(static_cast<std::uint32_t>(count));
             }
             for (const std::uint64_t stride : {layout.input.row, layout.input.column, layout.input.batch,
                                                layout.output.row, layout.output.column, layout.output.batch}) {
               scalars.emplace_back(stride);
             }
             for (const std::uint64_t count : {down, across}) scalars.emplace_back(static_cast<std::uint32_t>(count));
             const Launch launch{.groups = {down * across * layout.batch, 1, 1},
                                 .items = {group.across, group.down, 1}};
             return std::make_shared<DeviceVariant>(device, layout, source, launch, std::move(scalars));
           }});
}

}  // namespace ridge::transpose
