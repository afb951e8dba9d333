// Whether two axes are done in one go.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/timing.hpp"
#include "fft/device/transform.hpp"
#include "fft/device/trials.hpp"

namespace ridge::fft {
namespace {

using namespace on_device;

constexpr base::Repeat kTrial{.seconds = 0.006, .at_least = 3, .at_most = 100, .round = 2e-4};

std::string key_of(const PlaneProblem& plane, bool in_place) {
  return fmt::format("fft device planes c{} {} {}x{} of {} from {}/{},{} to {}/{},{}{}", plane.float64 ? 64 : 32,
                     plane.direction == Direction::forward ? "forward" : "inverse", plane.rows, plane.columns,
                     fmt::join(plane.counts, "x"), plane.in_point, plane.in_row, fmt::join(plane.in_chunk, ","),
                     plane.out_point, plane.out_row, fmt::join(plane.out_chunk, ","), in_place ? " in place" : "");
}

}  // namespace

template <class T>
std::optional<PlaneProblem> DeviceTransform<T>::plane_problem(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const std::size_t axes = layout_.axes;
  const Side& in = forward ? layout_.samples : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  if (problem_.kind != Kind::complex || axes < 2 || in.shape[axes - 1] == 1 || in.shape[axes - 2] == 1) return {};
  const EndOperators at_the_ends = end_operators(direction);
  if (at_the_ends.samples != Samples::same || at_the_ends.load.kind() != FactorKind::none ||
      at_the_ends.store.kind() != FactorKind::none) {
    return {};
  }
  PlaneProblem plane{.float64 = sizeof(T) == sizeof(double),
                     .direction = direction,
                     .rows = in.shape[axes - 2],
                     .columns = in.shape[axes - 1],
                     .in_point = in.strides[axes - 1],
                     .out_point = out.strides[axes - 1],
                     .in_row = in.strides[axes - 2],
                     .out_row = out.strides[axes - 2]};
  bool last = true;
  for (std::size_t axis = axes - 2; axis-- > 0;) {
    if (in.shape[axis] == 1) continue;
    last = false;
    plane.counts.push_back(in.shape[axis]);
    plane.in_chunk.push_back(in.strides[axis]);
    plane.out_chunk.push_back(out.strides[axis]);
  }
  plane.counts.push_back(problem_.batch);
  plane.in_chunk.push_back(in.batch);
  plane.out_chunk.push_back(out.batch);
  if (last) plane.scale = at_the_ends.scale;
  return plane;
}

template <class T>
bool DeviceTransform<T>::choose_plane(const std::vector<PlannedAxis>& there, const std::vector<PlannedAxis>& back,
                                      const planner::Options& options) {
  const std::optional<PlaneProblem> plane = plane_problem(Direction::forward);
  if (!plane || there.size() < 2) return false;
  if (!options.variant.empty() && !options.variant.starts_with("plane")) return false;
  const std::vector<Route> routes = list_planes(device_, *plane);
  if (!routes.front().candidate.refusal.empty()) return false;
  const double bytes = plane_bytes(*plane);
  std::vector<planner::Candidate> candidates;
  std::vector<KernelSource> sources;
  for (const Route& route : routes) {
    candidates.push_back(route.candidate);
    add_to(sources, kernels_of(route));
  }
  candidates.push_back({.variant = "axis_by_axis",
                        .cost = {.bytes = 2 * bytes, .launches = 2, .efficiency = 0.9, .float64 = plane->float64}});
  std::optional<Queue> queue;
  Buffer in, out;
  const auto measure = [&](std::size_t i) {
    if (!queue) {
      compile_side_by_side(device_, sources);
      queue = device_.queue();
      in = device_.buffer(bytes_of(Direction::forward, true), {.name = "fft trial input"});
      out = problem_.in_place ? in : device_.buffer(bytes_of(Direction::forward, false), {.name = "fft trial output"});
      queue->fill(in, std::byte{0x3f});
    }
    std::optional<CompiledRoute> route;
    if (i < routes.size()) route.emplace(device_, routes[i], plane->float64);
    const auto once = [&] {
      if (route) return route->enqueue(*queue, in, out);
      forward_[0].route->enqueue(*queue, in, out);
      forward_[1].route->enqueue(*queue, out, out);
    };
    return best_device_seconds(*queue, {once}, kTrial).front();
  };
  planner::Decision decision =
      planner::decide(device_, {.workload = "fft", .key = key_of(*plane, problem_.in_place), .bytes = bytes},
                      candidates, options, measure);
  const std::size_t winner = decision.winner;
  decisions_.push_back(std::move(decision));
  if (winner == routes.size()) return false;

  const auto together = [&](std::vector<Stage>& stages, const Route& route, const std::vector<PlannedAxis>& planned) {
    stages.erase(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(stages.empty() ? 0 : 2));
    stages.insert(stages.begin(), Stage{std::make_shared<const CompiledRoute>(device_, route, plane->float64),
                                        planned[0].from, planned[1].to, planned[0].axis});
  };
  if (!back.empty()) {
    const std::optional<PlaneProblem> other = plane_problem(Direction::inverse);
    if (!other) return false;
    for (const Route& route : list_planes(device_, *other)) {
      if (route.candidate.refusal.empty() && route.candidate.name() == routes[winner].candidate.name()) {
        together(inverse_, route, back);
      }
    }
    if (inverse_.empty()) return false;
  }
  together(forward_, routes[winner], there);
  return true;
}

template bool DeviceTransform<float>::choose_plane(const std::vector<PlannedAxis>&, const std::vector<PlannedAxis>&,
                                                   const planner::Options&);
template bool DeviceTransform<double>::choose_plane(const std::vector<PlannedAxis>&, const std::vector<PlannedAxis>&,
                                                    const planner::Options&);
template std::optional<PlaneProblem> DeviceTransform<float>::plane_problem(Direction) const;
template std::optional<PlaneProblem> DeviceTransform<double>::plane_problem(Direction) const;

}  // namespace ridge::fft
