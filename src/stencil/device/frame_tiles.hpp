// All steps of a pass near the sides of a 2D grid in one launch: pieces of the frame in local memory, with as many
// cells around them as the steps reach. A launch a step costs more than its cells do.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cell_codegen.hpp"
#include "stencil/device/layout.hpp"

namespace ridge::stencil {

struct FrameTiles {
  CellText text;
  DeviceLayout place;
  std::size_t depth = 1;

  // Why a launch a step is needed, in words: borders that come from the other side of the grid, say.
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
