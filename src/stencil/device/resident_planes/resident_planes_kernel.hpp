// Kernel that keeps a whole 3D grid of short rows in the registers of all compute units for any number of steps: rows
// as wide as a sub-group, whose work-items exchange the rows at the sides of their patch in every step.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/layout.hpp"
#include "stencil/device/pass.hpp"

namespace ridge::stencil {

struct ResidentPlanesOptions {
  int rows = 4, planes = 4;  // of a sub-group
  int across = 4, down = 2;  // sub-groups of a work-group along y and z
};

struct ResidentPlanesKernel {
  CellText text;
  DeviceLayout place;
  ResidentPlanesOptions options;

  int vector() const { return static_cast<int>(16 / text.layout.element_bytes); }  // neighbouring cells of a work-item
  int width() const { return 32 * vector(); }
  int sub_groups() const { return options.across * options.down; }
  std::size_t groups() const;
  std::size_t work_items() const { return 32 * static_cast<std::size_t>(sub_groups()); }
  std::size_t local_bytes() const;
  // Four images of the grid.
  std::size_t mail_bytes() const { return 4 * text.layout.cells() * text.layout.element_bytes; }
  // Expected clock cycles per step of a compute unit.
  double cycles() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
  Launch launch() const;
  std::vector<Argument> scalars() const;  // after the two grids, the mail and the steps
};

// The pass of the variant resident_planes, for its tests.
std::shared_ptr<const Pass> make_resident_planes_pass(const Device& device, const ResidentPlanesKernel& kernel);

}  // namespace ridge::stencil
