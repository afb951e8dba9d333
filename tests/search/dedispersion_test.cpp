// Tests of dedispersion: every variant against plain sums in double, trial plans, delays and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <ridge/search.hpp>

#include "search/trials.hpp"
#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::search {
namespace {

using testing::HasSubstr;

const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};

Band band_of(std::size_t channels) {
  return {
      .channels = channels, .first_mhz = 1500, .step_mhz = -300.0 / static_cast<double>(channels), .interval = 1e-3};
}

std::vector<double> linear(std::size_t count, double from, double step) {
  std::vector<double> dms;
  for (std::size_t i = 0; i < count; ++i) dms.push_back(from + step * static_cast<double>(i));
  return dms;
}

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// The delay in samples, from the definition and in long double.
long double exact_delay(const Band& band, double dm, std::size_t channel) {
  const long double top = band.first_mhz, f = top + static_cast<long double>(band.step_mhz) * channel;
  return 4148.808L * dm * (1 / (f * f) - 1 / (top * top)) / band.interval;
}

// The definition by spectra, in long double: exp(2 pi i k delay / n) for every channel and frequency.
long double interpolated(const Problem& problem, const Plan& plan, const std::vector<std::uint8_t>& in, double dm,
                         std::size_t time) {
  const std::size_t n = plan.interpolates(), row = plan.row();
  const long double turn = 2 * std::numbers::pi_v<long double> / static_cast<long double>(n);
  long double total = 0;
  for (std::size_t c = 0; c < problem.band.channels; ++c) {
    long double mean = 0;
    for (std::size_t t = 0; t < row; ++t) mean += in[c * row + t] / static_cast<long double>(row);
    total += mean;
    const long double at = static_cast<long double>(time) + exact_delay(problem.band, dm, c);
    for (std::size_t t = 0; t < row; ++t) {
      // 1 + 2 sum over k of cos(k x) + cos(n x / 2), in closed form.
      const long double x = turn * (at - static_cast<long double>(t)), half = std::sin(x / 2);
      const long double kernel = std::abs(half) < 1e-12L ? 1
                                                         : (std::sin((static_cast<long double>(n) - 1) * x / 2) / half +
                                                            std::cos(static_cast<long double>(n) * x / 2)) /
                                                               static_cast<long double>(n);
      total += (in[c * row + t] - mean) * kernel;
    }
  }
  return total;
}

void expect_interpolated(const Problem& problem, const Plan& plan, const std::vector<std::uint8_t>& in,
                         const std::vector<float>& out) {
  const double noise = 74 * std::sqrt(static_cast<double>(problem.band.channels));
  const std::size_t trials = problem.dms.size(), step = std::max<std::size_t>(1, trials * problem.times / 7);
  for (std::size_t i = 0; i < trials * problem.times; i += step) {
    const auto expected =
        static_cast<double>(interpolated(problem, plan, in, problem.dms[i / problem.times], i % problem.times));
    ASSERT_LE(std::abs(out[i] - expected), 1e-4 * noise + 2e-7 * expected)
        << "trial " << i / problem.times << ", time " << i % problem.times;
  }
}

void expect_sums(const Device& device, const Problem& problem, const std::string& variant) {
  SCOPED_TRACE(variant + " " + std::to_string(problem.band.channels) + " channels, " +
               std::to_string(problem.dms.size()) + " trials, " + std::to_string(problem.times) + " times");
  planner::Options options = kQuick;
  options.variant = variant;
  const Plan plan(device, problem, options);
  const std::size_t channels = problem.band.channels;
  const std::vector<std::uint8_t> in = random_bytes(channels * plan.row());
  std::vector<float> out(problem.dms.size() * problem.times, std::numeric_limits<float>::quiet_NaN());
  plan.run(in, out);
  if (plan.interpolates() > 0) return expect_interpolated(problem, plan, in, out);
  for (std::size_t d = 0; d < problem.dms.size(); ++d) {
    const std::vector<std::int32_t> delays = plan.delays(d);
    const double allowed = variant.starts_with("tree") ? 2.5 : 0.5 + 1e-6;
    for (std::size_t c = 0; c < channels; ++c) {
      ASSERT_LE(std::abs(delays[c] - static_cast<double>(exact_delay(problem.band, problem.dms[d], c))), allowed);
    }
    for (std::size_t t = 0; t < problem.times; ++t) {
      double sum = 0;
      for (std::size_t c = 0; c < channels; ++c) sum += in[c * plan.row() + t + static_cast<std::size_t>(delays[c])];
      ASSERT_EQ(out[d * problem.times + t], sum) << "trial " << d << ", time " << t;
    }
  }
}

std::vector<Problem> awkward_problems() {
  std::vector<Problem> problems;
  for (const std::size_t channels : {1, 2, 3, 7, 8, 9, 65, 127, 300}) {
    problems.push_back({.band = band_of(channels), .dms = linear(5, 0, 3.7), .times = 67});
  }
  problems.push_back({.band = band_of(67), .dms = {0}, .times = 1});
  problems.push_back({.band = band_of(67), .dms = linear(41, 200, 0.9), .times = 1031, .row = 1301, .threads = 2});
  problems.push_back({.band = band_of(520), .dms = linear(70, 0, 0.31), .times = 513, .threads = 3});
  problems.push_back({.band = band_of(16), .dms = {0, 0, 5, 5, 400}, .times = 530});
  return problems;
}

TEST(SearchDedispersion, EveryHostVariantAddsItsDelays) {
  for (const Problem& problem : awkward_problems()) {
    for (const planner::Candidate& candidate : candidates(host(), problem)) {
      expect_sums(host(), problem, candidate.name());
    }
  }
}

// One test per variant, so that a device whose compiler is slow reports each of them.
class SearchDevice : public test::NeedsAccelerator<testing::TestWithParam<const char*>> {};

TEST_P(SearchDevice, AddsItsDelays) {
  test::compile_quickly();
  for (const Device& device : test::accelerators()) {
    std::size_t number = 0, compared = 0;
    for (const Problem& problem : awkward_problems()) {
      if (++number != 11 && number != 12 && device.info().runs_on_host_cores) continue;
      for (const planner::Candidate& candidate : candidates(device, problem)) {
        if (!candidate.refusal.empty() || candidate.variant != GetParam()) continue;
        if (number == 12 && candidate.variant == "brute_force_matrix" && device.info().runs_on_host_cores) continue;
        expect_sums(device, problem, candidate.name());
        ++compared;
      }
    }
    EXPECT_GT(compared, 0U) << device.id() << " refuses " << GetParam();
  }
}
INSTANTIATE_TEST_SUITE_P(Variants, SearchDevice,
                         testing::Values("brute_force", "brute_force_matrix", "tree", "fourier"),
                         [](const auto& one) { return std::string(one.param); });

// Bytes of 255 in every channel: 16-bit partial sums must not overflow.
TEST(SearchDedispersion, TheLargestSumsDoNotOverflow) {
  for (const std::size_t channels : {257, 258, 1100}) {
    const Problem problem{.band = band_of(channels), .dms = {0, 10}, .times = 600};
    for (const planner::Candidate& candidate : candidates(host(), problem)) {
      planner::Options options = kQuick;
      options.variant = candidate.name();
      const Plan plan(host(), problem, options);
      const std::vector<std::uint8_t> in(channels * plan.row(), 255);
      std::vector<float> out(2 * 600, -1);
      plan.run(in, out);
      for (const float sum : out) ASSERT_EQ(sum, 255.0F * static_cast<float>(channels)) << candidate.name();
    }
  }
}

// The planner compares plans of any size, so it compares a sample of the sums: the reference makes at most 1e9
// operations, or those of a single sum if that takes more.
TEST(SearchDedispersion, ComparisonsOfLargePlansAreSamples) {
  for (const auto& [channels, trials, times] : {std::tuple<std::size_t, std::size_t, std::size_t>{4096, 4096, 65536},
                                                {65536, 16, 1 << 20},
                                                {1, 1, 1},
                                                {3, 2, 5},
                                                {64, 1, 100000}}) {
    const Layout layout = resolve({.band = band_of(channels), .dms = linear(trials, 0, 0.01), .times = times});
    for (const bool interpolated : {false, true}) {
      const auto places = compared_places(layout, interpolated);
      ASSERT_FALSE(places.empty());
      EXPECT_EQ(places.front().trial, trials - 1);
      EXPECT_EQ(places.front().time, times - 1);
      const double each = static_cast<double>(channels) * (interpolated ? static_cast<double>(layout.row) : 1);
      EXPECT_LE(each * static_cast<double>(places.size()), std::max(1e9, each)) << channels << " " << interpolated;
    }
  }
}

TEST(SearchDedispersion, TheReferenceOfInterpolatedSumsIsTheDefinition) {
  for (const auto& [channels, times] : {std::pair<std::size_t, std::size_t>{1, 1}, {3, 7}, {37, 101}}) {
    const Problem problem{.band = band_of(channels), .dms = linear(5, 0, 0.9), .times = times};
    const auto entries = candidates(host(), problem);
    planner::Options options = kQuick;
    for (const planner::Candidate& one : entries)
      options.variant = one.variant == "fourier" ? one.name() : options.variant;
    const Plan plan(host(), problem, options);
    const auto in = random_bytes(channels * plan.row());
    const std::vector<SeriesPlace> places{{0, 0}, {4, times - 1}, {3, times / 2}};
    const auto sums = interpolated_sums(resolve(problem), plan.interpolates(), in.data(), places);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto expected =
          static_cast<double>(interpolated(problem, plan, in, problem.dms[places[i].trial], places[i].time));
      EXPECT_NEAR(sums[i], expected, 1e-6 * expected) << channels << " " << i;
    }
  }
}

// Counts of an independent plan of the same rule (Python, double).
TEST(SearchTrials, FollowTheTolerance) {
  const Band band{.channels = 4096, .first_mhz = 1600, .step_mhz = -400.0 / 4096, .interval = 64e-6};
  const auto segments = plan_trials(band, {.dm_end = 3000, .tolerance = 1.25});
  std::vector<std::size_t> counts, factors;
  for (const Segment& segment : segments) counts.push_back(segment.dms.size()), factors.push_back(segment.factor);
  EXPECT_EQ(factors, (std::vector<std::size_t>{1, 2, 4, 8, 16}));
  const std::size_t expected[] = {1052, 530, 542, 546, 412};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(static_cast<double>(counts[i]), static_cast<double>(expected[i]), 2);
  double before = -1;
  for (const Segment& segment : segments) {
    for (const double dm : segment.dms) {
      EXPECT_GT(dm, before);
      before = dm;
    }
  }
  EXPECT_EQ(before, 3000);
  // A range shorter than one step ends where it was asked to, too.
  for (const double end : {1e-9, 0.3, 1.0, 36.9}) {
    const auto few = plan_trials(band_of(64), {.dm_end = end});
    EXPECT_EQ(few.front().dms.front(), 0);
    EXPECT_EQ(few.back().dms.back(), end);
  }
}

TEST(SearchTrials, StartInALaterSegment) {
  const Band band{.channels = 4096, .first_mhz = 1600, .step_mhz = -400.0 / 4096, .interval = 64e-6};
  const auto segments = plan_trials(band, {.dm_begin = 1000, .dm_end = 1000});
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].factor, 8U);
  EXPECT_EQ(segments[0].dms, std::vector<double>{1000});
}

TEST(SearchDedispersion, TreesKeepMostOfTheSignal) {
  const Problem problem{.band = band_of(512), .dms = linear(300, 0, 1), .times = 64};
  planner::Options options = kQuick;
  options.variant = "tree(radix=8,threads=1)";
  Problem one = problem;
  one.threads = 1;
  const auto names = candidates(host(), one);
  for (const planner::Candidate& candidate : names) {
    options.variant = candidate.name();
    const Plan plan(host(), one, options);
    if (candidate.variant != "tree") {
      EXPECT_EQ(plan.kept(1), 1);
    } else {
      EXPECT_GT(plan.kept(1), 0.7);
      EXPECT_GT(plan.kept(4), 0.92);
      EXPECT_GT(plan.kept(16), 0.98);
      EXPECT_LT(plan.kept(1), 1);
    }
  }
}

std::string refused(const Problem& problem) {
  return ridge::test::error_of([&] { Plan(host(), problem, kQuick); }, ErrorKind::invalid_argument);
}

TEST(SearchDedispersion, RefusesImpossibleProblems) {
  const Problem good{.band = band_of(8), .dms = {0, 1}, .times = 4};
  Problem bad = good;
  bad.band.channels = 0;
  EXPECT_THAT(refused(bad), HasSubstr("at least one channel"));
  bad = good, bad.band.interval = 0;
  EXPECT_THAT(refused(bad), HasSubstr("tsamp"));
  bad = good, bad.band.step_mhz = 0;
  EXPECT_THAT(refused(bad), HasSubstr("foff"));
  bad = good, bad.band.first_mhz = 100;
  EXPECT_THAT(refused(bad), HasSubstr("above 0 MHz"));
  bad = good, bad.band.step_mhz = 1;
  EXPECT_THAT(refused(bad), HasSubstr("highest frequency first"));
  bad = good, bad.times = 0;
  EXPECT_THAT(refused(bad), HasSubstr("at least one output time"));
  bad = good, bad.dms = {};
  EXPECT_THAT(refused(bad), HasSubstr("at least one dispersion measure"));
  for (const double dm : {-1.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    bad = good, bad.dms = {0, 1, dm};
    EXPECT_THAT(refused(bad), HasSubstr("ascending"));
  }
  bad = good, bad.dms = {0, 1e30};
  EXPECT_THAT(refused(bad), HasSubstr("exceed the address space"));
  EXPECT_THAT(ridge::test::error_of([] { plan_trials(band_of(8), {.dm_end = 10, .tolerance = 1}); },
                                    ErrorKind::invalid_argument),
              HasSubstr("tolerance"));
  const Plan plan(host(), good, kQuick);
  std::vector<std::uint8_t> in(8 * plan.row() - 1);
  std::vector<float> out(8);
  EXPECT_THAT(ridge::test::error_of([&] { plan.run(in, out); }, ErrorKind::invalid_argument), HasSubstr("input"));
}

}  // namespace
}  // namespace ridge::search
