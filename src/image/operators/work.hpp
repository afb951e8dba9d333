// Declares the planning problem of an operator chain.
#pragma once
#include "image/work.hpp"

namespace ridge::image {

Work work_of(const Device& device, const OperatorProblem& problem);

}  // namespace ridge::image
