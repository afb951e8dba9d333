// The symbol's powers, a row of modes at a time, in double: what any number of steps multiplies a mode by. By squaring,
// so that nothing leaves the range of numbers that stepping would keep in it.
#pragma once
#include <cstddef>

#include "stencil/leap/modes.hpp"

namespace ridge::stencil::leap {

struct Reach {
  std::size_t steps = 0;
  bool forever = false;     // the limit of ever more steps, one field
  double still = 0;         // forever: a symbol that differs from 1 by no more is 1
  double most_growth = 16;  // of a mode; more is refused
};

// The row (z, y) of the spectrum of `fields` fields, `stride` numbers (complex or real) apart, becomes what it is after
// the steps; `forces`, likewise, is the spectrum of what fixed borders add in a step, or null. False where a number is
// not finite, where a mode grows by more than most_growth, or where there is no limit: the row is then undefined.
template <class T>
bool advance_row(const Modes& modes, const Reach& reach, std::size_t z, std::size_t y, T* row, std::size_t stride,
                 const double* forces, std::size_t force_stride);

}  // namespace ridge::stencil::leap
