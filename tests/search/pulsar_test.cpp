// Tests of folding, periodicity search and coherent dedispersion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <random>

#include <ridge/fft.hpp>
#include <ridge/search/coherent.hpp>
#include <ridge/search/fold.hpp>
#include <ridge/search/periods.hpp>

#include "support/devices.hpp"
#include "support/error_of.hpp"

namespace ridge::search {
namespace {

using testing::HasSubstr;
using Value = std::complex<float>;

const Band kNarrow{.channels = 8, .first_mhz = 1500, .step_mhz = -10, .interval = 1e-3};

// Rows of noise; `on(time, channel)` is the added power in units of sigma.
template <class On>
std::vector<std::byte> noisy_rows(std::size_t rows, std::size_t channels, std::uint64_t seed, const On& on) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> values(rows * channels);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 50 + normal(random) + 3 * static_cast<float>(on(i / channels, i % channels));
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

double fraction(long double turns) { return static_cast<double>(turns - std::floor(turns)); }

TEST(SearchFold, KeepsEverySampleAndTheSignal) {
  const double frequency = 1.2345678, derivative = -2e-5, dm = 80, duty = 0.1, amplitude = 0.5;
  const std::size_t rows = 50001;
  const auto turns = [&](std::size_t row, std::size_t channel) -> long double {
    const long double f = 1500.0L - 10.0L * channel;
    const long double t = row * 1e-3L - 4148.808L * dm * (1 / (f * f) - 1 / (1500.0L * 1500.0L));
    return frequency * t + derivative * t * t / 2;
  };
  const auto bytes = noisy_rows(
      rows, 8, 3, [&](std::size_t r, std::size_t c) { return fraction(turns(r, c)) < duty ? amplitude : 0; });
  Folder folder(kNarrow, {.frequency = frequency, .derivative = derivative},
                {.bins = 100, .subbands = 3, .dm = dm, .bits = 32});
  for (std::size_t at = 0; at < bytes.size(); at += 77777)
    folder.push(std::span(bytes).subspan(at, std::min<std::size_t>(77777, bytes.size() - at)));
  const Profile profile = folder.profile();
  EXPECT_EQ(folder.samples(), rows);
  std::uint64_t hits = 0;
  for (const std::uint64_t count : profile.hits) hits += count;
  EXPECT_EQ(hits, rows * 8);
  // Theory: amplitude * sqrt(values in the pulse * (1 - duty)).
  const double theory = amplitude * std::sqrt(duty * (1 - duty) * static_cast<double>(rows * 8));
  EXPECT_NEAR(profile.snr() / theory, 1, 0.03);
  const std::vector<double> mean = profile.mean();
  for (std::size_t s = 0; s < 3; ++s) {
    double on = 0, off = 0;
    for (std::size_t b = 0; b < 100; ++b) (b < 10 ? on : off) += mean[s * 100 + b] / (b < 10 ? 10 : 90);
    EXPECT_NEAR(on - off, amplitude, 0.03) << "sub-band " << s;
  }
}

// A day of a millisecond pulsar: phases stay within 1e-3 turns of the exact ones.
TEST(SearchFold, PhasesDoNotDrift) {
  const Rotation rotation{.frequency = 641.928, .derivative = -4.33e-14, .epoch = 100};
  for (const double t : {0.0, 1000.0, 43200.0, 86400.0}) {
    const long double x = t - 100.0L, exact = x * 641.928L - 4.33e-14L * x * x / 2;
    const double off =
        std::remainder(rotation.turns(t) - static_cast<double>(std::floor(exact)) - fraction(exact), 1.0);
    EXPECT_LT(std::abs(off), 1e-6) << t;
  }
}

constexpr const char* kPolyco =
    "0531+21    1-Jan-20   00:00:00.00   58849.50000000000             56.77  0.0 -6.0\n"
    "  12345678901.250000     29.600000000000    @    60    3  1400.000\n"
    "  1.00000000000000000D-01  2.00000000000000000D-03 -3.00000000000000000D-06\n";

TEST(SearchFold, ReadsPolycoFiles) {
  const auto blocks = parse_polyco(kPolyco, "p");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].day, 58849);
  EXPECT_NEAR(blocks[0].second, 43200, 1e-6);
  const Rotation rotation{.polyco = blocks, .start_day = 58849, .start_second = 43200 - 600};
  const double minutes = (100.0 - 600) / 60;
  EXPECT_NEAR(rotation.turns(100), 0.25 + 60 * minutes * 29.6 + 0.1 + 2e-3 * minutes - 3e-6 * minutes * minutes, 1e-8);
  EXPECT_NEAR(rotation.frequency_at(100), 29.6 + (2e-3 - 6e-6 * minutes) / 60, 1e-12);
  // Phases before the pulsar's own epoch are negative, their fractions too.
  const std::string negative = "a b c 58849.5\n-12345.75 29.6 @ 60 1 1400\n0.5\n";
  EXPECT_NEAR(parse_polyco(negative, "p")[0].reference_phase, -0.75, 1e-12);
  const auto refused = [](const std::string& text) {
    return ridge::test::error_of([&] { parse_polyco(text, "p"); }, ErrorKind::io);
  };
  EXPECT_THAT(refused(""), HasSubstr("no polyco block"));
  EXPECT_THAT(refused("a b c\n"), HasSubstr("not a polyco file"));
  EXPECT_THAT(refused("a b c 5x\n1 2 3 4 5\n"), HasSubstr("not a number"));
  EXPECT_THAT(refused("a b c 1e300\n1 2 3 4 5\n"), HasSubstr("modified Julian day"));
  EXPECT_THAT(refused("a b c 58849.5\n1.5 29.6 @ 60 3 1400\n0.5 0.5\n"), HasSubstr("2 of 3 coefficients"));
  EXPECT_THAT(ridge::test::error_of([&] { rotation.turns(1e5); }, ErrorKind::invalid_argument), HasSubstr("covers"));
}

// Channels are normalized by the same rows, however many arrive at first.
TEST(SearchFold, PiecesDoNotChangeTheProfile) {
  const auto rows = noisy_rows(40000, 8, 4, [](std::size_t row, std::size_t) { return row < 20000 ? 0.0 : 3.0; });
  const auto folded = [&](std::size_t piece) {
    Folder folder(kNarrow, {.frequency = 10}, {.bits = 32});
    const std::span<const std::byte> all(rows);
    for (std::size_t at = 0; at < all.size(); at += piece)
      folder.push(all.subspan(at, std::min(piece, all.size() - at)));
    return folder.profile().sum;
  };
  const auto whole = folded(rows.size());
  EXPECT_EQ(folded(1000), whole);
  EXPECT_EQ(folded(20001 * 32), whole);
}

TEST(SearchFold, TheFrequencyIsTheDerivativeOfTheTurns) {
  std::vector<PolycoBlock> blocks = parse_polyco(kPolyco, "p");
  for (const Rotation& rotation :
       {Rotation{.frequency = 3.1, .derivative = -1e-3, .second_derivative = 2e-5, .epoch = 40},
        Rotation{.polyco = blocks, .start_day = 58849, .start_second = 43200 - 600}}) {
    for (const double t : {0.0, 90.0, 300.0}) {
      const double h = 0.01, slope = (rotation.turns(t + h) - rotation.turns(t - h)) / (2 * h);
      EXPECT_NEAR(rotation.frequency_at(t), slope, 1e-8 * slope) << t;
    }
  }
}

TEST(SearchFold, UsesTheNearestBlockWithinItsSpan) {
  std::vector<PolycoBlock> blocks(3, parse_polyco(kPolyco, "p").front());  // 60 minutes around 12 h, 13 h and 15 h
  blocks[1].second += 3600, blocks[1].frequency = 31;
  blocks[2].second += 3 * 3600, blocks[2].frequency = 37;
  const Rotation rotation{.polyco = blocks, .start_day = 58849, .start_second = 43200};
  for (const auto& [minutes, frequency] :
       {std::pair{-29.0, 29.6}, {29.0, 29.6}, {31.0, 31.0}, {90.5, 31.0}, {149.5, 37.0}})
    EXPECT_NEAR(rotation.frequency_at(60 * minutes), frequency, 1e-3) << minutes;
  for (const double minutes : {-35.0, 95.0, 120.0, 145.0, 215.0}) {
    EXPECT_THAT(ridge::test::error_of([&] { rotation.turns(60 * minutes); }, ErrorKind::invalid_argument),
                HasSubstr("covers"))
        << minutes;
  }
}

TEST(SearchFold, DoesNotDependOnHowTheInputIsCut) {
  const std::size_t rows = 40000;
  const auto bytes = noisy_rows(rows, 8, 5, [](std::size_t r, std::size_t c) {
    const double t = static_cast<double>(r) * 1e-3;
    return c == 3 && fraction(20 * t - 0.01 * t * t) < 0.1 ? 9.0 : 0.0;
  });
  std::vector<Profile> made;
  for (const std::size_t part : {bytes.size(), std::size_t{1000}, std::size_t{77777}, std::size_t{640000}}) {
    // The frequency changes within a block: a phase that is computed at other samples differs.
    Folder folder(kNarrow, {.frequency = 20, .derivative = -0.02}, {.bins = 50, .subbands = 3, .bits = 32});
    for (std::size_t at = 0; at < bytes.size(); at += part)
      folder.push(std::span(bytes).subspan(at, std::min(part, bytes.size() - at)));
    made.push_back(folder.profile());
    EXPECT_EQ(made.back().sum, made.front().sum) << part;
    EXPECT_EQ(made.back().hits, made.front().hits) << part;
  }
  // Sub-bands of 3, 3 and 2 channels; the pulses of channel 3 are in the second.
  const std::vector<double> mean = made.front().mean();
  for (std::size_t s = 0; s < 3; ++s) {
    std::uint64_t hits = 0;
    double square = 0;
    for (std::size_t b = 0; b < 50; ++b)
      hits += made.front().hits[s * 50 + b], square += mean[s * 50 + b] * mean[s * 50 + b];
    EXPECT_EQ(hits, rows * (s < 2 ? 3 : 2)) << s;
    EXPECT_EQ(square > 0.5, s == 1) << s << ": " << square;
  }
}

TEST(SearchFold, RefusesImpossibleSettings) {
  const auto refused = [](const Rotation& rotation, const FoldSettings& settings) {
    return ridge::test::error_of([&] { Folder(kNarrow, rotation, settings); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refused({.frequency = 0}, {}), HasSubstr("positive frequency"));
  EXPECT_THAT(refused({.frequency = std::nan("")}, {}), HasSubstr("positive frequency"));
  EXPECT_THAT(refused({.frequency = 1}, {.bins = 1}), HasSubstr("bins"));
  EXPECT_THAT(refused({.frequency = 1}, {.subbands = 9}), HasSubstr("sub-bands"));
  EXPECT_THAT(refused({.frequency = 1}, {.dm = -1}), HasSubstr("negative"));
  // That far from the epoch, a double cannot hold the phase to a bin.
  EXPECT_THAT(refused({.frequency = 1, .epoch = 1e300}, {}), HasSubstr("an epoch near the first sample"));
  EXPECT_THAT(refused({.frequency = 1e3, .epoch = -1e10}, {}), HasSubstr("an epoch near the first sample"));
  EXPECT_THAT(refused({.frequency = 10, .derivative = -2, .epoch = -6}, {}), HasSubstr("must be positive, got -2 Hz"));
  Folder(kNarrow, {.frequency = 1e3, .epoch = -1e9}, {});
}

// The rotation stops after 5 s: samples before that are folded, later ones are an error.
TEST(SearchFold, RefusesSamplesAfterTheRotationEnds) {
  const auto rows = noisy_rows(40000, 8, 3, [](std::size_t, std::size_t) { return 0.0; });
  Folder folder(kNarrow, {.frequency = 10, .derivative = -2}, {.bits = 32});
  EXPECT_THAT(ridge::test::error_of([&] { folder.push(rows); }, ErrorKind::invalid_argument),
              HasSubstr("after the first sample must be positive"));
}

std::vector<float> pulsar_series(std::size_t n, double interval, double frequency, double acceleration,
                                 double amplitude) {
  std::mt19937_64 random(11);
  std::normal_distribution<float> normal;
  std::vector<float> series(n);
  for (std::size_t t = 0; t < n; ++t) {
    const double x = (static_cast<double>(t) - static_cast<double>(n) / 2) * interval;
    const double emitted = x + acceleration * x * x / (2 * 299792458.0);
    const double phase = frequency * emitted - std::floor(frequency * emitted);
    series[t] = normal(random) + static_cast<float>(phase < 0.08 ? amplitude : 0);
  }
  return series;
}

TEST(SearchPeriods, FindsAPulsarAndItsAcceleration) {
  const double interval = 1e-3, frequency = 37.1234, seconds = 65.536;
  const auto series = pulsar_series(65536, interval, frequency, 8000, 0.5);
  const auto still = find_periods(host(), series, interval, {});
  const auto moving = find_periods(host(), series, interval,
                                   {.acceleration_begin = 0, .acceleration_end = 16000, .acceleration_step = 2000});
  ASSERT_FALSE(moving.empty());
  EXPECT_NEAR(moving[0].frequency, frequency, 1 / seconds);
  EXPECT_NEAR(moving[0].period * moving[0].frequency, 1, 1e-12);
  EXPECT_NEAR(moving[0].acceleration, 8000, 2001);
  EXPECT_GT(moving[0].harmonics, 1U);
  EXPECT_TRUE(still.empty() || still[0].sigma < moving[0].sigma - 1);
  EXPECT_LE(moving.size(), 2U) << "harmonics of one pulsar are one candidate";
}

TEST(SearchPeriods, FindsNothingInNoise) {
  EXPECT_TRUE(find_periods(host(), pulsar_series(65536, 1e-3, 5, 0, 0), 1e-3, {.threshold = 4}).empty());
  EXPECT_THAT(
      ridge::test::error_of([] { find_periods(host(), std::vector<float>(10), 1, {}); }, ErrorKind::invalid_argument),
      HasSubstr("1024 samples"));
  EXPECT_THAT(ridge::test::error_of([] { find_periods(host(), std::vector<float>(2000), 1, {.harmonics = 3}); },
                                    ErrorKind::invalid_argument),
              HasSubstr("got 3"));
}

TEST(SearchPeriods, RefusesAccelerationsBeyondLight) {
  const auto refused = [](const PeriodSettings& settings, std::size_t samples, double interval) {
    return ridge::test::error_of([&] { check(settings, samples, interval); }, ErrorKind::invalid_argument);
  };
  // 2e8 m/s after 2 s; a minute of 1e9 m/s^2 is 200 times the speed of light.
  check({.acceleration_begin = -1e8, .acceleration_end = 1e8}, 2000, 1e-3);
  EXPECT_THAT(refused({.acceleration_begin = -1e9, .acceleration_end = 1e9}, 60000, 1e-3),
              HasSubstr("less than 5e+06 m/s^2 over 60 s, got 1e+09"));
  EXPECT_THAT(refused({.acceleration_begin = -1e9}, 60000, 1e-3), HasSubstr("got 1e+09"));
  EXPECT_THAT(refused({}, 1023, 1e-3), HasSubstr("1024 samples"));
  EXPECT_THAT(refused({.acceleration_end = 1e4, .acceleration_step = 1e-3}, 60000, 1e-3),
              HasSubstr("at most 1000000 trial accelerations, got 1e+07"));
}

// Every bin of noise is a candidate: no listed period is related to a stronger one, by plain loops over all pairs.
TEST(SearchPeriods, RelatedPeriodsAreListedOnce) {
  const double interval = 1e-3, seconds = 4.096;
  const auto found = find_periods(host(), pulsar_series(4096, interval, 37, 0, 0.5), interval,
                                  {.lowest_hz = 0, .threshold = 0, .most = 100000});
  ASSERT_GT(found.size(), 3U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_LE(found[i].sigma, found[j].sigma);
      for (int p = 1; p <= 16; ++p) {
        for (int q = 1; q <= 16; ++q)
          EXPECT_GT(std::abs(found[i].frequency * p - found[j].frequency * q), 1.4999 / seconds * (p + q));
      }
    }
  }
}

// Natural logarithm of the probability that the sum of n exponential variables of mean 1 exceeds s, summed directly.
double log_chance(std::size_t n, double s) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k)
    sum += std::exp(static_cast<double>(k) * std::log(s) - std::lgamma(static_cast<double>(k) + 1));
  return std::log(sum) - s;
}

double squared_sinc(double x) {
  return x == 0 ? 1 : std::pow(std::sin(std::numbers::pi * x) / (std::numbers::pi * x), 2);
}

// White noise of deviation 1 with cosines of the given bins; each has the power `power` in its bin.
std::vector<float> series_with(const std::vector<double>& bins, double power, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> series(n);
  for (std::size_t t = 0; t < n; ++t) {
    double value = normal(random);
    for (const double bin : bins)
      value += 2 * std::sqrt(power / static_cast<double>(n)) *
               std::cos(2 * std::numbers::pi * bin * static_cast<double>(t) / static_cast<double>(n));
    series[t] = static_cast<float>(value);
  }
  return series;
}

TEST(SearchPeriods, PowersAndSignificancesAreThoseOfTheory) {
  constexpr std::size_t n = 1 << 14;
  const double interval = 1e-3, seconds = n * interval;
  // Eight harmonics of equal power between bins: harmonic h is in the bin nearest to h times the frequency.
  const double fundamental = 100.375, power = 60;
  std::vector<double> bins;
  double expected = 0;
  for (int h = 1; h <= 8; ++h) {
    bins.push_back(h * fundamental);
    expected += power * squared_sinc(h * fundamental - std::round(h * fundamental)) + 1;
  }
  PeriodSettings settings;
  settings.harmonics = 8;
  settings.threshold = 5;
  const auto found = find_periods(host(), series_with(bins, power, n, 9), interval, settings);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().harmonics, 8U);
  EXPECT_NEAR(found.front().frequency, fundamental / seconds, 0.1 / seconds);
  EXPECT_NEAR(found.front().power / expected, 1, 0.2);
  // One tone: the significance of every candidate follows from its power and the number of trials.
  for (const double strength : {30.0, 60.0, 300.0}) {
    const auto tones = find_periods(host(), series_with({1000}, strength, n, 7), interval, settings);
    ASSERT_FALSE(tones.empty()) << strength;
    EXPECT_NEAR(tones.front().power / (strength + 1), 1, 0.15 + 2 / std::sqrt(strength)) << strength;
    for (const PeriodCandidate& one : tones) {
      const double log_p = log_chance(one.harmonics, one.power) + std::log(n / 2.0 * 4);
      if (one.sigma > 30) continue;
      EXPECT_NEAR(std::log(std::erfc(one.sigma / std::numbers::sqrt2) / 2), log_p, 1e-3 * std::abs(log_p)) << one.power;
    }
  }
}

// Red noise: powers are relative to the local level, also between the middles of the blocks whose medians are taken.
TEST(SearchPeriods, RedNoiseIsWhitened) {
  constexpr std::size_t n = 1 << 14;
  constexpr double kMemory = 0.99, kPower = 300;
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  PeriodSettings settings;
  settings.harmonics = 1;
  double sum = 0;
  for (int k = 0; k < 8; ++k) {
    const double turn = 2 * std::numbers::pi * (220 + 37 * k) / static_cast<double>(n);
    const double level = 1 / std::norm(1.0 - kMemory * std::polar(1.0, turn));
    std::vector<float> series(n);
    double noise = 0;
    for (std::size_t t = 0; t < n; ++t) {
      noise = kMemory * noise + normal(random);
      series[t] = static_cast<float>(noise + 2 * std::sqrt(kPower * level / static_cast<double>(n)) *
                                                 std::cos(turn * static_cast<double>(t)));
    }
    const auto found = find_periods(host(), series, 1e-3, settings);
    ASSERT_FALSE(found.empty());
    EXPECT_NEAR(found.front().frequency * n * 1e-3, 220 + 37 * k, 0.5);
    sum += found.front().power / (kPower + 1) / 8;
  }
  EXPECT_NEAR(sum, 1, 0.15);
}

TEST(SearchPeriods, FrequenciesBelowTheLowestAreLeftOut) {
  constexpr std::size_t n = 1 << 14;
  std::vector<double> bins;
  for (int h = 1; h <= 8; ++h) bins.push_back(40.0 * h);
  PeriodSettings settings;
  settings.harmonics = 8;
  for (const double lowest : {0.1, 30 / (n * 1e-3), 50 / (n * 1e-3), 130 / (n * 1e-3)}) {
    settings.lowest_hz = lowest;
    const auto found = find_periods(host(), series_with(bins, 100, n, 5), 1e-3, settings);
    ASSERT_FALSE(found.empty());
    for (const PeriodCandidate& one : found) EXPECT_GE(one.frequency, lowest - 1 / (n * 1e-3)) << lowest;
    EXPECT_EQ(std::abs(found.front().frequency - 40 / (n * 1e-3)) < 0.01, lowest < 2.4) << lowest;
  }
}

TEST(SearchMemory, ProblemsLargerThanTheMachineAreRefused) {
  const auto refused = [](const std::function<void()>& call) {
    return ridge::test::error_of(call, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(
      refused(
          [] { CoherentPlan(host(), {.centre_mhz = 1400, .rate_mhz = 1, .dm = 1, .length = std::size_t{1} << 42}); }),
      testing::AllOf(HasSubstr("transforms of 4398046511104 points"), HasSubstr("of memory, but this process")));
  const Band wide{.channels = 65536, .first_mhz = 1500, .step_mhz = -0.02, .interval = 1e-6};
  EXPECT_THAT(refused([&] { Stream(host(), wide, {.dm_begin = 1700, .dm_end = 1700, .widest = 1 << 20}); }),
              testing::AllOf(HasSubstr("of memory, but this process"), HasSubstr("lower --dm")));
  EXPECT_THAT(refused([&] { Stream(host(), wide, {.dm_end = 1, .memory = 1000}); }),
              HasSubstr("a memory limit of 1000 B is too small"));
}

TEST(SearchPeriods, SeriesAreDedispersed) {
  const double dm = 200;
  const auto bytes = noisy_rows(30000, 8, 5, [&](std::size_t r, std::size_t c) {
    const double f = 1500 - 10.0 * static_cast<double>(c);
    const double t = static_cast<double>(r) - std::round(4148.808 * dm * (1 / (f * f) - 1 / (1500.0 * 1500.0)) / 1e-3);
    return t == 20000 ? 10.0 : 0.0;
  });
  Dedisperser dedisperser(kNarrow, dm, 32);
  dedisperser.push(bytes);
  const std::vector<float> series = dedisperser.finish();
  EXPECT_LT(series.size(), 30000U);
  EXPECT_EQ(std::max_element(series.begin(), series.end()) - series.begin(), 20000);
  EXPECT_NEAR(series[20000], 10 * std::sqrt(8.0), 4);
  double square = 0;
  for (const float x : series) square += static_cast<double>(x) * x / static_cast<double>(series.size());
  EXPECT_NEAR(square, 1, 0.05);
}

// A random signal within 90 % of the band, dispersed by one long transform in double, comes back.
void expect_restored(const CoherentProblem& problem) {
  const std::size_t n = 1 << 15;
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> spectrum(n), dispersed(n), plain(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double share = (static_cast<double>(k) - (2 * k < n ? 0.0 : static_cast<double>(n))) / static_cast<double>(n);
    if (std::abs(share) < 0.45) spectrum[k] = {normal(random), normal(random)};
  }
  const fft::Plan<double> transform(host(), {.shape = {n}}, {.effort = Effort::quick});
  transform.inverse(spectrum, plain);
  for (std::size_t k = 0; k < n; ++k) {
    const double share = (static_cast<double>(k) - (2 * k < n ? 0.0 : static_cast<double>(n))) / static_cast<double>(n);
    // Phase of dispersion: the integral of the delay, by definition, in long double.
    const long double f0 = problem.centre_mhz, f = share * problem.rate_mhz;
    long double turns = 4148.808e6L * problem.dm * f * f / (f0 * f0 * (f0 + f));
    turns -= std::round(turns);
    const double angle = 2 * std::numbers::pi * static_cast<double>(turns) * (problem.rate_mhz < 0 ? -1 : 1);
    spectrum[k] *= std::polar(1.0, angle);
  }
  transform.inverse(spectrum, dispersed);
  std::vector<Value> in(n), out(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = Value(dispersed[i]);
  const CoherentPlan plan(host(), problem);
  plan.run(in, out);
  double error = 0, power = 0;
  const std::size_t edge = plan.before() + plan.after();
  ASSERT_LT(3 * edge, n);
  for (std::size_t i = edge; i + edge < n; ++i) {
    error += std::norm(std::complex<double>(out[i]) - plain[i]);
    power += std::norm(plain[i]);
  }
  EXPECT_LT(10 * std::log10(error / power), -60) << plan.length();
}

TEST(SearchCoherent, RestoresADispersedSignal) {
  const CoherentProblem problem{.centre_mhz = 1203, .rate_mhz = 6.25, .dm = 4, .length = 4096, .taper = 0.04};
  expect_restored(problem);
  CoherentProblem other = problem;
  other.rate_mhz = -6.25;
  expect_restored(other);
  other = problem, other.length = 0, other.dm = 2;
  expect_restored(other);
  other.length = 6000;
  expect_restored(other);
}

class SearchCoherentDevice : public test::NeedsAccelerator<testing::TestWithParam<const char*>> {};

// Both routes of a device against the host, which RestoresADispersedSignal compares with the definition: any number of
// samples, floats through run() and bytes in device memory.
TEST_P(SearchCoherentDevice, EqualsTheHost) {
  const bool fused = std::string(GetParam()) == "fused";
  for (const Device& device : test::accelerators()) {
    for (const std::size_t length : {4096, 8192, 16384, 32768, 65536, 6000}) {
      const std::size_t group = std::min<std::size_t>(length, length > 16384 ? 8192 : 16384);  // points per work-group
      const bool possible = length != 6000 && device.limits().work_group >= group / 16 &&
                            device.limits().local_memory >= group * 17 / 16 * 8 &&
                            (length <= 16384 || device.limits().clusters);
      if (fused && !possible) continue;
      // Slow to compile there: one kernel of each kind, and transforms of one length.
      if (device.info().runs_on_host_cores && (fused ? length == 8192 : length != 6000)) continue;
      CoherentProblem problem{.centre_mhz = 1203, .rate_mhz = length == 4096 ? -6.25 : 6.25, .dm = 2, .length = length};
      const planner::Options options{.effort = Effort::quick, .variant = GetParam()};
      const CoherentPlan reference(host(), problem), plan(device, problem, options);
      problem.bytes = true;
      const CoherentPlan plan_of_bytes(device, problem, options);
      const std::size_t hop = length - plan.before() - plan.after();
      for (const std::size_t samples : {std::size_t{1}, hop, 3 * hop + 17}) {
        std::mt19937 random(static_cast<unsigned>(samples));
        std::vector<std::int8_t> bytes(2 * samples);
        for (std::int8_t& byte : bytes) byte = static_cast<std::int8_t>(random());
        std::vector<Value> in(samples), expected(samples), out(samples, Value(std::nanf(""))), from_bytes = out;
        for (std::size_t i = 0; i < samples; ++i) in[i] = {float(bytes[2 * i]), float(bytes[2 * i + 1])};
        reference.run(in, expected);
        plan.run(in, out);
        Queue queue = device.queue();
        const Buffer packed = device.buffer(bytes.size()), buffer = device.buffer(samples * sizeof(Value));
        queue.upload(std::span<const std::int8_t>(bytes), packed);
        plan_of_bytes.enqueue(queue, packed, samples, buffer);
        queue.download(buffer, std::span<Value>(from_bytes));
        queue.finish();
        for (std::size_t i = 0; i < samples; ++i) {  // a root mean square of 105
          ASSERT_LE(std::abs(out[i] - expected[i]), 1e-3) << device.id() << " " << length << " " << samples << " " << i;
          ASSERT_LE(std::abs(from_bytes[i] - expected[i]), 1e-3) << device.id() << " " << length << " bytes " << i;
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Routes, SearchCoherentDevice, testing::Values("fused", "transforms"),
                         [](const auto& one) { return std::string(one.param); });

TEST(SearchCoherent, RefusesImpossibleProblems) {
  const auto refused = [](const CoherentProblem& problem) {
    return ridge::test::error_of([&] { CoherentPlan(host(), problem); }, ErrorKind::invalid_argument);
  };
  EXPECT_THAT(refused({.centre_mhz = 1, .rate_mhz = 6, .dm = 1}), HasSubstr("above 0 MHz"));
  EXPECT_THAT(refused({.centre_mhz = 1000, .rate_mhz = 0, .dm = 1}), HasSubstr("above 0 MHz"));
  EXPECT_THAT(refused({.centre_mhz = 1000, .rate_mhz = 6, .dm = -1}), HasSubstr("negative"));
  EXPECT_THAT(refused({.centre_mhz = 1000, .rate_mhz = 6, .dm = 100, .length = 64}), HasSubstr("points for the sweep"));
  EXPECT_THAT(refused({.centre_mhz = 1000, .rate_mhz = 6, .dm = 1, .taper = 0.5}), HasSubstr("taper"));
}

}  // namespace
}  // namespace ridge::search
