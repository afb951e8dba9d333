// Several steps of a linear 3D star of radius 1 in one pass: a work-group holds a tile of a plane in registers and
// marches along z. Every arriving plane is added to the sums it belongs to, and a complete sum is the arriving plane of
// the next step. Neighbours along x are exchanged by shuffles; edge rows of a work-item's patch go through local
// memory, for all steps at once, so that there is one barrier per plane. Prefetched planes wait in local memory. The
// same kernel handles borders: tiles without any skip that code by a group-uniform branch.
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
  int depth = 4;         // steps per pass
  int cells = 4;         // along x, per lane: a vector
  int rows = 2;          // along y, per lane
  int lines = 16;        // sub-groups per work-group, stacked along y
  int lanes = 32;        // adjacent along x: a sub-group, or a divisor of it
  int prefetch = 2;      // prefetched planes; even
  double slow = 1.3;     // relative time of a plane at the sides
  bool shuffles = true;  // false: neighbours along x go through local memory too
  bool even = true;      // false: equal weights are not exploited
  int march_planes = 0;  // compile-time constant, which barriers need on PoCL; 0: any
};

struct PlaneMarchKernel {
  Weights weights;
  Borders borders;      // z, y, x
  std::string real;     // "float" or "double"
  bool aligned = true;  // rows are whole vectors long
  PlaneMarchOptions options;
  int chunk_planes = 64;
  int side_planes = 64;  // planes per chunk of tiles at the sides

  // True if tiles at the ends of rows, and those at the first and last row, have more work than others.
  bool side_columns() const { return borders.low[2] != Border::periodic; }
  bool side_rows() const { return borders.low[1] == Border::fixed || borders.high[1] == Border::fixed; }
  int halo_x() const;  // whole lanes
  int halo_y() const;  // whole patches
  int useful_x() const { return options.lanes * options.cells - 2 * halo_x(); }
  int useful_y() const { return options.lines * options.rows - 2 * halo_y(); }
  int columns(const DeviceLayout& place) const;  // tiles along x
  int tile_rows(const DeviceLayout& place) const;
  bool unit_centre() const;
  double divisor() const;  // divisor of the weights that makes the centre's weight 1
  // All six neighbours have the same weight: they are summed and multiplied once. The number of operations is the same,
  // but additions take less power, which limits these kernels (docs/measurements/h200.md).
  bool even() const;
  std::size_t likely_registers() const;  // estimate per work-item
  std::size_t local_reals() const;
  std::size_t local_bytes() const { return local_reals() * (real == "float" ? 4 : 8); }
  std::string refusal(const DeviceLayout& place, const Limits& limits) const;
  KernelSource source() const;
  Launch launch(const DeviceLayout& place) const;
  std::vector<Argument> scalars(const DeviceLayout& place) const;
  // Chunks along z: few, because each reads `depth` extra planes at both ends, but enough to keep `resident` concurrent
  // groups busy to the end.
  void fill_device(const DeviceLayout& place, std::size_t resident);

 private:
  std::size_t side_groups(const DeviceLayout& place) const;
  std::size_t inner_groups(const DeviceLayout& place) const;
};

std::string plane_march_text(const PlaneMarchKernel& kernel);

}  // namespace ridge::stencil
