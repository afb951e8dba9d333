// The cells near the sides of a grid, step by step and with their borders, in the order and rounding of the reference:
// what a march through the interior leaves out. Several steps go by way of other buffers, in bands that become narrower
// by the radius each step.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cell_codegen.hpp"
#include "stencil/device/layout.hpp"

namespace ridge::stencil {

struct FrameKernel {
  CellText text;
  DeviceLayout place;

  KernelSource source() const;
  // Step `step` (from 0) of `depth`: which cells, and after in, out and coefficients which arguments.
  Launch launch(std::size_t step, std::size_t depth) const;
  std::vector<Argument> scalars(std::size_t step, std::size_t depth) const;
  // Fixed cells of field `from` to field `to`: the cells of a single step, the kernel copy_frame.
  std::vector<Argument> copy_scalars(std::size_t from, std::size_t to) const;
  std::string refusal() const;

 private:
  std::array<std::size_t, 3> bands(std::size_t step, std::size_t depth) const;
  std::size_t cells(const std::array<std::size_t, 3>& bands) const;
};

}  // namespace ridge::stencil
