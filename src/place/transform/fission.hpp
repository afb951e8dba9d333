// Splits the body of a loop in two; shared by fission and expansion.
#pragma once
#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

// `expand`: scalars of the first part that the second needs are stored in arrays; otherwise they are recomputed.
std::vector<Proposal> split(const State& state, bool expand);

}  // namespace ridge::place::transform
