// Lines too long for one work-group in one trip through memory all the same: a cluster of groups holds the line, and
// the groups write into each other's local memory between its columns and its rows. CUDA from Hopper on.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fft/device/kernel_text.hpp"
#include "fft/device/radices.hpp"
#include "fft/device/route.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kFirstArchitecture = 90, kMostCandidates = 8, kLeastRun = 8, kEachSize = 3;

}  // namespace

bool is_hopper(const Device& device) {
  if (device.info().backend != Backend::cuda) return false;
  const std::string& isa = device.info().isa;
  std::size_t architecture = 0;
  if (!isa.starts_with("sm_")) return false;
  std::from_chars(isa.data() + 3, isa.data() + isa.size(), architecture);
  return architecture >= kFirstArchitecture;
}

namespace {

std::string refusal(const Device& device, const AxisProblem& problem) {
  if (!is_hopper(device)) return "clusters of work-groups need CUDA on Hopper or later";
  if (problem.samples != Samples::same) return "takes no integers";
  if (problem.kind == Kind::real) {
    const auto even = [](std::uint64_t step) { return step % 2 == 0; };
    if (problem.direction == Direction::inverse) return "real lines go forward only";
    if (problem.length % 2 != 0 || problem.in.point != 1 || !std::ranges::all_of(problem.in.line, even)) {
      return "takes real lines of pairs of neighbours";
    }
  }
  if (problem.load.kind() != FactorKind::none || problem.store.kind() != FactorKind::none) {
    return "takes no factors on its way";
  }
  if (order_of(problem.in) == Order::lines || order_of(problem.out) == Order::lines) {
    return "takes lines whose points are closer than their neighbours";
  }
  const std::size_t points = problem.length / (problem.kind == Kind::real ? 2 : 1);
  if (points < (problem.float64 ? 8192u : 16384u)) return "lines this short fit into one group";
  return {};
}

// Of a copy's speed, as measured on an H200: the more groups, the further their exchange.
double expected(std::size_t groups) { return groups <= 2 ? 0.82 : groups <= 4 ? 0.6 : groups <= 8 ? 0.55 : 0.42; }

// Both halves with the same number of work-items; the cheapest pair of plans.
bool shared_plans(ClusterDesign& design, std::size_t most_items) {
  PassDesign &columns = design.columns, &rows = design.rows;
  const RadixLimits limits{.most_threads = most_items, .most_held = columns.float64 ? 8u : 16u};
  double best = 1e30;
  for (const RadixPlan& a : radix_plans(columns.length, limits)) {
    for (const RadixPlan& b : radix_plans(rows.length, limits)) {
      if (a.threads * columns.lines != b.threads * rows.lines || a.threads * columns.lines > most_items) continue;
      if (a.cost + b.cost >= best) continue;
      best = a.cost + b.cost;
      columns.radices = a.radices;
      columns.threads = a.threads;
      rows.radices = b.radices;
      rows.threads = b.threads;
    }
  }
  return best < 1e30;
}

}  // namespace

void list_clusters(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (const std::string reason = refusal(device, problem); !reason.empty()) {
    routes.push_back({.candidate = {.variant = "cluster", .refusal = reason}, .steps = {}});
    return;
  }
  const std::size_t element = problem.float64 ? 16 : 8;
  const bool real = problem.kind == Kind::real;
  AxisProblem points = problem;  // real lines as pairs
  points.kind = Kind::complex;
  if (real) points.length /= 2;
  const Limits& limits = device.limits();
  std::string why = "no factors that a cluster of 2 to 16 groups can share";
  std::size_t found = 0;
  // 64 KiB of points a group leave room for two groups a compute unit.
  for (const std::size_t kib : {64, 32, 128}) {
    std::size_t of_this_size = 0;
    for (const std::size_t groups : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16}) {
      const std::size_t each = points.length / groups;
      if (points.length % groups != 0 || each * element > kib * 1024 || each * element * 2 <= kib * 1024) continue;
      for (const auto& factors : pass_factors(points.length, 2, 4096)) {
        if (factors[0] % groups != 0 || factors[1] % groups != 0 || of_this_size >= kEachSize) continue;
        if (real && factors[0] % (2 * groups) != 0) continue;  // whole pairs of a row and its mirror
        SplitPlaces places;
        const auto plain =
            split_designs(points, {.factors = factors, .load = real ? Values::pairs : Values::complex}, places);
        ClusterDesign design{.columns = plain[0], .rows = plain[1], .groups = groups, .real = real};
        PassDesign &columns = design.columns, &rows = design.rows;
        columns.lines = factors[1] / groups;
        rows.lines = factors[0] / groups;
        if (columns.lines < kLeastRun || rows.lines < kLeastRun) continue;
        columns.load_order = columns.store_order = rows.load_order = rows.store_order = Order::lines;
        if (real) rows.twiddle = Twiddle{.order = problem.length, .columns = ~std::uint64_t{0}, .column = {}};
        if (!shared_plans(design, std::min<std::size_t>(limits.work_group, 1024))) continue;
        if (real && rows.radices.size() < 2) continue;  // an exchange frees what the columns filled
        ++of_this_size;
        for (const bool split : {true, false}) {
          if (!split && kib != 32) continue;  // no room for a second group, which costs more than the barriers
          columns.split = rows.split = split;
          const std::size_t local = local_bytes_of(design);
          if (local > limits.local_memory) {
            why = fmt::format("needs {} of local memory, the device has {}",
                              base::human_bytes(static_cast<double>(local)),
                              base::human_bytes(static_cast<double>(limits.local_memory)));
            continue;
          }
          const std::size_t items = columns.items();
          columns.resident = std::max<std::size_t>(
              std::min({std::size_t{65536} / (items * 64), std::size_t{228} * 1024 / (local + 1024), std::size_t{8}}),
              1);
          Route route;
          route.outer = problem.counts.back();
          route.steps.push_back({.design = design,
                                 .from = Place::input,
                                 .to = Place::output,
                                 .lines = inner_lines(problem),
                                 .from_stride = problem.in.line.back(),
                                 .to_stride = problem.out.line.back()});
          route.candidate = {.variant = "cluster",
                             .parameters = {{"groups", std::to_string(groups)},
                                            {"factors", fmt::format("{}x{}", factors[0], factors[1])},
                                            {"radices", radices_text(columns) + "," + radices_text(rows)},
                                            {"items", std::to_string(items)},
                                            {"exchange", split ? "split" : "whole"}},
                             .cost = {.flops = usual_flops(problem),
                                      .bytes = problem_bytes(problem),
                                      .launches = 1,
                                      .efficiency = expected(groups) * (1 - 0.02 * static_cast<double>(found)),
                                      .float64 = problem.float64}};
          routes.push_back(std::move(route));
          if (++found == kMostCandidates) return;
        }
      }
    }
  }
  if (found == 0) routes.push_back({.candidate = {.variant = "cluster", .refusal = why}, .steps = {}});
}

}  // namespace ridge::fft::on_device
