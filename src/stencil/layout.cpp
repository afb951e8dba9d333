// Validation of a stencil problem.
#include "stencil/layout.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "stencil/expression.hpp"

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse_layout(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil: " + what);
}

constexpr std::array<const char*, 3> kAxes{"z", "y", "x"};

// Far below the address space, so that padding and products of a few sizes never overflow.
constexpr std::size_t kMostBytes = std::size_t{1} << 56;

bool known(Border border) { return border == Border::fixed || border == Border::mirror || border == Border::periodic; }

void resolve_axis(Layout& layout, std::size_t axis) {
  const Border low = layout.low[axis], high = layout.high[axis];
  if (!known(low) || !known(high))
    refuse_layout(fmt::format("the border along {} is of no known kind: use fixed, mirror or periodic", kAxes[axis]));
  if ((low == Border::periodic) != (high == Border::periodic))
    refuse_layout(fmt::format(
        "along {} one side is periodic and the other {}: an axis must be periodic on both sides or on neither",
        kAxes[axis], to_string(low == Border::periodic ? high : low)));
  const auto radius = static_cast<std::size_t>(layout.radius[axis]);
  const std::size_t size = layout.shape[axis];
  const std::size_t below = low == Border::fixed ? radius : 0, above = high == Border::fixed ? radius : 0;
  if (below + above >= size && below + above > 0)
    refuse_layout(
        fmt::format("along {} the fixed borders ({} + {} layers, the stencil's radius) cover all {} cells: nothing "
                    "would ever change",
                    kAxes[axis], below, above, size));
  layout.begin[axis] = below;
  layout.end[axis] = size - above;
}

std::string border_key(const Layout& layout) {
  std::string text;
  for (std::size_t axis = 3 - layout.dimensions; axis < 3; ++axis) {
    text += fmt::format(" {}/{}", to_string(layout.low[axis]), to_string(layout.high[axis]));
  }
  return text;
}

}  // namespace

std::string to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::fixed:
      return "static";
    case Schedule::dynamic:
      return "dynamic";
    case Schedule::guided:
      return "guided";
    case Schedule::automatic:
      break;
  }
  return "automatic";
}

Schedule parse_schedule(const std::string& name) {
  for (const Schedule one : {Schedule::automatic, Schedule::fixed, Schedule::dynamic, Schedule::guided}) {
    if (name == to_string(one)) return one;
  }
  refuse_layout(fmt::format("no schedule \"{}\": use automatic, static, dynamic or guided", name));
}

std::size_t Layout::source(std::size_t axis, std::ptrdiff_t index) const {
  const auto size = static_cast<std::ptrdiff_t>(shape[axis]);
  // Wraps more than once if the grid is smaller than the radius.
  while (index < 0 || index >= size) {
    if (low[axis] == Border::periodic) {
      index = (index % size + size) % size;
    } else if (index < 0) {
      index = -1 - index;
    } else {
      index = 2 * size - 1 - index;
    }
  }
  return static_cast<std::size_t>(index);
}

std::string Layout::key() const {
  std::string sizes;
  for (std::size_t axis = 3 - dimensions; axis < 3; ++axis)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", shape[axis]);
  return fmt::format("stencil {} on {}{}", update, sizes, border_key(*this));
}

template <class T>
Layout resolve(const Update<T>& update, const Problem& problem) {
  if (!update.row || update.outputs.empty())
    refuse_layout("the update is empty: it was not made by update<T>() or linear<T>()");
  if (problem.shape.size() != update.dimensions)
    refuse_layout(
        fmt::format("the grid has {} dimensions, the update needs {}", problem.shape.size(), update.dimensions));
  Layout layout;
  layout.dimensions = update.dimensions;
  layout.fields = update.fields;
  layout.coefficients = update.coefficients;
  layout.radius = update.radius;
  layout.element_bytes = sizeof(T);
  layout.flops = update.flops;
  const char* type = std::is_same_v<T, float>          ? "float"
                     : std::is_same_v<T, double>       ? "double"
                     : std::is_same_v<T, std::int32_t> ? "int32"
                                                       : "uint8";
  const std::string print = fingerprint(flatten(update.outputs));
  layout.update = fmt::format("{} {}", update.name, type);
  if (update.name.find(print) == std::string::npos) layout.update += " " + print;
  layout.threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  layout.schedule = problem.schedule;
  if (layout.threads > 4096) refuse_layout(fmt::format("at most 4096 threads are possible, got {}", layout.threads));
  std::size_t bytes = sizeof(T) * (layout.fields + layout.coefficients);
  for (std::size_t i = 0; i < problem.shape.size(); ++i) {
    const std::size_t axis = 3 - layout.dimensions + i;
    layout.shape[axis] = problem.shape[i];
    layout.low[axis] = problem.borders.low[i];
    layout.high[axis] = problem.borders.high[i];
    if (problem.shape[i] == 0)
      refuse_layout(
          fmt::format("every axis needs at least 1 cell: one of {} has 0 cells", fmt::join(problem.shape, " x ")));
    if (__builtin_mul_overflow(bytes, problem.shape[i], &bytes) || bytes > kMostBytes)
      refuse_layout(fmt::format("{} cells are too large for any memory", fmt::join(problem.shape, " x ")));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) resolve_axis(layout, axis);
  return layout;
}

template Layout resolve(const Update<float>&, const Problem&);
template Layout resolve(const Update<double>&, const Problem&);
template Layout resolve(const Update<std::int32_t>&, const Problem&);
template Layout resolve(const Update<std::uint8_t>&, const Problem&);

}  // namespace ridge::stencil
