// Two nests over the same range, one directly behind the other, become one: a launch less, and what the first leaves is
// still at hand for the second.
#pragma once
#include <optional>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

// The text that replaces both; `levels` of their loops become one each. Nothing where their headers differ.
std::optional<Proposal> fusion(const State& first, const State& second, int levels);
// Of the fused nest, read again: could it be taken apart? Then its order is as good as that of the two.
std::string fusion_illegal(const State& fused, int levels);

}  // namespace ridge::place::transform
