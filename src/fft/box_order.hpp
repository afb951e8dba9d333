// Order of the axes of a transform of boxes, for the host and the devices.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "fft/layout.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// One axis of a transform of boxes. Before it, the array holds `from` points per axis, after it `to` points.
struct BoxAxis {
  std::size_t axis = 0;
  std::size_t length = 1;       // of the transform
  Kind kind = Kind::complex;    // real: real samples on one side
  AxisRange read{}, written{};  // points along the axis
  std::array<std::size_t, kMostAxes> from{1, 1, 1}, to{1, 1, 1};
  std::size_t lines(std::size_t batch) const;
};

// The order that transforms the fewest points; if orders cost the same, the last axis first, or, with `rows_last`, the
// first axis first. Real samples make the last axis the first of a forward and the last of an inverse transform. Axes
// of one point are left out if others remain.
std::vector<BoxAxis> ordered_axes(const Problem& problem, const Layout& layout, Direction direction,
                                  bool rows_last = false);

// Points of all lines, as a share of those of the whole transform.
double share_of_points(const std::vector<BoxAxis>& axes, const Problem& problem);

// Packed array of this shape, one transform of the batch after another.
Side packed_side(const std::array<std::size_t, kMostAxes>& shape);

}  // namespace ridge::fft
