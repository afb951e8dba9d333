// Powers of the symbol, one row of modes at a time, in double: the factor of any number of steps. Computed by squaring,
// so that no intermediate value leaves the range that stepping would use.
#pragma once
#include <cstddef>

#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

struct Reach {
  std::size_t steps = 0;
  bool forever = false;     // the limit of infinitely many steps, one field
  double still = 0;         // for `forever`: a symbol this close to 1 counts as 1
  double most_growth = 16;  // of a mode; more is refused
};

// Advances the row (z, y) of the spectrum of `fields` fields, `stride` numbers (complex or real) apart, by the steps.
// `forces`, in the same layout, is the spectrum of what fixed borders add per step, or null. Returns false, with the
// row undefined, if a number is not finite, a mode grows by more than most_growth, or there is no limit.
template <class T>
bool advance_row(const Modes& modes, const Reach& reach, std::size_t z, std::size_t y, T* row, std::size_t stride,
                 const double* forces, std::size_t force_stride);

}  // namespace ridge::stencil::leap
