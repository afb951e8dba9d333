// Spreading and interpolation over the tiles of the fine grid.
#include "nufft/host/tile_grid.hpp"

#include <algorithm>

#include "nufft/host/tiling.hpp"

namespace ridge::nufft {
namespace {

// `coefficients` are those of Kernel::polynomials(), highest power first.
template <class T>
KernelTable<T> kernel_table(const Kernel& kernel, const std::vector<double>& coefficients) {
  KernelTable<T> table;
  table.width = kernel.width();
  table.terms = kernel.degree() + 1;
  for (std::size_t p = 0; p < table.terms; ++p) {
    for (std::size_t c = 0; c < table.width; ++c) {
      table.coefficient[p][c] = static_cast<T>(coefficients[p * table.width + c]);
    }
  }
  return table;
}

}  // namespace

template <class T>
TileGrid<T>::TileGrid(const std::array<std::size_t, 3>& cells, std::size_t axes, const Kernel& kernel,
                      std::size_t threads, bool real)
    : threads_(threads),
      parts_(real ? 1 : 2),
      tiling_(cells, axes, kernel.width(), parts_ * sizeof(T)),
      kernels_(spread_kernels<T>(real)),
      values_(kernel_table<T>(kernel, kernel.polynomials())),
      grid_(parts_ * cells[0] * cells[1] * cells[2]) {
  for (std::size_t i = 3 - axes; i < 3; ++i) {
    slopes_[i] = kernel_table<T>(kernel, kernel.slope_polynomials(cells[i]));
  }
  for (std::size_t i = 0; i < threads; ++i) locals_.emplace_back(parts_ * tiling_.local_cells);
}

template <class T>
template <class Coordinate>
std::shared_ptr<const SortedPoints<T>> TileGrid<T>::sort(const Coordinates<Coordinate>& points, bool fold) const {
  return std::make_shared<const SortedPoints<T>>(tiling_, points, fold, threads_);
}

template <class T>
void TileGrid<T>::clear() const {
  constexpr std::size_t kEach = std::size_t{1} << 15;
  for_units(threads_, (grid_.size() + kEach - 1) / kEach, [&](std::size_t unit, std::size_t) {
    std::fill_n(grid_.data() + unit * kEach, std::min(kEach, grid_.size() - unit * kEach), T{});
  });
}

template <class T>
TileJob<T> TileGrid<T>::job(const SortedPoint<T>* points, std::size_t count, T* local) const {
  return {.table = &values_,
          .slopes = slopes_.data(),
          .points = points,
          .count = count,
          .local = local,
          .axes = tiling_.axes,
          .row_stride = tiling_.row_stride,
          .plane_stride = tiling_.plane_stride};
}

// Calls use(local row, grid row, first cell, cells up to the period's end, cells after it) for each row of a tile. All
// five count real numbers, of which a complex cell has two.
template <class T>
template <class Use>
void TileGrid<T>::for_tile_rows(std::size_t tile, const Use& use) const {
  const auto at = tiling_.at(tile);
  const std::size_t x = tiling_.axis[2].begin(at[2]), reach = tiling_.reach(2, at[2]);
  const std::size_t before = std::min(reach, cells(2) - x);
  for (std::size_t z = 0; z < tiling_.reach(0, at[0]); ++z) {
    const std::size_t plane = (tiling_.axis[0].begin(at[0]) + z) % cells(0);
    for (std::size_t y = 0; y < tiling_.reach(1, at[1]); ++y) {
      const std::size_t row = (tiling_.axis[1].begin(at[1]) + y) % cells(1);
      use(parts_ * (z * tiling_.plane_stride + y * tiling_.row_stride), parts_ * (plane * cells(1) + row) * cells(2),
          parts_ * x, parts_ * before, parts_ * (reach - before));
    }
  }
}

// Sums of many points in one cell lose digits: a dense tile is spread in parts, whose sums are added to the grid.
template <class T>
void TileGrid<T>::spread_tile(const SortedPoints<T>& points, std::size_t tile, const T* strengths, T* local) const {
  const std::size_t part = std::clamp<std::size_t>(tiling_.local_cells, 512, 4096);
  for (std::size_t first = 0; first < points.count_in(tile); first += part) {
    std::fill_n(local, parts_ * tiling_.local_cells, T{});
    const std::size_t count = std::min(part, points.count_in(tile) - first);
    kernels_.spread(job(points.tile(tile) + first, count, local), strengths);
    for_tile_rows(tile, [&](std::size_t from, std::size_t to, std::size_t x, std::size_t before, std::size_t after) {
      kernels_.add(local + from, grid_.data() + to + x, before);
      if (after != 0) kernels_.add(local + from + before, grid_.data() + to, after);
    });
  }
}

template <class T>
void TileGrid<T>::spread(const SortedPoints<T>& points, const void* given) const {
  const T* const strengths = static_cast<const T*>(given);
  clear();
  const std::size_t layers = tiling_.axis[3 - tiling_.axes].tiles, per_layer = tiling_.tiles() / layers;
  const auto run_layers = [&](std::size_t first, std::size_t count) {  // first, first + 2, ...
    for_units(threads_, count, [&](std::size_t unit, std::size_t thread) {
      for (std::size_t i = 0; i < per_layer; ++i) {
        spread_tile(points, (first + 2 * unit) * per_layer + i, strengths, locals_[thread].data());
      }
    });
  };
  run_layers(0, layers / 2);
  run_layers(1, layers / 2);
  if (layers % 2 == 1) run_layers(layers - 1, 1);  // the neighbour of both the first and the last but one
}

template <class T>
template <class Use>
void TileGrid<T>::for_copied_tiles(const SortedPoints<T>& points, const Use& use) const {
  for_units(threads_, tiling_.tiles(), [&](std::size_t tile, std::size_t thread) {
    if (points.count_in(tile) == 0) return;
    T* local = locals_[thread].data();
    for_tile_rows(tile, [&](std::size_t to, std::size_t from, std::size_t x, std::size_t before, std::size_t after) {
      std::copy_n(grid_.data() + from + x, before, local + to);
      std::copy_n(grid_.data() + from, after, local + to + before);
      std::fill_n(local + to + before + after, parts_ * tiling_.row_stride - before - after, T{});
    });
    use(job(points.tile(tile), points.count_in(tile), local));
  });
}

template <class T>
void TileGrid<T>::interpolate(const SortedPoints<T>& points, void* values) const {
  for_copied_tiles(points, [&](const TileJob<T>& job) { kernels_.interpolate(job, static_cast<T*>(values)); });
}

template <class T>
void TileGrid<T>::slopes(const SortedPoints<T>& points, const std::array<Complex*, 4>& values) const {
  std::array<T*, 4> numbers{};
  for (std::size_t i = 0; i < 4; ++i) numbers[i] = reinterpret_cast<T*>(values[i]);
  for_copied_tiles(points, [&](const TileJob<T>& job) { kernels_.slopes(job, numbers); });
}

template class TileGrid<float>;
template class TileGrid<double>;
template std::shared_ptr<const SortedPoints<float>> TileGrid<float>::sort(const Coordinates<float>&, bool) const;
template std::shared_ptr<const SortedPoints<float>> TileGrid<float>::sort(const Coordinates<double>&, bool) const;
template std::shared_ptr<const SortedPoints<double>> TileGrid<double>::sort(const Coordinates<double>&, bool) const;

}  // namespace ridge::nufft
