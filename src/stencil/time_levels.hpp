// Detects fields that only hold the previous time level (leapfrog). Their data need not move: new values overwrite the
// older level, and the two exchange roles.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/expression.hpp"

namespace ridge::stencil {

struct TimeLevels {
  struct Pair {
    std::size_t newer, older;  // fields: `older` becomes the previous value of `newer`
  };
  std::vector<Pair> pairs{};
  std::vector<bool> is_older{};  // per field: it is the `older` of some pair
  // Reason why new values cannot overwrite the older level; empty if they can: every field belongs to a pair, and older
  // levels are read at the cell itself only.
  std::string refusal{};
};

TimeLevels time_levels(const Tape& tape);

}  // namespace ridge::stencil
