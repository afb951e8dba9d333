// A linear stencil with constant weights for the scatter kernels: grouped by row, and scaled so that one weight is 1.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/stencil/update.hpp>

#include "stencil/layout.hpp"

namespace ridge::stencil {

struct Weight {
  Offset offset{};     // {dz, dy, dx}
  double value = 0;    // as given
  std::string name{};  // of the kernel's argument: w_0_m1 is dy 0, dx -1
};

struct Weights {
  std::vector<Weight> list{};  // by dz, then dy, then dx; one entry per offset
  Offset radius{};
  bool star() const;  // at most one coordinate of any offset is not 0
  std::vector<Weight> at(int dz, int dy) const;
};

// Empty if the update is not linear in one field with constant weights.
std::optional<Weights> weights_of(std::size_t dimensions, std::size_t fields,
                                  const std::optional<std::vector<Term>>& terms);

// Kernels that take their borders from the weights need a layout whose fixed borders are no wider: reads that the
// result does not use widen them. Empty, or the refusal.
std::string refusal_of_wider_borders(const Weights& weights, const Layout& layout);

// Dividing all weights by one of them saves an operation per cell: that term needs no multiplication. The field then
// grows by 1 / divisor per step, and the last step multiplies by `divisor` to the power of the depth.
struct Scaling {
  double divisor = 1;
  int unit = -1;            // index into list of the weight that became 1, -1: none
  bool late_first = false;  // scatter kernels: the first row is kept unscaled and multiplied one row later
};

// Scaling such that `depth` steps, in a type with a range of `exponent` decimal digits, do not overflow for ordinary
// fields: half of the range is left to the field.
Scaling scaling_of(const Weights& weights, int depth, double exponent);

}  // namespace ridge::stencil
