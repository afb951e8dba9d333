// Variant C: groups of M work-items do the first stages, each on a contiguous block of 2 M points in global memory; the
// remaining stages are done as in A.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_c(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  const int block = std::min(limits.stages(), log_n);
  add_global_block(plan, block);
  add_each(plan, block + 1);
  return plan;
}

}  // namespace ridge::fft::papers
