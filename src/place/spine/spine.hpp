// The spine: the program as one line in the order of execution, a level for every loop and branch.
#pragma once
#include <vector>

#include <ridge/place.hpp>

#include "place/program.hpp"

namespace ridge::place {

std::vector<SpineNode> spine(const Program& program, bool asked_for);  // the last function was: its ids stand alone

}  // namespace ridge::place
