// Updates the cells near the sides of a grid step by step, with their borders, in the order and rounding of the
// reference: the part that an interior march leaves out. Several steps use other buffers, in bands that shrink by the
// radius per step.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/layout.hpp"

namespace ridge::stencil {

struct FrameKernel {
  CellText text;
  DeviceLayout place;
  std::array<std::size_t, 3> least{};  // least width of the bands of a single step, in cells

  KernelSource source() const;
  // Step `step` (from 0) of `depth`: number of cells, and the arguments after in, out and coefficients.
  Launch launch(std::size_t step, std::size_t depth) const;
  std::vector<Argument> scalars(std::size_t step, std::size_t depth) const;
  // Copies fixed cells of field `from` to field `to`: the cells of a single step, kernel copy_frame.
  std::vector<Argument> copy_scalars(std::size_t from, std::size_t to) const;
  std::string refusal() const;

 private:
  std::array<std::size_t, 3> bands(std::size_t step, std::size_t depth) const;
  std::size_t cells(const std::array<std::size_t, 3>& bands) const;
};

}  // namespace ridge::stencil
