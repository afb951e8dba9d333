// One step or several of a 3D system whose neighbours come in sums (plane_sums.hpp): a work-group marches along z
// through a tile. A plane that arrives is added to every output plane it belongs to (scatter form): only the newest
// plane needs its halo, and the sums move down their queue with the additions themselves. Planes ahead come by
// asynchronous copies into a ring in local memory; fields and coefficients that are read at the cell itself alone are
// fetched a plane before they are wanted, and get no halo. One barrier a plane.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "device/tile_map.hpp"
#include "stencil/device/layout.hpp"
#include "stencil/device/plane_sums.hpp"

namespace ridge::stencil {

struct SystemPlanesOptions {
  int depth = 1;
  int lanes = 32;      // work-items along x, 4 cells (double: 2) each
  int lines = 16;      // along y
  int rows = 2;        // cells along y, a work-item
  int ahead = 2;       // planes fetched before they are wanted
  int march = 0;       // planes of a piece, fixed when compiled, which barriers need on PoCL; 0: any
  int resident = 1;    // work-groups that should fit a compute unit at once: bounds the registers
  bool tiles = false;  // planes come as tiles, by the copy engine of CUDA from Hopper on
  // The last step by as many items as what is written has cells for: whole sub-groups have nothing to do in it.
  bool narrow = false;
};

struct SystemPlanesKernel {
  PlaneSums sums;
  std::string real;  // "float" or "double"
  std::size_t coefficients = 0;
  std::vector<bool> skipped{};  // fields whose new values are not written
  // All sides are fixed, and between the steps cells that do not change keep their values: no frame is needed.
  bool keeps = false;
  SystemPlanesOptions options;

  int cells() const { return real == "float" ? 4 : 2; }  // 16 bytes
  int tile_x() const { return options.lanes * cells(); }
  int tile_y() const { return options.lines * options.rows; }
  int halo_x() const;    // whole vectors
  int margin_x() const;  // cells at a tile's sides that are computed and not written, whole vectors
  int margin_y() const { return (options.depth - 1) * sums.radius[1]; }
  int useful_x() const { return tile_x() - 2 * margin_x(); }
  int useful_y() const { return tile_y() - 2 * margin_y(); }
  int slots(int stage) const;  // planes in the ring that a step reads
  int plane_cells() const;     // of one of them
  // The older level is added to the one sum there is, and nothing else is done: it can be what the sum begins with.
  bool begins_with_older() const;
  // How a field at so many elements lies, told to the copy engine.
  ridge::detail::TileMapShape tile_shape(const DeviceLayout& place, std::size_t field) const;
  std::size_t local_bytes() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
};

struct SystemPlanesPlan {
  Launch launch{};
  std::vector<Argument> scalars{};  // after in, out and coefficients, before the fields' places
};
// Cells from `begin` to `end`, z, y, x.
SystemPlanesPlan plan_planes(const SystemPlanesKernel& kernel, const DeviceLayout& place,
                             const std::array<int, 3>& begin, const std::array<int, 3>& end,
                             std::size_t resident_groups);

}  // namespace ridge::stencil
