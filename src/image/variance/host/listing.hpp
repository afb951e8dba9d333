#pragma once
#include "image/variant.hpp"

namespace ridge::image {

void list_host_variance(const VarianceProblem& problem, std::vector<Entry>& entries);

}  // namespace ridge::image
