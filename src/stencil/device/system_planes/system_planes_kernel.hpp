// One or several steps of a 3D system of sums over neighbours (device/plane_march/plane_sums.hpp): a work-group marches
// along z through a tile. An arriving plane is added to every output plane it belongs to (scatter form): only the
// newest plane needs its halo, and the sums move down their queue with the additions. Prefetched planes arrive by
// asynchronous copies in a ring in local memory; fields and coefficients that are read at the cell itself only are
// loaded one plane ahead, without a halo. One barrier per plane.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "device/tile_map.hpp"
#include "stencil/device/layout.hpp"
#include "stencil/device/plane_march/plane_sums.hpp"

namespace ridge::stencil {

struct SystemPlanesOptions {
  int depth = 1;
  int lanes = 32;      // work-items along x, 4 cells (double: 2) each
  int lines = 16;      // along y
  int rows = 2;        // cells along y per work-item
  int ahead = 2;       // prefetched planes
  int march = 0;       // planes per piece, compile-time constant, which barriers need on PoCL; 0: any
  int resident = 1;    // work-groups that should fit a compute unit: limits the registers
  bool tiles = false;  // planes are fetched as tiles by TMA (CUDA from Hopper on)
  // The last step uses only as many work-items as cells are written: whole sub-groups are idle in it.
  bool narrow = false;
};

struct SystemPlanesKernel {
  PlaneSums sums;
  std::string real;  // "float" or "double"
  std::size_t coefficients = 0;
  std::vector<bool> skipped{};  // fields whose new values are not written
  // All sides are fixed, and cells that do not change keep their values between the steps: no frame is needed.
  bool keeps = false;
  bool equal_planes = false;  // independent planes with equal coefficients, which are read once
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
  // True if the older level is added to the only sum and nothing else is done: the sum can then start with it.
  bool begins_with_older() const;
  // Tensor map of a field at this element offset.
  ridge::detail::TileMapShape tile_shape(const DeviceLayout& place, std::size_t field) const;
  std::size_t local_bytes() const;
  std::string refusal(const Limits& limits) const;
  KernelSource source() const;
};

struct SystemPlanesPlan {
  Launch launch{};
  std::vector<Argument> scalars{};  // after in, out and coefficients, before the fields' offsets
};
// Cells from `begin` to `end`, z, y, x.
SystemPlanesPlan plan_planes(const SystemPlanesKernel& kernel, const DeviceLayout& place,
                             const std::array<int, 3>& begin, const std::array<int, 3>& end,
                             std::size_t resident_groups);

std::string system_planes_text(const SystemPlanesKernel& kernel);

}  // namespace ridge::stencil
