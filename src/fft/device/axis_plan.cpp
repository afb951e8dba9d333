// Chooses and compiles a route for one axis, also one that applies a filter between transforms.
#include "fft/device/axis_plan.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fft/device/pass/step.hpp"
#include "fft/device/pass_candidates.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const CompiledRoute> planned_route(const Device& device, AxisProblem problem,
                                                   const planner::Options& options,
                                                   std::vector<planner::Decision>& decisions,
                                                   std::span<const RouteFamily* const> families) {
  normalize(problem);
  const std::vector<Route> routes = list_routes(device, problem, "", families);
  std::vector<planner::Entry<CompiledRoute>> entries;
  for (const Route& route : routes) {
    entries.push_back({route.candidate, [&] { return kernels_of(route); },
                       [&] { return std::make_shared<const CompiledRoute>(device, route, problem.float64); }});
  }
  AxisTrials trials(device, problem);
  auto chosen = planner::choose(device, planner_problem(problem), entries, options, trials, planner::Keep::last);
  decisions.push_back(std::move(chosen.decision));
  return chosen.winner;
}

namespace {

// Lines per group if they are adjacent in memory: whole sectors.
constexpr std::size_t kFilteredWidth = 16, kLeastFilteredWidth = 4;
constexpr std::size_t kMostFilteredPerPass = 2048;

// A batch dimension of a pass: its count, and the strides of its index in the array, in the twiddle's column, and in
// the mode and the line of the filter.
struct LineDimension {
  std::uint64_t count = 1, place = 0, column = 0, mode = 0, line = 0;
};

// A pass over points with stride `point` and the given batch dimensions; the last batch dimension of the problem stays
// last.
PassDesign in_place_pass(const AxisProblem& problem, std::size_t length, std::uint64_t point,
                         std::vector<LineDimension> dimensions, LineKind kind = ComplexLines{}) {
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const LineDimension& a, const LineDimension& b) { return a.place < b.place; });
  PassDesign pass = plain_pass(problem);
  pass.length = pass.points = length;
  pass.scale = 1;
  pass.in_place = true;
  pass.load.once = pass.store.once = false;
  pass.counts.clear();
  pass.load.at = {.point = point, .line = {}};
  pass.kind = std::move(kind);
  pass.twiddle = Twiddle{};
  for (const LineDimension& dimension : dimensions) {
    pass.counts.push_back(dimension.count);
    pass.load.at.line.push_back(dimension.place);
    if (auto* const filter = std::get_if<Convolution>(&pass.kind)) {
      filter->filter_at.line.push_back(dimension.mode);
      filter->filter_line.line.push_back(dimension.line);
    }
    pass.twiddle->column.line.push_back(dimension.column);
  }
  pass.store.at = pass.load.at;
  pass.load_order = pass.store_order = order_of(pass.load.at);
  return pass;
}

bool fit_adjacent_lines(const Device& device, PassDesign& design, std::string& refusal) {
  if (design.load_order == Order::points) {
    const auto designs = fitted(device, design, 0, 1, refusal);
    if (!designs.empty()) design = designs.front();
    return !designs.empty();
  }
  for (std::size_t width = kFilteredWidth; width >= kLeastFilteredWidth; width /= 2) {
    const auto designs = fitted(device, design, width, 1, refusal, 16);
    if (designs.empty()) continue;
    design = designs.front();
    return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const CompiledRoute> filtered_axis(const Device& device, const AxisProblem& problem,
                                                   const SpectrumFilter& filter, std::string& refusal) {
  std::vector<LineDimension> lines;
  for (std::size_t i = 0; i < problem.counts.size(); ++i) {
    lines.push_back({.count = problem.counts[i], .place = problem.in.line[i], .line = filter.line.line[i]});
  }
  const auto with = [&](const LineDimension& dimension) {
    std::vector<LineDimension> dimensions = lines;
    dimensions.push_back(dimension);
    return dimensions;
  };
  const auto filtering = [&](std::uint64_t mode) {
    return Convolution{.method = Convolution::filter,
                       .filter_at = {.point = mode, .line = {}},
                       .filter_function = filter.function,
                       .filter_line = {.point = 0, .line = {}}};
  };
  Route route;
  route.outer = 1;
  const auto add = [&](const PassDesign& design, std::uint64_t count) {
    route.steps.push_back({.design = pass_step(design),
                           .from = Place::output,
                           .to = Place::output,
                           .lines = count,
                           .filter_table = filter.table});
  };
  const std::size_t n = problem.length;
  const std::uint64_t point = problem.in.point;
  PassDesign whole = in_place_pass(problem, n, point, lines, filtering(1));
  whole.twiddle.reset();
  whole.scale = problem.scale;
  if (n <= kMostFilteredPerPass && fit_adjacent_lines(device, whole, refusal)) {
    add(whole, problem.lines());
    return std::make_shared<const CompiledRoute>(device, route, problem.float64);
  }
  const auto all_factors = pass_factors(n, 2, kMostFilteredPerPass);
  for (std::size_t i = 0; i < std::min<std::size_t>(all_factors.size(), 2); ++i) {
    const std::size_t first = all_factors[i][0], second = all_factors[i][1];
    PassDesign down =
        in_place_pass(problem, first, point * second, with({.count = second, .place = point, .column = 1}));
    down.twiddle->order = n;
    down.twiddle->columns = second;
    PassDesign up = down;
    up.direction = Direction::inverse;
    up.twiddle.reset();
    up.scale = problem.scale;
    PassDesign across =
        in_place_pass(problem, second, point, with({.count = first, .place = point * second, .column = 1, .mode = 1}),
                      filtering(first));
    across.twiddle->order = n;
    across.twiddle->columns = first;
    if (!fit_adjacent_lines(device, down, refusal) || !fit_adjacent_lines(device, across, refusal) ||
        !fit_adjacent_lines(device, up, refusal))
      continue;
    add(down, problem.lines() * second);
    add(across, problem.lines() * first);
    add(up, problem.lines() * second);
    return std::make_shared<const CompiledRoute>(device, route, problem.float64);
  }
  if (all_factors.empty())
    refusal = fmt::format("needs a length whose prime factors have a butterfly, got {}", problem.length);
  return nullptr;
}

std::shared_ptr<const CompiledRoute> filtered_boxes(const Device& device, const AxisProblem& problem,
                                                    const Buffer& spectrum, std::string& refusal) {
  PassDesign plain = plain_pass(problem);
  plain.kind = Convolution{.method = Convolution::filter, .filter_at = {.point = 1, .line = {problem.length}}};
  const std::vector<PassDesign> designs = fitted(device, plain, 0, 1, refusal);
  if (designs.empty()) return nullptr;
  Route route;
  route.outer = problem.counts.back();
  route.steps.push_back({.design = pass_step(designs.front()),
                         .from = Place::input,
                         .to = Place::output,
                         .lines = 1,
                         .from_stride = problem.in.line.back(),
                         .to_stride = problem.out.line.back(),
                         .filter_table = spectrum});
  return std::make_shared<const CompiledRoute>(device, route, problem.float64);
}

}  // namespace ridge::fft::on_device
