// Computes which part of the array each process holds at every stage.
#include "mpi/fft/layouts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/divisors.hpp"

namespace ridge::mpi::fft {
namespace {

constexpr std::array<bool, 3> kNone{false, false, false}, kZ{true, false, false}, kY{false, true, false},
    kX{false, false, true}, kYX{false, true, true};

Shape shape_of(const Points& points) { return {points[0], points[1], points[2]}; }

// The inverse stages: the same boxes from last to first. `cuts`: the axis cut at each stage that the following one
// holds whole.
std::vector<StageBoxes> backwards(const std::vector<StageBoxes>& forward, const std::vector<std::size_t>& cuts) {
  std::vector<StageBoxes> stages(forward.rbegin(), forward.rend());
  for (std::size_t i = 0; i < cuts.size(); ++i) stages[i].cut = cuts[i];
  return stages;
}

std::vector<StageBoxes> line_stages(std::size_t n0, std::size_t n1, std::size_t processes) {
  const Points points{1, n0, n1};
  const auto by_y = slabs(shape_of(points), processes, 1), by_x = slabs(shape_of(points), processes, 2);
  return {{kNone, 1, by_y}, {kY, 2, by_x, true}, {kX, 1, by_y}, {kNone, 0, by_x}};
}

}  // namespace

Points embed(const Shape& shape) {
  Points points{1, 1, 1};
  std::copy(shape.begin(), shape.end(), points.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return points;
}

Box embed(const Box& box, std::size_t axes) {
  const std::size_t lead = 3 - axes;
  Box result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < lead; ++i) result.order[at++] = static_cast<int>(i);
  for (const int axis : box.order) {
    if (static_cast<std::size_t>(axis) < axes) result.order[at++] = axis + static_cast<int>(lead);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    result.begin[i + lead] = box.begin[i];
    result.end[i + lead] = box.end[i];
  }
  return result;
}

Box unembed(const Box& box, std::size_t axes) {
  const std::size_t lead = 3 - axes;
  Box result;
  std::size_t at = 0;
  for (const int axis : box.order) {
    if (static_cast<std::size_t>(axis) >= lead) result.order[at++] = axis - static_cast<int>(lead);
  }
  for (std::size_t i = axes; i < 3; ++i) result.order[at++] = static_cast<int>(i);
  for (std::size_t i = 0; i < axes; ++i) {
    result.begin[i] = box.begin[i + lead];
    result.end[i] = box.end[i + lead];
  }
  return result;
}

Layout slab_layout(const Points& spectrum, std::size_t processes) {
  const Shape shape = shape_of(spectrum);
  Layout layout{.name = "slabs", .grid = std::to_string(processes)};
  if (spectrum[0] == 1) {
    layout.forward = {{kX, 1, slabs(shape, processes, 1)}, {kY, 2, slabs(shape, processes, 2)}};
    layout.inverse = backwards(layout.forward, {2});
  } else {
    layout.forward = {{kYX, 0, slabs(shape, processes, 0)}, {kZ, 1, slabs(shape, processes, 1)}};
    layout.inverse = backwards(layout.forward, {1});
  }
  return layout;
}

Layout pencil_layout(const Points& spectrum, std::size_t rows, std::size_t columns) {
  const Shape shape = shape_of(spectrum);
  Layout layout{.name = "pencils", .grid = fmt::format("{}x{}", rows, columns)};
  layout.forward = {{kX, 1, pencils(shape, rows, columns, 2)},
                    {kY, 0, pencils(shape, rows, columns, 1)},
                    {kZ, 0, pencils(shape, rows, columns, 0)}};
  layout.inverse = backwards(layout.forward, {1, 2});
  return layout;
}

Layout line_layout(std::size_t points, std::size_t processes) {
  Layout layout{.name = "line", .grid = std::to_string(processes)};
  layout.n0 = base::balanced_divisor(points);
  layout.n1 = points / layout.n0;
  layout.forward = line_stages(layout.n0, layout.n1, processes);
  layout.inverse = line_stages(layout.n1, layout.n0, processes);
  return layout;
}

std::vector<std::pair<std::size_t, std::size_t>> process_grids(std::size_t processes) {
  std::vector<std::pair<std::size_t, std::size_t>> grids;
  for (std::size_t rows = 1; rows <= processes; ++rows) {
    if (processes % rows == 0) grids.emplace_back(rows, processes / rows);
  }
  const auto lopsided = [](const auto& grid) {
    return grid.first > grid.second ? grid.first / grid.second : grid.second / grid.first;
  };
  std::stable_sort(grids.begin(), grids.end(), [&](const auto& a, const auto& b) { return lopsided(a) < lopsided(b); });
  return grids;
}

}  // namespace ridge::mpi::fft
