// Sources and receivers between cells: weights of the cells around a point.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stencil/layout.hpp"

namespace ridge::stencil {

// Cells and weights, point after point, and the same entries sorted by cell. A source uses the second list and a
// receiver the first, so one is the exact transpose of the other, and no two entries write the same cell at once.
struct PointTable {
  std::size_t points = 0;
  std::vector<std::uint32_t> first{};  // entries of point k: first[k] to first[k + 1]
  std::vector<std::uint32_t> cell{};   // (z * height + y) * width + x
  std::vector<double> weight{};
  std::vector<std::uint32_t> cells{};       // all cells that have entries
  std::vector<std::uint32_t> cell_first{};  // entries of cells[k]: cell_first[k] to cell_first[k + 1]
  std::vector<std::uint32_t> point{};
  std::vector<double> point_weight{};
};

// Position of the model inside the grid.
struct ModelPlace {
  std::vector<std::size_t> shape{};  // of the model
  std::vector<std::size_t> begin{};  // of the model in the grid
  bool layers = false;
  bool free_surface = false;
};

// The points of all shots, one list of positions per shot; shot k is in plane k of the grid if there are several.
// Sinc interpolation with a Kaiser window over eight cells per axis; a point in the middle of a cell has one entry.
// Cells beyond a free surface are folded back with the opposite sign, those beyond other sides by the border; cells
// that never change have no weight. Error{invalid_argument} for a point outside the model; `what` names it.
PointTable point_table(const std::vector<std::vector<double>>& shots, const ModelPlace& place, const Layout& layout,
                       const std::string& what);

}  // namespace ridge::stencil
