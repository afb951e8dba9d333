// Neumann borders with a flux other than zero, for linear updates.
//
//   const Problem plate{.shape = {512, 512}, .borders = Borders::all(Border::mirror)};
//   auto heated = with_flux(heat<float>(...), plate, {.low = {0, 0.5}});   // x = 0: u rises by 0.5 per cell outwards
//   plan(device, heated.update, plate).run(grid, 100, &heated.coefficients);
#pragma once
#include <array>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

// Change of u per cell in the outward direction, for each side with a mirror border, in the order of Borders: the k-th
// cell beyond the side has u(-k) = u(k - 1) + (2 k - 1) flux.
struct Flux {
  std::array<double, 3> low{}, high{};
};

template <class T>
struct FluxUpdate {
  Update<T> update;      // with one coefficient per field
  Grid<T> coefficients;  // what the flux adds to each cell in one step; zero but for the cells next to the sides
};

// The flux enters a linear update as a constant source in the cells that read beyond a side, so every variant that
// supports coefficients supports it, also with temporal blocking. Error{invalid_argument} for updates that are not
// linear with constant weights, and for a flux on a side without a mirror border.
template <class T>
FluxUpdate<T> with_flux(const Update<T>& update, const Problem& problem, const Flux& flux);

}  // namespace ridge::stencil
