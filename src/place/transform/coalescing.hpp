// Loops beyond a grid's three axes: the outer ones become one. Trigger: more than three parallel loops inside each
// other. Legal where their ranges are a box; each iteration is independent, so that any order will do. Stops at six.
#pragma once
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place::transform {

constexpr std::size_t kMostCoalesced = 6;
bool box(const Nest& nest, int loop);  // from one end to another, both numbers of the nest and not of other loops
// `shared`: the loops on the third axis, outermost first. Gives back the lines that count their iterations.
std::string coalesce(std::vector<Loop>& loops, const std::vector<int>& shared);

}  // namespace ridge::place::transform
