// Variant E: the first four stages in the registers of a work-item, the rest of a block of 2 M points in local memory,
// then strided columns as in D.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_e(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_two_groups(log_n, limits)};
  const int own = std::min(kPrivateStages, log_n);
  const int block = std::max(own, std::min(limits.stages(), log_n));
  add_own_points(plan, own);
  add_local(plan, own + 1, block, limits);
  add_local(plan, block + 1, log_n, limits);
  return plan;
}

}  // namespace ridge::fft::papers
