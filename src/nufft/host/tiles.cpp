// Variant "tiles": points sorted by tiles of the fine grid. A tile's points are spread onto a local grid that stays in
// a near cache, which is then added to the fine grid; interpolation reads from a copy of the tile.
//
// The order of all additions is fixed, so the answer has the same bits for any number of threads: layers of tiles along
// the slowest axis are processed by one thread each, first the even layers, then the odd ones. The border of a layer
// reaches into the next layer only, so that layers of one parity never write to the same cells.
#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/host/pruned_transform.hpp"
#include "nufft/host/schedule.hpp"
#include "nufft/host/tiling.hpp"

namespace ridge::nufft {
namespace {

struct TilesDesign {
  std::size_t width = 0;
  double upsampling = 2;
  std::array<std::size_t, 3> cells{1, 1, 1};  // of the fine grid
  std::size_t grid_cells() const { return cells[0] * cells[1] * cells[2]; }
};

// The error is largest at the highest frequency, which counts most on a short axis: short axes get a few more cells.
TilesDesign design_tiles(const Layout& layout, double upsampling) {
  constexpr std::size_t kShort = 64, kMore = 2;
  TilesDesign design{.width = kernel_width(layout.epsilon, upsampling, layout.axes, layout.roundoff()),
                     .upsampling = upsampling};
  for (std::size_t i = layout.first_axis(); i < 3; ++i) {
    const std::size_t modes = layout.modes[i] + (layout.modes[i] < kShort ? kMore : 0);
    const auto least = static_cast<std::size_t>(std::ceil(upsampling * static_cast<double>(modes)));
    design.cells[i] = fft::prime::smooth_length(std::max(least, 2 * std::max<std::size_t>(design.width, 2)));
  }
  return design;
}

template <class T>
KernelTable<T> kernel_table(const Kernel& kernel) {
  KernelTable<T> table;
  table.width = kernel.width();
  table.terms = kernel.degree() + 1;
  const std::vector<double> coefficients = kernel.polynomials();
  for (std::size_t p = 0; p < table.terms; ++p) {
    for (std::size_t c = 0; c < table.width; ++c) {
      const T value = static_cast<T>(coefficients[p * table.width + c]);
      table.single[p][c] = table.pairs[p][2 * c] = table.pairs[p][2 * c + 1] = value;
    }
  }
  return table;
}

template <class T>
class Tiles final : public Variant<T> {
 public:
  using Complex = std::complex<T>;

  Tiles(const Layout& layout, const TilesDesign& design, const planner::Options& options)
      : layout_(layout),
        tiling_(design.cells, layout.axes, design.width, sizeof(Complex)),
        kernels_(spread_kernels<T>()),
        transform_(design.cells, layout.modes, layout.threads, options),
        grid_(design.grid_cells()) {
    const Kernel kernel(design.width, design.upsampling);
    table_ = kernel_table<T>(kernel);
    for (std::size_t i = 0; i < 3; ++i) {
      factors_[i].assign(1, T{1});
      if (i < layout.first_axis()) continue;
      const std::vector<double> exact = kernel.mode_factors(layout.modes[i], design.cells[i]);
      factors_[i].assign(exact.begin(), exact.end());
    }
    for (std::size_t i = 0; i < layout.threads; ++i) locals_.emplace_back(tiling_.local_cells);
  }

  std::shared_ptr<const PointSet> sort(const Coordinates<T>& points) const override {
    return std::make_shared<const SortedPoints<T>>(tiling_, points, layout_.threads);
  }

  void to_modes(const PointSet& points, int sign, const Complex* strengths, Complex* modes) const override {
    std::lock_guard lock(busy_);
    for (std::size_t set = 0; set < layout_.batch; ++set) {
      Complex* out = modes + set * layout_.mode_count();
      if (points.count() == 0) {
        std::fill_n(out, layout_.mode_count(), Complex{});
        continue;
      }
      spread(static_cast<const SortedPoints<T>&>(points), strengths + set * points.count());
      transform_.to_modes(sign, grid_.data());
      for_each_row([&](std::size_t row_of_modes, std::size_t cell, T factor) {
        take_row(grid_.data() + cell, factor, out + row_of_modes);
      });
    }
  }

  void to_points(const PointSet& points, int sign, const Complex* modes, Complex* values) const override {
    if (points.count() == 0) return;
    std::lock_guard lock(busy_);
    for (std::size_t set = 0; set < layout_.batch; ++set) {
      const Complex* in = modes + set * layout_.mode_count();
      clear_grid();
      for_each_row([&](std::size_t row_of_modes, std::size_t cell, T factor) {
        put_row(in + row_of_modes, factor, grid_.data() + cell);
      });
      transform_.from_modes(sign, grid_.data());
      interpolate(static_cast<const SortedPoints<T>&>(points), values + set * points.count());
    }
  }

  std::vector<planner::Decision> decisions() const override { return transform_.decisions(); }

 private:
  std::size_t cells(std::size_t i) const { return tiling_.axis[i].cells; }

  void clear_grid() const {
    constexpr std::size_t kEach = std::size_t{1} << 15;
    for_units(layout_.threads, (grid_.size() + kEach - 1) / kEach, [&](std::size_t unit, std::size_t) {
      std::fill_n(grid_.data() + unit * kEach, std::min(kEach, grid_.size() - unit * kEach), Complex{});
    });
  }

  // Calls use(offset in the modes, offset in the grid, factor of the slow axes) for each row of modes.
  template <class Use>
  void for_each_row(const Use& use) const {
    const auto& n = layout_.modes;
    constexpr std::size_t kRows = 16;
    for_units(layout_.threads, (n[0] * n[1] + kRows - 1) / kRows, [&](std::size_t unit, std::size_t) {
      for (std::size_t row = unit * kRows; row < std::min((unit + 1) * kRows, n[0] * n[1]); ++row) {
        const std::size_t i0 = row / n[1], i1 = row % n[1];
        const std::size_t to = stored_at(layout_.order, n[0], i0) * n[1] + stored_at(layout_.order, n[1], i1);
        const std::size_t from = cell_of(0, i0) * cells(1) + cell_of(1, i1);
        use(to * n[2], from * cells(2), factors_[0][i0] * factors_[1][i1]);
      }
    });
  }
  // Cell of the fine grid that holds frequency -(n/2) + i.
  std::size_t cell_of(std::size_t axis, std::size_t i) const {
    const std::size_t half = layout_.modes[axis] / 2;
    return i < half ? cells(axis) - half + i : i - half;
  }

  // The fine grid has the negative frequencies at the end of a row, the others at its beginning.
  void take_row(const Complex* row, T factor, Complex* out) const {
    const std::size_t n = layout_.modes[2], half = n / 2;
    const T* factors = factors_[2].data();
    Complex* negative = layout_.order == Order::centered ? out : out + (n - half);
    Complex* rest = layout_.order == Order::centered ? out + half : out;
    for (std::size_t i = 0; i < half; ++i) negative[i] = row[cells(2) - half + i] * (factor * factors[i]);
    for (std::size_t i = half; i < n; ++i) rest[i - half] = row[i - half] * (factor * factors[i]);
  }
  void put_row(const Complex* in, T factor, Complex* row) const {
    const std::size_t n = layout_.modes[2], half = n / 2;
    const T* factors = factors_[2].data();
    const Complex* negative = layout_.order == Order::centered ? in : in + (n - half);
    const Complex* rest = layout_.order == Order::centered ? in + half : in;
    for (std::size_t i = 0; i < half; ++i) row[cells(2) - half + i] = negative[i] * (factor * factors[i]);
    for (std::size_t i = half; i < n; ++i) row[i - half] = rest[i - half] * (factor * factors[i]);
  }

  TileJob<T> job(const SortedPoint<T>* points, std::size_t count, Complex* local) const {
    return {.table = &table_,
            .points = points,
            .count = count,
            .local = local,
            .axes = layout_.axes,
            .row_stride = tiling_.row_stride,
            .plane_stride = tiling_.plane_stride};
  }

  // Calls use(local row, grid row, first cell, cells up to the period's end, cells after it) for each row of a tile.
  template <class Use>
  void for_tile_rows(std::size_t tile, const Use& use) const {
    const auto at = tiling_.at(tile);
    const std::size_t x = tiling_.axis[2].begin(at[2]), reach = tiling_.reach(2, at[2]);
    const std::size_t before = std::min(reach, cells(2) - x);
    for (std::size_t z = 0; z < tiling_.reach(0, at[0]); ++z) {
      const std::size_t plane = (tiling_.axis[0].begin(at[0]) + z) % cells(0);
      for (std::size_t y = 0; y < tiling_.reach(1, at[1]); ++y) {
        const std::size_t row = (tiling_.axis[1].begin(at[1]) + y) % cells(1);
        use(z * tiling_.plane_stride + y * tiling_.row_stride, (plane * cells(1) + row) * cells(2), x, before,
            reach - before);
      }
    }
  }

  void spread_tile(const SortedPoints<T>& points, std::size_t tile, const Complex* strengths, Complex* local) const {
    if (points.count_in(tile) == 0) return;
    std::fill_n(local, tiling_.local_cells, Complex{});
    kernels_.spread(job(points.tile(tile), points.count_in(tile), local), strengths);
    for_tile_rows(tile, [&](std::size_t from, std::size_t to, std::size_t x, std::size_t before, std::size_t after) {
      kernels_.add(local + from, grid_.data() + to + x, before);
      if (after != 0) kernels_.add(local + from + before, grid_.data() + to, after);
    });
  }

  void spread(const SortedPoints<T>& points, const Complex* strengths) const {
    clear_grid();
    const std::size_t layers = tiling_.axis[layout_.first_axis()].tiles, per_layer = tiling_.tiles() / layers;
    const auto run_layers = [&](std::size_t first, std::size_t count) {  // first, first + 2, ...
      for_units(layout_.threads, count, [&](std::size_t unit, std::size_t thread) {
        for (std::size_t i = 0; i < per_layer; ++i) {
          spread_tile(points, (first + 2 * unit) * per_layer + i, strengths, locals_[thread].data());
        }
      });
    };
    run_layers(0, layers / 2);
    run_layers(1, layers / 2);
    if (layers % 2 == 1) run_layers(layers - 1, 1);  // the neighbour of both the first and the last but one
  }

  void interpolate_tile(const SortedPoints<T>& points, std::size_t tile, std::size_t first, std::size_t count,
                        Complex* values, Complex* local) const {
    for_tile_rows(tile, [&](std::size_t to, std::size_t from, std::size_t x, std::size_t before, std::size_t after) {
      std::copy_n(grid_.data() + from + x, before, local + to);
      std::copy_n(grid_.data() + from, after, local + to + before);
      std::fill_n(local + to + before + after, tiling_.row_stride - before - after, Complex{});
    });
    kernels_.interpolate(job(points.tile(tile) + first, count, local), values);
  }

  void interpolate(const SortedPoints<T>& points, Complex* values) const {
    for_units(layout_.threads, tiling_.tiles(), [&](std::size_t tile, std::size_t thread) {
      if (points.count_in(tile) == 0) return;
      interpolate_tile(points, tile, 0, points.count_in(tile), values, locals_[thread].data());
    });
  }

  Layout layout_;
  Tiling tiling_;
  SpreadKernels<T> kernels_;
  PrunedTransform<T> transform_;
  KernelTable<T> table_;
  std::array<std::vector<T>, 3> factors_;  // per axis and mode, from frequency -(n/2)

  mutable std::mutex busy_;  // guards the grids: one run at a time
  mutable base::AlignedArray<Complex> grid_;
  mutable std::vector<base::AlignedArray<Complex>> locals_;  // one per thread
};

planner::Cost tiles_cost(const Layout& layout, const TilesDesign& design) {
  const auto width = static_cast<double>(design.width), points = static_cast<double>(layout.points);
  const auto rounded = static_cast<double>(padded_width(design.width));
  const auto cells = static_cast<double>(design.grid_cells()), sets = static_cast<double>(layout.batch);
  const double box = rounded * std::pow(width, static_cast<double>(layout.axes - 1));
  const double weights = static_cast<double>(layout.axes) * 2 * rounded * (width + 3);
  return {.flops = sets * (points * (4 * box + weights) + 5 * cells * std::log2(cells)),
          .bytes = sets * cells * static_cast<double>(layout.complex_bytes()) * 4,
          .launches = layout.threads > 1 ? 8.0 : 0.0,
          .efficiency = 0.15,
          .float64 = layout.float64,
          .threads = layout.threads};
}

std::string tiles_refusal(const Device& device, const Layout& layout, const TilesDesign& design) {
  if (layout.upsampling != 0 && layout.upsampling != design.upsampling) {
    return fmt::format("has upsampling {}, the problem asks for {}", design.upsampling, layout.upsampling);
  }
  if (design.width == 0) {
    return fmt::format("epsilon {:.1e} cannot be reached with kernels of up to {} cells at upsampling {}",
                       layout.epsilon, kWidest, design.upsampling);
  }
  double bytes = static_cast<double>(layout.complex_bytes());  // in double: the product may exceed 2^64
  for (const std::size_t cells : design.cells) bytes *= static_cast<double>(cells);
  const auto memory = static_cast<double>(device.limits().memory);
  if (memory > 0 && bytes > memory) {
    return fmt::format("the fine grid of {}x{}x{} cells needs {}, the machine has {}", design.cells[0], design.cells[1],
                       design.cells[2], base::human_bytes(bytes), base::human_bytes(memory));
  }
  return {};
}

}  // namespace

template <class T>
void list_host_tiles(const Device& device, const Layout& layout, const planner::Options& options,
                     std::vector<Entry<T>>& entries) {
  planner::Options lines = options;
  lines.variant.clear();
  lines.progress = {};
  for (const double upsampling : kUpsamplings) {
    const TilesDesign design = design_tiles(layout, upsampling);
    entries.push_back(
        {.candidate = {.variant = "tiles",
                       .parameters = {{"upsampling", fmt::format("{}", upsampling)},
                                      {"width", std::to_string(design.width)}},
                       .refusal = tiles_refusal(device, layout, design),
                       .cost = tiles_cost(layout, design)},
         .build = [layout, design, lines] { return std::make_shared<const Tiles<T>>(layout, design, lines); }});
  }
}

template void list_host_tiles<float>(const Device&, const Layout&, const planner::Options&, std::vector<Entry<float>>&);
template void list_host_tiles<double>(const Device&, const Layout&, const planner::Options&,
                                      std::vector<Entry<double>>&);

}  // namespace ridge::nufft
