#pragma once
#include "image/variant.hpp"

namespace ridge::image {

void list_host_flow(const FlowProblem& problem, std::vector<Entry>& entries);

}  // namespace ridge::image
