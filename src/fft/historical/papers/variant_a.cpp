// Variant A: a launch a stage. Every stage goes through global memory, and nothing limits N.
#include <algorithm>

#include "fft/historical/papers/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_a(int log_n, const GroupLimits&) {
  StagePlan plan{.log_n = log_n};
  add_each(plan, 1);
  return plan;
}

}  // namespace ridge::fft::papers
