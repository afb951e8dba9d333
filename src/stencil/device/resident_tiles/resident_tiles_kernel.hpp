// Kernel that keeps a whole grid in the registers of all compute units for any number of steps. Every work-group holds
// a tile with a halo of several steps, each work-item a patch of it; neighbouring patches exchange edges through local
// memory in every step, neighbouring tiles through global memory in every `depth` steps.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/layout.hpp"
#include "stencil/device/pass.hpp"

namespace ridge::stencil {

struct ResidentOptions {
  int depth = 8;                        // steps between two exchanges of tiles
  std::array<int, 3> tiles{1, 1, 1};    // work-groups along z, y, x
  std::array<int, 3> patch{1, 5, 5};    // cells of a work-item
  std::array<int, 3> items{1, 16, 16};  // work-items of a group
  int per_unit = 2;  // groups of a compute unit: one computes while the other waits for its neighbours
  int buffers = 2;   // copies of the edges in local memory; with one there are two barriers per step
};

// `text.layout` has the planes of one launch. An update that reads no neighbours along z advances many grids, stacked
// along z, by several launches.
struct ResidentKernel {
  CellText text;
  DeviceLayout place;
  ResidentOptions options;

  int region(std::size_t axis) const { return options.items[axis] * options.patch[axis]; }  // tile and halo
  // Cells beyond a tile that `depth` steps read; none if the tile reaches both sides of the grid.
  int halo(std::size_t axis) const {
    const bool whole = options.tiles[axis] == 1 && text.layout.low[axis] != Border::periodic;
    return whole ? 0 : options.depth * text.layout.radius[axis];
  }
  int core(std::size_t axis) const;  // cells of the largest tile
  int work_items() const { return options.items[0] * options.items[1] * options.items[2]; }
  std::size_t groups() const;
  std::size_t local_bytes() const;
  bool exchanges() const;  // cells between tiles
  // Two mailboxes: eight bytes for every four of the planes.
  std::size_t mail_bytes() const {
    return 4 * text.layout.fields * text.layout.shape[0] * place.plane() * text.layout.element_bytes;
  }
  std::size_t launches() const;  // for all planes
  // Expected clock cycles per step of a compute unit.
  double cycles() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
  struct Part {
    Launch launch;
    std::vector<Argument> scalars;  // after the two grids, the mailboxes, the first block, the end and the steps
  };
  Part part(std::size_t index) const;  // of launches()
};

// The pass of the variant resident_tiles, for its tests.
// Any number of steps in one launch; one launch per `depth` steps on devices without cooperative launches.
std::shared_ptr<const Pass> make_resident_pass(const Device& device, const ResidentKernel& kernel);

}  // namespace ridge::stencil
