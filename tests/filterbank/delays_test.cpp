// Tests that station delays are undone by whole samples and a phase, and that channel-major output does not depend on
// how a stream is cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

using testing::HasSubstr;

Problem delayed_problem() {
  return {.channels = 24,
          .taps = 4,
          .stations = 3,
          .samples = Samples::int16,
          .delays = {.wanted = true, .frequency = 768.123, .longest = 40}};
}

TEST(Delays, EveryVariantAgreesWithTheDefinition) {
  std::vector<Problem> problems(6, delayed_problem());
  problems[1].centred = true;
  problems[2].channels = 15;
  problems[3].oversampling = {4, 3};
  problems[4].order = Order::channel;
  problems[4].output_times = 7;
  for (std::size_t i = 0; i < 24 * 6; ++i) {
    problems[5].bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.02f * static_cast<float>(i % 7));
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto points = moving_delays(problems[i]);
    const Bytes bytes = noise(problems[i], 1500);
    const auto wanted = expected(problems[i], bytes, points);
    for (const auto& candidate : candidates(host(), problems[i])) {
      if (!candidate.refusal.empty()) continue;
      EXPECT_LT(error(run_in_pieces(plan_of(problems[i], candidate.name()), bytes, points, bytes.size()), wanted), 2e-6)
          << i << " by " << candidate.name();
    }
  }
}

TEST(Delays, PiecesAndThreadsDoNotChangeTheResult) {
  Problem problem = delayed_problem();
  problem.threads = 1;
  const auto points = moving_delays(problem);
  const Bytes bytes = noise(problem, 1200);
  const Spectra whole = run_in_pieces(plan_of(problem), bytes, points, bytes.size());
  for (const std::size_t piece : {7ul, 100ul, 1001ul, 5000ul}) {
    EXPECT_TRUE(same_bits(whole, run_in_pieces(plan_of(problem), bytes, points, piece))) << piece;
  }
  problem.threads = 3;
  EXPECT_TRUE(same_bits(whole, run_in_pieces(plan_of(problem), bytes, points, bytes.size())));
}

// Two stations receive the same noise, one of them late by a fraction of a sample: after correction both agree.
TEST(Delays, AStationWithADelayAgreesWithOneWithout) {
  constexpr std::size_t kSamples = 64 * 60, kLong = 2048;
  const double tau = 7.3, frequency = 12.25;
  std::mt19937 random(3);
  std::normal_distribution<double> values;
  // Noise within the band, of period kLong, so that it can be evaluated at any time.
  std::vector<std::complex<double>> lines(kLong * 3 / 4);
  for (auto& line : lines) line = {values(random), values(random)};
  const auto at = [&](double n) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const double f = (static_cast<double>(i) - static_cast<double>(lines.size()) / 2) / kLong;
      sum += lines[i] * std::polar(1.0, 2 * M_PI * f * n);
    }
    return sum;
  };
  const Problem problem{.channels = 64,
                        .taps = 8,
                        .stations = 2,
                        .polarizations = 1,
                        .samples = Samples::float32,
                        .delays = {.wanted = true, .frequency = frequency, .longest = 16}};
  Bytes bytes(kSamples * 2 * 8);
  std::vector<std::complex<double>> period(kLong), late(kLong);
  for (std::size_t n = 0; n < kLong; ++n) {
    period[n] = at(static_cast<double>(n));
    late[n] = at(static_cast<double>(n) - tau) * std::polar(1.0, -2 * M_PI * frequency * tau);
  }
  for (std::size_t n = 0; n < kSamples; ++n) {
    for (std::size_t s = 0; s < 2; ++s) {
      const auto value = static_cast<std::complex<float>>((s == 0 ? period : late)[n % kLong]);
      std::memcpy(bytes.data() + ((n / 64 * 2 + s) * 64 + n % 64) * 8, &value, 8);
    }
  }
  const std::vector<DelayPoint> points{{0, {0.0, tau}}}, none{{0, {0.0, 0.0}}};
  const auto difference = [&](const std::vector<DelayPoint>& delays) {
    const Spectra out = run_in_pieces(plan_of(problem), bytes, delays, bytes.size());
    Spectra here, there;
    for (std::size_t i = 10 * 128; i < out.size(); i += 128) {
      here.insert(here.end(), out.begin() + static_cast<std::ptrdiff_t>(i),
                  out.begin() + static_cast<std::ptrdiff_t>(i + 64));
      there.insert(there.end(), out.begin() + static_cast<std::ptrdiff_t>(i + 64),
                   out.begin() + static_cast<std::ptrdiff_t>(i + 128));
    }
    return error(there, here);
  };
  // The remaining error is the fraction of a sample that shifts the window but not the signal: 1/64 of a channel's
  // filter.
  EXPECT_LT(difference(points), 0.02);
  EXPECT_GT(difference(none), 0.5);
}

TEST(Delays, SavedAndRestoredInMidTrack) {
  const Problem problem = delayed_problem();
  const Plan plan = plan_of(problem);
  const auto points = moving_delays(problem);
  const Bytes bytes = noise(problem, 1200);
  const Spectra whole = run_in_pieces(plan, bytes, points, bytes.size());
  Spectra out(whole.size());
  Stream first(plan);
  for (const auto& point : points) first.set_delays(point.sample, point.delays);
  const auto half = std::span(bytes).first(bytes.size() / 2 + 3);
  const std::size_t done = first.push(half, out);
  Stream second(plan);
  second.restore(first.save());
  second.push(std::span(bytes).subspan(half.size()), std::span(out).subspan(done * plan.spectrum_size()));
  EXPECT_TRUE(same_bits(out, whole));
}

TEST(Delays, PointsCanBeAddedDuringTheStream) {
  const Problem problem = delayed_problem();
  const Plan plan = plan_of(problem);
  const auto points = moving_delays(problem);
  const Bytes bytes = noise(problem, 1200);
  const Spectra whole = run_in_pieces(plan, bytes, points, bytes.size());
  Stream stream(plan);
  Spectra out(whole.size());
  stream.set_delays(points[0].sample, points[0].delays);
  stream.set_delays(points[1].sample, points[1].delays);
  const auto start = std::span(bytes).first(400 * problem.stations * problem.polarizations * 4);
  const std::size_t done = stream.push(start, out);
  stream.set_delays(points[2].sample, points[2].delays);
  stream.push(std::span(bytes).subspan(start.size()), std::span(out).subspan(done * plan.spectrum_size()));
  EXPECT_TRUE(same_bits(out, whole));
  EXPECT_THROW(stream.set_delays(2000, points[2].delays), Error) << "it would change what was written";
}

TEST(Delays, MistakesAreRefused) {
  const Problem problem = delayed_problem();
  Stream stream(plan_of(problem));
  const std::vector<double> good(6, 1.0);
  const auto refusal = [&](std::uint64_t sample, const std::vector<double>& delays) {
    try {
      stream.set_delays(sample, delays);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(0, std::vector<double>(5, 1.0)), HasSubstr("need 6"));
  EXPECT_THAT(refusal(0, std::vector<double>(6, 40.6)), HasSubstr("0 .. 40"));
  EXPECT_THAT(refusal(0, std::vector<double>(6, std::nan(""))), HasSubstr("nan"));
  EXPECT_EQ(refusal(50, good), "");
  EXPECT_THAT(refusal(50, good), HasSubstr("after"));
  Stream plain(plan_of({.channels = 24, .taps = 4, .stations = 3}));
  EXPECT_THROW(plain.set_delays(0, good), Error);
}

TEST(ChannelMajor, PiecesOfAnyLengthGiveTheSameBits) {
  const Problem problem{.channels = 20, .taps = 4, .stations = 2, .order = Order::channel, .output_times = 6};
  const Plan plan = plan_of(problem);
  const Bytes bytes = noise(problem, 20 * 50);
  const Spectra whole = run_in_pieces(plan, bytes, {}, bytes.size());
  EXPECT_EQ(whole.size(), 48 * plan.spectrum_size());
  for (const std::size_t piece : {13ul, 300ul, 1000ul}) {
    EXPECT_TRUE(same_bits(whole, run_in_pieces(plan, bytes, {}, piece))) << piece;
  }
}

TEST(ChannelMajor, WeightsMayChangeWithinABlock) {
  const Problem problem{.channels = 20, .taps = 4, .stations = 2, .order = Order::channel, .output_times = 6};
  const Bytes bytes = noise(problem, 20 * 24);
  std::vector<double> weights = design(20, 4);
  for (double& weight : weights) weight *= 2;
  const auto run_with = [&](const Problem& wanted) {
    const Plan plan = plan_of(wanted);
    Stream stream(plan);
    stream.replace_weights(weights, 20 * 9);
    Spectra out(stream.due(bytes.size()) * plan.spectrum_size());
    stream.push(bytes, out);
    return out;
  };
  Problem plain = problem;
  plain.order = Order::time;
  const Spectra by_channel = run_with(problem), by_time = run_with(plain);
  const Geometry g = resolve(problem);
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < 24; ++t) {
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t s = 0; s < 2; ++s) {
        for (std::size_t k = 0; k < 20; ++k) {
          wrong += by_channel[g.place(0, t, p, s, k)] == by_time[((t * 2 + p) * 2 + s) * 20 + k] ? 0 : 1;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(ChannelMajor, StartsOnlyWithABlock) {
  const Problem problem{.channels = 20, .taps = 4, .order = Order::channel, .output_times = 6};
  Stream stream(plan_of(problem));
  EXPECT_THROW(stream.start_at(7), Error);
  EXPECT_NO_THROW(stream.start_at(12));
  EXPECT_THROW(Detector(problem, {}), Error);
  EXPECT_THROW(Synthesis{problem}, Error);
}

}  // namespace
}  // namespace ridge::filterbank::test
