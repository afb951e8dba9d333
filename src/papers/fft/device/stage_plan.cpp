// Divides the stages of a transform among launches, as each variant defines it.
#include "papers/fft/device/stage_plan.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/text.hpp"

namespace ridge::fft::papers {
namespace {

// Work-group size of simple kernels, which the papers leave to the driver.
constexpr std::size_t kPlainItems = 256;

constexpr std::array<Variant, 9> kVariants{{
    {"A", "one launch per stage, global memory", "any N", plan_a},
    {"B", "one group does all stages, global memory", "N <= 2 M", plan_b},
    {"BL", "one group does all stages, local memory", "N <= 2 M", plan_bl},
    {"C", "groups do the first stages on blocks of 2 M points in global memory, then one launch per stage", "any N",
     plan_c},
    {"CL", "as C, local memory", "any N", plan_cl},
    {"D", "CL for the first stages, one launch on strided columns in local memory for the rest", "P <= 2 PW", plan_d},
    {"E", "four stages in registers, the rest of a block in local memory, then strided columns", "P <= 2 PW", plan_e},
    {"F", "four stages in registers, twice up to PW stages in local memory, then one launch per stage", "any N",
     plan_f},
    {"F/even", "F with its local stages divided evenly, so that columns are adjacent", "any N", plan_f_even},
}};

std::string run_text(const StageRun& run) {
  const std::string stages =
      run.first == run.last ? fmt::format("{}", run.first) : fmt::format("{}-{}", run.first, run.last);
  switch (run.work) {
    case Work::one_stage:
      return stages + " each";
    case Work::group_global:
      return stages + " global";
    case Work::group_local:
      return run.columns == 1 ? stages + " local" : fmt::format("{} local x{}", stages, run.columns);
    case Work::own_points:
      break;
  }
  return stages + " registers";
}

}  // namespace

std::size_t GroupLimits::items() const { return std::bit_floor(std::max<std::size_t>(work_group, 1)); }

int GroupLimits::stages() const { return std::countr_zero(items()) + 1; }

GroupLimits group_limits(const Limits& limits) {
  return {std::min(limits.work_group, limits.work_group_sides[0]), limits.local_memory};
}

const char* to_string(Reversal reversal) {
  return reversal == Reversal::table ? "table" : reversal == Reversal::computed ? "computed" : "tiled";
}

std::size_t StageRun::local_bytes() const {
  return work == Work::group_local && stages() > 1 ? (columns << stages()) * kPoint : 0;
}

std::string StagePlan::stages_text() const {
  std::string text;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    StageRun run = runs[i];
    // Consecutive single-stage launches are described together.
    while (run.work == Work::one_stage && i + 1 < runs.size() && runs[i + 1].work == Work::one_stage) {
      run.last = runs[++i].last;
    }
    text += (text.empty() ? "" : ", ") + run_text(run);
  }
  return text.empty() ? "none" : text;
}

std::span<const Variant> variants() { return kVariants; }

const Variant& variant(const std::string& name) {
  std::string names;
  for (const Variant& one : kVariants) {
    if (name == one.name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("the paper has no variant \"{}\"; there are {}", name, names));
}

StagePlan plan_stages(const Variant& variant, int log_n, const GroupLimits& limits, Reversal reversal) {
  if (log_n < 0 || log_n > kMostStages) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("the papers' variants need 2^0 .. 2^{} points, got 2^{}", kMostStages, log_n));
  }
  StagePlan plan = variant.plan(log_n, limits);
  plan.variant = variant.name;
  plan.log_n = log_n;
  plan.reversal = reversal;
  plan.plain_items = std::min(kPlainItems, limits.items());
  if (!plan.refusal.empty()) plan.runs.clear();
  return plan;
}

void add_each(StagePlan& plan, int first) {
  for (int stage = first; stage <= plan.log_n; ++stage) {
    plan.runs.push_back({.work = Work::one_stage, .first = stage, .last = stage});
  }
}

void add_global_block(StagePlan& plan, int last) {
  if (last < 1) return;
  plan.runs.push_back({.work = Work::group_global, .first = 1, .last = last, .items = std::size_t{1} << (last - 1)});
}

void add_local(StagePlan& plan, int first, int last, const GroupLimits& limits) {
  if (last < first || !plan.refusal.empty()) return;
  const int stages = last - first + 1;
  StageRun run{.work = Work::group_local, .first = first, .last = last};
  // Neighbouring columns make neighbouring work-items access neighbouring memory; a row has 2^(first-1) points.
  run.columns = std::min(limits.items() >> (stages - 1), std::size_t{1} << (first - 1));
  while (run.columns > 1 && run.local_bytes() > limits.local_memory) run.columns /= 2;
  run.items = run.columns << (stages - 1);
  if (run.columns == 0 || run.local_bytes() > limits.local_memory) {
    plan.refusal = fmt::format("stages {}-{} need {} of local memory, a group has {}", first, last,
                               base::human_bytes(static_cast<double>(run.local_bytes())),
                               base::human_bytes(static_cast<double>(limits.local_memory)));
    return;
  }
  plan.runs.push_back(run);
}

void add_own_points(StagePlan& plan, int last) {
  if (last < 1) return;
  plan.runs.push_back({.work = Work::own_points, .first = 1, .last = last});
}

std::string beyond_one_group(int log_n, const GroupLimits& limits) {
  if (log_n <= limits.stages()) return {};
  return fmt::format("needs one group: at most {} work-items with {} points, got {} points", limits.items(),
                     2 * limits.items(), std::size_t{1} << log_n);
}

std::string beyond_two_groups(int log_n, const GroupLimits& limits) {
  if (log_n <= 2 * limits.stages()) return {};
  return fmt::format("needs two launches: groups of at most {} work-items do 2 x {} stages, got {}", limits.items(),
                     limits.stages(), log_n);
}

}  // namespace ridge::fft::papers
