// Quick plans of short lines take the registry's first choice, which must be the planner's.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include "fft/host/lines.hpp"

namespace ridge::fft {
namespace {

class QuickLines : public testing::Test {
 protected:
  void SetUp() override {
    const char* value = std::getenv("RIDGE_VERIFY");
    if (value != nullptr) before_ = value;
  }
  void TearDown() override { before_.empty() ? unsetenv("RIDGE_VERIFY") : setenv("RIDGE_VERIFY", before_.c_str(), 1); }

 private:
  std::string before_;
};

// A quick plan takes the registry's first choice without the planner: it must equal the best predicted candidate.
template <class T>
void expect_same_lines() {
  for (std::size_t n = 1; n <= 4096; n = n < 70 ? n + 1 : n * 5 / 4 + 3) {
    planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
    setenv("RIDGE_VERIFY", "0", 1);
    const ChosenLine<T> quick = choose_line<T>(host(), n, options);
    setenv("RIDGE_VERIFY", "1", 1);
    options.most_trials = 77;  // ignored by quick plans, but gives another cache entry
    const ChosenLine<T> asked = choose_line<T>(host(), n, options);
    EXPECT_EQ(quick.kernel->describe(), asked.kernel->describe()) << n << " points";
    const planner::Decision &a = quick.decision.get(), &b = asked.decision.get();
    EXPECT_EQ(a.trials[a.winner].name, b.trials[b.winner].name) << n << " points";
    EXPECT_EQ(a.trials.size(), b.trials.size()) << n << " points";
  }
}

TEST_F(QuickLines, OfFloatAreTheModelsChoice) { expect_same_lines<float>(); }
TEST_F(QuickLines, OfDoubleAreTheModelsChoice) { expect_same_lines<double>(); }

}  // namespace
}  // namespace ridge::fft
