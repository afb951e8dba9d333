// Flow problem in the planner's terms.
#pragma once
#include "image/work.hpp"

namespace ridge::image {

Work work_of(const Device& device, const FlowProblem& problem);

}  // namespace ridge::image
