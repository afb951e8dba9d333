// Loop unrolling in kernels: innermost loops with a small constant number of iterations. The order is unchanged, so it
// is always legal.
#pragma once
#include "place/model.hpp"

namespace ridge::place::text {

constexpr long kMostUnrolled = 16;           // more would cost registers and instruction cache
long constant_iterations(const Loop& loop);  // 0 if the number of iterations is not a constant
bool unrolls(const Node& node, const Loop& loop);

}  // namespace ridge::place::text
