// Several steps of a linear 3D star of radius 1 in one pass: a work-group holds a tile of a plane in registers and
// marches along z. As in the march down rows, every plane that arrives is added to the sums it belongs to, and a sum
// that is complete is the plane that arrives at the next step. Neighbours along x come by shuffles; rows at the edges
// of a work-item's patch go through local memory, all steps' at once, so that there is one barrier a plane. Planes
// ahead wait in local memory. Borders are looked after in the same kernel: tiles that touch none skip it by a branch
// that is the same for the whole group.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/stencil.hpp>

#include "stencil/device/layout.hpp"
#include "stencil/device/weights.hpp"

namespace ridge::stencil {

struct PlaneMarchOptions {
  int depth = 4;         // steps a pass
  int cells = 4;         // along x, a lane: a vector
  int rows = 2;          // along y, a lane
  int lines = 16;        // sub-groups in a work-group, one below the other
  int lanes = 32;        // side by side: a sub-group's, or a part of them that divides it
  int prefetch = 2;      // planes read ahead; even
  double slow = 1.3;     // how much longer a plane takes at the sides
  bool shuffles = true;  // false: neighbours along x through local memory too
  bool even = true;      // false: weights that are all the same are not made use of
  int march_planes = 0;  // fixed when compiled, which barriers need on PoCL; 0: any
};

struct PlaneMarchKernel {
  Weights weights;
  Borders borders;      // z, y, x
  std::string real;     // "float" or "double"
  bool aligned = true;  // rows are whole vectors long
  PlaneMarchOptions options;
  int chunk_planes = 64;
  int side_planes = 64;  // of chunks of tiles at sides

  // Whether tiles at the ends of rows, and those at the first and the last row, have more to do than others.
  bool side_columns() const { return borders.low[2] != Border::periodic; }
  bool side_rows() const { return borders.low[1] == Border::fixed || borders.high[1] == Border::fixed; }
  int halo_x() const;  // whole lanes
  int halo_y() const;  // whole patches
  int useful_x() const { return options.lanes * options.cells - 2 * halo_x(); }
  int useful_y() const { return options.lines * options.rows - 2 * halo_y(); }
  int columns(const DeviceLayout& place) const;  // tiles along x
  int tile_rows(const DeviceLayout& place) const;
  bool unit_centre() const;
  double divisor() const;  // weights are divided by it so that the centre's is 1
  // All six neighbours weigh the same: they are added up and weighed once. As many operations, but additions take less
  // power than multiplications, and power is what limits these kernels (docs/measurements/h200.md).
  bool even() const;
  std::size_t likely_registers() const;  // of a work-item, where nothing better is known
  std::size_t local_reals() const;
  std::size_t local_bytes() const { return local_reals() * (real == "float" ? 4 : 8); }
  std::string refusal(const DeviceLayout& place, const Limits& limits) const;
  KernelSource source() const;
  Launch launch(const DeviceLayout& place) const;
  std::vector<Argument> scalars(const DeviceLayout& place) const;
  // Chunks along z: few, since each reads `depth` planes more at both ends, but such that `resident` groups, which run
  // at once, are busy to the end.
  void fill_device(const DeviceLayout& place, std::size_t resident);

 private:
  std::size_t side_groups(const DeviceLayout& place) const;
  std::size_t inner_groups(const DeviceLayout& place) const;
};

}  // namespace ridge::stencil
