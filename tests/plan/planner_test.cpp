// decide() on a real device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "support/scratch.hpp"

namespace {

using namespace ridge::planner;  // NOLINT: the whole vocabulary of these tests

TEST(Planner, DecidesOnTheHostWithItsOwnCeilings) {
  const ridge::test::ScratchFolder folder;
  const ridge::test::ScopedEnvironment wisdom("RIDGE_WISDOM", folder / "wisdom.json");
  const ridge::Device host = ridge::host();
  const Problem problem{.workload = "toy", .key = "toy 1 GiB", .flops = 0, .bytes = 1 << 30};
  const std::vector<Candidate> candidates{{.variant = "twice", .cost = {.bytes = 2.0 * (1 << 30)}},
                                          {.variant = "once", .cost = {.bytes = 1 << 30}}};
  const auto quick = decide(host, problem, candidates, {.effort = ridge::Effort::quick}, {});
  EXPECT_EQ(quick.winner, 1u);
  EXPECT_EQ(quick.source, Source::model);
  EXPECT_DOUBLE_EQ(quick.trials[0].predicted_seconds, 2 * quick.trials[1].predicted_seconds);
  EXPECT_DOUBLE_EQ(quick.roof_seconds, quick.trials[1].predicted_seconds);
  EXPECT_THAT(quick.device, testing::AllOf(testing::StartsWith("host ("), testing::HasSubstr(host.info().name)));
  EXPECT_THAT(quick.roof, testing::HasSubstr(" copy "));

  const Measure measure = [](std::size_t i) { return i == 0 ? 0.5 : 1.0; };
  EXPECT_EQ(decide(host, problem, candidates, {}, measure).winner, 0u);
  EXPECT_EQ(decide(host, problem, candidates, {.effort = ridge::Effort::quick}, {}).source, Source::wisdom);
  ASSERT_EQ(ridge::wisdom::all().size(), 1u);
  EXPECT_EQ(ridge::wisdom::all()[0].fingerprint, host.info().fingerprint());
}

}  // namespace
