// What legality took for granted, as a test in the program itself: arrays that lie apart, sizes that meet the
// assumptions. Where the test fails, the loops run as they were written.
#pragma once
#include <string>
#include <vector>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

struct Guard {
  bool possible = true;    // false: how far an array reaches is not known
  std::string function{};  // its definition; "" where nothing was taken for granted
  std::string call{};
};
Guard guard(const std::vector<const State*>& states);

}  // namespace ridge::place::transform
