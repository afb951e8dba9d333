// Plans the passes of a filter over a box.
#include "fft/device/boxes/box_filter.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "fft/box_order.hpp"
#include "fft/device/axis_plan.hpp"

namespace ridge::fft::on_device {
namespace {

Address packed_rows(const AxisProblem& problem, std::size_t points) {
  return {.point = 1, .line = std::vector<std::uint64_t>(problem.counts.size(), points)};
}

}  // namespace

DeviceBoxFilter::DeviceBoxFilter(const Device& device, const Layout& layout, bool float64)
    : device_(device), float64_(float64) {
  for (AxisRange& range : box_) range = {.first = 0, .count = 1};
  for (std::size_t i = 0; i < layout.axes; ++i) {
    const std::size_t axis = i + 1 == layout.axes ? 2 : i;
    shape_[axis] = layout.spectrum.shape[i];
    box_[axis] = layout.given[i];
  }
}

std::unique_ptr<const DeviceBoxFilter> DeviceBoxFilter::make(const Device& device, const Layout& layout,
                                                             const Buffer& spectrum, bool float64,
                                                             const planner::Options& options, std::string& refusal) {
  std::unique_ptr<DeviceBoxFilter> made(new DeviceBoxFilter(device, layout, float64));
  if (made->build(spectrum, options)) return made;
  refusal = made->refusal_;
  return nullptr;
}

// Transforms one of the first two axes of an array of this shape, from the box to the whole axis or back.
DeviceBoxFilter::Compiled DeviceBoxFilter::transform(std::size_t axis, Direction direction, Shape from,
                                                     const planner::Options& options) {
  const AxisRange all{.first = 0, .count = shape_[axis]};
  const bool forward = direction == Direction::forward;
  Shape to = from;
  to[axis] = forward ? shape_[axis] : box_[axis].count;
  const Side in = packed_side(from), out = packed_side(to);
  AxisProblem problem;
  problem.float64 = float64_;
  problem.direction = direction;
  problem.length = shape_[axis];
  problem.in.point = in.strides[axis];
  problem.out.point = out.strides[axis];
  for (std::size_t other = kMostAxes; other-- > 0;) {
    if (other == axis) continue;
    problem.counts.push_back(from[other]);
    problem.in.line.push_back(in.strides[other]);
    problem.out.line.push_back(out.strides[other]);
  }
  problem.boxed = true;
  problem.read = forward ? box_[axis] : all;
  problem.written = forward ? all : box_[axis];
  normalize(problem);
  const std::vector<Route> routes = list_routes(device_, problem);
  if (std::ranges::any_of(routes, [](const Route& route) { return route.candidate.refusal.empty(); }))
    return planned_route(device_, problem, options, decisions_);
  refusal_ = routes.front().candidate.refusal;
  return nullptr;
}

// The third axis.
DeviceBoxFilter::Compiled DeviceBoxFilter::filter(const Buffer& spectrum) {
  AxisProblem problem;
  problem.float64 = float64_;
  problem.length = shape_[2];
  problem.counts = {shape_[0] * shape_[1]};
  problem.in = problem.out = packed_rows(problem, box_[2].count);
  problem.in_place = first_ != nullptr || second_ != nullptr;
  problem.boxed = true;
  problem.read = problem.written = box_[2];
  problem.scale = 1 / static_cast<double>(shape_[0] * shape_[1] * shape_[2]);
  return filtered_boxes(device_, problem, spectrum, refusal_);
}

bool DeviceBoxFilter::build(const Buffer& spectrum, const planner::Options& options) {
  const std::size_t row = box_[2].count;
  const Shape box{box_[0].count, box_[1].count, row}, first{shape_[0], box[1], row}, second{shape_[0], shape_[1], row};
  const auto buffer = [&](const Shape& shape) {
    return device_.buffer(shape[0] * shape[1] * shape[2] * (float64_ ? 16 : 8), {.name = "fft filtered box"});
  };
  if (shape_[0] > 1) {
    first_ = transform(0, Direction::forward, box, options);
    first_back_ = first_ ? transform(0, Direction::inverse, first, options) : nullptr;
    if (!first_back_) return false;
    after_first_ = buffer(first);
  }
  if (shape_[1] > 1) {
    second_ = transform(1, Direction::forward, first, options);
    second_back_ = second_ ? transform(1, Direction::inverse, second, options) : nullptr;
    if (!second_back_) return false;
    after_second_ = buffer(second);
  }
  filter_ = filter(spectrum);
  return filter_ != nullptr;
}

void DeviceBoxFilter::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  if (first_) first_->enqueue(queue, in, after_first_);
  const Buffer &from = first_ ? after_first_ : in, &to = first_ ? after_first_ : out;
  if (second_) {
    second_->enqueue(queue, from, after_second_);
    filter_->enqueue(queue, after_second_, after_second_);
    second_back_->enqueue(queue, after_second_, to);
  } else {
    filter_->enqueue(queue, from, to);
  }
  if (first_back_) first_back_->enqueue(queue, after_first_, out);
}

std::string DeviceBoxFilter::explain() const {
  std::string text;
  for (const Compiled& route : {first_, second_, filter_, second_back_, first_back_}) {
    if (route) text += fmt::format("  {}\n", route->describe());
  }
  for (const planner::Decision& decision : decisions_) text += decision.explain();
  return text;
}

}  // namespace ridge::fft::on_device
