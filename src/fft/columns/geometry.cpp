// Checks lists of columns, makes those of a sphere, and finds the lines that carry them.
#include "fft/columns/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <fmt/format.h>
#include <ridge/error.hpp>

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

// The range from the first point used to the last one.
AxisRange plain_range_of(const std::vector<bool>& used) {
  const auto first = std::ranges::find(used, true) - used.begin();
  std::size_t last = used.size() - 1;
  while (!used[last]) --last;
  return {.first = static_cast<std::size_t>(first), .count = last + 1 - static_cast<std::size_t>(first)};
}

// A real grid's list holds one of each pair of conjugate modes.
void check_conjugates(const ColumnsProblem& problem, const std::vector<bool>& seen) {
  const std::size_t x = problem.shape[0], y = problem.shape[1], z = problem.shape[2];
  for (const Column& column : problem.columns) {
    const std::size_t other_x = (x - column.x) % x, other_y = (y - column.y) % y;
    if (other_x != column.x || other_y != column.y) {
      if (!seen[other_x * y + other_y]) continue;
      refuse_columns(
          fmt::format("columns ({}, {}) and ({}, {}) hold conjugate modes of a real grid: leave one of them out",
                      column.x, column.y, other_x, other_y));
    }
    for (std::size_t i = 0; i < column.count; ++i) {
      const std::size_t k = (column.first + i) % z, conjugate = (z - k) % z;
      if (conjugate == k || (conjugate + z - column.first) % z >= column.count) continue;
      refuse_columns(
          fmt::format("column ({}, {}) holds the conjugate modes {} and {} of a real grid: leave one of them out",
                      column.x, column.y, std::min(k, conjugate), std::max(k, conjugate)));
    }
  }
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
  std::size_t lines = 0, samples = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &lines) || __builtin_mul_overflow(lines, shape[2], &samples) ||
      samples > std::numeric_limits<std::size_t>::max() / sizeof(std::complex<double>)) {
    refuse_columns(fmt::format("a grid of {}x{}x{} points is too large for any memory", shape[0], shape[1], shape[2]));
  }
  std::vector<bool> seen(lines, false);
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
  if (problem.kind == Kind::real) check_conjugates(problem, seen);
}

}  // namespace

std::vector<std::size_t> ColumnGeometry::symmetric_planes() const {
  std::vector<std::size_t> planes;
  for (std::size_t i = 0; real() && i < x_range.count; ++i) {
    if (2 * (x_range.first + i) % x == 0) planes.push_back(i);
  }
  return planes;
}

// A mode and its conjugate are two terms of the samples, and one value of the list. The transform along x adds the
// conjugates of all planes but the symmetric ones, where factors of 2 and the real part add them.
std::vector<double> ColumnGeometry::factors(const std::vector<Column>& list, Direction direction,
                                            bool transposed) const {
  std::vector<double> all;
  if (!real()) return all;
  for (const Column& column : list) {
    const bool symmetric = 2 * column.x % x == 0;
    for (std::size_t i = 0; i < column.count; ++i) {
      const bool own = symmetric && 2 * column.y % y == 0 && 2 * ((column.first + i) % z) % z == 0;
      const double terms = own ? 1 : 2;
      const double factor = direction == Direction::forward ? (transposed ? terms : 1)
                                                            : (symmetric ? terms : 1) / (transposed ? terms : 1);
      all.push_back(mirrored(column) ? -factor : factor);
    }
  }
  return all;
}

ColumnGeometry column_geometry(const ColumnsProblem& problem) {
  check_columns(problem);
  ColumnGeometry geometry{.kind = problem.kind,
                          .x = problem.shape[0],
                          .y = problem.shape[1],
                          .z = problem.shape[2],
                          .columns = problem.columns.size()};
  std::vector<bool> used_x(geometry.x_lines(), false), used_y(geometry.y, false);
  for (const Column& column : problem.columns) {
    used_x[geometry.line_x(column)] = true;
    used_y[geometry.line_y(column)] = true;
    geometry.modes += column.count;
  }
  geometry.x_range = geometry.real() ? plain_range_of(used_x) : range_of(used_x);
  geometry.y_range = range_of(used_y);
  return geometry;
}

std::vector<Column> sphere_columns(const std::vector<std::size_t>& shape,
                                   const std::array<std::array<double, 3>, 3>& basis, double cutoff, Kind kind) {
  if (shape.size() != 3 || !(cutoff >= 0)) {
    refuse_columns(
        fmt::format("a sphere needs three axes and a cutoff of at least 0, got {} axes and {}", shape.size(), cutoff));
  }
  const auto dot = [&](std::size_t a, std::size_t b) {
    return basis[a][0] * basis[b][0] + basis[a][1] * basis[b][1] + basis[a][2] * basis[b][2];
  };
  const double along = dot(2, 2);
  if (!(along > 0)) refuse_columns("needs a basis without zero vectors, the third one is zero");
  // As double: frequencies of a large cutoff exceed every integer.
  const auto index = [&](double k, std::size_t axis) {
    const auto n = static_cast<double>(shape[axis]);
    if (!(2 * std::abs(k) < n)) {
      refuse_columns(fmt::format("frequency {:.15g} of the sphere is outside axis {} of {} points: use a longer axis",
                                 k, axis, shape[axis]));
    }
    return static_cast<std::size_t>(k < 0 ? k + n : k);
  };
  const long most[2] = {static_cast<long>(shape[0]), static_cast<long>(shape[1])};
  const bool half = kind == Kind::real;
  std::vector<Column> columns;
  for (long i = half ? 0 : -most[0]; i <= most[0]; ++i) {
    for (long j = half && i == 0 ? 0 : -most[1]; j <= most[1]; ++j) {
      const auto x = static_cast<double>(i), y = static_cast<double>(j);
      // |x b0 + y b1 + l b2|^2 = along l^2 + 2 slope l + rest
      const double slope = x * dot(0, 2) + y * dot(1, 2);
      const double rest = x * x * dot(0, 0) + 2 * x * y * dot(0, 1) + y * y * dot(1, 1) - cutoff * cutoff;
      const double square = slope * slope - along * rest;
      if (!(square >= 0)) continue;
      const double last = std::floor((std::sqrt(square) - slope) / along);
      const double lowest = std::ceil((-std::sqrt(square) - slope) / along);
      const double first = half && i == 0 && j == 0 ? std::max(lowest, 0.0) : lowest;
      if (last < first) continue;
      index(last, 2);
      columns.push_back({.x = index(x, 0),
                         .y = index(y, 1),
                         .first = index(first, 2),
                         .count = static_cast<std::size_t>(last - first) + 1});
    }
  }
  return columns;
}

}  // namespace ridge::fft
