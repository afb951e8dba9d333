// Spine of a program: its functions, loops, branches, calls and blocks in execution order, with nesting depth.
#pragma once
#include <vector>

#include <ridge/place.hpp>

#include "place/program.hpp"

namespace ridge::place {

std::vector<SpineNode> spine(const Program& program,
                             bool asked_for);  // asked_for: ids of the last function have no prefix

}  // namespace ridge::place
