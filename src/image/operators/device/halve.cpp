// Bytes to half their size: a trip through memory.
#include <algorithm>

#include "device/kernel_text.hpp"
#include "image/operators/device/fours.hpp"
#include "image/operators/device/stages.hpp"

namespace ridge::image::on_device {
namespace {

KernelSource halve_source(const Shape& in, int rows_each) {
  KernelSource source = fours_source("image_halve", in, Border::replicate, 0);
  source.text += detail::kernel_text("image/operator_halve");
  source.defines.emplace_back("ROWS_EACH", std::to_string(rows_each));
  return source;
}

// Every place is the mean of the next two.
bool halves(const Look& look, std::size_t places) {
  if (look.taps != 2 || look.from.size() != places) return false;
  for (std::size_t i = 0; i < places; ++i) {
    if (look.from[i] != static_cast<int>(2 * i)) return false;
  }
  return std::all_of(look.weights.begin(), look.weights.end(), [](float weight) { return weight == 0.5f; });
}

}  // namespace

void list_halve(const Device&, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  if (link.in.depth != Depth::u8 || link.operations.size() != 1 ||
      !std::holds_alternative<Resize>(link.operations.front()) || link.in.rows != 2 * link.out.rows ||
      link.in.columns != 2 * link.out.columns)
    return;
  std::vector<TileStage> stages;
  Shape shape = link.in;
  add_stages(link.operations.front(), chain, shape, stages);
  if (stages.size() != 2 || !halves(stages[0].down, link.out.rows) || !halves(stages[1].across, link.out.columns))
    return;
  for (const int rows_each : {1, 2}) {
    StepPlan plan{.name = "halve", .parameters = {{"rows", std::to_string(rows_each)}}};
    plan.cost = {
        .flops = 8 * static_cast<double>(link.out.rows * link.out.columns * link.out.channels),
        .bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes()),
        .launches = 1,
        .efficiency = 0.9};
    plan.kernels = [in = link.in, rows_each] { return std::vector<KernelSource>{halve_source(in, rows_each)}; };
    plan.build = [in = link.in, out = link.out, rows_each](const Device& there) {
      const Launch launch{
          .groups = {groups_for(out.columns, 512), groups_for(out.rows, static_cast<std::size_t>(rows_each))},
          .items = {128}};
      return std::make_shared<const FoursStep>(there.compile(halve_source(in, rows_each)).kernel("halve_bytes"),
                                               launch);
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
