// Transforms between a grid and a set of columns of its spectrum.
#include <ridge/fft/columns.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "fft/column_geometry.hpp"
#include "fft/device/boxes/columns.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse_columns(const std::string& why) {
  throw Error(ErrorKind::invalid_argument, "fft: columns: " + why);
}

// The shortest range of an axis, which may continue at the beginning, that contains all points used.
AxisRange range_of(const std::vector<bool>& used) {
  const std::size_t n = used.size();
  std::size_t best = 0, after = 0, gap = 0;  // the longest gap, and the point after it
  for (std::size_t i = 0; i < 2 * n; ++i) {
    gap = used[i % n] ? 0 : gap + 1;
    if (gap > best && gap < n) {
      best = gap;
      after = (i + 1) % n;
    }
  }
  return {.first = after, .count = n - best};
}

void check_columns(const ColumnsProblem& problem) {
  const auto& shape = problem.shape;
  if (shape.size() != 3 || std::ranges::count(shape, 0) > 0) {
    refuse_columns(fmt::format("the shape needs three axes of at least one point, got {} axes{}", shape.size(),
                               std::ranges::count(shape, 0) > 0 ? " and 0 points" : ""));
  }
  if (problem.columns.empty()) refuse_columns("the list needs at least one column, got none");
  if (std::ranges::all_of(problem.columns, [](const Column& column) { return column.count == 0; })) {
    refuse_columns(
        fmt::format("the list needs at least one mode, got {} columns with 0 modes", problem.columns.size()));
  }
  std::vector<bool> seen(shape[0] * shape[1], false);
  for (const Column& column : problem.columns) {
    if (column.x >= shape[0] || column.y >= shape[1] || column.first >= shape[2] || column.count > shape[2]) {
      refuse_columns(fmt::format("column ({}, {}) with {} modes from {} is outside the shape {}x{}x{}", column.x,
                                 column.y, column.count, column.first, shape[0], shape[1], shape[2]));
    }
    if (seen[column.x * shape[1] + column.y]) {
      refuse_columns(fmt::format("column ({}, {}) is in the list twice", column.x, column.y));
    }
    seen[column.x * shape[1] + column.y] = true;
  }
}

// Lines along an axis with `neighbours` lines side by side; only the modes of the range are read or written.
Problem axis_lines(std::size_t length, std::size_t neighbours, const AxisRange& range, std::size_t threads) {
  Problem lines{.shape = {length},
                .batch = neighbours,
                .input = {.axes = {neighbours}, .batch = 1},
                .output = {.axes = {neighbours}, .batch = 1},
                .threads = threads};
  if (range.count < length) lines.wanted = {.first = {range.first}, .count = {range.count}};
  return lines;
}

}  // namespace

ColumnGeometry column_geometry(const ColumnsProblem& problem) {
  check_columns(problem);
  const auto range = [&](std::size_t Column::*at, std::size_t length) {
    std::vector<bool> used(length, false);
    for (const Column& column : problem.columns) used[column.*at] = true;
    return range_of(used);
  };
  ColumnGeometry geometry{.x = problem.shape[0],
                          .y = problem.shape[1],
                          .z = problem.shape[2],
                          .x_range = range(&Column::x, problem.shape[0]),
                          .y_range = range(&Column::y, problem.shape[1]),
                          .columns = problem.columns.size()};
  for (const Column& column : problem.columns) geometry.modes += column.count;
  return geometry;
}

std::vector<Column> sphere_columns(const std::vector<std::size_t>& shape,
                                   const std::array<std::array<double, 3>, 3>& basis, double cutoff) {
  if (shape.size() != 3 || !(cutoff >= 0)) {
    refuse_columns(
        fmt::format("a sphere needs three axes and a cutoff of at least 0, got {} axes and {}", shape.size(), cutoff));
  }
  const auto dot = [&](std::size_t a, std::size_t b) {
    return basis[a][0] * basis[b][0] + basis[a][1] * basis[b][1] + basis[a][2] * basis[b][2];
  };
  const double along = dot(2, 2);
  if (!(along > 0)) refuse_columns("needs a basis without zero vectors, the third one is zero");
  const auto index = [&](long k, std::size_t axis) {
    const auto n = static_cast<long>(shape[axis]);
    if (2 * std::abs(k) >= n) {
      refuse_columns(fmt::format("frequency {} of the sphere is outside axis {} of {} points: use a longer axis", k,
                                 axis, shape[axis]));
    }
    return static_cast<std::size_t>(k < 0 ? k + n : k);
  };
  const long most[2] = {static_cast<long>(shape[0]), static_cast<long>(shape[1])};
  std::vector<Column> columns;
  for (long i = -most[0]; i <= most[0]; ++i) {
    for (long j = -most[1]; j <= most[1]; ++j) {
      const auto x = static_cast<double>(i), y = static_cast<double>(j);
      // |x b0 + y b1 + l b2|^2 = along l^2 + 2 slope l + rest
      const double slope = x * dot(0, 2) + y * dot(1, 2);
      const double rest = x * x * dot(0, 0) + 2 * x * y * dot(0, 1) + y * y * dot(1, 1) - cutoff * cutoff;
      const double square = slope * slope - along * rest;
      if (!(square >= 0)) continue;
      const double last = std::floor((std::sqrt(square) - slope) / along),
                   first = std::ceil((-std::sqrt(square) - slope) / along);
      if (last < first) continue;
      index(static_cast<long>(last), 2);
      columns.push_back({.x = index(i, 0),
                         .y = index(j, 1),
                         .first = index(static_cast<long>(first), 2),
                         .count = static_cast<std::size_t>(last - first) + 1});
    }
  }
  return columns;
}

template <class T>
struct HostColumns {
  ColumnsProblem problem;
  ColumnGeometry at;
  Plan<T> along_x, along_y, along_z;

  HostColumns(const ColumnsProblem& given, const planner::Options& options)
      : problem(given),
        at(column_geometry(given)),
        along_x(host(), axis_lines(at.x, at.plane(), at.x_range, given.threads), options),
        along_y(host(), axis_lines(at.y, at.z, at.y_range, given.threads), options),
        along_z(host(),
                {.shape = {at.z},
                 .batch = at.columns,
                 .scale_forward = given.scale_forward,
                 .scale_inverse = given.scale_inverse,
                 .threads = given.threads},
                options) {}

  // Calls use(position among the modes, position on the line, count) for the one or two parts of a column.
  template <class Use>
  void for_parts(const Use& use) const {
    std::size_t mode = 0;
    for (std::size_t c = 0; c < at.columns; ++c) {
      const Column& column = problem.columns[c];
      const std::size_t head = std::min(column.count, at.z - column.first);
      use(mode, c * at.z + column.first, head);
      use(mode + head, c * at.z, column.count - head);
      mode += column.count;
    }
  }

  void forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out) const {
    const std::size_t plane = at.plane(), box = at.box_plane();
    std::vector<std::complex<T>> planes(at.planes()), lines(at.lines()), columns(at.columns * at.z);
    along_x.forward(in, std::span(planes));
    for (std::size_t x = 0; x < at.x_range.count; ++x) {
      along_y.forward(std::span<const std::complex<T>>(planes).subspan(x * plane, plane),
                      std::span(lines).subspan(x * box, box));
    }
    for (std::size_t c = 0; c < at.columns; ++c) {
      std::copy_n(lines.data() + at.line_of(problem.columns[c]), at.z, columns.data() + c * at.z);
    }
    std::vector<std::complex<T>> spectra(columns.size());
    along_z.forward(std::span<const std::complex<T>>(columns), std::span(spectra));
    for_parts([&](std::size_t mode, std::size_t from, std::size_t count) {
      std::copy_n(spectra.data() + from, count, out.data() + mode);
    });
  }

  void inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out) const {
    const std::size_t plane = at.plane(), box = at.box_plane();
    std::vector<std::complex<T>> spectra(at.columns * at.z), columns(spectra.size());
    for_parts([&](std::size_t mode, std::size_t to, std::size_t count) {
      std::copy_n(in.data() + mode, count, spectra.data() + to);
    });
    along_z.inverse(std::span<const std::complex<T>>(spectra), std::span(columns));
    std::vector<std::complex<T>> planes(at.planes()), lines(at.lines());
    for (std::size_t c = 0; c < at.columns; ++c) {
      std::copy_n(columns.data() + c * at.z, at.z, lines.data() + at.line_of(problem.columns[c]));
    }
    for (std::size_t x = 0; x < at.x_range.count; ++x) {
      along_y.inverse(std::span<const std::complex<T>>(lines).subspan(x * box, box),
                      std::span(planes).subspan(x * plane, plane));
    }
    along_x.inverse(std::span<const std::complex<T>>(planes), out);
  }

  std::string explain() const { return along_x.explain() + along_y.explain() + along_z.explain(); }
};

template <class T>
struct ColumnState {
  Device device;
  ColumnsProblem problem;
  std::optional<HostColumns<T>> on_host{};
  std::optional<on_device::DeviceColumns> on_device{};  // one of the two
  ColumnGeometry geometry{};

  ColumnState(const Device& where, const ColumnsProblem& given, const planner::Options& options)
      : device(where), problem(given) {
    if (device.is_host()) {
      on_host.emplace(given, options);
      geometry = on_host->at;
    } else {
      on_device.emplace(device, given, options, sizeof(T) == sizeof(double));
      geometry = on_device->geometry();
    }
  }

  std::array<std::size_t, 3> lines_done() const {
    return {geometry.plane(), geometry.x_range.count * geometry.z, geometry.columns};
  }
  void enqueue(Queue& queue, Direction direction, const Buffer& in, const Buffer& out) const {
    if (!on_device) {
      throw Error(ErrorKind::invalid_argument,
                  "fft: enqueue needs a transform of columns on a device, and this one is on the host: use forward() "
                  "and inverse()");
    }
    const bool forward = direction == Direction::forward;
    const std::size_t samples = geometry.samples() * 2 * sizeof(T), modes = geometry.modes * 2 * sizeof(T);
    planner::check_queue("fft", queue, device);
    planner::check_buffer("fft", "input", in, device, forward ? samples : modes);
    planner::check_buffer("fft", "output", out, device, forward ? modes : samples);
    planner::check_apart("fft", in, out, false);
    on_device->enqueue(queue, direction, in, out);
  }
};

template <class T>
ColumnTransform<T>::ColumnTransform(const Device& device, const ColumnsProblem& problem,
                                    const planner::Options& options)
    : state_(std::make_shared<const ColumnState<T>>(device, problem, options)) {}

template <class T>
void ColumnTransform<T>::forward(std::span<const Complex> samples, std::span<Complex> modes) const {
  planner::check_length("fft", "samples", samples.size_bytes(), state_->geometry.samples() * sizeof(Complex));
  planner::check_length("fft", "modes", modes.size_bytes(), size() * sizeof(Complex));
  if (state_->on_host) return state_->on_host->forward(samples, modes);
  state_->on_device->run(Direction::forward, samples.data(), modes.data());
}

template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<Complex> samples) const {
  planner::check_length("fft", "modes", modes.size_bytes(), size() * sizeof(Complex));
  planner::check_length("fft", "samples", samples.size_bytes(), state_->geometry.samples() * sizeof(Complex));
  if (state_->on_host) return state_->on_host->inverse(modes, samples);
  state_->on_device->run(Direction::inverse, modes.data(), samples.data());
}

template <class T>
void ColumnTransform<T>::enqueue_forward(Queue& queue, const Buffer& samples, const Buffer& modes) const {
  state_->enqueue(queue, Direction::forward, samples, modes);
}
template <class T>
void ColumnTransform<T>::enqueue_inverse(Queue& queue, const Buffer& modes, const Buffer& samples) const {
  state_->enqueue(queue, Direction::inverse, modes, samples);
}

template <class T>
ColumnTransform<T> ColumnTransform<T>::adjoint(const planner::Options& options) const {
  ColumnsProblem exchanged = state_->problem;
  std::swap(exchanged.scale_forward, exchanged.scale_inverse);
  return ColumnTransform(state_->device, exchanged, options);
}

template <class T>
std::size_t ColumnTransform<T>::size() const {
  return state_->geometry.modes;
}
template <class T>
const Device& ColumnTransform<T>::device() const {
  return state_->device;
}
template <class T>
const ColumnsProblem& ColumnTransform<T>::problem() const {
  return state_->problem;
}

// Fraction of the points of three whole passes that the transformed lines have.
template <class T>
double ColumnTransform<T>::share() const {
  const auto done = state_->lines_done();
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) sum += static_cast<double>(done[axis] * state_->problem.shape[axis]);
  return sum / (3 * static_cast<double>(state_->geometry.samples()));
}

template <class T>
std::string ColumnTransform<T>::explain() const {
  const auto done = state_->lines_done();
  return fmt::format(
             "columns: {} modes on {}; lines along x, y, z: {}, {}, {}; {:.3f} of the points of the whole transform\n",
             size(), state_->device.id(), done[0], done[1], done[2], share()) +
         (state_->on_host ? state_->on_host->explain() : state_->on_device->explain());
}

template <class T>
std::vector<KernelSource> ColumnTransform<T>::kernels() const {
  return state_->on_device ? state_->on_device->kernels() : std::vector<KernelSource>{};
}

template class ColumnTransform<float>;
template class ColumnTransform<double>;

}  // namespace ridge::fft
