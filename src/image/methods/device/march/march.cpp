// Variant `march`: separable filters and small windows of float images. Groups walk down strips and prefetch rows into
// local memory.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr std::size_t kMarchItems = 128, kMarchStep = 4;
constexpr std::size_t kMostInRegisters = 51;  // rows in progress plus vec4s beside a work-item's own
constexpr std::size_t kMostLow = 17;
constexpr std::size_t kMostWeights = 81;  // of a window that is not separable: all are unrolled

struct MarchDesign {
  Shape shape = {};
  Border border = Border::reflect_101;
  double constant = 0;
  Product product = {};
  std::vector<double> weights = {};  // if the window is not separable
  std::size_t down = 0, across = 0;
  int rows_each = 16;
  std::size_t batches = 2;
  std::size_t left = 0, right = 0;  // vec4s beside a work-item's own
  std::size_t local_bytes() const { return batches * kMarchStep * (kMarchItems + left + right) * 16; }
};

KernelSource march_source(const MarchDesign& design) {
  KernelSource source = vec4_source("image_march", design.shape, design.border, design.constant);
  source.text += design.weights.empty() ? float_table("down_weights", design.product.down) +
                                              float_table("across_weights", design.product.across)
                                        : float_table("weights", design.weights);
  source.text += detail::kernel_text("image/operator_march");
  if (!design.weights.empty()) source.defines.emplace_back("ANY_WEIGHTS", "1");
  for (const auto& [name, value] :
       {std::pair{"DOWN", design.down}, std::pair{"ACROSS", design.across},
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

// Rows per group that give all compute units the same number of groups, resident at once if possible: up to four groups
// per unit as registers allow, and more if strips would exceed `most` rows.
int filling_rows(const Device& device, const MarchDesign& design, std::size_t most) {
  const std::size_t registers = 4 * (design.down + design.left + design.right) + 8;
  const std::size_t units = std::max<std::size_t>(device.limits().compute_units, 1);
  const std::size_t strips = groups_for(design.shape.columns * design.shape.channels, 4 * kMarchItems);
  for (std::size_t each = std::clamp<std::size_t>(65536 / (kMarchItems * registers), 1, 4);; ++each) {
    const std::size_t parts = std::max<std::size_t>(units * each / strips, 1);
    const std::size_t rows = groups_for(design.shape.rows, parts);
    if (rows <= most) return static_cast<int>(rows);
  }
}

}  // namespace

void list_march(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  MarchDesign design{.shape = link.in, .border = chain.border, .constant = chain.constant};
  if (link.in.depth != Depth::f32 || link.operations.size() != 1) return;
  const Operation& operation = link.operations.front();
  if (product_of(operation, Depth::f32, design.product)) {
    if (design.product.step != 1) return;
    design.down = design.product.down.size();
    design.across = design.product.across.size();
  } else {
    const auto* kernel = std::get_if<Convolve>(&operation);
    if (kernel == nullptr) return;
    design.down = kernel->rows;
    design.across = kernel->columns;
    design.weights.assign(kernel->kernel.begin(), kernel->kernel.end());
  }
  const std::size_t down = design.down, across = design.across;
  design.left = (across / 2 * link.in.channels + 3) / 4;
  design.right = ((across - 1 - across / 2) * link.in.channels + 3) / 4;
  const double values = values_of(link.in);
  const double bytes = 2 * static_cast<double>(link.in.rows * link.in.row_bytes());
  // Windows of many rows need taller strips, because each strip reads the rows around it again.
  const bool high = down > kMostLow;
  for (const int rows : {0, high ? 256 : 32, 128}) {
    design.rows_each = rows == 0 ? filling_rows(device, design, high ? 256 : 64) : rows;
    design.batches = design.rows_each < 32 ? 2 : design.rows_each < 128 ? 3 : 4;
    const Launch launch = march_launch(design);
    if (rows >= 128 && launch.groups[0] * launch.groups[1] < 8 * device.limits().compute_units)
      continue;  // too few groups to fill the device
    StepPlan plan{.name = "march", .parameters = {{"rows", rows == 0 ? "fill" : std::to_string(rows)}}};
    if (down + design.left + design.right > kMostInRegisters) {
      plan.refusal = fmt::format("registers hold at most {} rows and vec4s of channels beside a work-item, got {}",
                                 kMostInRegisters, down + design.left + design.right);
    } else if (design.weights.size() > kMostWeights) {
      plan.refusal = fmt::format("needs at most {} weights, got {}", kMostWeights, design.weights.size());
    } else if (device.limits().local_memory < design.local_bytes()) {
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}", design.local_bytes() / 1024,
                                 device.limits().local_memory / 1024);
    } else if (device.limits().work_group < kMarchItems) {
      plan.refusal = fmt::format("needs work-groups of {} work-items, the device allows {}", kMarchItems,
                                 device.limits().work_group);
    }
    const double again = (static_cast<double>(down) - 1) / design.rows_each;
    const std::size_t products = design.weights.empty() ? down + across : down * across;
    plan.cost = {.flops = 2 * values * (1 + again) * static_cast<double>(products),
                 .bytes = bytes / 2 * (1 + 0.15 * again) + bytes / 2,
                 .launches = 1,
                 .efficiency = 0.9};
    plan.kernels = [design] { return std::vector<KernelSource>{march_source(design)}; };
    plan.build = [design, launch](const Device& there) {
      return std::make_shared<const Vec4Step>(there.compile(march_source(design)).kernel("march"), launch);
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
