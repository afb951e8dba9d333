// The fine grid on the host: spreads sorted points onto it and interpolates at them, tile by tile. A tile's points are
// processed on a local copy of the tile that fits the core's own caches.
//
// The order of all additions is fixed, so the answer has the same bits for any number of threads: layers of tiles along
// the slowest axis are processed by one thread each, first the even layers, then the odd ones. The border of a layer
// reaches into the next layer only, so that layers of one parity never write to the same cells.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nufft/host/tiling.hpp"
#include "nufft/kernel.hpp"

namespace ridge::nufft {

template <class T>
class TileGrid {
 public:
  using Complex = std::complex<T>;

  // Cells are complex numbers, or reals.
  TileGrid(const std::array<std::size_t, 3>& cells, std::size_t axes, const Kernel& kernel, std::size_t threads,
           bool real = false);

  std::size_t cells(std::size_t axis) const { return tiling_.axis[axis].cells; }
  Complex* data() const { return reinterpret_cast<Complex*>(grid_.data()); }
  std::span<T> numbers() const { return grid_.span(); }
  // Coordinates in radians, of T or double. Error{invalid_argument} for those that cannot be placed.
  template <class Coordinate>
  std::shared_ptr<const SortedPoints<T>> sort(const Coordinates<Coordinate>& points, bool fold) const;
  // The following calls share the grid and the local tiles: one call at a time.
  void clear() const;
  // Strengths and values are of the type of the cells.
  void spread(const SortedPoints<T>& points, const void* strengths) const;  // clears the grid first
  void interpolate(const SortedPoints<T>& points, void* values) const;
  // Complex cells only. Values, and their derivatives along each axis, slowest first; null for unused axes.
  void slopes(const SortedPoints<T>& points, const std::array<Complex*, 4>& values) const;

 private:
  TileJob<T> job(const SortedPoint<T>* points, std::size_t count, T* local) const;
  template <class Use>
  void for_tile_rows(std::size_t tile, const Use& use) const;
  void spread_tile(const SortedPoints<T>& points, std::size_t tile, const T* strengths, T* local) const;
  // Calls use(job) for each tile that has points, with the tile's cells copied to the local grid.
  template <class Use>
  void for_copied_tiles(const SortedPoints<T>& points, const Use& use) const;

  std::size_t threads_, parts_;  // parts: numbers per cell
  Tiling tiling_;
  SpreadKernels<T> kernels_;
  KernelTable<T> values_;
  std::array<KernelTable<T>, 3> slopes_;  // derivatives by the coordinate, in radians
  mutable base::AlignedArray<T> grid_;
  mutable std::vector<base::AlignedArray<T>> locals_;  // one per thread
};

}  // namespace ridge::nufft
