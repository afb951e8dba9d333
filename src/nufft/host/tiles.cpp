// Lists and runs the variant "tiles".
#include "nufft/host/tiles.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "fft/host/prime/numbers.hpp"
#include "nufft/host/tiling.hpp"

namespace ridge::nufft {

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

std::string memory_refusal(const Device& device, const std::array<std::size_t, 3>& cells, std::size_t complex_bytes) {
  double bytes = static_cast<double>(complex_bytes);  // in double: the product may exceed 2^64
  for (const std::size_t count : cells) bytes *= static_cast<double>(count);
  const auto memory = static_cast<double>(device.limits().memory);
  if (!(memory > 0 && bytes > memory)) return {};
  return fmt::format("the fine grid of {}x{}x{} cells needs {}, {} has {}", cells[0], cells[1], cells[2],
                     base::human_bytes(bytes), device.is_host() ? "the machine" : device.id(),
                     base::human_bytes(memory));
}

template <class T>
Tiles<T>::Tiles(const Layout& layout, const TilesDesign& design, const planner::Options& options)
    : layout_(layout),
      grid_(design.cells, layout.axes, Kernel(design.width, design.upsampling), layout.threads, layout.real) {
  const Kernel kernel(design.width, design.upsampling);
  for (std::size_t i = 0; i < 3; ++i) {
    factors_[i].assign(1, T{1});
    if (i < layout.first_axis()) continue;
    const std::vector<double> exact = kernel.mode_factors(layout.modes[i], design.cells[i]);
    factors_[i].assign(exact.begin(), exact.end());
  }
  if (layout.real) {
    real_.emplace(layout, design.cells, factors_, options);
  } else {
    transform_.emplace(design.cells, layout.modes, layout.threads, options);
  }
}

template <class T>
void Tiles<T>::to_modes(const PointSet& points, int sign, const Complex* strengths, Complex* modes) const {
  std::lock_guard lock(busy_);
  for (std::size_t set = 0; set < layout_.batch; ++set) {
    Complex* out = modes + set * layout_.mode_count();
    if (points.count() == 0) {
      std::fill_n(out, layout_.mode_count(), Complex{});
      continue;
    }
    const T* given = reinterpret_cast<const T*>(strengths) + set * points.count() * layout_.parts();
    grid_.spread(static_cast<const SortedPoints<T>&>(points), given);
    if (real_) {
      real_->to_modes(sign, grid_.numbers(), out);
      continue;
    }
    transform_->to_modes(sign, grid_.data());
    for_each_row([&](std::size_t row_of_modes, std::size_t cell, T factor) {
      take_row(grid_.data() + cell, factor, out + row_of_modes);
    });
  }
}

// The transform of the modes of one set, on the fine grid.
template <class T>
void Tiles<T>::set_grid(int sign, const Complex* modes) const {
  if (real_) return real_->from_modes(sign, modes, grid_.numbers());
  grid_.clear();
  for_each_row([&](std::size_t row_of_modes, std::size_t cell, T factor) {
    put_row(modes + row_of_modes, factor, grid_.data() + cell);
  });
  transform_->from_modes(sign, grid_.data());
}

template <class T>
void Tiles<T>::to_points(const PointSet& points, int sign, const Complex* modes, Complex* values) const {
  if (points.count() == 0) return;
  std::lock_guard lock(busy_);
  for (std::size_t set = 0; set < layout_.batch; ++set) {
    set_grid(sign, modes + set * layout_.mode_count());
    T* out = reinterpret_cast<T*>(values) + set * points.count() * layout_.parts();
    grid_.interpolate(static_cast<const SortedPoints<T>&>(points), out);
  }
}

template <class T>
void Tiles<T>::slopes(const PointSet& points, int sign, const Complex* modes, Complex* values, Complex* slopes) const {
  if (points.count() == 0) return;
  const auto& sorted = static_cast<const SortedPoints<T>&>(points);
  std::lock_guard lock(busy_);
  for (std::size_t set = 0; set < layout_.batch; ++set) {
    set_grid(sign, modes + set * layout_.mode_count());
    std::array<Complex*, 4> outputs{values + set * points.count(), nullptr, nullptr, nullptr};
    for (std::size_t i = 0; i < layout_.axes; ++i) {
      outputs[1 + layout_.first_axis() + i] = slopes + (i * layout_.batch + set) * points.count();
    }
    grid_.slopes(sorted, outputs);
  }
}

// Calls use(offset in the modes, offset in the grid, factor of the slow axes) for each row of modes.
template <class T>
template <class Use>
void Tiles<T>::for_each_row(const Use& use) const {
  const auto& n = layout_.modes;
  constexpr std::size_t kRows = 16;
  for_units(layout_.threads, (n[0] * n[1] + kRows - 1) / kRows, [&](std::size_t unit, std::size_t) {
    for (std::size_t row = unit * kRows; row < std::min((unit + 1) * kRows, n[0] * n[1]); ++row) {
      const std::size_t i0 = row / n[1], i1 = row % n[1];
      const std::size_t to = stored_at(layout_.order, n[0], i0) * n[1] + stored_at(layout_.order, n[1], i1);
      const std::size_t from = cell_of(0, i0) * grid_.cells(1) + cell_of(1, i1);
      use(to * n[2], from * grid_.cells(2), factors_[0][i0] * factors_[1][i1]);
    }
  });
}

// Cell of the fine grid that holds frequency -(n/2) + i.
template <class T>
std::size_t Tiles<T>::cell_of(std::size_t axis, std::size_t i) const {
  const std::size_t half = layout_.modes[axis] / 2;
  return i < half ? grid_.cells(axis) - half + i : i - half;
}

// The fine grid has the negative frequencies at the end of a row, the others at its beginning.
template <class T>
void Tiles<T>::take_row(const Complex* row, T factor, Complex* out) const {
  const std::size_t n = layout_.modes[2], half = n / 2;
  const T* factors = factors_[2].data();
  Complex* negative = layout_.order == Order::centered ? out : out + (n - half);
  Complex* rest = layout_.order == Order::centered ? out + half : out;
  for (std::size_t i = 0; i < half; ++i) negative[i] = row[grid_.cells(2) - half + i] * (factor * factors[i]);
  for (std::size_t i = half; i < n; ++i) rest[i - half] = row[i - half] * (factor * factors[i]);
}
template <class T>
void Tiles<T>::put_row(const Complex* in, T factor, Complex* row) const {
  const std::size_t n = layout_.modes[2], half = n / 2;
  const T* factors = factors_[2].data();
  const Complex* negative = layout_.order == Order::centered ? in : in + (n - half);
  const Complex* rest = layout_.order == Order::centered ? in + half : in;
  for (std::size_t i = 0; i < half; ++i) row[grid_.cells(2) - half + i] = negative[i] * (factor * factors[i]);
  for (std::size_t i = half; i < n; ++i) row[i - half] = rest[i - half] * (factor * factors[i]);
}

template class Tiles<float>;
template class Tiles<double>;

namespace {

planner::Cost tiles_cost(const Layout& layout, const TilesDesign& design) {
  const auto width = static_cast<double>(design.width), points = static_cast<double>(layout.points);
  const double parts = static_cast<double>(layout.parts()) / 2;  // of a complex number's work
  const auto line = static_cast<double>(line_cells(layout.complex_bytes() * layout.parts() / 2)),
             rounded = std::ceil(width / line) * line;
  const auto cells = static_cast<double>(design.grid_cells()), sets = static_cast<double>(layout.batch);
  const double box = rounded * std::pow(width, static_cast<double>(layout.axes - 1));
  const double weights = static_cast<double>(layout.axes) * 2 * rounded * (width + 3);
  return {.flops = sets * (points * (4 * parts * box + weights) + 5 * parts * cells * std::log2(cells)),
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
  return memory_refusal(device, design.cells, layout.complex_bytes());
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
        {.candidate = planner::Candidate{.variant = "tiles",
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
