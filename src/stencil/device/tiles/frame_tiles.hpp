// Computes all steps of a pass for the frame of a 2D grid, the cells near its sides, in one launch. A work-group holds
// a piece of the frame in local memory, with a halo of depth x radius cells. With one launch per step, the launches
// would take longer than the few cells of the frame.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/layout.hpp"

namespace ridge::stencil {

struct FrameTiles {
  CellText text;
  DeviceLayout place;
  std::size_t depth = 1;

  // Reason why one launch per step is needed, for example borders that read the opposite side of the grid.
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;  // kernel "update_frame_tiles"
  Launch launch() const;
  std::vector<Argument> scalars() const;  // after in and out
  std::size_t local_bytes() const;

 private:
  std::size_t band(std::size_t axis) const { return depth * static_cast<std::size_t>(text.layout.radius[axis]); }
  std::size_t room() const;  // cells of the largest piece
  std::size_t across() const;
  std::size_t along() const;
};

}  // namespace ridge::stencil
