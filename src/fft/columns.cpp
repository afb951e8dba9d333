// Transforms between a grid and a set of columns of its spectrum.
#include <ridge/fft/columns.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse_columns(const std::string& why) {
  throw Error(ErrorKind::invalid_argument, "fft: columns: " + why);
}

// The shortest range of an axis, which may continue at the beginning, that contains all points used.
Box range_of(const std::vector<bool>& used) {
  const std::size_t n = used.size();
  std::size_t best = 0, after = 0, gap = 0;  // the longest gap, and the point after it
  for (std::size_t i = 0; i < 2 * n; ++i) {
    gap = used[i % n] ? 0 : gap + 1;
    if (gap > best && gap < n) {
      best = gap;
      after = (i + 1) % n;
    }
  }
  return {.first = {after}, .count = {n - best}};
}

const ColumnsProblem& checked_columns(const ColumnsProblem& problem) {
  const auto& shape = problem.shape;
  if (shape.size() != 3 || std::ranges::count(shape, 0) > 0) {
    refuse_columns(fmt::format("the shape needs three axes of at least one point, got {} axes{}", shape.size(),
                               std::ranges::count(shape, 0) > 0 ? " and 0 points" : ""));
  }
  if (problem.columns.empty()) refuse_columns("the list needs at least one column, got none");
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
  return problem;
}

// Lines along an axis with `neighbours` lines side by side; only the modes of the range are read or written.
Problem axis_lines(std::size_t length, std::size_t neighbours, const Box& range, std::size_t threads) {
  Problem lines{.shape = {length},
                .batch = neighbours,
                .input = {.axes = {neighbours}, .batch = 1},
                .output = {.axes = {neighbours}, .batch = 1},
                .threads = threads};
  if (range.count[0] < length) lines.wanted = range;
  return lines;
}

}  // namespace

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
  if (!(along > 0)) refuse_columns("the third vector of the basis is zero");
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
struct ColumnState {
  ColumnsProblem problem;
  Box x_range, y_range;
  std::size_t modes = 0;
  Plan<T> along_x, along_y, along_z;

  static Box used_range(const ColumnsProblem& problem, std::size_t axis) {
    std::vector<bool> used(problem.shape[axis], false);
    for (const Column& column : problem.columns) used[axis == 0 ? column.x : column.y] = true;
    return range_of(used);
  }

  ColumnState(const ColumnsProblem& given, const planner::Options& options)
      : problem(given),
        x_range(used_range(given, 0)),
        y_range(used_range(given, 1)),
        along_x(host(), axis_lines(given.shape[0], given.shape[1] * given.shape[2], x_range, given.threads), options),
        along_y(host(), axis_lines(given.shape[1], given.shape[2], y_range, given.threads), options),
        along_z(host(),
                {.shape = {given.shape[2]},
                 .batch = given.columns.size(),
                 .scale_forward = given.scale_forward,
                 .scale_inverse = given.scale_inverse,
                 .threads = given.threads},
                options) {
    for (const Column& column : problem.columns) modes += column.count;
  }

  std::size_t points(std::size_t axis) const { return problem.shape[axis]; }
  std::size_t samples() const { return points(0) * points(1) * points(2); }
  // Offset of a column's line in the box of lines: x range, y range, all of the last axis.
  std::size_t line_of(const Column& column) const {
    const std::size_t x = (column.x + points(0) - x_range.first[0]) % points(0);
    const std::size_t y = (column.y + points(1) - y_range.first[0]) % points(1);
    return (x * y_range.count[0] + y) * points(2);
  }
  // Calls use(position among the modes, position on the line, count) for the one or two parts of a column.
  template <class Use>
  void for_parts(const Use& use) const {
    std::size_t at = 0;
    for (std::size_t c = 0; c < problem.columns.size(); ++c) {
      const Column& column = problem.columns[c];
      const std::size_t head = std::min(column.count, points(2) - column.first);
      use(at, c * points(2) + column.first, head);
      use(at + head, c * points(2), column.count - head);
      at += column.count;
    }
  }

  void forward(std::span<const std::complex<T>> in, std::span<std::complex<T>> out) const {
    const std::size_t plane = points(1) * points(2), box = y_range.count[0] * points(2);
    std::vector<std::complex<T>> planes(x_range.count[0] * plane), lines(x_range.count[0] * box);
    std::vector<std::complex<T>> columns(problem.columns.size() * points(2));
    along_x.forward(in, std::span(planes));
    for (std::size_t x = 0; x < x_range.count[0]; ++x) {
      along_y.forward(std::span<const std::complex<T>>(planes).subspan(x * plane, plane),
                      std::span(lines).subspan(x * box, box));
    }
    for (std::size_t c = 0; c < problem.columns.size(); ++c) {
      std::copy_n(lines.data() + line_of(problem.columns[c]), points(2), columns.data() + c * points(2));
    }
    std::vector<std::complex<T>> spectra(columns.size());
    along_z.forward(std::span<const std::complex<T>>(columns), std::span(spectra));
    for_parts([&](std::size_t mode, std::size_t at, std::size_t count) {
      std::copy_n(spectra.data() + at, count, out.data() + mode);
    });
  }

  void inverse(std::span<const std::complex<T>> in, std::span<std::complex<T>> out) const {
    const std::size_t plane = points(1) * points(2), box = y_range.count[0] * points(2);
    std::vector<std::complex<T>> spectra(problem.columns.size() * points(2)), columns(spectra.size());
    for_parts([&](std::size_t mode, std::size_t at, std::size_t count) {
      std::copy_n(in.data() + mode, count, spectra.data() + at);
    });
    along_z.inverse(std::span<const std::complex<T>>(spectra), std::span(columns));
    std::vector<std::complex<T>> planes(x_range.count[0] * plane), lines(x_range.count[0] * box);
    for (std::size_t c = 0; c < problem.columns.size(); ++c) {
      std::copy_n(columns.data() + c * points(2), points(2), lines.data() + line_of(problem.columns[c]));
    }
    for (std::size_t x = 0; x < x_range.count[0]; ++x) {
      along_y.inverse(std::span<const std::complex<T>>(lines).subspan(x * box, box),
                      std::span(planes).subspan(x * plane, plane));
    }
    along_x.inverse(std::span<const std::complex<T>>(planes), out);
  }

  std::array<double, 3> lines_done() const {
    const auto count = [](std::size_t a, std::size_t b) { return static_cast<double>(a) * static_cast<double>(b); };
    return {count(points(1), points(2)), count(x_range.count[0], points(2)), count(problem.columns.size(), 1)};
  }
};

template <class T>
ColumnTransform<T>::ColumnTransform(const ColumnsProblem& problem, const planner::Options& options)
    : state_(std::make_shared<const ColumnState<T>>(checked_columns(problem), options)) {}

template <class T>
void ColumnTransform<T>::forward(std::span<const Complex> samples, std::span<Complex> modes) const {
  planner::check_length("fft", "samples", samples.size_bytes(), state_->samples() * sizeof(Complex));
  planner::check_length("fft", "modes", modes.size_bytes(), size() * sizeof(Complex));
  state_->forward(samples, modes);
}

template <class T>
void ColumnTransform<T>::inverse(std::span<const Complex> modes, std::span<Complex> samples) const {
  planner::check_length("fft", "modes", modes.size_bytes(), size() * sizeof(Complex));
  planner::check_length("fft", "samples", samples.size_bytes(), state_->samples() * sizeof(Complex));
  state_->inverse(modes, samples);
}

template <class T>
std::size_t ColumnTransform<T>::size() const {
  return state_->modes;
}

// Fraction of the points of three whole passes that the transformed lines have.
template <class T>
double ColumnTransform<T>::share() const {
  const auto done = state_->lines_done();
  double sum = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) sum += done[axis] * static_cast<double>(state_->points(axis));
  return sum / (3 * static_cast<double>(state_->samples()));
}

template <class T>
std::string ColumnTransform<T>::explain() const {
  const auto done = state_->lines_done();
  return fmt::format(
             "columns: {} modes; lines along x, y, z: {}, {}, {}; {:.3f} of the points of the whole transform\n",
             size(), done[0], done[1], done[2], share()) +
         state_->along_x.explain() + state_->along_y.explain() + state_->along_z.explain();
}

template class ColumnTransform<float>;
template class ColumnTransform<double>;

}  // namespace ridge::fft
