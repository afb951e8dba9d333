// Columns of a spectrum on a device: x, y and z one after another, each with only the lines that carry modes. The lines
// of the columns are copied into a packed list for the transform along z, and the modes out of it.
#include "fft/device/boxes/columns.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "fft/device/axis_plan.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kColumnItems = 128;

// The inverse of a pass exchanges input and output.
AxisProblem directed(AxisProblem problem, Direction direction) {
  problem.direction = direction;
  if (direction == Direction::inverse) {
    std::swap(problem.in, problem.out);
    std::swap(problem.read, problem.written);
  }
  return problem;
}

Launch per_element(std::uint64_t elements) {
  return {.groups = {(elements + kColumnItems - 1) / kColumnItems}, .items = {kColumnItems}};
}

bool serves(const Device& device, AxisProblem problem) {
  normalize(problem);
  return std::ranges::any_of(list_routes(device, problem),
                             [](const Route& route) { return route.candidate.refusal.empty(); });
}

}  // namespace

KernelSource columns_text(bool float64) {
  return {.name = "fft_columns",
          .text = ridge::detail::kernel_text("fft/columns"),
          .defines = {{"ITEMS_PER_GROUP", fmt::format("{}", kColumnItems)},
                      {"NUMBER", float64 ? "double" : "float"},
                      {"PAIR", float64 ? "double2" : "float2"}}};
}

DeviceColumns::DeviceColumns(const Device& device, const ColumnsProblem& problem, const planner::Options& options,
                             bool float64, bool transposed)
    : device_(device), float64_(float64), geometry_(column_geometry(problem)), staging_(device, "fft columns") {
  if (float64 && !device.limits().float64) {
    throw Error(ErrorKind::unavailable, fmt::format("fft: {} has no double precision", device.id()));
  }
  // Only lines that fit a work-group store a part of themselves: longer ones are transformed and kept whole.
  const auto all_unless = [&](AxisRange& range, std::size_t length, auto along) {
    if (range.count < length &&
        (!serves(device, along(Direction::forward)) || !serves(device, along(Direction::inverse))))
      range = {0, length};
  };
  const bool real = geometry_.real();
  all_unless(geometry_.y_range, geometry_.y, [&](Direction direction) { return along_y(direction); });
  if (!real) all_unless(geometry_.x_range, geometry_.x, [&](Direction direction) { return along_x(direction); });
  planner::Options own = options;
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    Compiled* const passes = direction == Direction::forward ? forward_ : inverse_;
    const double scale = direction == Direction::forward ? problem.scale_forward : problem.scale_inverse;
    if (!real) passes[0] = planned_route(device, along_x(direction), own, decisions_);
    passes[1] = planned_route(device, along_y(direction), own, decisions_);
    passes[2] = planned_route(device, along_z(direction, scale), own, decisions_);
  }
  if (real) real_lines_ = float64 ? real_lines<double>(own) : real_lines<float>(own);
  const Program program = device.compile(columns_text(float64));
  gather_ = program.kernel("gather");
  scatter_ = program.kernel("scatter");
  take_ = program.kernel("take_modes");
  put_ = program.kernel("put_modes");
  drop_imaginary_ = program.kernel("drop_imaginary");
  make_tables(problem.columns, transposed);
  const std::size_t bytes = std::max(geometry_.planes(), geometry_.columns * geometry_.z) * (float64 ? 16 : 8);
  first_ = device.buffer(bytes, {.name = "fft columns, first"});
  second_ = device.buffer(bytes, {.name = "fft columns, second"});
}

void DeviceColumns::make_tables(const std::vector<Column>& columns, bool transposed) {
  std::vector<std::uint64_t> lines, places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    lines.push_back(geometry_.line_of(column));
    for (std::size_t i = 0; i < column.count; ++i) places.push_back(c * geometry_.z + geometry_.line_z(column, i));
  }
  lines_ = table(lines, "fft columns, lines");
  places_ = table(places, "fft columns, modes");
  if (!geometry_.real()) return;
  const auto factors = [&](Direction direction) {
    const std::vector<double> all = geometry_.factors(columns, direction, transposed);
    return float64_ ? table(all, "fft columns, factors")
                    : table(std::vector<float>(all.begin(), all.end()), "fft columns, factors");
  };
  forward_factors_ = factors(Direction::forward);
  inverse_factors_ = factors(Direction::inverse);
}

// Any length; devices plan a real axis with its half spectrum as a whole transform.
template <class T>
DeviceColumns::RealLines DeviceColumns::real_lines(const planner::Options& options) const {
  const std::size_t plane = geometry_.plane();
  Problem problem{.shape = {geometry_.x},
                  .batch = plane,
                  .kind = Kind::real,
                  .input = {.axes = {plane}, .batch = 1},
                  .output = {.axes = {plane}, .batch = 1}};
  if (geometry_.x_range.count < geometry_.x_lines())
    problem.wanted = {.first = {geometry_.x_range.first}, .count = {geometry_.x_range.count}};
  const Plan<T> plan(device_, problem, options);
  return {
      .forward = [plan](Queue& queue, const Buffer& in, const Buffer& out) { plan.enqueue_forward(queue, in, out); },
      .inverse = [plan](Queue& queue, const Buffer& in, const Buffer& out) { plan.enqueue_inverse(queue, in, out); },
      .kernels = plan.kernels(),
      .explained = plan.explain()};
}

template <class Element>
Buffer DeviceColumns::table(const std::vector<Element>& values, const char* name) const {
  Buffer buffer = device_.buffer(values.size() * sizeof(Element), {.name = name});
  Queue queue = device_.queue();
  queue.upload(std::span<const Element>(values), buffer);
  queue.finish();
  return buffer;
}

AxisProblem DeviceColumns::along_x(Direction direction) const {
  const std::uint64_t plane = geometry_.plane();
  return directed({.float64 = float64_,
                   .length = geometry_.x,
                   .counts = {plane},
                   .in = {.point = plane, .line = {1}},
                   .out = {.point = plane, .line = {1}},
                   .boxed = geometry_.x_range.count < geometry_.x,
                   .read = {0, geometry_.x},
                   .written = geometry_.x_range},
                  direction);
}

AxisProblem DeviceColumns::along_y(Direction direction) const {
  return directed({.float64 = float64_,
                   .length = geometry_.y,
                   .counts = {geometry_.z, geometry_.x_range.count},
                   .in = Address{.point = geometry_.z, .line = {1, geometry_.plane()}},
                   .out = {.point = geometry_.z, .line = {1, geometry_.box_plane()}},
                   .boxed = geometry_.y_range.count < geometry_.y,
                   .read = {0, geometry_.y},
                   .written = geometry_.y_range},
                  direction);
}

AxisProblem DeviceColumns::along_z(Direction direction, double scale) const {
  return directed({.float64 = float64_,
                   .length = geometry_.z,
                   .counts = {geometry_.columns},
                   .in = {.point = 1, .line = {geometry_.z}},
                   .out = {.point = 1, .line = {geometry_.z}},
                   .scale = scale},
                  direction);
}

void DeviceColumns::copy(Queue& queue, const Kernel& kernel, const Buffer& from, const Buffer& to, const Buffer& places,
                         std::uint64_t length, std::uint64_t elements) const {
  if (elements == 0) return;
  queue.launch(kernel, per_element(elements), {from, to, places, length, elements});
}

// Between the modes of the list and their places on the lines.
void DeviceColumns::copy_modes(Queue& queue, Direction direction, const Buffer& from, const Buffer& to) const {
  const bool forward = direction == Direction::forward;
  if (!geometry_.real()) return copy(queue, forward ? gather_ : scatter_, from, to, places_, 1, geometry_.modes);
  queue.launch(forward ? take_ : put_, per_element(geometry_.modes),
               {from, to, places_, forward ? forward_factors_ : inverse_factors_, std::uint64_t{geometry_.modes}});
}

void DeviceColumns::enqueue_forward(Queue& queue, const Buffer& samples, const Buffer& modes) const {
  geometry_.real() ? real_lines_.forward(queue, samples, first_) : forward_[0]->enqueue(queue, samples, first_);
  forward_[1]->enqueue(queue, first_, second_);
  copy(queue, gather_, second_, first_, lines_, geometry_.z, geometry_.columns * geometry_.z);
  forward_[2]->enqueue(queue, first_, second_);
  copy_modes(queue, Direction::forward, second_, modes);
}

void DeviceColumns::enqueue_inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const {
  queue.fill(first_, std::byte{0});
  copy_modes(queue, Direction::inverse, modes, first_);
  inverse_[2]->enqueue(queue, first_, second_);
  queue.fill(first_, std::byte{0});
  copy(queue, scatter_, second_, first_, lines_, geometry_.z, geometry_.columns * geometry_.z);
  inverse_[1]->enqueue(queue, first_, second_);
  if (!geometry_.real()) return inverse_[0]->enqueue(queue, second_, samples);
  for (const std::size_t x : geometry_.symmetric_planes()) {
    queue.launch(drop_imaginary_, per_element(geometry_.plane()),
                 {second_, std::uint64_t{x * geometry_.plane()}, std::uint64_t{geometry_.plane()}});
  }
  real_lines_.inverse(queue, second_, samples);
}

void DeviceColumns::enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out) const {
  // Both directions share the work areas: another queue waits for their last use.
  const std::lock_guard lock(mutex_);
  if (last_ && last_queue_ != queue.native()) queue.wait_for(last_);
  direction == Direction::forward ? enqueue_forward(queue, in, out) : enqueue_inverse(queue, in, out);
  last_ = queue.record();
  last_queue_ = queue.native();
}

void DeviceColumns::run(Direction direction, const void* in, void* out) const {
  const std::size_t element = float64_ ? 16 : 8, modes = geometry_.modes * element;
  const std::size_t samples = geometry_.samples() * (geometry_.real() ? element / 2 : element);
  const bool forward = direction == Direction::forward;
  const StagedCall call{
      .in = in, .in_bytes = forward ? samples : modes, .out = out, .out_bytes = forward ? modes : samples};
  staging_.run(call, [&](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, direction, from, to); });
}

std::vector<KernelSource> DeviceColumns::kernels() const {
  std::vector<KernelSource> all = real_lines_.kernels;
  for (const Compiled& pass : forward_) {
    if (pass) add_to(all, kernels_of(pass->route()));
  }
  all.push_back(columns_text(float64_));
  return all;
}

std::string DeviceColumns::explain() const {
  std::string text = real_lines_.explained;
  for (const planner::Decision& decision : decisions_) text += decision.explain();
  return text;
}

}  // namespace ridge::fft::on_device
