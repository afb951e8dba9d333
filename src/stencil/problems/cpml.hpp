// Profiles of absorbing layers (CPML), shared by acoustic and elastic waves.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace ridge::stencil {

struct CpmlShape {
  std::size_t cells = 8;
  double spacing = 1, dt = 0;
  double fastest = 0, frequency = 0;  // largest velocity, peak frequency of the source
  double power = 3, reflection = 1e-5;
};

// a and b of the recursion psi = a du/dx + b psi, at a relative depth in the layer (0 outside, 1 at the grid's side).
struct CpmlRecursion {
  double a = 0, b = 0;
};
inline CpmlRecursion cpml_recursion(const CpmlShape& shape, double depth) {
  if (!(depth > 0)) return {};
  const double width = static_cast<double>(shape.cells) * shape.spacing;
  const double most = -(shape.power + 1) * shape.fastest * std::log(shape.reflection) / (2 * width);
  const double damping = most * std::pow(depth, shape.power);
  const double shift = std::numbers::pi * (shape.frequency / 2) * std::max(0.0, 1 - depth);
  const double b = std::exp(-(damping + shift) * shape.dt);
  return {damping / (damping + shift) * (b - 1), b};
}

}  // namespace ridge::stencil
