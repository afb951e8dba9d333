// Variant A: one launch per stage. Every stage goes through global memory; N is not limited.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_a(int log_n, const GroupLimits&) {
  StagePlan plan{.log_n = log_n};
  add_each(plan, 1);
  return plan;
}

}  // namespace ridge::fft::papers
