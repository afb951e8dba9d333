// Weights of sources and receivers.
#include "stencil/shots/points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::stencil {
namespace {

constexpr int kHalfWidth = 4;          // cells on each side of a point
constexpr double kKaiserShape = 6.31;  // Hicks (2002), for a half width of 4

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

double sinc_weight(double distance) {
  if (distance == 0) return 1;
  const double inside = 1 - std::pow(distance / kHalfWidth, 2);
  if (inside <= 0) return 0;
  const double angle = std::numbers::pi * distance;
  return std::sin(angle) / angle * bessel_i0(kKaiserShape * std::sqrt(inside)) / bessel_i0(kKaiserShape);
}

// Cells of the grid along one axis and their weights.
std::map<std::size_t, double> axis_weights(double position, std::size_t axis, std::size_t begin, bool surface,
                                           const Layout& layout) {
  std::map<std::size_t, double> weights;
  const double whole = std::floor(position), part = position - whole;
  const auto add = [&](std::ptrdiff_t cell, double weight) {
    const auto first = static_cast<std::ptrdiff_t>(layout.begin[axis]),
               last = static_cast<std::ptrdiff_t>(layout.end[axis]);
    if (surface && cell < first - 1) {
      cell = 2 * (first - 1) - cell;
      weight = -weight;
    }
    if (cell < 0 || cell >= static_cast<std::ptrdiff_t>(layout.shape[axis])) {
      if ((cell < 0 ? layout.low[axis] : layout.high[axis]) == Border::fixed) return;
      cell = static_cast<std::ptrdiff_t>(layout.source(axis, cell));
    }
    if (cell >= first && cell < last && weight != 0) weights[static_cast<std::size_t>(cell)] += weight;
  };
  const auto at = static_cast<std::ptrdiff_t>(begin) + static_cast<std::ptrdiff_t>(whole);
  if (part == 0) {
    add(at, 1);
  } else {
    for (int k = 1 - kHalfWidth; k <= kHalfWidth; ++k) add(at + k, sinc_weight(part - k));
  }
  return weights;
}

void check_position(const double* position, std::size_t index, const ModelPlace& place, const std::string& what) {
  for (std::size_t i = 0; i < place.shape.size(); ++i) {
    if (position[i] >= 0 && position[i] <= static_cast<double>(place.shape[i] - 1)) continue;
    const std::vector<double> all(position, position + place.shape.size());
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} {} at ({:g}) is outside the model of {} cells{}: positions are from 0 to {}", what,
                            index, fmt::join(all, ", "), fmt::join(place.shape, " x "),
                            place.layers ? ", where the absorbing layers are" : "", place.shape[i] - 1));
  }
}

// One more point, with the products of its weights along the axes.
void add_entries(const std::array<std::map<std::size_t, double>, 3>& weights, const Layout& layout, PointTable& table) {
  for (const auto& [z, wz] : weights[0]) {
    for (const auto& [y, wy] : weights[1]) {
      for (const auto& [x, wx] : weights[2]) {
        table.cell.push_back(static_cast<std::uint32_t>((z * layout.shape[1] + y) * layout.shape[2] + x));
        table.weight.push_back(wz * wy * wx);
      }
    }
  }
  table.first.push_back(static_cast<std::uint32_t>(table.cell.size()));
  ++table.points;
}

// Indices of the values in ascending order, equal ones in their order: counts of the lower and of the upper 16 bits.
std::vector<std::uint32_t> sorted_order(const std::vector<std::uint32_t>& values) {
  std::vector<std::uint32_t> order(values.size()), next(values.size());
  std::iota(order.begin(), order.end(), 0u);
  for (const int shift : {0, 16}) {
    std::vector<std::uint32_t> place(65537);
    for (const std::uint32_t value : values) ++place[(value >> shift & 65535) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (const std::uint32_t index : order) next[place[values[index] >> shift & 65535]++] = index;
    order.swap(next);
  }
  return order;
}

// The same entries, sorted by cell.
void sort_by_cell(PointTable& table) {
  const std::vector<std::uint32_t> order = sorted_order(table.cell);
  std::vector<std::uint32_t> owner(table.cell.size());
  for (std::size_t k = 0; k < table.points; ++k)
    std::fill(owner.begin() + table.first[k], owner.begin() + table.first[k + 1], static_cast<std::uint32_t>(k));
  for (const std::uint32_t entry : order) {
    if (table.cells.empty() || table.cells.back() != table.cell[entry]) {
      table.cells.push_back(table.cell[entry]);
      table.cell_first.push_back(static_cast<std::uint32_t>(table.point.size()));
    }
    table.point.push_back(owner[entry]);
    table.point_weight.push_back(table.weight[entry]);
  }
  table.cell_first.push_back(static_cast<std::uint32_t>(table.point.size()));
}

}  // namespace

PointTable point_table(const std::vector<std::vector<double>>& shots, const ModelPlace& place, const Layout& layout,
                       const std::string& what) {
  const std::size_t axes = place.shape.size(), missing = 3 - axes;
  if (layout.cells() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sources and receivers need at most 2^32 cells, got {}", layout.cells()));
  PointTable table;
  table.first.push_back(0);
  for (std::size_t shot = 0; shot < shots.size(); ++shot) {
    if (shots[shot].size() % axes != 0)
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("{} positions need {} numbers for each point, got {} numbers", what, axes, shots[shot].size()));
    for (std::size_t k = 0; k < shots[shot].size() / axes; ++k) {
      const double* position = shots[shot].data() + k * axes;
      check_position(position, k, place, what);
      std::array<std::map<std::size_t, double>, 3> weights{{{{0, 1.0}}, {{0, 1.0}}, {{0, 1.0}}}};
      if (missing > 0) weights[0] = {{shot, 1.0}};
      for (std::size_t i = 0; i < axes; ++i)
        weights[missing + i] =
            axis_weights(position[i], missing + i, place.begin[i], place.free_surface && i == 0, layout);
      add_entries(weights, layout, table);
      if (what == "source" && table.first[table.points - 1] == table.first[table.points])
        throw Error(
            ErrorKind::invalid_argument,
            fmt::format("source {} at ({:g}) is in a fixed border, whose outer cells do not change; choose a cell "
                        "further inside, or another border",
                        k, fmt::join(position, position + axes, ", ")));
    }
  }
  sort_by_cell(table);
  return table;
}

}  // namespace ridge::stencil
