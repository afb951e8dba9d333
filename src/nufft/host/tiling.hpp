// Tiles of the fine grid, points sorted by tile, and dynamic scheduling of tiles.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "nufft/host/spread_kernels.hpp"
#include "nufft/variant.hpp"

namespace ridge::nufft {

// One axis of the fine grid, cut into tiles of 2^shift cells. The last tile also has the remaining cells.
struct TiledAxis {
  std::size_t cells = 1, shift = 0, tiles = 1;

  std::size_t tile_of(std::size_t cell) const { return std::min(cell >> shift, tiles - 1); }
  std::size_t begin(std::size_t tile) const { return tile << shift; }
  std::size_t end(std::size_t tile) const { return tile + 1 == tiles ? cells : (tile + 1) << shift; }
  std::size_t largest() const { return end(tiles - 1) - begin(tiles - 1); }
};

// The fine grid, slowest axis first, and the local grid of a tile: its cells and the `width - 1` cells after them,
// which the boxes of its points reach.
struct Tiling {
  std::size_t axes = 1, width = 0;
  std::array<TiledAxis, 3> axis{};
  std::size_t row_stride = 0, plane_stride = 0, local_cells = 0;  // of the local grid, in complex numbers
  std::array<std::size_t, 3> parts{1, 1, 1};  // of a tile per axis: points are sorted by part within their tile

  Tiling(const std::array<std::size_t, 3>& cells, std::size_t axes, std::size_t width, std::size_t complex_bytes);
  std::size_t tiles() const { return axis[0].tiles * axis[1].tiles * axis[2].tiles; }
  std::size_t bins() const { return tiles() * parts[0] * parts[1] * parts[2]; }
  // Cells of a tile's local grid along an axis, with the border.
  std::size_t reach(std::size_t i, std::size_t tile) const {
    return axis[i].end(tile) - axis[i].begin(tile) + (i < 3 - axes ? 0 : width - 1);
  }
  std::array<std::size_t, 3> at(std::size_t tile) const {  // its index per axis
    return {tile / (axis[1].tiles * axis[2].tiles), tile / axis[2].tiles % axis[1].tiles, tile % axis[2].tiles};
  }
};

// Points in the order of tiles; within a tile by part, within a part in the caller's order.
template <class T>
class SortedPoints final : public PointSet {
 public:
  // Coordinates of T or double. Error{invalid_argument} for those that are not finite or too far from 0: outside
  // [-pi, pi] without `fold`.
  template <class Coordinate>
  SortedPoints(const Tiling& tiling, const Coordinates<Coordinate>& points, bool fold, std::size_t threads);
  const SortedPoint<T>* tile(std::size_t tile) const { return points_.data() + start_[tile]; }
  std::size_t count_in(std::size_t tile) const { return start_[tile + 1] - start_[tile]; }

 private:
  base::AlignedArray<SortedPoint<T>> points_;
  std::vector<std::size_t> start_;  // of each tile
};

// Dynamic scheduling of independent units of work.
// Calls task(unit, thread) once per unit, in any order.
template <class Task>
void for_units(std::size_t threads, std::size_t units, const Task& task) {
  const std::size_t used = std::min(threads, units);
  if (used <= 1) {
    for (std::size_t unit = 0; unit < units; ++unit) task(unit, std::size_t{0});
    return;
  }
  std::atomic<std::size_t> next{0};
  base::parallel(used, [&](std::size_t thread, std::size_t) {
    for (std::size_t unit = next++; unit < units; unit = next++) task(unit, thread);
  });
}

}  // namespace ridge::nufft
