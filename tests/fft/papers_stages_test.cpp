// Burtsev's variants: their stages and limits without a device, then each of them at every length on every device.
#include <gmock/gmock.h>

#include <set>

#include <fmt/format.h>

#include "device/cuda/nvrtc.hpp"
#include "papers/fft/device/compiled_stages.hpp"
#include "papers/fft/device/stage_plan.hpp"
#include "papers_support.hpp"
#include "plan/selection.hpp"

namespace ridge::fft::device_tests {
namespace {

using namespace papers;

constexpr std::size_t kLocal = 48 << 10;

StagePlan stages(const std::string& name, int log_n, std::size_t work_group, std::size_t local = kLocal) {
  return plan_stages(variant(name), log_n, {work_group, local});
}

TEST(PaperStages, LimitsArePowersOfTwo) {
  const GroupLimits odd{1000, kLocal};
  EXPECT_EQ(odd.items(), 512u);
  EXPECT_EQ(odd.stages(), 10);
  EXPECT_EQ((GroupLimits{128, 0}).stages(), 8);
  EXPECT_EQ((GroupLimits{256, 0}).stages(), 9);
  EXPECT_EQ((GroupLimits{1024, 0}).stages(), 11);
  EXPECT_EQ((GroupLimits{1, 0}).stages(), 1);
}

// Every stage once, in order, in every plan that is not refused.
TEST(PaperStages, CoverEveryStageOnce) {
  for (const Variant& variant : variants()) {
    for (const std::size_t work_group : {1, 2, 8, 100, 128, 256, 1024}) {
      for (int log_n = 0; log_n <= 26; ++log_n) {
        const StagePlan plan = plan_stages(variant, log_n, {work_group, kLocal});
        if (!plan.refusal.empty()) {
          EXPECT_TRUE(plan.runs.empty());
          continue;
        }
        int next = 1;
        for (const StageRun& run : plan.runs) {
          EXPECT_EQ(run.first, next) << variant.name << " " << log_n;
          next = run.last + 1;
          EXPECT_LE(run.items, work_group);
          EXPECT_LE(run.local_bytes(), kLocal);
          if (run.work != Work::group_local) continue;
          EXPECT_EQ(run.items, run.columns << (run.stages() - 1));
          EXPECT_LE(run.columns, std::size_t{1} << (run.first - 1)) << "a row has no more columns";
        }
        EXPECT_EQ(next, log_n + 1) << variant.name << " " << log_n << " " << work_group;
      }
    }
  }
}

TEST(PaperStages, RefuseBeyondTheirLimitsOnThePapersPlatforms) {
  struct Limit {
    const char* variant;
    std::size_t work_group;
    int last;
  };
  // N <= 2 M for B and BL, P <= 2 PW for D and E: 2^8, 2^9, 2^11 and 2^16, 2^18, 2^22 in the paper.
  for (const auto& [name, work_group, last] :
       {Limit{"B", 128, 8}, Limit{"B", 256, 9}, Limit{"B", 1024, 11}, Limit{"BL", 128, 8}, Limit{"BL", 1024, 11},
        Limit{"D", 128, 16}, Limit{"D", 256, 18}, Limit{"D", 1024, 22}, Limit{"E", 128, 16}, Limit{"E", 256, 18},
        Limit{"E", 1024, 22}}) {
    for (int log_n = 0; log_n <= kMostStages; ++log_n) {
      const StagePlan plan = stages(name, log_n, work_group);
      EXPECT_EQ(plan.refusal.empty(), log_n <= last) << name << " of 2^" << log_n << " with " << work_group;
    }
    EXPECT_THAT(stages(name, last + 1, work_group).refusal, ::testing::HasSubstr(std::to_string(work_group)));
  }
  for (const char* name : {"A", "C", "CL", "F", "F/even"}) {
    for (int log_n = 0; log_n <= kMostStages; ++log_n) EXPECT_EQ(stages(name, log_n, 128).refusal, "") << name;
  }
  EXPECT_THAT(stages("CL", 11, 1024, 8 << 10).refusal, ::testing::HasSubstr("local memory"));
  EXPECT_THROW(stages("A", kMostStages + 1, 128), Error);
  EXPECT_THROW(stages("A", -1, 128), Error);
  EXPECT_THROW(variant("G"), Error);
}

TEST(PaperStages, AreDividedAsInThePaper) {
  EXPECT_EQ(stages("A", 10, 256).stages_text(), "1-10 each");
  EXPECT_EQ(stages("B", 9, 256).stages_text(), "1-9 global");
  EXPECT_EQ(stages("BL", 9, 256).stages_text(), "1-9 local");
  EXPECT_EQ(stages("C", 12, 256).stages_text(), "1-9 global, 10-12 each");
  EXPECT_EQ(stages("CL", 12, 1024).stages_text(), "1-11 local, 12 each");
  // The paper's one-item groups at 4096 are avoided: a group of 1024 has 1024 columns of one stage.
  EXPECT_EQ(stages("D", 12, 1024).stages_text(), "1-11 local, 12 local x1024");
  EXPECT_EQ(stages("D", 22, 1024).stages_text(), "1-11 local, 12-22 local");
  EXPECT_EQ(stages("E", 18, 1024).stages_text(), "1-4 registers, 5-11 local x16, 12-18 local x16");
  EXPECT_EQ(stages("F", 26, 256).stages_text(), "1-4 registers, 5-13 local, 14-22 local, 23-26 each");
  EXPECT_EQ(stages("F/even", 20, 1024).stages_text(), "1-4 registers, 5-12 local x8, 13-20 local x8");
  EXPECT_EQ(stages("E", 3, 1024).stages_text(), "1-3 registers");
  for (const Variant& variant : variants()) {
    EXPECT_EQ(plan_stages(variant, 0, {128, kLocal}).stages_text(), "none") << "one point has no butterfly";
    EXPECT_EQ(plan_stages(variant, 1, {128, kLocal}).runs.size(), 1u);
  }
}

TEST(PaperStages, VariantFUsesTheGivenSizes) {
  const auto text = [](int log_n, const StageSizes& sizes) {
    const StagePlan plan = plan_f_sizes(log_n, sizes, {1024, kLocal});
    return plan.refusal.empty() ? plan.stages_text() : plan.refusal;
  };
  EXPECT_EQ(text(20, {}), stages("F", 20, 1024).stages_text());
  EXPECT_EQ(text(20, {.na = 8, .nb = 256, .nc = 512}), "1-3 registers, 4-11 local x8, 12-20 local x4");
  EXPECT_EQ(text(24, {.na = 32, .nb = 64, .nc = 64}), "1-5 registers, 6-11 local x32, 12-17 local x32, 18-24 each");
  EXPECT_EQ(text(2, {.na = 8, .nb = 256, .nc = 512}), "1-2 registers");
  EXPECT_EQ(text(20, {.na = 12}), "NA, NB and NC need powers of two, got 12");
  EXPECT_EQ(text(20, {.na = 64}), "NA = 64 points exceed the 32 that a work-item's registers hold");
  EXPECT_EQ(text(20, {.nc = 4096}), "4096 points need 2048 work-items, a group has 1024");
}

class PaperVariants : public OnDevices, public ::testing::WithParamInterface<std::string> {};

// A work-group of 8 covers every form of plan with short lengths: one group up to 2^4, two up to 2^8.
TEST_P(PaperVariants, MatchTheReferenceAtEveryLength) {
  constexpr Platform kTiny{"tiny", "a device of groups of 8", 8};
  for (const Device& device : accelerators()) {
    const Device tiny = acting_as(device, kTiny);
    SharedKernels shared(tiny);
    for (int log_n = 0; log_n <= 13; ++log_n) {
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        const bool inverse = direction == Direction::inverse;
        StagePlan plan =
            plan_stages(variant(GetParam()), log_n, group_limits(tiny.limits()),
                        inverse ? (log_n % 2 == 0 ? Reversal::tiled : Reversal::computed) : Reversal::table);
        plan.direction = direction;
        if (!plan.refusal.empty()) {
          EXPECT_THROW(CompiledStages(shared, plan), Error);
          continue;
        }
        EXPECT_LE(gated_error_of(tiny, CompiledStages(shared, plan), plan.points(), 3, inverse), 1)
            << plan.stages_text() << " on " << device.id();
      }
    }
  }
}

// Up to the limit of D and E on the paper's smallest platform, and some of the others' lengths.
TEST_P(PaperVariants, MatchTheReferenceOnThePapersPlatforms) {
  for (const Device& device : accelerators()) {
    for (const auto& [name, lengths] : std::vector<std::pair<std::string, std::vector<int>>>{
             {"komdiv", {1, 5, 8, 9, 13, 16}}, {"intel", {9, 14}}, {"nvidia", {11, 15}}}) {
      const Device acting = acting_as(device, platform(name));
      SharedKernels shared(acting);
      EXPECT_EQ(acting.limits().work_group, std::min(platform(name).work_group, device.limits().work_group));
      for (const int log_n : lengths) {
        const StagePlan plan = plan_stages(variant(GetParam()), log_n, group_limits(acting.limits()));
        if (!plan.refusal.empty()) continue;
        EXPECT_LE(gated_error_of(acting, CompiledStages(shared, plan), plan.points(), 1, false), 1)
            << name << " " << plan.stages_text() << " on " << device.id();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Letters, PaperVariants, ::testing::Values("A", "B", "BL", "C", "CL", "D", "E", "F", "F/even"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '/');
                           return name;
                         });

TEST(PaperText, EveryKernelCompilesForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  std::set<std::string> seen;
  for (const Variant& variant : variants()) {
    for (const int log_n : {0, 1, 3, 11, 12, 20, 24}) {
      for (const Reversal reversal : {Reversal::table, Reversal::computed, Reversal::tiled}) {
        StagePlan plan = plan_stages(variant, log_n, {1024, 227 << 10}, reversal);
        if (!plan.refusal.empty()) continue;
        plan.scale = log_n == 3 ? 0.125 : 1;
        for (const KernelSource& source : stage_texts(plan)) {
          if (!seen.insert(source.text).second) continue;
          EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, "sm_90").empty()); }) << source.text;
        }
      }
    }
  }
  EXPECT_GT(seen.size(), 20u);
}

using PaperPlans = OnDevices;

// Only by name through the public plan; other plans do not list them.
TEST_F(PaperPlans, AreMadeByNameOnly) {
  for (const Device& device : accelerators()) {
    for (const planner::Candidate& candidate : candidates<float>(device, 64)) {
      EXPECT_FALSE(planner::is_called(candidate, "burtsev")) << candidate.name();
      EXPECT_FALSE(planner::is_called(candidate, "bergach")) << candidate.name();
    }
    for (const char* name :
         {"burtsev/A", "burtsev/D(reversal=computed)", "burtsev/F/even", "burtsev/F/sizes(na=8, nb=64, nc=64)",
          "burtsev/A(reversal=tiled)", "bergach/in_register"}) {
      const std::size_t n = std::string(name) == "bergach/in_register" ? 16 : 256;
      EXPECT_LE(gated_error<float>(device, n, 5, name, false), 1) << name << " forward on " << device.id();
      EXPECT_LE(gated_error<float>(device, n, 5, name, true), 1) << name << " inverse on " << device.id();
    }
    EXPECT_THROW(Plan<float>(device, {.shape = {100}}, only("burtsev/A")), Error);
    EXPECT_THROW(Plan<double>(device, {.shape = {64}}, only("burtsev/A")), Error);
    EXPECT_THROW(Plan<float>(device, {.shape = {64}, .in_place = true}, only("burtsev/A")), Error);
    try {
      const Plan<float> none(device, {.shape = {64}}, only("burtsev/G"));
      ADD_FAILURE() << "there is no variant G";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("burtsev/CL"));
    }
  }
}

// A family by its name: measured, saved, explained, and found in wisdom the next time.
TEST_F(PaperPlans, ChooseAmongTheFamilyAndRemember) {
  for (const Device& device : accelerators()) {
    planner::Options options{.most_trials = 20, .variant = "burtsev"};
    wisdom::forget("fft");
    const Plan<float> first(device, {.shape = {512}, .batch = 2}, options);
    EXPECT_EQ(first.decisions().front().source, planner::Source::measurement);
    EXPECT_THAT(first.explain(), ::testing::HasSubstr("measured"));
    const Plan<float> second(device, {.shape = {512}, .batch = 2}, options);
    EXPECT_EQ(second.decisions().front().source, planner::Source::wisdom);
    const auto winner = [](const Plan<float>& plan) {
      const planner::Decision& decision = plan.decisions().front();
      return decision.trials[decision.winner].name;
    };
    EXPECT_EQ(winner(first), winner(second));
    EXPECT_THAT(winner(first), ::testing::StartsWith("burtsev/"));
  }
}

// The scale of an inverse, and an axis that the papers do not support beside one that they do.
TEST_F(PaperPlans, ScaleAndLeaveOtherAxesToOthers) {
  for (const Device& device : accelerators()) {
    const std::size_t n = 128;
    const Plan<float> plan(device, {.shape = {n}, .scale_inverse = 1.0 / n}, only("burtsev/CL"));
    const auto points = reference::random_points<float>(n, 3);
    EXPECT_LE(distance(run(plan, run(plan, points, false, n), true, n), points), 3e-7);
    const std::vector<std::size_t> shape{12, 32};
    const Plan<float> two(device, {.shape = shape}, only("burtsev/CL"));
    const auto in = reference::random_points<float>(product(shape), 5);
    EXPECT_LE(distance(run(two, in, false, product(shape)), nd_dft(wide(in), shape, false)),
              reference::error_gate<float>(product(shape)));
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests
