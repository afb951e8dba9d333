// Roots of unity, correct to the last bit of double and beyond.
#pragma once
#include <cstddef>

#include "base/double_double.hpp"

namespace ridge::base {

// Each part is an unevaluated sum of two doubles.
struct UnitRoot {
  double re, im, re_low, im_low;
};

// exp(-2 pi i k / n), computed in `Wide`: double, or DoubleDouble with about 106 bits.
template <class Wide = DoubleDouble>
UnitRoot unit_root(std::size_t k, std::size_t n);

extern template UnitRoot unit_root<double>(std::size_t, std::size_t);
extern template UnitRoot unit_root<DoubleDouble>(std::size_t, std::size_t);

}  // namespace ridge::base
