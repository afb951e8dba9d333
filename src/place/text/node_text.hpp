// Text of a nest's tree in the kernel dialect.
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

}  // namespace ridge::place::text
