// Times passes, finds the shortest path through the graph of stages, and checks it end to end.
#include "papers/fft/classic/radix_planner.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "fft/host/line_trials.hpp"
#include "papers/fft/classic/classic.hpp"
#include "papers/fft/classic/line.hpp"
#include "papers/fft/classic/stockham_passes.hpp"
#include "plan/wisdom.hpp"

namespace ridge::fft {
namespace {

using classic::log2_of;
using classic::StockhamPass;

constexpr const char* kWorkload = "fft-radix";
constexpr std::size_t kPaths = 16;       // candidates: the shortest paths
constexpr std::size_t kRunEndToEnd = 4;  // of which these are run

std::size_t end_of(const RadixGraph::Edge& edge) { return edge.stage + log2_of(edge.radix); }

void check(const RadixGraph& graph) {
  for (const auto& edge : graph.edges) {
    if (!std::has_single_bit(edge.radix) || edge.radix < 2 || edge.stage + log2_of(edge.radix) > graph.stages ||
        !(edge.seconds >= 0)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("radix {} at stage {} with {} s is not a valid pass of a transform of {} stages",
                              edge.radix, edge.stage, edge.seconds, graph.stages));
    }
  }
}

// All passes of a length, timed by `seconds`.
RadixGraph graph_of(std::size_t n, const std::function<double(std::size_t stage, std::size_t radix)>& seconds) {
  RadixGraph graph;
  graph.stages = log2_of(classic::checked_length(n));
  for (std::size_t stage = 0; stage < graph.stages; ++stage) {
    for (const std::size_t radix : classic::kStockhamRadices) {
      if (stage + log2_of(radix) <= graph.stages) graph.edges.push_back({stage, radix, seconds(stage, radix)});
    }
  }
  return graph;
}

struct OneCore {
  machine::Ceilings ceilings;
  double peak;  // flops per second
};

template <class T>
OneCore one_core(const Device& device) {
  OneCore core{machine::ceilings(device), 0};
  const bool wide = sizeof(T) == sizeof(double);
  core.peak = wide ? core.ceilings.flops_double_one : core.ceilings.flops_float_one;
  if (core.peak <= 0) {
    core.peak = (wide ? core.ceilings.flops_double : core.ceilings.flops_float) /
                static_cast<double>(std::max<std::size_t>(1, device.limits().compute_units));
  }
  if (core.peak <= 0) core.peak = 1e10;
  return core;
}

// The plan named by wisdom, if it is valid for this length.
std::optional<Radices> remembered(const Device& device, const std::string& key, std::size_t n) {
  const auto entry = wisdom::find(device.info(), kWorkload, key);
  if (!entry) return std::nullopt;
  Radices radices;
  std::size_t product = 1;
  for (std::size_t at = 0; at < entry->winner.size();) {
    const std::size_t end = std::min(entry->winner.find('-', at), entry->winner.size());
    const std::string word = entry->winner.substr(at, end - at);
    const auto found = std::find_if(std::begin(classic::kStockhamRadices), std::end(classic::kStockhamRadices),
                                    [&](std::size_t radix) { return fmt::to_string(radix) == word; });
    if (found == std::end(classic::kStockhamRadices) || product > n) return std::nullopt;
    radices.push_back(*found);
    product *= *found;
    at = end + 1;
  }
  return product == n ? std::optional(radices) : std::nullopt;
}

// A candidate's prediction is the length of its path; the efficiency is chosen to give it.
template <class T>
std::vector<planner::Entry<LineKernel<T>>> entries_of(std::size_t n, const std::vector<RadixPath>& paths, double flops,
                                                      double peak) {
  std::vector<planner::Entry<LineKernel<T>>> entries;
  for (const RadixPath& path : paths) {
    planner::Candidate candidate;
    candidate.variant = to_string(path.radices);
    candidate.cost.flops = flops;
    candidate.cost.threads = 1;
    candidate.cost.float64 = sizeof(T) == sizeof(double);
    if (path.seconds > 0) candidate.cost.efficiency = std::clamp(flops / peak / path.seconds, 1e-9, 1.0);
    entries.push_back(
        {.candidate = candidate, .build = [n, radices = path.radices] { return make_stockham<T>(n, radices); }});
  }
  return entries;
}

// A single line, timed as its passes were.
template <class T>
class RadixTrials final : public LineTrials<T> {
 public:
  double seconds(const LineKernel<T>& kernel) override {
    const std::size_t n = kernel.length();
    base::AlignedArray<std::complex<T>> in(n), out(n), scratch(kernel.scratch());
    std::fill(in.begin(), in.end(), std::complex<T>(T(0.25), T(-0.5)));
    return base::best_seconds([&] { kernel.run(Direction::forward, in.data(), out.data(), scratch.data()); },
                              {.seconds = 0.01, .at_least = 5, .at_most = 200, .round = 2e-5});
  }
};

}  // namespace

std::string to_string(const Radices& radices) {
  return radices.empty() ? "none" : fmt::format("{}", fmt::join(radices, "-"));
}

std::vector<RadixPath> shortest_paths(const RadixGraph& graph, std::size_t count) {
  check(graph);
  // best[s]: the `count` shortest paths to stage s. All edges lead forward, so one sweep settles each node.
  std::vector<std::vector<RadixPath>> best(graph.stages + 1);
  best[0] = {RadixPath{}};
  for (std::size_t stage = 0; stage <= graph.stages; ++stage) {
    auto& here = best[stage];
    std::sort(here.begin(), here.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    if (here.size() > count) here.resize(count);
    for (const auto& edge : graph.edges) {
      if (edge.stage != stage) continue;
      for (const RadixPath& path : here) {
        RadixPath longer = path;
        longer.radices.push_back(edge.radix);
        longer.seconds += edge.seconds;
        best[end_of(edge)].push_back(std::move(longer));
      }
    }
  }
  if (best[graph.stages].empty()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("the given passes do not reach stage {}", graph.stages));
  }
  return best[graph.stages];
}

RadixPath shortest_path(const RadixGraph& graph) { return shortest_paths(graph, 1).front(); }

std::vector<RadixPath> all_paths(const RadixGraph& graph) {
  check(graph);
  std::vector<RadixPath> found;
  const std::function<void(std::size_t, const RadixPath&)> extend = [&](std::size_t stage, const RadixPath& path) {
    if (stage == graph.stages) found.push_back(path);
    for (const auto& edge : graph.edges) {
      if (edge.stage != stage) continue;
      RadixPath longer = path;
      longer.radices.push_back(edge.radix);
      longer.seconds += edge.seconds;
      extend(end_of(edge), longer);
    }
  };
  extend(0, {});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return found;
}

std::size_t compositions(std::size_t stages, const std::vector<std::size_t>& radices) {
  std::vector<std::size_t> ways(stages + 1);
  ways[0] = 1;
  for (std::size_t s = 1; s <= stages; ++s) {
    for (const std::size_t radix : radices) {
      if (log2_of(radix) <= s) ways[s] += ways[s - log2_of(radix)];
    }
  }
  return ways[stages];
}

template <class T>
RadixGraph measure_radix_graph(std::size_t n, double seconds_each) {
  base::AlignedArray<std::complex<T>> x(n), y(n);
  std::fill(x.begin(), x.end(), std::complex<T>(T(0.25), T(-0.5)));
  return graph_of(n, [&](std::size_t stage, std::size_t radix) {
    const StockhamPass<T> pass(n, std::size_t{1} << stage, radix);
    return base::best_seconds([&] { pass.run(Direction::forward, x.data(), y.data()); },
                              {.seconds = seconds_each, .at_least = 3, .at_most = 1000, .round = 1e-5});
  });
}

template <class T>
RadixGraph model_radix_graph(const Device& device, std::size_t n) {
  const OneCore core = one_core<T>(device);
  // The nearest cache level that holds both buffers serves every pass.
  const double bytes = 2 * static_cast<double>(n * sizeof(std::complex<T>));
  double bandwidth = 0;
  for (const machine::Level& level : core.ceilings.levels) {
    bandwidth = level.one.copy > 0 ? level.one.copy : level.all.copy;
    if (static_cast<double>(level.capacity) >= bytes) break;
  }
  return graph_of(n, [&](std::size_t stage, std::size_t radix) {
    const double points = static_cast<double>(n), r = static_cast<double>(radix);
    const double flops = points * (1.5 + 3.5 * std::log2(r)) + (stage == 0 ? 0 : 6 * points * (r - 1) / r);
    // A core overlaps arithmetic and memory imperfectly; the sum of both is a safe estimate.
    return flops / core.peak + (bandwidth > 0 ? bytes / bandwidth : bytes * 1e-11);
  });
}

template <class T>
Radices quick_radices(std::size_t n) {
  Radices radices;
  if (!std::has_single_bit(n)) return radices;
  std::size_t stages = log2_of(n);
  // Radix 8 fits the registers everywhere; 4 is used for a remainder of three stages, 2 only for the remainder of 4.
  while (stages > 4 || stages == 3) radices.push_back(8), stages -= 3;
  for (; stages >= 2; stages -= 2) radices.push_back(4);
  if (stages == 1) radices.push_back(2);
  return radices;
}

template <class T>
RadixPlan plan_radices(const Device& device, std::size_t n, const planner::Options& options) {
  classic::checked_length(n);
  if (!device.is_host()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("the radix planner needs the host, got {}", device.id()));
  }
  const double points = static_cast<double>(n);
  planner::Problem problem;
  problem.workload = kWorkload;
  problem.key = fmt::format("stockham {} {}", sizeof(T) == sizeof(float) ? "float" : "double", n);
  problem.flops = n < 2 ? 0 : 5 * points * std::log2(points);
  problem.bytes = 2 * points * sizeof(std::complex<T>);

  // If wisdom names a candidate, no edge needs to be timed.
  const std::optional<Radices> known = options.use_wisdom ? remembered(device, problem.key, n) : std::nullopt;
  const bool by_model = known.has_value() || options.effort == Effort::quick;
  std::vector<RadixPath> paths =
      shortest_paths(by_model ? model_radix_graph<T>(device, n) : measure_radix_graph<T>(n), kPaths);
  const double last = paths.back().seconds;
  for (const Radices& also : {quick_radices<T>(n), known.value_or(Radices{})}) {
    const bool listed =
        std::any_of(paths.begin(), paths.end(), [&](const RadixPath& path) { return path.radices == also; });
    if (!listed && (n == 1 || !also.empty())) paths.push_back({also, last});
  }

  planner::Options choice = options;
  choice.most_trials = std::min(options.most_trials, kRunEndToEnd);
  RadixTrials<T> trials;
  RadixPlan plan;
  plan.decision = planner::choose(device, problem, entries_of<T>(n, paths, problem.flops, one_core<T>(device).peak),
                                  choice, trials, planner::Keep::last)
                      .decision;
  plan.radices = paths[plan.decision.winner].radices;
  return plan;
}

template RadixGraph measure_radix_graph<float>(std::size_t, double);
template RadixGraph measure_radix_graph<double>(std::size_t, double);
template RadixGraph model_radix_graph<float>(const Device&, std::size_t);
template RadixGraph model_radix_graph<double>(const Device&, std::size_t);
template Radices quick_radices<float>(std::size_t);
template Radices quick_radices<double>(std::size_t);
template RadixPlan plan_radices<float>(const Device&, std::size_t, const planner::Options&);
template RadixPlan plan_radices<double>(const Device&, std::size_t, const planner::Options&);

}  // namespace ridge::fft
