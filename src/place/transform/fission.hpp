// Where a loop's body may be cut in two; shared by fission and expansion.
#pragma once
#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

// `expand`: numbers that the second part needs of the first are kept in arrays; else they are computed again.
std::vector<Proposal> split(const State& state, bool expand);

}  // namespace ridge::place::transform
