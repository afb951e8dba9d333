// Geometry of a list of columns: the ranges of the first two axes that contain them, and offsets of lines and modes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ridge/fft/columns.hpp>

#include "fft/layout.hpp"

namespace ridge::fft {

struct ColumnGeometry {
  std::size_t x = 1, y = 1, z = 1;  // points per axis
  AxisRange x_range{}, y_range{};   // contain all columns
  std::size_t columns = 0, modes = 0;

  std::size_t samples() const { return x * y * z; }
  std::size_t plane() const { return y * z; }
  std::size_t box_plane() const { return y_range.count * z; }        // after the transform along y
  std::size_t planes() const { return x_range.count * plane(); }     // points after the transform along x
  std::size_t lines() const { return x_range.count * box_plane(); }  // points after the transforms along x and y
  // Offset of a column's line among lines().
  std::size_t line_of(const Column& column) const {
    const std::size_t i = (column.x + x - x_range.first) % x, j = (column.y + y - y_range.first) % y;
    return (i * y_range.count + j) * z;
  }
};

// Error{invalid_argument} for columns outside the shape, and for those that appear twice.
ColumnGeometry column_geometry(const ColumnsProblem& problem);

}  // namespace ridge::fft
