// Transforms of boxes on a device. Lines that fit a work-group, and long complex lines whose boxes divide evenly, load
// and store their box; the others are padded and cropped by copies. Between two axes only the box that is not zero, or
// still needed, is stored.
#include <algorithm>

#include "fft/box_order.hpp"
#include "fft/device/boxes/box_copy.hpp"
#include "fft/device/route.hpp"
#include "fft/device/transform.hpp"

namespace ridge::fft {

// The problem of an axis between two arrays, with the operators of the first load and the last store.
on_device::AxisProblem DeviceTransform::box_problem(Direction direction, const BoxAxis& axis, const Side& from,
                                                    const Side& to, const EndOperators* load,
                                                    const EndOperators* store) const {
  on_device::AxisProblem problem = axis_problem(direction, axis.axis, axis.kind, from, to);
  problem.length = axis.length;
  if (load != nullptr) {
    problem.load_storage = problem_.storage;
    problem.samples = load->samples;
    problem.load = load->load;
    if (problem.load.kind() != on_device::FactorKind::none)
      problem.load_at = on_device::factor_places(from, layout_.axes, axis.axis);
  }
  if (store != nullptr) {
    problem.store_storage = problem_.storage;
    problem.store = store->store;
    problem.scale = store->scale;
    if (problem.store.kind() != on_device::FactorKind::none)
      problem.store_at = on_device::factor_places(to, layout_.axes, axis.axis);
  }
  return problem;
}

void DeviceTransform::build_boxed(Direction direction, const planner::Options& options) {
  using on_device::AxisProblem;
  const bool forward = direction == Direction::forward;
  std::vector<Stage>& stages = forward ? forward_ : inverse_;
  const EndOperators ends = end_operators(direction);
  // Contiguous rows where the arrays are largest: last if boxes grow.
  const auto points = [](const std::array<AxisRange, kMostAxes>& box) {
    return box[0].count * box[1].count * box[2].count;
  };
  const bool grow = (points(layout_.given) < points(layout_.wanted)) == forward;
  const std::vector<BoxAxis> axes = ordered_axes(problem_, layout_, direction, grow);
  Array at = Array::input;
  std::size_t arrays = 0;
  // Two arrays are used alternately.
  const auto next = [&](const Side& side) {
    const Array array = arrays++ % 2 == 0 ? Array::work : Array::second;
    Buffer& buffer = array == Array::work ? work_ : second_;
    const std::size_t bytes = side.points() * problem_.batch * complex_bytes();
    if (!buffer || buffer.size() < bytes) buffer = device_.buffer(bytes, {.name = "fft intermediate boxes"});
    return array;
  };
  planner::Options own = options;
  if (!forward && problem_.directions == Directions::both) own.effort = Effort::quick;
  const auto add = [&](Compiled route, Array to, std::size_t axis) {
    stages.push_back({std::move(route), at, to, axis});
    at = to;
  };
  const auto add_chosen = [&](const AxisProblem& problem, Array to, std::size_t axis) {
    ReturnRoute none;
    add(choose(problem, nullptr, own, none), to, axis);
  };
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const BoxAxis& one = axes[i];
    const EndOperators *load = i == 0 ? &ends : nullptr, *store = i + 1 == axes.size() ? &ends : nullptr;
    const Side from = load != nullptr ? (forward ? layout_.samples : layout_.spectrum) : packed_side(one.from);
    const Side to = store != nullptr ? (forward ? layout_.spectrum : layout_.samples) : packed_side(one.to);
    const auto target = [&] { return store != nullptr ? Array::output : next(to); };
    AxisProblem problem = box_problem(direction, one, from, to, load, store);
    problem.boxed = true;
    problem.read = one.read;
    problem.written = one.written;
    const AxisProblem boxed = problem;
    on_device::normalize(problem);
    const auto serves = [](const on_device::Route& route) { return route.candidate.refusal.empty(); };
    if (std::ranges::any_of(on_device::list_routes(device_, problem), serves)) {
      add_chosen(problem, target(), one.axis);
      continue;
    }
    const on_device::PaddedAxis padded = on_device::padded_axis(boxed, one);
    EndOperators whole_ends = ends;
    if (load != nullptr) whole_ends.load = on_device::padded_factors(ends.load, one.from, one.axis, padded.pad);
    if (store != nullptr) whole_ends.store = on_device::padded_factors(ends.store, one.to, one.axis, padded.crop);
    const auto copies = [&](const on_device::BoxCopy& copy) {
      return std::make_shared<const on_device::CompiledRoute>(device_, on_device::box_copy_route(copy), boxed.float64);
    };
    AxisProblem whole = box_problem(direction, one, padded.from, padded.to, load == nullptr ? nullptr : &whole_ends,
                                    store == nullptr ? nullptr : &whole_ends);
    on_device::normalize(whole);
    add(copies(padded.pad), next(padded.from), one.axis);
    add_chosen(whole, next(padded.to), one.axis);
    add(copies(padded.crop), target(), one.axis);
  }
}

}  // namespace ridge::fft
