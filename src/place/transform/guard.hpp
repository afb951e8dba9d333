// Guard of a transformed nest: a function of the program that tests the assumptions of the legality proof (arrays do
// not overlap, sizes are in range). If it fails, the original loops run.
#pragma once
#include <string>
#include <vector>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

struct Guard {
  bool possible = true;    // false: the extent of an array is unknown
  std::string function{};  // definition; "" if nothing was assumed
  std::string call{};
};
Guard guard(const std::vector<const State*>& states);

}  // namespace ridge::place::transform
