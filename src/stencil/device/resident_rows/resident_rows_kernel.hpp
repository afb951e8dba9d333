// Kernel that keeps a whole 2D grid in the registers of all compute units for any number of steps, like resident_tiles,
// with rows of a tile per sub-group: neighbours along x are fetched by shuffles, along y through local memory, and
// sub-groups wait only for the ones above and below them.
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

struct ResidentRowsOptions {
  int depth = 8;       // steps between two exchanges of tiles
  int rows = 8;        // of a sub-group
  int sub_groups = 8;  // of a work-group
  int per_unit = 1;    // work-groups of a compute unit
};

struct ResidentRowsKernel {
  CellText text;
  DeviceLayout place;
  ResidentRowsOptions options;

  int vector() const { return static_cast<int>(16 / text.layout.element_bytes); }  // neighbouring cells of a work-item
  int tile_width() const { return 32 * vector(); }
  int tile_height() const { return options.rows * options.sub_groups; }
  int halo_x() const;  // whole vectors
  int halo_y() const { return options.depth * text.layout.radius[1]; }
  int tiles_x() const;
  int tiles_y() const;
  std::size_t groups() const { return static_cast<std::size_t>(tiles_x()) * static_cast<std::size_t>(tiles_y()); }
  std::size_t work_items() const { return 32 * static_cast<std::size_t>(options.sub_groups); }
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

// The pass of the variant resident_rows, for its tests.
std::shared_ptr<const Pass> make_resident_rows_pass(const Device& device, const ResidentRowsKernel& kernel);

}  // namespace ridge::stencil
