// Variant BL: as B, in local memory.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_bl(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_one_group(log_n, limits)};
  add_local(plan, 1, log_n, limits);
  return plan;
}

}  // namespace ridge::fft::papers
