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

constexpr std::size_t kPart = 4;  // cells of a part of a tile, as in PlacedAxis: its points share most of their cells

// log2 of a tile's cells per axis, slowest first. In 3D a local grid fits the second-level cache, and the cells that
// the points of one part share fit the first.
std::array<std::size_t, 3> tile_shifts(std::size_t axes, std::size_t complex_bytes) {
  if (axes == 1) return {0, 0, 10};
  if (axes == 2) return {0, 5, complex_bytes == 16 ? 5u : 6u};
  return {4, 4, 4};
}

// Points of a block, placed together: bins, first cells in their tiles' local grids, arguments per axis, slowest first.
template <class T>
struct PlacedBlock {
  static constexpr std::size_t kMost = 256;
  alignas(64) std::int32_t bin[kMost], local[kMost];
  alignas(64) T s[3][kMost] = {};
};

template <class T, class Coordinate>
void place_block(const SpreadKernels<T>& kernels, const Tiling& tiling, const Coordinates<Coordinate>& points,
                 std::size_t begin, std::size_t count, PlacedBlock<T>& block) {
  const auto narrow = [](std::size_t value) { return static_cast<std::int32_t>(value); };
  const std::size_t first = 3 - tiling.axes;
  alignas(64) Coordinate padded[PlacedBlock<T>::kMost] = {};  // kernels read whole vectors
  std::fill_n(block.bin, PlacedBlock<T>::kMost, 0);
  std::fill_n(block.local, PlacedBlock<T>::kMost, 0);
  std::size_t part = 1, tile = tiling.parts[0] * tiling.parts[1] * tiling.parts[2];
  for (std::size_t i = 3; i-- > first;) {
    std::copy_n(points.axis[i - first] + begin, count, padded);
    const PlacedAxis axis{.cells = static_cast<double>(tiling.axis[i].cells),
                          .half_width = 0.5 * static_cast<double>(tiling.width),
                          .shift = narrow(tiling.axis[i].shift),
                          .last_tile = narrow(tiling.axis[i].tiles - 1),
                          .per_tile = narrow(tile),
                          .per_part = tiling.parts[i] == 1 ? 0 : narrow(part),
                          .per_cell = narrow(i == 0   ? tiling.plane_stride
                                             : i == 1 ? tiling.row_stride
                                                      : 1),
                          .bin = block.bin,
                          .local = block.local};
    if constexpr (sizeof(Coordinate) == 4) {
      kernels.place_float(padded, count, axis, block.s[i]);
    } else {
      kernels.place_double(padded, count, axis, block.s[i]);
    }
    tile *= tiling.axis[i].tiles;
    part *= tiling.parts[i];
  }
}

// Calls use(index of its first point, block, number of points) for blocks of a share of the points.
template <class T, class Coordinate, class Use>
void for_placed(const Tiling& tiling, const Coordinates<Coordinate>& points, const base::Share& share, const Use& use) {
  const SpreadKernels<T> kernels = spread_kernels<T>();
  PlacedBlock<T> block{};
  for (std::size_t begin = share.begin; begin < share.end; begin += PlacedBlock<T>::kMost) {
    const std::size_t count = std::min(PlacedBlock<T>::kMost, share.end - begin);
    place_block(kernels, tiling, points, begin, count, block);
    use(begin, block, count);
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
  // Rows are padded so that a vector of any instruction set may begin at a tile's last cell. Their stride is an odd
  // number of cache lines, so that rows do not share sets of the cache.
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
    std::uint32_t* const counts = next[worker].data();
    for_placed<T>(tiling, points, share, [&](std::size_t, const PlacedBlock<T>& block, std::size_t count) {
      for (std::size_t p = 0; p < count; ++p) ++counts[static_cast<std::uint32_t>(block.bin[p])];
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
    std::uint32_t* const places = next[worker].data();
    SortedPoint<T>* const sorted = points_.data();
    for_placed<T>(tiling, points, share, [&](std::size_t begin, const PlacedBlock<T>& block, std::size_t count) {
      for (std::size_t p = 0; p < count; ++p) {
        sorted[places[static_cast<std::uint32_t>(block.bin[p])]++] = {
            .s = {block.s[0][p], block.s[1][p], block.s[2][p]},
            .cell = static_cast<std::uint32_t>(block.local[p]),
            .index = static_cast<std::uint32_t>(begin + p)};
      }
    });
  });
}

template class SortedPoints<float>;
template class SortedPoints<double>;
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<float>&, bool, std::size_t);
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);
template SortedPoints<double>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);

}  // namespace ridge::nufft
