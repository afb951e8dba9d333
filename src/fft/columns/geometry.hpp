// Geometry of a list of columns: the ranges of the first two axes that contain their lines, and offsets of lines and
// modes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ridge/fft/columns.hpp>

#include "fft/layout.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// The lines of a real grid have x <= n/2 only: a column beyond that is stored as the conjugate of its mirror image.
struct ColumnGeometry {
  Kind kind = Kind::complex;
  std::size_t x = 1, y = 1, z = 1;  // points per axis
  AxisRange x_range{}, y_range{};   // contain the lines of all columns
  std::size_t columns = 0, modes = 0;

  bool real() const { return kind == Kind::real; }
  std::size_t x_lines() const { return real() ? x / 2 + 1 : x; }  // points along x after its transform
  std::size_t samples() const { return x * y * z; }
  std::size_t plane() const { return y * z; }
  std::size_t box_plane() const { return y_range.count * z; }        // after the transform along y
  std::size_t planes() const { return x_range.count * plane(); }     // points after the transform along x
  std::size_t lines() const { return x_range.count * box_plane(); }  // points after the transforms along x and y
  bool mirrored(const Column& column) const { return column.x >= x_lines(); }
  // Position of a column's line on the first two axes.
  std::size_t line_x(const Column& column) const { return mirrored(column) ? x - column.x : column.x; }
  std::size_t line_y(const Column& column) const { return mirrored(column) ? (y - column.y) % y : column.y; }
  // Position of a column's mode i on its line.
  std::size_t line_z(const Column& column, std::size_t i) const {
    const std::size_t k = (column.first + i) % z;
    return mirrored(column) ? (z - k) % z : k;
  }
  // Offset of a column's line among lines().
  std::size_t line_of(const Column& column) const {
    const std::size_t i = (line_x(column) + x - x_range.first) % x, j = (line_y(column) + y - y_range.first) % y;
    return (i * y_range.count + j) * z;
  }
  // Real grids: planes of conjugate symmetric values, x = 0 and x = n/2, as indices in x_range.
  std::vector<std::size_t> symmetric_planes() const;
  // Real grids, one factor per mode of the columns; a negative factor also conjugates. `transposed`: of the adjoints.
  std::vector<double> factors(const std::vector<Column>& list, Direction direction, bool transposed) const;
};

// Error{invalid_argument} for columns outside the shape, and for modes that are stored twice.
ColumnGeometry column_geometry(const ColumnsProblem& problem);

}  // namespace ridge::fft
