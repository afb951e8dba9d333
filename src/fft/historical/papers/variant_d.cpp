// Variant D: CL for the first stages, then one launch whose groups take columns of the matrix of rows of 2 M points
// through the rest. The paper gives a column to a group of its own, which for 2^12 points is one work-item; here a
// group has M work-items and as many columns as they can hold.
#include <algorithm>

#include "fft/historical/papers/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_d(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_two_groups(log_n, limits)};
  const int block = std::min(limits.stages(), log_n);
  add_local(plan, 1, block, limits);
  add_local(plan, block + 1, log_n, limits);
  return plan;
}

}  // namespace ridge::fft::papers
