// Short innermost loops of a constant number of turns are unrolled in kernels. The order stays; nothing to prove.
#pragma once
#include "place/model.hpp"

namespace ridge::place::transform {

constexpr long kMostTurns = 16;         // more would cost registers and instruction cache
long constant_turns(const Loop& loop);  // 0 where they are not a constant
bool unrolls(const Node& node, const Loop& loop);

}  // namespace ridge::place::transform
