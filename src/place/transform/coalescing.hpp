// Loop coalescing: combines the outer loops of a grid with more than three axes into one. Trigger: more than three
// nested parallel loops. Legal if their ranges form a box, since parallel iterations may run in any order. At most six
// loops.
#pragma once
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place::transform {

constexpr std::size_t kMostCoalesced = 6;
bool box(const Nest& nest, int loop);  // bounds depend on the nest's parameters only, not on other loops
// `shared`: the loops on the third axis, outermost first. Returns the lines that compute their iteration counts.
std::string coalesce(std::vector<Loop>& loops, const std::vector<int>& shared);

}  // namespace ridge::place::transform
