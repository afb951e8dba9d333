// Variant `enlarge`: enlarging float images. Input rows are prefetched, and each row's horizontal interpolation is
// reused for all output rows that need it.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kEnlargeItems = 128;
constexpr int kMostEnlargeTaps = 4;

struct EnlargeDesign {
  Shape in = {}, out = {};
  AxisTaps down = {}, across = {};
  std::size_t values = 4, step = 4, rows_each = 64;
  std::size_t line = 0;  // floats of a row that a group reads
  std::size_t own() const { return values * kEnlargeItems; }
  std::size_t wide() const { return out.columns * out.channels; }
  std::size_t local_bytes() const {
    return 4 * (2 * step * line + rows_each * (static_cast<std::size_t>(down.taps) + 1) + 1);
  }
};

std::size_t line_of(const EnlargeDesign& design) {
  const auto channels = static_cast<int>(design.out.channels);
  int most = 0;
  for (std::size_t left = 0; left < design.wide(); left += design.own()) {
    const std::size_t last = std::min(left + design.own(), design.wide()) - 1;
    const int origin = design.across.from[left / design.out.channels] * channels & ~3;
    most = std::max(most, (design.across.from[last / design.out.channels] + design.across.taps) * channels - origin);
  }
  return static_cast<std::size_t>(most + 3) / 4 * 4;
}

KernelSource enlarge_source(const EnlargeDesign& design) {
  KernelSource source = vec4_source("image_enlarge", design.in, Border::replicate, 0);
  source.text += detail::kernel_text("image/operator_enlarge");
  for (const auto& [name, value] :
       {std::pair{"DOWN", static_cast<std::size_t>(design.down.taps)},
        std::pair{"ACROSS", static_cast<std::size_t>(design.across.taps)}, std::pair{"VALUES", design.values},
        std::pair{"STEP", design.step}, std::pair{"ROWS_EACH", design.rows_each}, std::pair{"LINE", design.line}})
    source.defines.emplace_back(name, std::to_string(value));
  return source;
}

class EnlargeStep final : public TableStep {
 public:
  EnlargeStep(const Device& device, const EnlargeDesign& design)
      : TableStep(device.compile(enlarge_source(design)).kernel("enlarge")) {
    launch_ = {.groups = {groups_for(design.wide(), design.own()), groups_for(design.out.rows, design.rows_each)},
               .items = {kEnlargeItems}};
    Queue queue = device.queue();
    tables_ = {uploaded(device, queue, design.down.from, "row places"),
               uploaded(device, queue, design.down.weights, "row weights"),
               uploaded(device, queue, design.across.from, "column places"),
               uploaded(device, queue, design.across.weights, "column weights")};
    queue.finish();
  }

 private:
  std::vector<std::size_t> numbers(const Image& in, const Image& out) const override {
    return {in.rows(), in.columns(), out.rows(), out.columns() * out.channels(), aligned_for_vec4(in) ? 1U : 0U};
  }
};

}  // namespace

void list_enlarge(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  ResizeAxisTaps axes;
  if (link.in.depth != Depth::f32 || link.out.rows < link.in.rows || link.out.columns < link.in.columns ||
      !axis_taps_of_resize(chain, link, axes))
    return;
  EnlargeDesign design{.in = link.in, .out = link.out, .down = axes.down, .across = axes.across};
  if (design.across.taps > kMostEnlargeTaps || design.down.taps > kMostEnlargeTaps) return;
  fold_ends(design.down, link.in.rows, Border::replicate, 0);
  fold_ends(design.across, link.in.columns, Border::replicate, 0);
  const double in_values = values_of(link.in), out_values = values_of(link.out);
  struct Way {
    std::size_t values, step, rows;
  };
  for (const Way& way : {Way{4, 4, 64}, Way{8, 4, 64}, Way{4, 8, 64}}) {
    design.values = way.values;
    design.step = way.step;
    design.rows_each = way.rows;
    design.line = line_of(design);
    StepPlan plan{.name = "enlarge",
                  .parameters = {{"values", std::to_string(way.values)}, {"step", std::to_string(way.step)}}};
    if (device.limits().local_memory < design.local_bytes()) {
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}", design.local_bytes() / 1024,
                                 device.limits().local_memory / 1024);
    } else if (device.limits().work_group < kEnlargeItems) {
      plan.refusal = fmt::format("needs work-groups of {} work-items, the device allows {}", kEnlargeItems,
                                 device.limits().work_group);
    }
    const double again = out_values * static_cast<double>(link.in.rows) / static_cast<double>(link.out.rows);
    plan.cost = {.flops = 2 * (out_values * design.down.taps + again * design.across.taps),
                 .bytes = 4 * (in_values + out_values),
                 .launches = 1,
                 .efficiency = 0.85};
    plan.kernels = [design] { return std::vector<KernelSource>{enlarge_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const EnlargeStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
