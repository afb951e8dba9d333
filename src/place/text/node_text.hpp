// Text of a nest's tree in the kernel dialect, with small loops unrolled.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place::text {

std::string node_text(const Node& node, const std::vector<Loop>& loops, int indent);
std::string loop_header(const Loop& loop);  // for (int i = 0; i < n; ++i)
std::string indented(const std::string& text, int indent);
void visit_accesses(const Node& node, const std::function<void(const Access&)>& visit);

// Skips enclosing blocks with a single child.
const Node* alone(const Node* node);

// Loop unrolling in kernels: innermost loops with a small constant number of iterations. The order is unchanged, so it
// is always legal.
constexpr long kMostUnrolled = 16;           // more would cost registers and instruction cache
long constant_iterations(const Loop& loop);  // 0 if the number of iterations is not a constant
bool unrolls(const Node& node, const Loop& loop);

}  // namespace ridge::place::text
