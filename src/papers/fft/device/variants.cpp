// Stage plans of the variants A to F of Burtsev's paper.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

// Variant A: one launch per stage. Every stage goes through global memory; N is not limited.
StagePlan plan_a(int log_n, const GroupLimits&) {
  StagePlan plan{.log_n = log_n};
  add_each(plan, 1);
  return plan;
}

// Variant B: one group loops over all stages, so part 2 is one launch. The points stay in global memory, and each stage
// ends with a global barrier of the group (the paper fences local memory only).
StagePlan plan_b(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_one_group(log_n, limits)};
  add_global_block(plan, log_n);
  return plan;
}

// Variant BL: as B, in local memory.
StagePlan plan_bl(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_one_group(log_n, limits)};
  add_local(plan, 1, log_n, limits);
  return plan;
}

// Variant C: groups of M work-items do the first stages, each on a contiguous block of 2 M points in global memory; the
// remaining stages are done as in A.
StagePlan plan_c(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  const int block = std::min(limits.stages(), log_n);
  add_global_block(plan, block);
  add_each(plan, block + 1);
  return plan;
}

// Variant CL: as C, the blocks in local memory.
StagePlan plan_cl(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  const int block = std::min(limits.stages(), log_n);
  add_local(plan, 1, block, limits);
  add_each(plan, block + 1);
  return plan;
}

// Variant D: CL for the first stages, then one launch for the rest, whose groups process columns of the matrix with
// rows of 2 M points. The paper assigns one column per group, which for 2^12 points is one work-item. Here a group has
// M work-items and as many columns as they can hold.
StagePlan plan_d(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_two_groups(log_n, limits)};
  const int block = std::min(limits.stages(), log_n);
  add_local(plan, 1, block, limits);
  add_local(plan, block + 1, log_n, limits);
  return plan;
}

// Variant E: the first four stages in the registers of a work-item, the rest of a block of 2 M points in local memory,
// then strided columns as in D.
StagePlan plan_e(int log_n, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n, .refusal = beyond_two_groups(log_n, limits)};
  const int own = std::min(kPrivateStages, log_n);
  const int block = std::max(own, std::min(limits.stages(), log_n));
  add_own_points(plan, own);
  add_local(plan, own + 1, block, limits);
  add_local(plan, block + 1, log_n, limits);
  return plan;
}

// Variant F: four stages in registers, then up to PW stages and up to PW more by the general local-memory kernel, then
// one launch per stage. With PW stages a group holds one column; with fewer stages it holds several, which is F/even.
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

// log2 of a size; the most if it is 0.
int stages_of(std::size_t size, int most) { return size == 0 ? most : std::countr_zero(size); }

}  // namespace

StagePlan plan_f_sizes(int log_n, const StageSizes& sizes, const GroupLimits& limits) {
  StagePlan plan{.log_n = log_n};
  for (const std::size_t size : {sizes.na, sizes.nb, sizes.nc}) {
    if (size != 0 && !std::has_single_bit(size))
      plan.refusal = fmt::format("NA, NB and NC need powers of two, got {}", size);
  }
  constexpr std::size_t kMostOwn = 32;
  if (sizes.na > kMostOwn)
    plan.refusal = fmt::format("NA = {} points exceed the {} that a work-item's registers hold", sizes.na, kMostOwn);
  const std::size_t block = 2 * limits.items(), largest = std::max(sizes.nb, sizes.nc);
  if (largest > block)
    plan.refusal = fmt::format("{} points need {} work-items, a group has {}", largest, largest / 2, limits.items());
  if (!plan.refusal.empty()) return plan;
  const int own = std::min(stages_of(sizes.na, kPrivateStages), log_n);
  const int first = std::min(own + stages_of(sizes.nb, limits.stages()), log_n);
  const int second = std::min(first + stages_of(sizes.nc, limits.stages()), log_n);
  add_own_points(plan, own);
  add_local(plan, own + 1, first, limits);
  add_local(plan, first + 1, second, limits);
  add_each(plan, second + 1);
  return plan;
}

StagePlan plan_f(int log_n, const GroupLimits& limits) { return with_local_stages(log_n, limits.stages(), limits); }

StagePlan plan_f_even(int log_n, const GroupLimits& limits) {
  const int left = std::max(log_n - kPrivateStages, 0);
  return with_local_stages(log_n, std::min(limits.stages(), (left + 1) / 2), limits);
}

}  // namespace ridge::fft::papers
