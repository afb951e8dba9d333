// Bytes to half their size: a trip through memory.
#include <algorithm>

#include "device/kernel_text.hpp"
#include "image/operators/device/fours.hpp"
#include "image/operators/device/stages.hpp"

namespace ridge::image::on_device {
namespace {

KernelSource halve_source(const Shape& in, int rows_each, bool cubic) {
  KernelSource source = fours_source("image_halve", in, Border::replicate, 0);
  source.text += detail::kernel_text(cubic ? "image/operator_halve_cubic" : "image/operator_halve");
  source.defines.emplace_back("ROWS_EACH", std::to_string(rows_each));
  return source;
}

// Every place is made of two, or of one more to either side, with these weights.
bool halves(const Look& look, std::size_t places, const std::vector<float>& weights) {
  if (look.taps != std::ssize(weights) || look.from.size() != places) return false;
  const int before = look.taps / 2 - 1;
  for (std::size_t i = 0; i < places; ++i) {
    if (look.from[i] != static_cast<int>(2 * i) - before) return false;
  }
  for (std::size_t i = 0; i < look.weights.size(); ++i) {
    if (look.weights[i] != weights[i % weights.size()]) return false;
  }
  return true;
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
  const auto both = [&](const std::vector<float>& weights) {
    return stages.size() == 2 && halves(stages[0].down, link.out.rows, weights) &&
           halves(stages[1].across, link.out.columns, weights);
  };
  const bool cubic = both({-3 / 32.0f, 19 / 32.0f, 19 / 32.0f, -3 / 32.0f});
  if (!cubic && !both({0.5f, 0.5f})) return;
  for (const int rows_each : {1, 2}) {
    StepPlan plan{.name = "halve", .parameters = {{"rows", std::to_string(rows_each)}}};
    plan.cost = {
        .flops = (cubic ? 30 : 8) * static_cast<double>(link.out.rows * link.out.columns * link.out.channels),
        .bytes = static_cast<double>(link.in.rows * link.in.row_bytes() + link.out.rows * link.out.row_bytes()),
        .launches = 1,
        .efficiency = 0.9};
    plan.kernels = [in = link.in, rows_each, cubic] {
      return std::vector<KernelSource>{halve_source(in, rows_each, cubic)};
    };
    plan.build = [in = link.in, out = link.out, rows_each, cubic](const Device& there) {
      const Launch launch{
          .groups = {groups_for(out.columns, 512), groups_for(out.rows, static_cast<std::size_t>(rows_each))},
          .items = {128}};
      return std::make_shared<const FoursStep>(there.compile(halve_source(in, rows_each, cubic)).kernel("halve_bytes"),
                                               launch);
    };
    plans.push_back(std::move(plan));
  }
}

}  // namespace ridge::image::on_device
