// Variant D: CL for the first stages, then one launch for the rest, whose groups process columns of the matrix with
// rows of 2 M points. The paper assigns one column per group, which for 2^12 points is one work-item. Here a group has
// M work-items and as many columns as they can hold.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_d(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_two_groups(log_n, limits)};
  const int block = std::min(limits.stages(), log_n);
  add_local(plan, 1, block, limits);
  add_local(plan, block + 1, log_n, limits);
  return plan;
}

}  // namespace ridge::fft::papers
