// The axes of a real-to-real transform of boxes, in the order in which they are transformed.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/fft/real_boxes.hpp>

#include "fft/layout.hpp"

namespace ridge::fft {

// Lines along one axis: `outer` blocks of `inner` neighbouring lines. Arrays hold only the points that are read before
// and written after the transform.
struct RealBoxLines {
  std::size_t axis = 0, length = 0, outer = 0, inner = 0;
  AxisRange read{}, written{};
  RealKind kind = RealKind::dct2;
  double scale = 1;
  std::size_t lines() const { return outer * inner; }
};

// Axes that become shortest first, so that the other axes have fewer lines. `transposed`: of the adjoint, whose input
// is the box of values. Error{invalid_argument} for impossible problems.
std::vector<RealBoxLines> real_box_lines(const RealBoxesProblem& problem, bool transposed);

// The transform of `lines` lines with these strides, or its adjoint.
TensorProblem lines_problem(const RealBoxLines& axis, const std::vector<Dimension>& loops, std::ptrdiff_t step,
                            bool transposed);

}  // namespace ridge::fft
