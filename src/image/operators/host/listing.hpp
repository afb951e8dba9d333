#pragma once
#include "image/variant.hpp"

namespace ridge::image {

void list_host_operators(const OperatorProblem& problem, std::vector<Entry>& entries);

}  // namespace ridge::image
