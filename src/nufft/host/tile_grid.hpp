// The fine grid on the host: spreads sorted points onto it and interpolates at them, tile by tile. A tile's points are
// processed on a local copy of the tile that stays in a near cache.
//
// The order of all additions is fixed, so the answer has the same bits for any number of threads: layers of tiles along
// the slowest axis are processed by one thread each, first the even layers, then the odd ones. The border of a layer
// reaches into the next layer only, so that layers of one parity never write to the same cells.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "nufft/host/tiling.hpp"
#include "nufft/kernel.hpp"

namespace ridge::nufft {

template <class T>
class TileGrid {
 public:
  using Complex = std::complex<T>;

  TileGrid(const std::array<std::size_t, 3>& cells, std::size_t axes, const Kernel& kernel, std::size_t threads);

  std::size_t cells(std::size_t axis) const { return tiling_.axis[axis].cells; }
  Complex* data() const { return grid_.data(); }
  // Coordinates in radians, of T or double. Error{invalid_argument} for those that cannot be placed.
  template <class Coordinate>
  std::shared_ptr<const SortedPoints<T>> sort(const Coordinates<Coordinate>& points, bool fold) const;
  // One at a time: all of them use the grid and the local tiles.
  void clear() const;
  void spread(const SortedPoints<T>& points, const Complex* strengths) const;  // clears the grid first
  void interpolate(const SortedPoints<T>& points, Complex* values) const;
  // Values, and their derivatives along each axis, slowest first; null for unused axes.
  void slopes(const SortedPoints<T>& points, const std::array<Complex*, 4>& values) const;

 private:
  TileJob<T> job(const SortedPoint<T>* points, std::size_t count, Complex* local) const;
  template <class Use>
  void for_tile_rows(std::size_t tile, const Use& use) const;
  void spread_tile(const SortedPoints<T>& points, std::size_t tile, const Complex* strengths, Complex* local) const;
  // Calls use(job) for each tile that has points, with the tile's cells copied to the local grid.
  template <class Use>
  void for_copied_tiles(const SortedPoints<T>& points, const Use& use) const;

  std::size_t threads_;
  Tiling tiling_;
  SpreadKernels<T> kernels_;
  KernelTable<T> values_;
  std::array<KernelTable<T>, 3> slopes_;  // derivatives by the coordinate, in radians
  mutable base::AlignedArray<Complex> grid_;
  mutable std::vector<base::AlignedArray<Complex>> locals_;  // one per thread
};

}  // namespace ridge::nufft
