// SIMD rows of an absorbing layer whose expressions are those of LayerUpdate::Differences, dispatched by
// instruction set at run time. Results equal those of the expressions up to rounding.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

namespace ridge::stencil {

// Several rows of cells: row r is `r * grid_step` cells further in arrays of the grid and `r * stored_step` in arrays
// of memory variables. Neighbour k of a cell is at before[radius + k] and psi[radius + k]. Profiles are those of the
// layer: stretch, slope, gain, decay.
template <class T>
struct CpmlRows {
  std::array<const T*, 9> before{}, psi{};
  const T *zeta = nullptr, *scale = nullptr;
  T *fresh = nullptr, *new_psi = nullptr, *new_zeta = nullptr;  // new_psi, new_zeta: may be null
  std::array<const T*, 4> profiles{};
  std::size_t cells = 0, rows = 1, grid_step = 0, stored_step = 0;
};

template <class T>
struct CpmlWeights {
  int radius = 0;
  std::array<T, 5> first{}, second{};
  bool one_cell = false;  // the profiles have one value each, for all cells of the rows
};

// Adds the layer's terms to `fresh` and computes new memory variables. False: not available on this machine.
template <class T>
bool add_cpml_rows(const CpmlWeights<T>& weights, const CpmlRows<T>& rows);

}  // namespace ridge::stencil
