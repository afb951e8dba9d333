// Cosine, sine and Hartley transforms of boxes: one axis after another, tile by tile. Only tiles hold the zeros of a
// line.
#include <ridge/fft/real_boxes.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>

#include <fmt/format.h>

#include "base/threads.hpp"
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

// Part of a line that is read or written: `count` points from `first` on, continued at the line's beginning.
struct LinePart {
  std::size_t first = 0, count = 0;
};

// Transforms along one axis, of `outer` blocks of `inner` neighbouring lines. A tile holds `width` lines next to each
// other, or `width` rows one after another if the axis is the fastest.
template <class T>
struct AxisOfLines {
  std::size_t axis = 0, length = 0, outer = 0, inner = 0, width = 0;
  LinePart read{}, written{};
  std::optional<TensorPlan<T>> tile{}, rest{};  // of `width` lines; of the last, narrower tile
  std::size_t lines() const { return outer * inner; }
  bool rows() const { return inner == 1; }
  std::size_t across() const { return rows() ? outer : inner; }  // lines that are divided into tiles
  std::size_t per_block() const { return (across() + width - 1) / width; }
  std::size_t tiles() const { return per_block() * (rows() ? 1 : outer); }

  TensorPlan<T> plan(std::size_t lines, RealKind kind, double scale, const planner::Options& options) const {
    const auto step = static_cast<std::ptrdiff_t>(rows() ? 1 : lines),
               next = static_cast<std::ptrdiff_t>(rows() ? length : 1);
    return tensor_plan<T>(host(),
                          {.kind = TensorKind::real_to_real,
                           .axes = {{.length = length, .input = step, .output = step}},
                           .loops = {{.length = lines, .input = next, .output = next}},
                           .real_kinds = {kind},
                           .scale = scale},
                          options);
  }

  // Copies the part of a line between a tile, which has the whole line, and an array, which has only the part.
  template <bool to_tile>
  void copy(const LinePart& part, std::size_t lines, T* in_tile, T* in_array) const {
    const std::size_t step = rows() ? 1 : lines, next = rows() ? length : 1;
    const std::size_t array_step = rows() ? 1 : inner, array_next = rows() ? part.count : 1;
    for (std::size_t i = 0; i < part.count; ++i) {
      const std::size_t at = (part.first + i) % length;
      T *const a = in_tile + at * step, *const b = in_array + i * array_step;
      for (std::size_t line = 0; line < lines; ++line)
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
        const std::size_t lines = std::min(width, across() - first);
        if (lines != last_lines) std::ranges::fill(before, T{});  // another layout: zeros are at other places
        last_lines = lines;
        const std::size_t in_at = rows() ? first * read.count : block * read.count * inner + first;
        const std::size_t out_at = rows() ? first * written.count : block * written.count * inner + first;
        copy<true>(read, lines, before.data(), const_cast<T*>(from) + in_at);
        (lines == width ? *tile : *rest).run(before.data(), after.data());
        copy<false>(written, lines, after.data(), to + out_at);
      }
    });
  }
};

}  // namespace

template <class T>
struct RealBoxesState {
  RealBoxesProblem problem;
  Box given, wanted;
  std::size_t threads;
  std::vector<AxisOfLines<T>> axes{};  // in the order of the transforms

  RealBoxesState(const RealBoxesProblem& asked, const planner::Options& options)
      : problem(asked), threads(asked.threads == 0 ? base::hardware_threads() : asked.threads) {
    const std::vector<std::size_t>& shape = problem.shape;
    if (shape.empty() || std::ranges::count(shape, 0) > 0 || problem.kinds.size() != shape.size()) {
      refuse_boxes(fmt::format(
          "a transform of boxes needs axes of at least one point and a kind for each, got {} axes and {} kinds",
          shape.size(), problem.kinds.size()));
    }
    given = filled_box(problem.given, shape, "given");
    wanted = filled_box(problem.wanted, shape, "wanted");
    // Axes that become shortest first, so that the others have fewer lines.
    std::vector<std::size_t> order(shape.size());
    for (std::size_t axis = 0; axis < order.size(); ++axis) order[axis] = order.size() - 1 - axis;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return static_cast<double>(wanted.count[a]) * static_cast<double>(given.count[b]) <
             static_cast<double>(wanted.count[b]) * static_cast<double>(given.count[a]);
    });
    std::vector<std::size_t> extents = given.count;
    for (const std::size_t axis : order) {
      AxisOfLines<T>& lines = axes.emplace_back();
      lines.axis = axis;
      lines.length = shape[axis];
      lines.outer = product_of(extents, 0, axis);
      lines.inner = product_of(extents, axis + 1, extents.size());
      lines.width = std::clamp<std::size_t>(kTileNumbers / lines.length, 1, lines.across());
      lines.read = {given.first[axis], given.count[axis]};
      lines.written = {wanted.first[axis], wanted.count[axis]};
      const double scale = axes.size() == order.size() ? problem.scale : 1;
      lines.tile.emplace(lines.plan(lines.width, problem.kinds[axis], scale, options));
      const std::size_t rest = lines.across() % lines.width;
      if (rest > 0) lines.rest.emplace(lines.plan(rest, problem.kinds[axis], scale, options));
      extents[axis] = wanted.count[axis];
    }
  }
};

template <class T>
RealBoxes<T>::RealBoxes(const RealBoxesProblem& problem, const planner::Options& options)
    : state_(std::make_shared<const RealBoxesState<T>>(problem, options)) {}

template <class T>
std::size_t RealBoxes<T>::input_size() const {
  return product_of(state_->given.count, 0, state_->given.count.size());
}
template <class T>
std::size_t RealBoxes<T>::output_size() const {
  return product_of(state_->wanted.count, 0, state_->wanted.count.size());
}

template <class T>
void RealBoxes<T>::run(std::span<const T> samples, std::span<T> values) const {
  planner::check_length("fft", "samples", samples.size_bytes(), input_size() * sizeof(T));
  planner::check_length("fft", "values", values.size_bytes(), output_size() * sizeof(T));
  planner::check_apart("fft", samples.data(), input_size() * sizeof(T), values.data(), output_size() * sizeof(T),
                       false);
  std::vector<T> from, to;
  for (std::size_t i = 0; i < state_->axes.size(); ++i) {
    const AxisOfLines<T>& axis = state_->axes[i];
    const bool last = i + 1 == state_->axes.size();
    if (!last) to.resize(axis.lines() * axis.written.count);
    axis.run(i == 0 ? samples.data() : from.data(), last ? values.data() : to.data(), state_->threads);
    std::swap(from, to);
  }
}

template <class T>
double RealBoxes<T>::share() const {
  double done = 0, whole = 0;
  for (const AxisOfLines<T>& axis : state_->axes) {
    done += static_cast<double>(axis.lines() * axis.length);
    whole += static_cast<double>(product_of(state_->problem.shape, 0, state_->problem.shape.size()));
  }
  return done / whole;
}

template <class T>
std::string RealBoxes<T>::explain() const {
  std::string text = fmt::format("boxes of a real-to-real transform: {:.3f} of the points of the whole one\n", share());
  for (const AxisOfLines<T>& axis : state_->axes) {
    text += fmt::format("  axis {}: {} lines of {} points ({})\n", axis.axis, axis.lines(), axis.length,
                        to_string(state_->problem.kinds[axis.axis]));
  }
  return text;
}

template class RealBoxes<float>;
template class RealBoxes<double>;

}  // namespace ridge::fft
