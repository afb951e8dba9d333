// Quick plans that a background thread improves: the exchange, Hold, fork, and runs during the exchange.
#include "plan/improve.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <numbers>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/filterbank.hpp>
#include <ridge/image.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>
#include <ridge/transpose.hpp>

#include "base/worst.hpp"
#include "support/scratch.hpp"

namespace ridge::planner {
namespace {

constexpr double kLong = 120;  // seconds, for busy machines
const Options kNow{.effort = Effort::quick, .most_trials = 2, .improve = Improve::now};

class ChooseImprove : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(wait_for_improvements(kLong)); }
  test::ScratchFolder folder_;
  test::ScopedEnvironment wisdom_{"RIDGE_WISDOM", (folder_ / "wisdom.json").string()};
};

// A plan of numbers: quick ones are 1, measured ones 2.
struct Toy {
  int value;
};
Exchangeable<Toy> toy(const Options& options, int trials, std::atomic<int>* begun = nullptr) {
  Exchangeable<Toy> plan(std::make_shared<const Toy>(Toy{1}));
  improve<Toy>(plan, options, [trials, begun](const Options& measuring) {
    EXPECT_EQ(measuring.effort, Effort::measured);
    for (int i = 0; i < trials; ++i) {
      measuring.progress({});
      if (begun != nullptr) ++*begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::make_shared<const Toy>(Toy{2});
  });
  return plan;
}

TEST_F(ChooseImprove, ExchangesThePlanAndItsCopies) {
  const Exchangeable<Toy> plan = toy(kNow, 3), copy = plan;
  const Toy* const first = plan.get();
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_EQ(plan->value, 2);
  EXPECT_EQ(copy->value, 2);
  EXPECT_LE(first->value, 2);  // the first object still exists
}

TEST_F(ChooseImprove, OnlyOnRequest) {
  for (const Options& options :
       {Options{.effort = Effort::quick, .improve = Improve::never}, Options{.effort = Effort::quick},
        Options{.effort = Effort::measured, .improve = Improve::now}}) {
    EXPECT_EQ(improvement_of(options), Improve::never);
  }
  set_improve(Improve::next_time);
  EXPECT_EQ(improvement_of({.effort = Effort::quick}), Improve::next_time);
  EXPECT_EQ(improvement_of({.effort = Effort::quick, .improve = Improve::never}), Improve::never);
  set_improve(Improve::unspecified);
  std::atomic<int> begun = 0;
  const auto plan = toy({.effort = Effort::quick, .improve = Improve::next_time}, 1, &begun);
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(plan->value, 1);
}

TEST_F(ChooseImprove, NothingHappensDuringAHold) {
  std::atomic<int> begun = 0;
  const Exchangeable<Toy> plan = toy(kNow, 50, &begun);
  while (begun == 0) std::this_thread::yield();
  {
    const Hold hold, nested;
    const int seen = begun;
    EXPECT_FALSE(wait_for_improvements(0.05));
    EXPECT_EQ(begun, seen);
    EXPECT_EQ(plan->value, 1);
  }
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_EQ(plan->value, 2);
}

TEST_F(ChooseImprove, FailureLeavesThePlan) {
  const Exchangeable<Toy> plan(std::make_shared<const Toy>(Toy{1}));
  improve<Toy>(plan, kNow,
               [](const Options&) -> std::shared_ptr<const Toy> { throw Error(ErrorKind::internal, "no"); });
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_EQ(plan->value, 1);
  for (const double seconds : {-1.0, std::nan(""), 1e300}) EXPECT_THROW(wait_for_improvements(seconds), Error);
}

// The child has no background thread of its parent: it starts its own, and Holds of the parent remain.
TEST_F(ChooseImprove, WorksInTheChildOfAFork) {
  std::atomic<int> begun = 0;
  const Exchangeable<Toy> busy = toy(kNow, 20, &begun);
  while (begun == 0) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    const Exchangeable<Toy> plan = toy(kNow, 1);
    ::_exit(wait_for_improvements(kLong) && plan->value == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_EQ(busy->value, 2);
}

// A cosine has one line in its spectrum, whichever variant runs.
double error_of(const std::vector<std::complex<double>>& spectrum) {
  double worst = 0;
  const auto half = static_cast<double>(spectrum.size()) / 2;
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    worst = base::worse(worst, std::abs(spectrum[k] - (k == 1 || k + 1 == spectrum.size() ? half : 0.0)));
  }
  return worst / half;
}

TEST_F(ChooseImprove, TransformsRunDuringTheExchange) {
  constexpr std::size_t kPoints = 1000;
  std::vector<std::complex<double>> wave(kPoints), turned(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) wave[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / kPoints);
  const fft::Plan<double> plan(host(), {.shape = {kPoints}, .threads = 1}, kNow);
  const fft::TensorPlan<double> tensor(host(), {.axes = {{.length = kPoints, .input = 1, .output = 1}}}, kNow);
  const transpose::Plan<std::complex<double>> corner(host(), {.rows = 25, .columns = 40, .threads = 1}, kNow);
  EXPECT_NE(plan.decisions().front().source, Source::measurement);
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; ++t) {
    callers.emplace_back([&] {
      std::vector<std::complex<double>> out(kPoints);
      while (!stop) {
        plan.forward(std::span<const std::complex<double>>(wave), out);
        EXPECT_LT(error_of(out), 1e-14);
        tensor.run(wave.data(), out.data());
        EXPECT_LT(error_of(out), 1e-14);
        std::this_thread::sleep_for(std::chrono::microseconds(300));  // leaves time to the background thread
      }
    });
  }
  EXPECT_TRUE(wait_for_improvements(kLong));
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(plan.decisions().front().source, Source::measurement);
  EXPECT_NE(tensor.decisions().front().source, Source::model);  // measured, or by the wisdom of the plan above
  EXPECT_NE(corner.decisions().front().source, Source::model);
  corner.run(wave, turned);
  EXPECT_EQ(turned[1], wave[40]);
  EXPECT_FALSE(wisdom::all().empty());
}

// Sessions and streams keep the variant with which they began.
TEST_F(ChooseImprove, StencilsFilterBanksAndImages) {
  const stencil::Plan<float> heat(host(), stencil::heat<float>({.dt = 0.2, .spacing = {1, 1}}),
                                  {.shape = {24, 40}, .threads = 1}, kNow);
  stencil::Grid<float> grid({24, 40}), whole({24, 40}), parts({24, 40});
  grid(11, 20) = whole(11, 20) = 1;
  stencil::Session<float> session = heat.start(grid);
  session.run(3);
  const filterbank::Plan bank(host(), {.channels = 16, .taps = 4, .threads = 1}, kNow);
  const image::OperatorPlan blur(host(), {.input = {.rows = 24, .columns = 40}, .chain = image::parse_chain("gauss 1")},
                                 kNow);
  ASSERT_TRUE(wait_for_improvements(kLong));
  EXPECT_NE(heat.decisions().front().source, Source::model);
  EXPECT_NE(bank.decisions().front().source, Source::model);
  EXPECT_NE(blur.decisions().front().source, Source::model);
  session.run(4);
  session.read(parts);
  heat.run(whole, 7);
  for (std::size_t i = 0; i < whole.all().size(); ++i) ASSERT_NEAR(parts.all()[i], whole.all()[i], 1e-6);
}

}  // namespace
}  // namespace ridge::planner
