// Tests the choice of a history within a budget of memory and error, and the estimated error of skipped steps.
#include "stencil/shots/history.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ridge/error.hpp>

#include "stencil/shots/sampling.hpp"
#include "support/error_of.hpp"

namespace ridge::stencil {
namespace {

// plan_history() chooses the cheapest history that meets budget and error, and lists the others.
TEST(History, IsTheCheapestThatMeetsBudgetAndError) {
  const double field = 1e9;
  HistoryProblem problem{.steps = 2000,
                         .fixed = 7 * field,
                         .whole = field,
                         .eighth = 0.28 * field,
                         .sixteenth = 0.53 * field,
                         .scratch = field,
                         .state = 2.2 * field,
                         .states_elsewhere = 200 * field,
                         .reversible = true,
                         .frame = 0.1 * field,
                         .rewind = 3 * field,
                         .step = 4.8 * field,
                         .memory_rate = 4e12,
                         .state_rate = 5e10,
                         .error = 1e-3,
                         .skipping = {0, 1e-6, 1e-6, 1e-5, 1e-5, 1e-4, 1e-4, 2e-4, 5e-4, 9e-4, 0.3}};
  double before = 0;
  for (const double fields : {200.0, 120.0, 60.0, 30.0, 16.0}) {
    problem.budget = fields * field;
    const History history = plan_history(problem);
    EXPECT_LE(history.bytes, problem.budget);
    EXPECT_LE(history.error, 1e-3) << history.explain;
    EXPECT_NE(history.bits, SnapshotBits::whole) << history.explain;
    EXPECT_GE(history.time, 0.98 * before) << history.explain;  // within a tenth of the time, the least error wins
    EXPECT_LT(history.time, 5) << history.explain;
    EXPECT_NE(history.explain.find("instead of"), std::string::npos) << history.explain;
    before = history.time;
  }
  // Snapshots in host memory; two of them are on the device at a time.
  problem.budget = 10 * field;
  problem.states_elsewhere = 300 * field;
  problem.state_rate = 4e11;
  const History streamed = plan_history(problem);
  EXPECT_TRUE(streamed.streams) << streamed.explain;
  EXPECT_LE(streamed.bytes, problem.budget);
  EXPECT_EQ(streamed.recomputation, 1);
  EXPECT_NE(streamed.explain.find("in host memory"), std::string::npos) << streamed.explain;
  problem.state_rate = 5e10;
  problem.budget = 120 * field;
  const History coarse = plan_history(problem);
  EXPECT_GE(coarse.every, 4u);
  problem.error = 0;
  const History exact = plan_history(problem);
  EXPECT_TRUE(exact.bits == SnapshotBits::whole || exact.rewinds) << exact.explain;
  EXPECT_GT(exact.time, coarse.time);
  problem.budget = 4 * field;
  EXPECT_THAT(ridge::test::error_of([&] { plan_history(problem); }, ErrorKind::invalid_argument),
              testing::HasSubstr("is too small for a gradient"));
}

// An uneven distance between the last snapshot of a block and the first one of the next would cause an error of its
// own.
TEST(History, BlocksHoldWholeIntervalsBetweenSnapshots) {
  HistoryProblem problem{.steps = 907,
                         .fixed = 7,
                         .whole = 1,
                         .eighth = 0.28,
                         .sixteenth = 0.53,
                         .scratch = 1,
                         .state = 2.2,
                         .step = 4.8,
                         .memory_rate = 4,
                         .state_rate = 2,
                         .error = 1e-3,
                         .skipping = std::vector<double>(9, 1e-6)};
  std::size_t divided = 0;
  for (double budget = 14; budget < 60; budget += 1.7) {
    problem.budget = budget;
    const History history = plan_history(problem);
    EXPECT_LE(history.bytes, budget);
    if (history.block >= problem.steps || history.every == 1) continue;
    EXPECT_EQ(history.block % history.every, 0u) << history.explain;
    ++divided;
  }
  EXPECT_GT(divided, 5u);
}

// Without states every block is computed from the start again, with one per block twice; more states never cost more.
TEST(History, BlocksComputedAreThoseOfTheSchedule) {
  for (const std::size_t blocks : {2, 7, 40}) {
    const double n = static_cast<double>(blocks);
    EXPECT_EQ(blocks_computed(blocks, 0), n * (n + 1) / 2);
    EXPECT_EQ(blocks_computed(blocks, blocks - 1), 2 * n - 1);
    for (std::size_t states = 1; states < blocks; ++states)
      EXPECT_LE(blocks_computed(blocks, states), blocks_computed(blocks, states - 1));
  }
  EXPECT_EQ(blocks_computed(3, 1), 1 + 3 + 1) << "advance by one, reverse the last two, then the first";
}

// Exact histories in the budget alone: as many states as fit beside the snapshots of a block.
TEST(History, BytesAreThoseOfSnapshotsAndStates) {
  HistoryProblem problem{.steps = 1000,
                         .fixed = 7,
                         .whole = 1,
                         .eighth = 0.28,
                         .sixteenth = 0.53,
                         .state = 2.2,
                         .step = 4.8,
                         .memory_rate = 4,
                         .state_rate = 2};
  for (double budget = 90; budget < 1100; budget *= 1.13) {
    problem.budget = budget;
    const History history = plan_history(problem);
    const auto slots = static_cast<double>(history.block), count = std::ceil(1000 / slots);
    EXPECT_EQ(history.states, std::min(count - 1, std::floor((budget - 7 - slots) / 2.2))) << history.explain;
    EXPECT_NEAR(history.bytes, 7 + slots + 2.2 * static_cast<double>(history.states), 1e-9) << history.explain;
    EXPECT_NEAR(history.recomputation, blocks_computed(static_cast<std::size_t>(count), history.states) * slots / 1000,
                1e-12);
  }
}

// A trace of one value meets a wavelet in one product per lag. Every k-th step then counts it k times from one start
// and not at all from the others: relative errors of k - 1 and 1, their root mean square times the safety of 3.
TEST(Survey, ErrorsOfSkippedStepsAreThoseOfOneProduct) {
  std::vector<double> wavelet(16), trace(16);
  wavelet[3] = 2;
  trace[10] = -5;
  const std::vector<double> errors = sampling_errors(wavelet, 1, trace, 1, 16, 7);
  ASSERT_EQ(errors.size(), 7u);
  for (std::size_t k = 1; k <= 7; ++k)
    EXPECT_NEAR(errors[k - 1], 3 * std::sqrt(static_cast<double>(k) - 1), 1e-12) << k;
}

}  // namespace
}  // namespace ridge::stencil
