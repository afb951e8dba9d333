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

// log2 of a tile's cells per axis, slowest first. A local grid of narrow kernels fits the first-level cache.
std::array<std::size_t, 3> tile_shifts(std::size_t axes, std::size_t width, std::size_t complex_bytes) {
  if (axes == 1) return {0, 0, 10};
  if (axes == 2) return {0, 5, complex_bytes == 16 ? 5u : 6u};
  return width > 8 ? std::array<std::size_t, 3>{4, 4, 4} : std::array<std::size_t, 3>{3, 3, 4};
}

// First cell of a point's box and the argument of the kernel's polynomials.
struct Place {
  std::size_t cell;
  double s;
};

// Integer nearest to v, for |v| < 2^51.
double nearest(double v) {
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52
  return (v + kShift) - kShift;
}

// x / (2 pi) has a rounding error that moves the point by up to cells * 2^-54 cells. For double the error is kept
// and added after the whole cells have been removed. Float coordinates have bits to spare in double.
template <class T>
Place place(T coordinate, double cells, double half_width) {
  constexpr double kInverse = 0.15915494309189535, kInverseLow = -9.839338337591243e-18;  // 1 / (2 pi)
  const double x{coordinate};
  double turns = x * kInverse, error = 0;
  if constexpr (sizeof(T) == 8) error = std::fma(x, kInverse, -turns) + x * kInverseLow;
  turns -= nearest(turns);
  const double position = turns * cells;
  if constexpr (sizeof(T) == 8) error = std::fma(turns, cells, -position) + error * cells;
  const double left = position - half_width;
  auto first = static_cast<std::int64_t>(left);
  first += static_cast<double>(first) < left ? 1 : 0;  // rounds up
  const double s = 2 * ((static_cast<double>(first) - left) - error) - 1;
  if (first < 0) first += static_cast<std::int64_t>(cells);
  return {static_cast<std::size_t>(first), s};
}

// Where a point belongs: its bin, and its record without the index.
template <class T>
struct Placed {
  std::size_t bin;
  SortedPoint<T> point;
};

template <class T, class Coordinate>
Placed<T> place_point(const Tiling& tiling, const Coordinates<Coordinate>& points, std::size_t j) {
  Placed<T> placed{.bin = 0, .point = {}};
  const std::size_t first = 3 - tiling.axes;
  const double half_width = 0.5 * static_cast<double>(tiling.width);
  std::size_t tile = 0, part = 0, cell = 0;
  for (std::size_t i = first; i < 3; ++i) {
    const TiledAxis& axis = tiling.axis[i];
    const Place at = place(points.axis[i - first][j], static_cast<double>(axis.cells), half_width);
    const std::size_t index = axis.tile_of(at.cell), within = at.cell - axis.begin(index);
    tile = tile * axis.tiles + index;
    part = part * tiling.parts[i] + (tiling.parts[i] == 1 ? 0 : within / kPart);
    cell += within * (i == 0 ? tiling.plane_stride : i == 1 ? tiling.row_stride : 1);
    placed.point.s[i] = static_cast<T>(at.s);
  }
  placed.bin = tile * tiling.parts[0] * tiling.parts[1] * tiling.parts[2] + part;
  placed.point.cell = static_cast<std::uint32_t>(cell);
  return placed;
}

}  // namespace

Tiling::Tiling(const std::array<std::size_t, 3>& cells, std::size_t axis_count, std::size_t kernel_width,
               std::size_t complex_bytes)
    : axes(axis_count), width(kernel_width) {
  const std::array<std::size_t, 3> shifts = tile_shifts(axes, width, complex_bytes);
  for (std::size_t i = 0; i < 3; ++i) {
    axis[i] = {.cells = cells[i], .shift = shifts[i], .tiles = std::max<std::size_t>(1, cells[i] >> shifts[i])};
    if (axes == 3 && i < 2) parts[i] = (axis[i].largest() + kPart - 1) / kPart;
  }
  row_stride = axis[2].largest() - 1 + padded_width(width);
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
    for (std::size_t j = share.begin; j < share.end; ++j) {
      const std::size_t bin = place_point<T>(tiling, points, j).bin;
      bin_of[j] = static_cast<std::uint32_t>(bin);
      ++next[worker][bin];
    }
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
    for (std::size_t j = share.begin; j < share.end; ++j) {
      SortedPoint<T> point = place_point<T>(tiling, points, j).point;
      point.index = static_cast<std::uint32_t>(j);
      points_[next[worker][bin_of[j]]++] = point;
    }
  });
}

template class SortedPoints<float>;
template class SortedPoints<double>;
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<float>&, bool, std::size_t);
template SortedPoints<float>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);
template SortedPoints<double>::SortedPoints(const Tiling&, const Coordinates<double>&, bool, std::size_t);

}  // namespace ridge::nufft
