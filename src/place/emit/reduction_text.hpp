// Text of reductions: each work-item reduces its iterations, a tree in local memory reduces a group, the host reduces
// the groups.
#pragma once
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place::emit {

std::string identity(const Reduction& r, const Variable& v);  // start of a sum or product, as a literal
std::vector<std::string> reduction_arguments(const Reduction& r, const Nest& nest);
std::string reduction_start(const Reduction& r, const Nest& nest);
std::string reduction_tree(const Reduction& r, const Nest& nest);
// Host text: buffers before the launch, their names as arguments, the final reduction after it.
std::string reduction_buffers(const Reduction& r, const Nest& nest, const std::string& session, const std::string& pad);
std::vector<std::string> reduction_values(const Reduction& r, const Nest& nest);
std::string reduction_join(const Reduction& r, const Nest& nest, const std::string& session, const std::string& pad);

}  // namespace ridge::place::emit
