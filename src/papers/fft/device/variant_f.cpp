// Variant F: four stages in registers, then up to PW stages and up to PW more by the general local-memory kernel, then
// one launch per stage. With PW stages a group holds one column; with fewer stages it holds several, which is F/even.
#include <algorithm>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

namespace {

StagePlan with_local_stages(int log_n, int most_first, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  const int own = std::min(kPrivateStages, log_n);
  const int first = std::min(own + most_first, log_n), second = std::min(first + limits.stages(), log_n);
  add_own_points(plan, own);
  add_local(plan, own + 1, first, limits);
  add_local(plan, first + 1, second, limits);
  add_each(plan, second + 1);
  return plan;
}

}  // namespace

StagePlan plan_f(int log_n, const GroupLimits& limits) { return with_local_stages(log_n, limits.stages(), limits); }

StagePlan plan_f_even(int log_n, const GroupLimits& limits) {
  const int left = std::max(log_n - kPrivateStages, 0);
  return with_local_stages(log_n, std::min(limits.stages(), (left + 1) / 2), limits);
}

}  // namespace ridge::fft::papers
