// Variant `lines`: resizing, pyramids and separable filters by tables of source positions and weights.
#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "image/methods/device/stages.hpp"
#include "image/methods/device/vec4.hpp"

namespace ridge::image::on_device {
namespace {

constexpr int kLineItems = 128, kValues = 4 * kLineItems;

struct LinesDesign {
  Shape in = {}, out = {};
  Border border = Border::replicate;
  double constant = 0;
  AxisTaps down = {}, across = {};
  int rows_each = 8, out_columns = 0;
  bool means = false;  // output values are means of the image's values (the weights' sum is 1)
};

// Table of positions and weights of a filter with a constant step.
AxisTaps tabled(const AxisTaps& axis_taps, const std::vector<double>& weights, std::size_t places) {
  if (!axis_taps.from.empty()) return axis_taps;
  AxisTaps made;
  made.taps = static_cast<int>(weights.size());
  for (std::size_t i = 0; i < places; ++i) {
    made.from.push_back(axis_taps.step * static_cast<int>(i) - axis_taps.before);
    made.weights.insert(made.weights.end(), weights.begin(), weights.end());
  }
  return made;
}

// Most output columns whose input, from an aligned position on, fits the group's vec4s.
int columns_that_fit(const AxisTaps& across, std::size_t channels) {
  const int room = kValues / static_cast<int>(channels) - 4;
  int low = 0, high = kValues / static_cast<int>(channels);
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (across.input(middle) <= room) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

KernelSource lines_source(const LinesDesign& design) {
  KernelSource source = vec4_source("image_lines", design.in, design.border, design.constant);
  source.text += detail::kernel_text("image/operator_lines");
  for (const auto& [name, value] :
       {std::pair{"DOWN", design.down.taps}, std::pair{"ACROSS", design.across.taps},
        std::pair{"ROWS_EACH", design.rows_each}, std::pair{"OUT_COLUMNS", design.out_columns}}) {
    source.defines.emplace_back(name, std::to_string(value));
  }
  const auto negative = [](float weight) { return weight < 0; };
  const bool means = design.means && std::none_of(design.down.weights.begin(), design.down.weights.end(), negative) &&
                     std::none_of(design.across.weights.begin(), design.across.weights.end(), negative);
  if (means) source.defines.emplace_back("NEVER_BEYOND", "1");
  return source;
}

class LinesStep final : public TableStep {
 public:
  LinesStep(const Device& device, const LinesDesign& design)
      : TableStep(device.compile(lines_source(design)).kernel("lines")) {
    Queue queue = device.queue();
    tables_ = {uploaded(device, queue, design.down.from, "row places"),
               uploaded(device, queue, design.down.weights, "row weights"),
               uploaded(device, queue, design.across.from, "column places"),
               uploaded(device, queue, design.across.weights, "column weights")};
    queue.finish();
    launch_ = {.groups = {groups_for(design.out.columns, static_cast<std::size_t>(design.out_columns)),
                          groups_for(design.out.rows, static_cast<std::size_t>(design.rows_each))},
               .items = {kLineItems}};
  }

 private:
  std::vector<std::size_t> numbers(const Image& in, const Image& out) const override {
    return {in.rows(), in.columns(), out.rows(), out.columns(), aligned_for_vec4(in) ? 1U : 0U};
  }
};

}  // namespace

void list_lines(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.operations.size() != 1) return;
  const Operation& operation = link.operations.front();
  Product product;
  const bool resize = std::holds_alternative<Resize>(operation);
  if (!resize && !product_of(operation, link.in.depth, product)) return;
  std::vector<TileStage> stages;
  Shape shape = link.in;
  add_stages(operation, chain, shape, stages);
  LinesDesign design{.in = link.in,
                     .out = link.out,
                     .border = resize ? Border::replicate : chain.border,
                     .constant = chain.constant,
                     .down = tabled(stages[0].down, product.down, link.out.rows),
                     .across = tabled(stages[1].across, product.across, link.out.columns),
                     .means = resize || (product.step == 2 && chain.border != Border::constant)};
  fold_ends(design.down, link.in.rows, design.border, chain.constant);
  fold_ends(design.across, link.in.columns, design.border, chain.constant);
  design.out_columns = columns_that_fit(design.across, link.in.channels);
  // If the image is enlarged, whole rounds of the group's work-items.
  const int round = kLineItems / static_cast<int>(link.in.channels);
  if (design.out_columns > 3 * round) design.out_columns -= design.out_columns % round;
  const double in_values = values_of(link.in), out_values = values_of(link.out);
  const double bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes());
  for (const int rows_each : {8, 4, 16}) {
    design.rows_each = rows_each;
    StepPlan plan{.name = "lines", .parameters = {{"rows", std::to_string(rows_each)}}};
    if (design.out_columns < 1) {
      plan.refusal = fmt::format("needs the taps of a pixel within {} channels of a row, got {} taps of {} channels",
                                 kValues, design.across.taps, link.in.channels);
    } else if (device.limits().local_memory < static_cast<std::size_t>(rows_each) * kLineItems * 16) {
      plan.refusal = fmt::format("needs {} KiB of local memory, the device has {}", rows_each * kLineItems * 16 / 1024,
                                 device.limits().local_memory / 1024);
    }
    const double across = in_values / static_cast<double>(link.in.rows) * static_cast<double>(link.out.rows);
    plan.cost = {.flops = 2 * (across * design.down.taps + out_values * design.across.taps),
                 .bytes = bytes,
                 .launches = 1,
                 .efficiency = resize || product.step == 2 ? 0.6 : 0.3};
    plan.kernels = [design] { return std::vector<KernelSource>{lines_source(design)}; };
    plan.build = [design](const Device& there) { return std::make_shared<const LinesStep>(there, design); };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
