// Variance problem in the planner's terms.
#pragma once
#include "image/work.hpp"

namespace ridge::image {

Work work_of(const Device& device, const VarianceProblem& problem);

}  // namespace ridge::image
