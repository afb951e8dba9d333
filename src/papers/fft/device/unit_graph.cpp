// The radix planner on devices: passes in local memory are timed alone, the shortest paths are run end to end.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "device/random.hpp"
#include "device/timing.hpp"
#include "papers/fft/device/measure.hpp"

namespace ridge::fft::papers {
namespace {

constexpr std::size_t kUnitPaths = 3;  // shortest paths that are run end to end, beside the first guess

// Time of a pass alone: that of 1 + kMore repetitions minus that of one, so that load and store cancel out.
double pass_seconds(const Device& device, const UnitDesign& design, std::size_t before, std::size_t radix,
                    double seconds) {
  constexpr std::uint32_t kMore = 16;
  const std::size_t units = std::max<std::size_t>(1, device.limits().compute_units);
  const Kernel kernel = device.compile(pass_text(design, before, radix)).kernel(kPassKernel);
  Queue queue = device.queue();
  const std::size_t bytes = units * design.length * 8;
  const Buffer in = device.buffer(bytes, {.name = "pass input"}), out = device.buffer(bytes, {.name = "pass output"}),
               roots = unit_twiddles(device, design);
  fill_random(queue, in, Numbers::float32);
  const auto call = [&](std::uint32_t repeats) {
    return [&, repeats] {
      queue.launch(kernel, {.groups = {units}, .items = {design.items()}, .local_bytes = design.length * 8},
                   {in, out, roots, repeats});
    };
  };
  const auto times = best_device_seconds(queue, {call(1), call(1 + kMore)},
                                         {.seconds = seconds, .at_least = 5, .at_most = 1000, .round = seconds / 8});
  return std::max(0.0, times[1] - times[0]) / kMore;
}

}  // namespace

RadixGraph measure_unit_graph(const Device& device, std::size_t length, std::size_t p, double seconds) {
  UnitDesign design = plan_unit(length, p, device.limits());
  if (!design.refusal.empty())
    throw Error(ErrorKind::invalid_argument, fmt::format("{}/simt, p = {}: {}", kUnitFamily, p, design.refusal));
  RadixGraph graph{.stages = static_cast<std::size_t>(std::countr_zero(length))};
  for (std::size_t stage = 0; stage < graph.stages; ++stage) {
    for (std::size_t radix = 2, bits = 1; radix <= p && stage + bits <= graph.stages; radix *= 2, ++bits) {
      graph.edges.push_back({stage, radix, pass_seconds(device, design, std::size_t{1} << stage, radix, seconds)});
    }
  }
  return graph;
}

UnitRadixPlan plan_unit_radices(const Device& device, std::size_t length, std::size_t p, double seconds) {
  UnitRadixPlan plan{.graph = measure_unit_graph(device, length, p, seconds)};
  plan.paths = shortest_paths(plan.graph, kUnitPaths);
  const Radices guess = unit_radices(length, p);
  const auto listed = [&](const RadixPath& path) { return path.radices == guess; };
  if (std::none_of(plan.paths.begin(), plan.paths.end(), listed)) {
    RadixPath path{.radices = guess};
    std::size_t stage = 0;
    for (const std::size_t radix : guess) {
      for (const RadixGraph::Edge& edge : plan.graph.edges) {
        if (edge.stage == stage && edge.radix == radix) path.seconds += edge.seconds;
      }
      stage += static_cast<std::size_t>(std::countr_zero(radix));
    }
    plan.paths.push_back(path);
  }
  const std::size_t rounds = 32, lines = rounds * std::max<std::size_t>(1, device.limits().compute_units);
  for (const RadixPath& path : plan.paths) {
    UnitDesign design = plan_unit(length, p, device.limits());
    design.radices = path.radices;
    plan.seconds.push_back(measure_unit(device, design, lines, seconds) / static_cast<double>(rounds));
  }
  plan.winner =
      static_cast<std::size_t>(std::min_element(plan.seconds.begin(), plan.seconds.end()) - plan.seconds.begin());
  return plan;
}

UnitPhaseTimes measure_unit_phases(const Device& device, std::size_t length, std::size_t p, std::size_t units,
                                   double seconds) {
  UnitDesign design = plan_unit(length, p, device.limits());
  design.units = units;
  design.rounds = units > 0 ? 32 : 1;
  const std::size_t lines = units > 0 ? units * design.rounds : device.info().shares_host_memory ? 256 : 16384;
  double times[4];
  for (int i = 0; i < 4; ++i) {
    design.phases = static_cast<UnitPhases>(i);
    times[i] = measure_unit(device, design, lines, seconds) / static_cast<double>(lines);
  }
  return {units, times[0], times[1] - times[0], times[2] - times[1], times[3] - times[2]};
}

}  // namespace ridge::fft::papers
