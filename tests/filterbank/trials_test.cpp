// Tests the comparison during planning: every host variant passes, and a wrong value is found wherever it is.
#include "filterbank/trials.hpp"

#include <cmath>
#include <complex>
#include <limits>

#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

void expect_all_right(const Problem& wanted) {
  const Problem problem = complete(wanted);
  const Geometry g = resolve(problem);
  Trials trials(problem, g);
  for (const Entry& entry : list_variants(host(), problem, g)) {
    if (!entry.candidate.refusal.empty() || entry.candidate.variant == "reference") continue;
    const planner::Comparison comparison = trials.compare(*entry.build());
    EXPECT_TRUE(comparison.right()) << g.key() << ", " << entry.candidate.name() << ": " << comparison.text();
  }
}

TEST(Trials, EveryVariantOfTheHostIsRight) {
  expect_all_right({.channels = 64, .taps = 8, .stations = 3});
  expect_all_right({.channels = 60, .taps = 5, .polarizations = 1, .samples = Samples::float32});
  expect_all_right({.channels = 24, .taps = 4, .samples = Samples::int4, .oversampling = {4, 3}, .centred = true});
  Problem all{.channels = 16, .taps = 4, .stations = 3, .samples = Samples::int16, .input_block = 20};
  all.order = Order::channel;
  all.output_times = 7;
  all.delays = {.wanted = true, .frequency = 0.3, .longest = 40};
  for (std::size_t i = 0; i < 16 * 6; ++i) all.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.1f);
  expect_all_right(all);
  all.bandpass.resize(16);
  expect_all_right(all);
}

// A correct variant with one value changed.
class Wrong final : public Variant {
 public:
  Wrong(std::shared_ptr<const Variant> right, std::size_t value, float change)
      : right_(std::move(right)), value_(value), change_(change) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return right_->prepare(prototype);
  }
  void run(const Job& job) const override {
    right_->run(job);
    job.out[value_] += change_;
  }

 private:
  std::shared_ptr<const Variant> right_;
  std::size_t value_;
  float change_;
};

TEST(Trials, AWrongValueIsSeenAndNamed) {
  const Problem problem = complete({.channels = 32, .taps = 4});
  const Geometry g = resolve(problem);
  Trials trials(problem, g);
  const auto right = list_variants(host(), problem, g).back().build();
  EXPECT_TRUE(trials.compare(Wrong(right, 0, 0)).right());
  const std::size_t last = trials.spectra() * g.spectrum_size() - 1;
  for (const std::size_t value : {std::size_t{0}, std::size_t{5}, last}) {
    EXPECT_FALSE(trials.compare(Wrong(right, value, 1)).right()) << value;
  }
  const auto named = trials.compare(Wrong(right, 5, 1));
  EXPECT_EQ(named.where, "spectrum 0, station 0, polarization 0, channel 5");
  // NaN is also found in spectra that are not compared.
  for (const std::size_t value : {std::size_t{0}, std::size_t{12345}, last - 77, last})
    EXPECT_FALSE(trials.compare(Wrong(right, value, std::numeric_limits<float>::quiet_NaN())).right()) << value;
}

// One value with an error relative to the root mean square of all.
class Spoilt final : public Variant {
 public:
  Spoilt(std::shared_ptr<const Variant> right, std::size_t values, std::size_t value, float share)
      : right_(std::move(right)), values_(values), value_(value), share_(share) {}
  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return right_->prepare(prototype);
  }
  void run(const Job& job) const override {
    right_->run(job);
    double squares = 0;
    for (std::size_t i = 0; i < values_; ++i) squares += std::norm(job.out[i]);
    job.out[value_] += share_ * static_cast<float>(std::sqrt(squares / static_cast<double>(values_)));
  }

 private:
  std::shared_ptr<const Variant> right_;
  std::size_t values_, value_;
  float share_;
};

// The bound is 1e-5 of the root mean square.
TEST(Trials, TenTimesTheAllowedErrorIsWrong) {
  for (const Samples samples : {Samples::int8, Samples::float32}) {
    const Problem problem = complete({.channels = 32, .taps = 4, .samples = samples});
    const Geometry g = resolve(problem);
    Trials trials(problem, g);
    const auto right = list_variants(host(), problem, g).back().build();
    const std::size_t values = trials.spectra() * g.spectrum_size();
    EXPECT_TRUE(trials.compare(Spoilt(right, values, 5, 1e-6f)).right());
    EXPECT_FALSE(trials.compare(Spoilt(right, values, 5, 1e-4f)).right());
    EXPECT_FALSE(trials.compare(Spoilt(right, values, values - 1, 1e-4f)).right());
  }
}

TEST(Trials, AMeasuredPlanCanBeVerified) {
  const Plan verified =
      plan(host(), {.channels = 64, .taps = 4}, {.use_wisdom = false, .save_wisdom = false, .verify = true});
  EXPECT_EQ(verified.decisions().front().source, planner::Source::measurement);
  for (const planner::Trial& trial : verified.decisions().front().trials)
    EXPECT_EQ(trial.reason.find("wrong"), std::string::npos) << trial.name << ": " << trial.reason;
}

}  // namespace
}  // namespace ridge::filterbank::test
