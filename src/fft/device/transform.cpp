// Plans the axes of a device transform one after another, and runs them.
#include "fft/device/transform.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/text.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"
#include "fft/operators.hpp"
#include "fft/panels/panel_transform.hpp"
#include "plan/selection.hpp"
#include "plan/wisdom.hpp"

namespace ridge::fft {
namespace {

using namespace on_device;

// Combines window, multiplication and scale in one table; a scale alone needs no table.
FactorTable factor_table(const std::vector<double>& window, const std::vector<std::complex<double>>& multiply,
                         double scale) {
  std::vector<double> real;
  std::vector<std::complex<double>> complex;
  if (!multiply.empty()) {
    for (std::size_t i = 0; i < multiply.size(); ++i) {
      complex.push_back(multiply[i] * (window.empty() ? scale : scale * window[i]));
    }
  } else {
    for (const double value : window) real.push_back(value * scale);
  }
  return {.real = std::move(real), .complex = std::move(complex)};
}

bool has_gaps(const Side& side, std::size_t batch) { return side.points() * batch != side.extent; }

}  // namespace

DeviceTransform::EndOperators DeviceTransform::end_operators(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const Load& load = forward ? problem_.load_forward : problem_.load_inverse;
  const Store& store = forward ? problem_.store_forward : problem_.store_inverse;
  const double scale = forward ? problem_.scale_forward : problem_.scale_inverse;
  return {factor_table(load.window, load.multiply, 1), factor_table(store.window, store.multiply, scale), load.samples,
          scale};
}

AxisProblem DeviceTransform::axis_problem(Direction direction, std::size_t axis, Kind kind, const Side& in,
                                          const Side& out) const {
  const bool forward = direction == Direction::forward;
  AxisProblem result;
  result.float64 = float64_;
  result.direction = direction;
  result.kind = kind;
  const Side& samples = forward ? in : out;
  result.length = samples.shape[axis];
  result.in.point = in.strides[axis];
  result.out.point = out.strides[axis];
  for (std::size_t other = layout_.axes; other-- > 0;) {
    if (other == axis) continue;
    result.counts.push_back(in.shape[other]);
    result.in.line.push_back(in.strides[other]);
    result.out.line.push_back(out.strides[other]);
  }
  result.counts.push_back(problem_.batch);
  result.in.line.push_back(in.batch);
  result.out.line.push_back(out.batch);
  return result;
}

namespace {

// Looks up wisdom without listing all candidates, which takes longer than loading the kernel.
std::vector<Route> known_route(const Device& device, const AxisProblem& problem, const planner::Options& options) {
  if (!options.use_wisdom || !options.variant.empty() || planner::verifies(options)) return {};
  const auto entry = wisdom::find(device.info(), "fft", planner_problem(problem).key);
  if (entry && entry->shipped && options.effort == Effort::measured) return {};
  std::optional<Route> route = entry ? route_named(device, problem, entry->winner) : std::nullopt;
  return route ? std::vector<Route>{*std::move(route)} : std::vector<Route>();
}

}  // namespace

DeviceTransform::Compiled DeviceTransform::choose(const AxisProblem& problem, const AxisProblem* back,
                                                  const planner::Options& options, ReturnRoute& return_route) {
  std::vector<Route> routes = known_route(device_, problem, options);
  const bool known = !routes.empty();
  if (!known) routes = list_routes(device_, problem, options.variant);
  planner::Options own = options;
  // A variant name that is meant for another axis does not apply to this one.
  const auto named = [&](const Route& route) {
    return route.candidate.refusal.empty() && planner::is_called(route.candidate, own.variant);
  };
  if (layout_.axes > 1 && !own.variant.empty() && std::none_of(routes.begin(), routes.end(), named)) {
    own.variant.clear();
    routes = list_routes(device_, problem);
  }
  const auto return_of = [&](const Route& route) {
    return back == nullptr ? std::nullopt : route_named(device_, *back, route.candidate.name());
  };
  if (known) {
    return_route.route = return_of(routes.front());
    if (return_route.route && device_.info().backend == Backend::cuda) {
      const auto compile = [this, route = *return_route.route, float64 = problem.float64]() -> Compiled {
        return std::make_shared<const CompiledRoute>(device_, route, float64);
      };
      try {
        return_route.compiled = std::async(std::launch::async, compile);
      } catch (const std::system_error&) {  // NOLINT: no thread available; the kernel is compiled later
      }
    }
  }
  std::vector<planner::Entry<CompiledRoute>> entries;
  for (const Route& route : routes) {
    const auto kernels = [&] {
      std::vector<KernelSource> all = kernels_of(route);
      // Without measurements only the winner is compiled, both directions concurrently.
      if (own.effort == Effort::quick) {
        if (const std::optional<Route> other = return_of(route)) add_to(all, kernels_of(*other));
      }
      return all;
    };
    const auto build = [&] { return std::make_shared<const CompiledRoute>(device_, route, problem.float64); };
    entries.push_back({route.candidate, kernels, build});
  }
  AxisTrials trials(device_, problem);
  // Compiled routes hold arrays of the problem's size: one at a time.
  auto chosen = planner::choose(device_, planner_problem(problem), entries, own, trials, planner::Keep::last);
  if (!known) return_route.route = return_of(routes[chosen.decision.winner]);
  decisions_.push_back(std::move(chosen.decision));
  return chosen.winner;
}

std::vector<DeviceTransform::PlannedAxis> DeviceTransform::planned_axes(Direction direction) {
  const bool forward = direction == Direction::forward, real = problem_.kind == Kind::real;
  const Side& in = forward ? layout_.samples : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  const EndOperators at_the_ends = end_operators(direction);
  const std::size_t last_axis = layout_.axes - 1;

  std::vector<PlannedAxis> all;
  std::vector<std::size_t> axes;  // all but the last axis of a real problem
  for (std::size_t axis = layout_.axes; axis-- > 0;) {
    if ((real && axis == last_axis) || layout_.samples.shape[axis] == 1) continue;
    axes.push_back(axis);
  }
  if (!real && axes.empty()) axes.push_back(last_axis);
  const auto add = [&](std::size_t axis, Kind kind, Array from, Array to) {
    all.push_back({axis, kind, from, to, {}});
  };
  // 16-bit arrays cannot hold the intermediate data between two axes.
  const bool float16 = problem_.storage != Storage::same;
  const Array between = float16 ? Array::work : Array::output;
  if (!real) {
    for (const std::size_t axis : axes) {
      const bool last = axis == axes.back();
      add(axis, Kind::complex, all.empty() ? Array::input : between, last ? Array::output : between);
    }
  } else if (forward) {
    add(last_axis, Kind::real, Array::input, axes.empty() ? Array::output : between);
    for (const std::size_t axis : axes) {
      add(axis, Kind::complex, between, axis == axes.back() ? Array::output : between);
    }
  } else {
    // Columns of planes come last, after the rows, and in place: columns of half spectra are not aligned to sectors.
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      add(*axis, Kind::complex, all.empty() ? Array::input : Array::work, Array::work);
    }
    add(last_axis, Kind::real, axes.empty() ? Array::input : Array::work, Array::output);
  }
  const auto at_work = [](const PlannedAxis& one) { return one.from == Array::work || one.to == Array::work; };
  if (std::ranges::any_of(all, at_work) && !work_) {
    work_side_ = layout_.spectrum;
    std::size_t packed = 1;
    for (std::size_t axis = layout_.axes; axis-- > 0;) {
      work_side_.strides[axis] = packed;
      packed *= work_side_.shape[axis];
    }
    work_side_.batch = packed;
    work_ = device_.buffer(packed * problem_.batch * complex_bytes(), {.name = "fft intermediate spectrum"});
  }
  const auto side = [&](Array array) -> const Side& {
    return array == Array::input ? in : array == Array::output ? out : work_side_;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    PlannedAxis& one = all[i];
    const Side &from = side(one.from), &to = side(one.to);
    AxisProblem& problem = one.problem;
    problem = axis_problem(direction, one.axis, one.kind, from, to);
    problem.in_place = one.from == one.to || (problem_.in_place && one.from != Array::work && one.to != Array::work);
    if (i == 0) {
      problem.load_storage = problem_.storage;
      problem.samples = at_the_ends.samples;
      problem.load = at_the_ends.load;
      if (problem.load.kind() != FactorKind::none) problem.load_at = factor_places(from, layout_.axes, one.axis);
    }
    if (i + 1 == all.size()) {
      problem.store_storage = problem_.storage;
      problem.store = at_the_ends.store;
      problem.scale = at_the_ends.scale;
      if (problem.store.kind() != FactorKind::none) problem.store_at = factor_places(to, layout_.axes, one.axis);
    }
    normalize(problem);
  }
  return all;
}

DeviceTransform::Compiled DeviceTransform::compiled_back(ReturnRoute& return_route, bool float64) const {
  if (return_route.compiled.valid()) return return_route.compiled.get();
  if (!return_route.route) return {};
  return std::make_shared<const CompiledRoute>(device_, *return_route.route, float64);
}

void DeviceTransform::build(const planner::Options& options) {
  using Axes = std::vector<PlannedAxis>;
  const bool only_back = problem_.directions == Directions::inverse;
  const bool no_way_back = layout_.samples.aliases || problem_.directions == Directions::forward;
  if (layout_.boxed) {
    if (!only_back) build_boxed(Direction::forward, options);
    if (!no_way_back) build_boxed(Direction::inverse, options);
    return;
  }
  const bool folded = folds(options);
  const auto planned = [&](Direction direction) { return folded ? folded_axes(direction) : planned_axes(direction); };
  const Axes there = only_back ? Axes() : planned(Direction::forward);
  const Axes back = no_way_back ? Axes() : planned(Direction::inverse);
  std::vector<ReturnRoute> return_routes(back.size());
  for (const PlannedAxis& one : there) {
    const auto same_axis = [&](const PlannedAxis& other) { return other.axis == one.axis; };
    const auto other = std::find_if(back.begin(), back.end(), same_axis);
    ReturnRoute none;
    const bool has = other != back.end();
    ReturnRoute& return_route = has ? return_routes[static_cast<std::size_t>(other - back.begin())] : none;
    auto route = choose(one.problem, has ? &other->problem : nullptr, options, return_route);
    forward_.push_back({std::move(route), one.from, one.to, one.axis});
  }
  const bool together = join_complex_planes(back, options);
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (together && i < 2) continue;
    const PlannedAxis& one = back[i];
    Compiled route = compiled_back(return_routes[i], one.problem.float64);
    if (!route) {
      // The inverse is chosen without measurements of its own, unless it is the only direction.
      planner::Options own = options;
      if (!only_back) {
        own.effort = Effort::quick;
        own.variant.clear();
      }
      ReturnRoute none;
      route = choose(one.problem, nullptr, own, none);
    }
    inverse_.push_back({std::move(route), one.from, one.to, one.axis});
  }
  join_real_planes(options);
}

DeviceTransform::DeviceTransform(const Device& device, const Problem& problem, const planner::Options& options,
                                 bool float64)
    : device_(device), problem_(problem), float64_(float64), layout_(resolve(problem)), staging_(device, "fft") {
  if (float64 && !device.limits().float64) {
    throw Error(ErrorKind::unavailable, fmt::format("fft: {} has no double precision", device.id()));
  }
  if (needs_panels(device, problem, layout_, float64)) {
    panels_ = std::make_shared<const PanelTransform>(device, problem, layout_, options, float64);
    decisions_ = panels_->decisions();
    return;
  }
  build(options);
}

void DeviceTransform::enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out,
                              std::size_t first) const {
  if (panels_) {
    throw Error(
        ErrorKind::unavailable,
        fmt::format("fft: these arrays exceed the memory of {} that may be used: pass host arrays", device_.id()));
  }
  const std::vector<Stage>& stages = direction == Direction::forward ? forward_ : inverse_;
  const auto array = [&](Array which) -> const Buffer& {
    return which == Array::input ? in : which == Array::output ? out : which == Array::work ? work_ : second_;
  };
  const auto offset = [&](Array which) { return which == Array::input || which == Array::output ? first : 0; };
  for (const Stage& stage : stages)
    stage.route->enqueue(queue, array(stage.from), array(stage.to), offset(stage.from), offset(stage.to));
}

std::size_t DeviceTransform::bytes_of(Direction direction, bool input) const {
  const bool forward = direction == Direction::forward, samples = forward == input;
  const std::size_t each = number_bytes(problem_, float64_);
  if (!samples) return layout_.spectrum.extent * 2 * each;
  // The inverse returns numbers of the type of the plan, for samples of any type.
  const std::size_t number = (problem_.kind == Kind::complex ? 2 : 1) * each;
  return layout_.samples.extent * (forward ? sample_bytes(problem_.load_forward.samples, problem_.kind, each) : number);
}

std::size_t DeviceTransform::scratch_bytes() const {
  std::size_t bytes = (work_ ? work_.size() : 0) + (second_ ? second_.size() : 0);
  for (const Stage& stage : forward_) bytes += stage.route->scratch_bytes();
  for (const Stage& stage : inverse_) bytes += stage.route->scratch_bytes();
  return bytes;
}

void DeviceTransform::run(Direction direction, const void* in, void* out) const {
  if (panels_) return panels_->run(direction, in, out);
  const Side& out_side = direction == Direction::forward ? layout_.spectrum : layout_.samples;
  staging_.run({.in = in,
                .in_bytes = bytes_of(direction, true),
                .out = out,
                .out_bytes = bytes_of(direction, false),
                .in_place = problem_.in_place,
                // Elements between the points belong to the caller and are returned unchanged.
                .output_first = !problem_.in_place && has_gaps(out_side, problem_.batch)},
               [&](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, direction, from, to); });
}

std::string DeviceTransform::explain() const {
  std::string text = fmt::format("fft {} {} {}, batch {}, on {}\n", shape_text(problem_),
                                 problem_.kind == Kind::real ? "real" : "complex", float64_ ? "double" : "float",
                                 problem_.batch, device_.id());
  if (panels_) return text + panels_->explain();
  for (const Stage& stage : forward_.empty() ? inverse_ : forward_)
    text += fmt::format("  {}\n", stage.route->describe());
  if (layout_.boxed) {
    const Direction shown = forward_.empty() ? Direction::inverse : Direction::forward;
    text += fmt::format("  boxes: {:.3f} of the points of the whole transform\n",
                        share_of_points(ordered_axes(problem_, layout_, shown), problem_));
  }
  text += fmt::format("  {:.4g} flops by the conventional count; at least {} moved\n", usual_flops(problem_),
                      base::human_bytes(least_bytes(layout_, problem_, number_bytes(problem_, float64_))));
  for (const planner::Decision& decision : decisions_) text += decision.explain();
  return text;
}

std::vector<KernelSource> DeviceTransform::kernels() const {
  if (panels_) return panels_->kernels();
  std::vector<KernelSource> all;
  for (const Stage& stage : forward_.empty() ? inverse_ : forward_) add_to(all, kernels_of(stage.route->route()));
  return all;
}

}  // namespace ridge::fft
