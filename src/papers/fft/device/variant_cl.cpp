// Variant CL: as C, the blocks in local memory.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

StagePlan plan_cl(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  const int block = std::min(limits.stages(), log_n);
  add_local(plan, 1, block, limits);
  add_each(plan, block + 1);
  return plan;
}

}  // namespace ridge::fft::papers
