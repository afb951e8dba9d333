// Fields that only remember: u one step before, as leapfrog keeps it. Nothing has to be moved for them: the new values
// are written over the older level, and the two change their places.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "stencil/expression.hpp"

namespace ridge::stencil {

struct TimeLevels {
  struct Pair {
    std::size_t newer, older;  // fields: `older` becomes what `newer` was
  };
  std::vector<Pair> pairs{};
  std::vector<bool> remembers{};  // a field each: it is some pair's `older`
  // Why new values cannot be written over the older level, in words; empty where they can: every field belongs to a
  // pair, and the older levels are read at the cell itself alone.
  std::string refusal{};
};

TimeLevels time_levels(const Tape& tape);

}  // namespace ridge::stencil
