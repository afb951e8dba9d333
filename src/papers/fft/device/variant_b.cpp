// Variant B: one group loops over all stages, so part 2 is one launch. The points stay in global memory, and each stage
// ends with a global barrier of the group (the paper fences local memory only).
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_b(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_one_group(log_n, limits)};
  add_global_block(plan, log_n);
  return plan;
}

}  // namespace ridge::fft::papers
