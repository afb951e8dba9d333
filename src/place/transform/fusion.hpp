// Loop fusion: combines two adjacent nests over the same ranges. Saves a launch, and the second body finds the first
// one's results in cache.
#pragma once
#include <optional>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

// Text that replaces both nests, with `levels` of their loops fused; empty if their headers differ.
std::optional<Proposal> fusion(const State& first, const State& second, int levels);
// Applied to the fused nest after parsing: "" if splitting it again would be legal, so that fusion kept all
// dependences; else the dependence that forbids it.
std::string fusion_illegal(const State& fused, int levels);

}  // namespace ridge::place::transform
