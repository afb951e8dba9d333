// Places points on the fine grid and sorts them by tile, with a stable counting sort.
#include "nufft/host/tiling.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "nufft/farthest.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kPart = 4;  // cells of a part of a tile: boxes of its points share most of their cells

// log2 of a tile's cells per axis, slowest first. In 3D a local grid fits the second-level cache, and the cells that
// the points of one part share fit the first.
std::array<std::size_t, 3> tile_shifts(std::size_t axes, std::size_t complex_bytes) {
  if (axes == 1) return {0, 0, 10};
  if (axes == 2) return {0, 5, complex_bytes == 16 ? 5u : 6u};
  return {4, 4, 4};
}

// Points of a block, placed together: cells and arguments per axis, slowest first.
template <class T>
struct PlacedBlock {
  static constexpr std::size_t kMost = 256;
  alignas(64) std::int32_t cell[3][kMost];
  alignas(64) T s[3][kMost];
};

template <class T, class Coordinate>
void place_block(const SpreadKernels<T>& kernels, const Tiling& tiling, const Coordinates<Coordinate>& points,
                 std::size_t begin, std::size_t count, PlacedBlock<T>& block) {
  const std::size_t first = 3 - tiling.axes;
  alignas(64) Coordinate padded[PlacedBlock<T>::kMost] = {};  // kernels read whole vectors
  for (std::size_t i = first; i < 3; ++i) {
    std::copy_n(points.axis[i - first] + begin, count, padded);
    const PlacedAxis axis{.cells = static_cast<double>(tiling.axis[i].cells),
                          .half_width = 0.5 * static_cast<double>(tiling.width),
                          .cell = block.cell[i]};
    if constexpr (sizeof(Coordinate) == 4) {
      kernels.place_float(padded, count, axis, block.s[i]);
    } else {
      kernels.place_double(padded, count, axis, block.s[i]);
    }
  }
}

// Bin of point p of a block, and the first cell of its box in the tile's local grid.
struct PlacedPoint {
  std::size_t bin, cell;
};

template <class T>
PlacedPoint placed_point(const Tiling& tiling, const PlacedBlock<T>& block, std::size_t p) {
  std::size_t tile = 0, part = 0, cell = 0;
  for (std::size_t i = 3 - tiling.axes; i < 3; ++i) {
    const TiledAxis& axis = tiling.axis[i];
    const auto at = static_cast<std::size_t>(block.cell[i][p]);
    const std::size_t index = axis.tile_of(at), within = at - axis.begin(index);
    tile = tile * axis.tiles + index;
    part = part * tiling.parts[i] + (tiling.parts[i] == 1 ? 0 : within / kPart);
    cell += within * (i == 0 ? tiling.plane_stride : i == 1 ? tiling.row_stride : 1);
  }
  return {.bin = tile * tiling.parts[0] * tiling.parts[1] * tiling.parts[2] + part, .cell = cell};
}

// Calls use(index of a point, block, its place in the block) for a share of the points.
template <class T, class Coordinate, class Use>
void for_placed(const Tiling& tiling, const Coordinates<Coordinate>& points, const base::Share& share, const Use& use) {
  const SpreadKernels<T> kernels = spread_kernels<T>();
  PlacedBlock<T> block{};
  for (std::size_t begin = share.begin; begin < share.end; begin += PlacedBlock<T>::kMost) {
    const std::size_t count = std::min(PlacedBlock<T>::kMost, share.end - begin);
    place_block(kernels, tiling, points, begin, count, block);
    for (std::size_t p = 0; p < count; ++p) use(begin + p, block, p);
  }
}

}  // namespace

Tiling::Tiling(const std::array<std::size_t, 3>& cells, std::size_t axis_count, std::size_t kernel_width,
               std::size_t complex_bytes)
    : axes(axis_count), width(kernel_width) {
  const std::array<std::size_t, 3> shifts = tile_shifts(axes, complex_bytes);
  for (std::size_t i = 0; i < 3; ++i) {
    axis[i] = {.cells = cells[i], .shift = shifts[i], .tiles = std::max<std::size_t>(1, cells[i] >> shifts[i])};
    if (axes == 3 && i < 2) parts[i] = (axis[i].largest() + kPart - 1) / kPart;
  }
  // Rows hold whole vectors of any target from a tile's last cell on, and are an odd number of cache lines apart.
  const std::size_t line = line_cells(complex_bytes), reach = (width + line - 1) / line * line;
  row_stride = ((axis[2].largest() - 1 + reach + line - 1) / line | 1) * line;
  plane_stride = row_stride * (axis[1].largest() + (axes > 1 ? width - 1 : 0));
  local_cells = plane_stride * (axis[0].largest() + (axes > 2 ? width - 1 : 0));
}

template <class T>
template <class Coordinate>
SortedPoints<T>::SortedPoints(const Tiling& tiling, const Coordinates<Coordinate>& points, bool fold,
                              std::size_t threads)
    : PointSet(points.count), start_(tiling.tiles() + 1, 0) {
  constexpr std::size_t kLeastPerThread = 4096;
  const Coordinate most = farthest<Coordinate>(fold);
  if (points.count > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("nufft: set_points() needs fewer than 2^32 points, got {}: split them into several sets",
                            points.count));
  }
  const std::size_t bins = tiling.bins(), workers = std::clamp<std::size_t>(points.count / kLeastPerThread, 1, threads);
  std::vector<std::uint32_t> bin_of(points.count);
  std::vector<std::vector<std::uint32_t>> next(workers, std::vector<std::uint32_t>(bins, 0));
  std::atomic<bool> finite{true};
  base::parallel(workers, [&](std::size_t worker, std::size_t) {
    const base::Share share = base::share(points.count, worker, workers);
    bool all = true;
    for (std::size_t i = 0; i < tiling.axes; ++i) {
      for (std::size_t j = share.begin; j < share.end; ++j) all &= std::abs(points.axis[i][j]) <= most;
    }
    if (!all) finite = false;
    if (!all) return;
    for_placed<T>(tiling, points, share, [&](std::size_t j, const PlacedBlock<T>& block, std::size_t p) {
      const std::size_t bin = placed_point(tiling, block, p).bin;
      bin_of[j] = static_cast<std::uint32_t>(bin);
      ++next[worker][bin];
    });
  });
  if (!finite) refuse_point(points, tiling.axes, most);
  const std::size_t bins_per_tile = bins / tiling.tiles();
  std::uint32_t sum = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    if (bin % bins_per_tile == 0) start_[bin / bins_per_tile] = sum;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      const std::uint32_t count = next[worker][bin];
      next[worker][bin] = sum;
      sum += count;
    }
  }
  start_.back() = sum;
  points_ = base::AlignedArray<SortedPoint<T>>(std::max<std::size_t>(points.count, 1));
  base::parallel(workers, [&](std::size_t worker, std::size_t) {
    const base::Share share = base::share(points.count, worker, workers);
    for_placed<T>(tiling, points, share, [&](std::size_t j, const PlacedBlock<T>& block, std::size_t p) {
      points_[next[worker][bin_of[j]]++] = {.s = {block.s[0][p], block.s[1][p], block.s[2][p]},
                                            .cell = static_cast<std::uint32_t>(placed_point(tiling, block, p).cell),
                                            .index = static_cast<std::uint32_t>(j)};
    });
  });
}

template class SortedPoints<float>;
template class SortedPoints<double>;
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<float>&, bool, std::size_t);
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);
template SortedPoints<double>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);

}  // namespace ridge::nufft
