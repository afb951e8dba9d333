// Cosine, sine and Hartley transforms of boxes: one axis after another, tile by tile. Only tiles hold the zeros of a
// line.
#include <ridge/fft/real_boxes.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "fft/device/boxes/real_boxes.hpp"
#include "fft/real_box_lines.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kTileNumbers = std::size_t{1} << 14;  // per tile of lines

[[noreturn]] void refuse_boxes(const std::string& why) { throw Error(ErrorKind::invalid_argument, "fft: " + why); }

std::size_t product_of(const std::vector<std::size_t>& extents, std::size_t begin, std::size_t end) {
  std::size_t product = 1;
  for (std::size_t axis = begin; axis < end; ++axis) product *= extents[axis];
  return product;
}

// Firsts and counts of a box for every axis.
Box filled_box(const Box& box, const std::vector<std::size_t>& shape, const char* name) {
  const std::size_t axes = shape.size();
  if ((!box.first.empty() && box.first.size() != axes) || (!box.count.empty() && box.count.size() != axes)) {
    refuse_boxes(fmt::format("the box {} needs {} firsts and counts, one per axis, got {} and {}", name, axes,
                             box.first.size(), box.count.size()));
  }
  Box filled{.first = box.first, .count = box.count.empty() ? shape : box.count};
  filled.first.resize(axes);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (filled.first[axis] < shape[axis] && filled.count[axis] >= 1 && filled.count[axis] <= shape[axis]) continue;
    refuse_boxes(fmt::format("the box {} needs 1 to {} points from 0 to {} on axis {}, got {} from {}", name,
                             shape[axis], shape[axis] - 1, axis, filled.count[axis], filled.first[axis]));
  }
  return filled;
}

}  // namespace

std::vector<RealBoxLines> real_box_lines(const RealBoxesProblem& problem, bool transposed) {
  const std::vector<std::size_t>& shape = problem.shape;
  if (shape.empty() || std::ranges::count(shape, 0) > 0 || problem.kinds.size() != shape.size()) {
    refuse_boxes(fmt::format(
        "a transform of boxes needs axes of at least one point and a kind for each, got {} axes and {} kinds",
        shape.size(), problem.kinds.size()));
  }
  Box given = filled_box(problem.given, shape, "given"), wanted = filled_box(problem.wanted, shape, "wanted");
  if (transposed) std::swap(given, wanted);
  std::vector<std::size_t> order(shape.size());
  for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = order.size() - 1 - axis;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return static_cast<double>(wanted.count[a]) * static_cast<double>(given.count[b]) <
           static_cast<double>(wanted.count[b]) * static_cast<double>(given.count[a]);
  });
  std::vector<std::size_t> extents = given.count;
  std::vector<RealBoxLines> found;
  for (const std::size_t axis : order) {
    found.push_back({.axis = axis,
                     .length = shape[axis],
                     .outer = product_of(extents, 0, axis),
                     .inner = product_of(extents, axis + 1, extents.size()),
                     .read = {given.first[axis], given.count[axis]},
                     .written = {wanted.first[axis], wanted.count[axis]},
                     .kind = problem.kinds[axis],
                     .scale = found.size() + 1 == order.size() ? problem.scale : 1});
    extents[axis] = wanted.count[axis];
  }
  return found;
}

TensorProblem lines_problem(const RealBoxLines& axis, const std::vector<Dimension>& loops, std::ptrdiff_t step,
                            bool transposed) {
  const TensorProblem problem{.kind = TensorKind::real_to_real,
                              .axes = {{.length = axis.length, .input = step, .output = step}},
                              .loops = loops,
                              .real_kinds = {axis.kind},
                              .scale = axis.scale};
  return transposed ? adjoint(problem) : problem;
}

// Transforms along one axis on the host. A tile holds `width` lines next to each other, or `width` rows one after
// another if the axis is the fastest.
template <class T>
struct AxisOfLines : RealBoxLines {
  std::size_t width = 0;
  std::optional<TensorPlan<T>> tile{}, rest{};  // of `width` lines; of the last, narrower tile

  AxisOfLines(const RealBoxLines& axis_lines, bool transposed, const planner::Options& options)
      : RealBoxLines(axis_lines), width(std::clamp<std::size_t>(kTileNumbers / length, 1, across())) {
    tile.emplace(plan(width, transposed, options));
    if (across() % width > 0) rest.emplace(plan(across() % width, transposed, options));
  }
  bool rows() const { return inner == 1; }
  std::size_t across() const { return rows() ? outer : inner; }  // lines that are divided into tiles
  std::size_t per_block() const { return (across() + width - 1) / width; }
  std::size_t tiles() const { return per_block() * (rows() ? 1 : outer); }

  TensorPlan<T> plan(std::size_t count, bool transposed, const planner::Options& options) const {
    const auto step = static_cast<std::ptrdiff_t>(rows() ? 1 : count),
               next = static_cast<std::ptrdiff_t>(rows() ? length : 1);
    const std::vector<Dimension> loops{{.length = count, .input = next, .output = next}};
    return tensor_plan<T>(host(), lines_problem(*this, loops, step, transposed), options);
  }

  // Copies the part of a line between a tile, which has the whole line, and an array, which has only the part.
  template <bool to_tile>
  void copy(const AxisRange& part, std::size_t count, T* in_tile, T* in_array) const {
    const std::size_t step = rows() ? 1 : count, next = rows() ? length : 1;
    const std::size_t array_step = rows() ? 1 : inner, array_next = rows() ? part.count : 1;
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t at = (part.first + i) % length;
      T *const a = in_tile + at * step, *const b = in_array + i * array_step;
      for (std::size_t line = 0; line < count; ++line)
        to_tile ? void(a[line * next] = b[line * array_next]) : void(b[line * array_next] = a[line * next]);
    }
  }

  void run(const T* from, T* to, std::size_t threads) const {
    std::atomic<std::size_t> next{0};
    base::parallel(std::min(threads, tiles()), [&](std::size_t, std::size_t) {
      std::vector<T> before(length * width), after(before.size());
      std::size_t last_lines = width;
      for (std::size_t at = next++; at < tiles(); at = next++) {
        const std::size_t block = rows() ? 0 : at / per_block(), first = at % per_block() * width;
        const std::size_t count = std::min(width, across() - first);
        if (count != last_lines) std::ranges::fill(before, T{});  // another layout: zeros are at other places
        last_lines = count;
        const std::size_t in_at = rows() ? first * read.count : block * read.count * inner + first;
        const std::size_t out_at = rows() ? first * written.count : block * written.count * inner + first;
        copy<true>(read, count, before.data(), const_cast<T*>(from) + in_at);
        (count == width ? *tile : *rest).run(before.data(), after.data());
        copy<false>(written, count, after.data(), to + out_at);
      }
    });
  }
};

template <class T>
struct RealBoxesState {
  Device device;
  RealBoxesProblem problem;
  bool transposed;
  planner::Options options;
  std::size_t threads;
  std::vector<RealBoxLines> lines;  // in the order of the transforms
  std::vector<AxisOfLines<T>> on_host{};
  std::optional<on_device::DeviceRealBoxes<T>> on_device{};

  RealBoxesState(const Device& where, const RealBoxesProblem& asked, bool adjoined, const planner::Options& how)
      : device(where),
        problem(asked),
        transposed(adjoined),
        options(how),
        threads(asked.threads == 0 ? base::hardware_threads() : asked.threads),
        lines(real_box_lines(asked, adjoined)) {
    if (!device.is_host()) {
      on_device.emplace(device, lines, transposed, options);
      return;
    }
    for (const RealBoxLines& axis : lines) on_host.emplace_back(axis, transposed, options);
  }

  std::size_t input_size() const { return lines.front().lines() * lines.front().read.count; }
  std::size_t output_size() const { return lines.back().lines() * lines.back().written.count; }

  void run(const T* in, T* out) const {
    std::vector<T> from, to;
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      const AxisOfLines<T>& axis = on_host[i];
      const bool last = i + 1 == on_host.size();
      if (!last) to.resize(axis.lines() * axis.written.count);
      axis.run(i == 0 ? in : from.data(), last ? out : to.data(), threads);
      std::swap(from, to);
    }
  }
};

template <class T>
RealBoxes<T>::RealBoxes(const Device& device, const RealBoxesProblem& problem, const planner::Options& options)
    : state_(std::make_shared<const RealBoxesState<T>>(device, problem, false, options)) {}

template <class T>
RealBoxes<T> RealBoxes<T>::adjoint() const {
  RealBoxes result = *this;
  result.state_ =
      std::make_shared<const RealBoxesState<T>>(state_->device, state_->problem, !state_->transposed, state_->options);
  return result;
}

template <class T>
std::size_t RealBoxes<T>::input_size() const {
  return state_->input_size();
}
template <class T>
std::size_t RealBoxes<T>::output_size() const {
  return state_->output_size();
}
template <class T>
const Device& RealBoxes<T>::device() const {
  return state_->device;
}
template <class T>
const RealBoxesProblem& RealBoxes<T>::problem() const {
  return state_->problem;
}

template <class T>
void RealBoxes<T>::run(std::span<const T> samples, std::span<T> values) const {
  planner::check_length("fft", "samples", samples.size_bytes(), input_size() * sizeof(T));
  planner::check_length("fft", "values", values.size_bytes(), output_size() * sizeof(T));
  planner::check_apart("fft", samples.data(), input_size() * sizeof(T), values.data(), output_size() * sizeof(T),
                       false);
  if (state_->on_device) return state_->on_device->run(samples.data(), values.data());
  state_->run(samples.data(), values.data());
}

template <class T>
void RealBoxes<T>::enqueue(Queue& queue, const Buffer& samples, const Buffer& values) const {
  if (!state_->on_device) {
    throw Error(ErrorKind::invalid_argument,
                "fft: enqueue needs a transform of boxes on a device, and this one is on the host: use run()");
  }
  planner::check_queue("fft", queue, state_->device);
  planner::check_buffer("fft", "input", samples, state_->device, input_size() * sizeof(T));
  planner::check_buffer("fft", "output", values, state_->device, output_size() * sizeof(T));
  planner::check_apart("fft", samples, values, false);
  state_->on_device->enqueue(queue, samples, values);
}

template <class T>
double RealBoxes<T>::share() const {
  double done = 0, whole = 0;
  for (const RealBoxLines& axis : state_->lines) {
    done += static_cast<double>(axis.lines() * axis.length);
    whole += static_cast<double>(product_of(state_->problem.shape, 0, state_->problem.shape.size()));
  }
  return done / whole;
}

template <class T>
std::string RealBoxes<T>::explain() const {
  std::string text = fmt::format("boxes of a real-to-real transform{} on {}: {:.3f} of the points of the whole one\n",
                                 state_->transposed ? ", transposed" : "", state_->device.id(), share());
  for (const RealBoxLines& axis : state_->lines) {
    text += fmt::format("  axis {}: {} lines of {} points ({})\n", axis.axis, axis.lines(), axis.length,
                        to_string(axis.kind));
  }
  return text;
}

template <class T>
std::vector<KernelSource> RealBoxes<T>::kernels() const {
  return state_->on_device ? state_->on_device->kernels() : std::vector<KernelSource>{};
}

template class RealBoxes<float>;
template class RealBoxes<double>;

}  // namespace ridge::fft
