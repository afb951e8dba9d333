// A layer as weighted sums: along a line across it, every output is a sum of cells with numbers as weights.
#pragma once
#include <cstddef>
#include <vector>

#include "stencil/layers/layers.hpp"

namespace ridge::stencil {

// weight * (cell `by` further along the axis of field 0, the level before the step, or of memory variable field - 1)
template <class T>
struct LineTerm {
  std::size_t field = 0;
  int by = 0;
  T weight{};
};

// Sums of one cell of the band: output 0 is added to the new level times the scale, the others are the new memory
// variables. Terms of weight 0 are left out, and memory variables outside the band, which are zero.
template <class T>
using LineSums = std::vector<std::vector<LineTerm<T>>>;

// One entry per cell of the band, in the order of the axis.
template <class T>
std::vector<LineSums<T>> line_sums(const LayerUpdate& layer, const LayerPlace& place);

}  // namespace ridge::stencil
