// Tests of the pulse search: S/N of injected pulses against theory, missed pulses, false alarms of noise, formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include <ridge/search.hpp>

#include "search/detections.hpp"
#include "search/flags.hpp"
#include "search/input_block.hpp"
#include "support/error_of.hpp"

namespace ridge::search {
namespace {

using testing::HasSubstr;

// Narrow channels: smearing within a channel, which these pulses do not have, stays below one sample.
const Band kBand{.channels = 128, .first_mhz = 1500, .step_mhz = -0.25, .interval = 256e-6};

std::vector<std::byte> simulated(const Simulation& simulation, std::size_t rows) {
  std::vector<std::byte> bytes(rows * simulation.band.channels * simulation.bits / 8);
  simulate(simulation, 0, rows, bytes);
  return bytes;
}

std::vector<Candidate> searched(const Band& band, const Settings& settings, std::span<const std::byte> bytes,
                                const std::string& variant = {}, std::size_t cut = 0) {
  Stream stream(host(), band, settings, {.effort = Effort::quick, .use_wisdom = false, .variant = variant});
  std::vector<Candidate> all;
  const std::size_t piece = cut == 0 ? bytes.size() : cut;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    stream.push(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    for (const Candidate& one : stream.take()) all.push_back(one);
  }
  for (const Candidate& one : stream.finish()) all.push_back(one);
  return all;
}

// The candidate that overlaps the pulse in time and is near in dispersion measure.
const Candidate* nearest_to(const Pulse& pulse, const std::vector<Candidate>& all) {
  const Candidate* best = nullptr;
  const double width = static_cast<double>(pulse.samples) * kBand.interval, middle = pulse.time + width / 2;
  for (const Candidate& one : all) {
    if (std::abs(one.time - middle) > 2 * width + 4 * kBand.interval ||
        std::abs(one.dm - pulse.dm) > 25 + 2 * width * 1e3)
      continue;
    if (best == nullptr || one.snr > best->snr) best = &one;
  }
  return best;
}

// S/N of the pulse in the stored values, in double: at its own delays and width, with the noise's true mean and sigma.
double exact_snr(const Pulse& pulse, const std::vector<std::byte>& bytes, double mean, double sigma) {
  double sum = 0;
  const auto start = static_cast<std::size_t>(pulse.time / kBand.interval + 1e-9);
  for (std::size_t c = 0; c < kBand.channels; ++c) {
    const double mhz = kBand.first_mhz + kBand.step_mhz * static_cast<double>(c);
    const double late = 4148.808 * pulse.dm * (1 / (mhz * mhz) - 1 / (1500.0 * 1500.0)) / kBand.interval;
    for (std::size_t k = 0; k < pulse.samples; ++k) {
      const std::size_t row = start + static_cast<std::size_t>(std::lround(late)) + k;
      sum += std::to_integer<int>(bytes[row * kBand.channels + c]) - mean;
    }
  }
  return sum / (sigma * std::sqrt(static_cast<double>(kBand.channels * pulse.samples)));
}

// `count` pulses a fixed time apart, so that none disturbs another.
Simulation with_pulses(std::size_t count, std::size_t samples, double low, double high, std::uint64_t seed,
                       double apart = 0.25) {
  Simulation simulation{.band = kBand, .seed = seed};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    simulation.pulses.push_back({.dm = 20 + 180 * uniform(random),
                                 .time = 0.1 + apart * (static_cast<double>(i) + 0.2 * uniform(random)),
                                 .samples = samples,
                                 .snr = low + (high - low) * uniform(random)});
  }
  return simulation;
}
std::size_t rows_of(const Simulation& simulation) {
  return static_cast<std::size_t>((simulation.pulses.back().time + 1.2) / kBand.interval);
}

class SearchPulses : public testing::TestWithParam<std::size_t> {};

TEST_P(SearchPulses, HaveTheTheoreticalSignalToNoiseRatio) {
  const std::size_t samples = GetParam(), count = 40;
  const double snr = 30;
  const Simulation simulation = with_pulses(count, samples, snr, snr, 3 + samples, 1.6);
  const std::vector<std::byte> bytes = simulated(simulation, rows_of(simulation));
  const auto found = searched(kBand, {.dm_end = 220, .widest = 64}, bytes);
  double total = 0;
  for (const Pulse& pulse : simulation.pulses) {
    const Candidate* one = nearest_to(pulse, found);
    ASSERT_NE(one, nullptr) << "DM " << pulse.dm << " at " << pulse.time << " s";
    EXPECT_NEAR(one->dm, pulse.dm, 4 + static_cast<double>(samples) * 1.5);
    total += one->snr;
  }
  EXPECT_NEAR(total / count / snr, 1, 0.02);
  EXPECT_LE(found.size(), count + 2);
}
INSTANTIATE_TEST_SUITE_P(Widths, SearchPulses, testing::Values(1, 2, 8, 32));

// Every pulse whose S/N in the data is above 8 is found with a threshold of 7. Brute force finds pulses of one sample
// too; a tree, which the planner prefers, keeps only three quarters of their S/N.
TEST(SearchStream, MissesNoPulseAboveEight) {
  const std::size_t count = std::getenv("RIDGE_SLOW") != nullptr ? 250 : 40;
  for (const char* variant : {"brute_force", "tree"}) {
    std::size_t above = 0;
    for (const std::size_t samples : {1, 3, 8, 20}) {
      if (samples == 1 && variant == std::string("tree")) continue;
      const Simulation simulation = with_pulses(count, samples, 7, 12, 50 + samples);
      const std::vector<std::byte> bytes = simulated(simulation, rows_of(simulation));
      const auto found = searched(kBand, {.dm_end = 220, .widest = 64}, bytes, variant);
      for (const Pulse& pulse : simulation.pulses) {
        const double exact = exact_snr(pulse, bytes, 96, std::sqrt(256 + 1 / 12.0));
        if (exact < 8) continue;
        ++above;
        EXPECT_NE(nearest_to(pulse, found), nullptr) << variant << ": S/N " << exact << ", width " << samples << ", DM "
                                                     << pulse.dm << " at " << pulse.time << " s";
      }
    }
    EXPECT_GT(above, 2 * count);
  }
}

TEST(SearchStream, FindsNothingInNoise) {
  const Simulation simulation{.band = kBand, .seed = 12};
  EXPECT_TRUE(searched(kBand, {.dm_end = 300, .threshold = 7.5, .widest = 128}, simulated(simulation, 150000)).empty());
}

// Starts above a limit in Gaussian noise: as many as the tail of the normal distribution, within Poisson's deviation.
TEST(SearchBoxcars, FalseAlarmsOfNoiseAreThoseOfTheory) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal(7, 3);
  std::vector<float> series(4'000'000);
  for (float& value : series) value = normal(random);
  const Normal measured = robust_normal(series);
  EXPECT_NEAR(measured.mean, 7, 0.01);
  EXPECT_NEAR(measured.sigma / 3, 1, 0.01);
  for (const double limit : {3.5, 4.0, 4.5}) {
    const std::vector<std::size_t> widths{1};
    const std::vector<float> limits{static_cast<float>(limit)};
    std::vector<Detection> found;
    // Cells of one start: the expectation is that of single samples.
    for (std::size_t i = 0; i + 256 <= series.size(); i += 256) {
      find_boxcars({.series = std::span(series).subspan(i, 256),
                    .starts = 256,
                    .normal = {7, 3},
                    .widths = widths,
                    .limits = limits,
                    .first = i},
                   found);
    }
    const double tail = std::erfc(limit / std::sqrt(2)) / 2, cells = static_cast<double>(series.size() / 256);
    const double expected = cells * (1 - std::pow(1 - tail, 256));
    EXPECT_NEAR(static_cast<double>(found.size()), expected, 4 * std::sqrt(expected)) << limit;
  }
}

TEST(SearchBoxcars, WidthsAndTimesAreThoseOfAPulse) {
  std::vector<float> series(3000, 0);
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal(0, 0.1F);
  for (float& value : series) value = normal(random);
  for (std::size_t t = 2040; t < 2064; ++t) series[t] += 1;  // across the edge of a tile
  const std::vector<std::size_t> widths = boxcar_widths(64);
  EXPECT_EQ(widths, (std::vector<std::size_t>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}));
  const std::vector<float> limits(widths.size(), 20);
  std::vector<Detection> found;
  find_boxcars({.series = series,
                .starts = 2500,
                .normal = {0, 0.1F},
                .widths = widths,
                .limits = limits,
                .first = 100,
                .factor = 2},
               found);
  const auto groups = friends(found);
  ASSERT_EQ(groups.size(), 1U);
  const Cluster whole = cluster_of(groups[0]);
  EXPECT_EQ(whole.best.begin, 100 + 2 * 2040U);
  EXPECT_EQ(whole.best.end, 100 + 2 * 2064U);
  EXPECT_NEAR(whole.best.snr, std::sqrt(24.0) * 10, 1.5);
}

TEST(SearchStream, ReadsEveryNumberOfBits) {
  for (const std::size_t bits : {1, 2, 4, 8, 16, 32}) {
    SCOPED_TRACE(bits);
    Simulation simulation{.band = kBand, .bits = bits, .seed = 21};
    for (int i = 0; i < 12; ++i)
      simulation.pulses.push_back({.dm = 100, .time = 0.5 + 0.6 * i, .samples = 32, .snr = 15});
    const auto found = searched(kBand, {.dm_end = 200, .widest = 64, .bits = bits}, simulated(simulation, 32000));
    ASSERT_EQ(found.size(), 12U);
    double total = 0;
    for (const Candidate& one : found) total += one.snr / 12;
    EXPECT_NEAR(total / 15, 1, 0.04);
  }
}

void expect_equal(const std::vector<Candidate>& a, const std::vector<Candidate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].sample, b[i].sample);
    EXPECT_EQ(a[i].samples, b[i].samples);
    EXPECT_EQ(a[i].dm, b[i].dm);
    EXPECT_EQ(a[i].snr, b[i].snr);
    EXPECT_EQ(a[i].members, b[i].members);
  }
}

TEST(SearchStream, PiecesThreadsAndChannelOrderDoNotChangeTheResult) {
  Simulation simulation = with_pulses(6, 4, 15, 30, 9);
  const std::size_t rows = 40001;
  const std::vector<std::byte> bytes = simulated(simulation, rows);
  Settings settings{.dm_end = 210, .widest = 16, .block = 8192, .threads = 1};
  const auto expected = searched(kBand, settings, bytes);
  EXPECT_GE(expected.size(), 6U);
  expect_equal(searched(kBand, settings, bytes, "", 9973), expected);
  settings.threads = 3;
  expect_equal(searched(kBand, settings, bytes), expected);
  Band ascending = kBand;
  ascending.first_mhz = kBand.lowest_mhz();
  ascending.step_mhz = -kBand.step_mhz;
  std::vector<std::byte> turned = bytes;
  for (std::size_t r = 0; r < rows; ++r)
    std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(r * 128),
                 turned.begin() + static_cast<std::ptrdiff_t>(r * 128 + 128));
  expect_equal(searched(ascending, settings, turned), expected);
}

// A pulse that begins in the last sample of a block is one candidate.
TEST(SearchStream, PulsesAcrossBlocksAreOneCandidate) {
  Simulation simulation{.band = kBand, .seed = 5};
  simulation.pulses.push_back({.dm = 60, .time = (8192 - 6) * kBand.interval, .samples = 12, .snr = 40});
  const auto found = searched(kBand, {.dm_end = 150, .widest = 32, .block = 8192}, simulated(simulation, 40000));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].snr, 40, 3);
  EXPECT_NEAR(found[0].dm, 60, 10);
}

// Pulses of other dispersion measures whose detections touch those of a strong one are candidates of their own.
TEST(SearchStream, PulsesNearAStrongOneAreSeparate) {
  Simulation simulation{.band = kBand, .seed = 6};
  simulation.pulses = {{.dm = 150, .time = 2, .samples = 8, .snr = 60},
                       {.dm = 40, .time = 2.02, .samples = 4, .snr = 16},
                       {.dm = 160, .time = 2.04, .samples = 16, .snr = 20}};
  const auto found = searched(kBand, {.dm_end = 220, .widest = 64}, simulated(simulation, 32000));
  ASSERT_EQ(found.size(), 3U);
  for (const Pulse& pulse : simulation.pulses) {
    const Candidate* one = nearest_to(pulse, found);
    ASSERT_NE(one, nullptr) << pulse.dm;
    EXPECT_NEAR(one->snr, pulse.snr, 3.5);
  }
}

TEST(SearchStream, FlagsValuesThatAreNotNumbers) {
  Simulation simulation{.band = kBand, .bits = 32, .seed = 8};
  simulation.pulses.push_back({.dm = 60, .time = 1, .samples = 4, .snr = 30});
  std::vector<std::byte> bytes = simulated(simulation, 20000);
  const float bad[] = {std::nanf(""), INFINITY, -INFINITY};
  for (std::size_t i = 0; i < 300; ++i) std::memcpy(bytes.data() + 4 * (i * 8191 + 5), &bad[i % 3], 4);
  for (std::size_t r = 0; r < 20000; ++r) {
    const float constant = 4;
    std::memcpy(bytes.data() + 4 * (r * 128 + 17), &constant, 4);
  }
  Stream stream(host(), kBand, {.dm_end = 100, .widest = 16, .bits = 32}, {.effort = Effort::quick});
  std::size_t masked = 0, rows = 0;
  stream.on_mask([&](std::span<const std::byte> bits, std::size_t some) {
    rows += some;
    for (const std::byte byte : bits)
      masked += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(byte)));
  });
  stream.push(bytes);
  const auto found = stream.finish();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].snr, 30 * std::sqrt(127.0 / 128), 3);
  EXPECT_EQ(rows, 20000U);
  EXPECT_GE(stream.report().not_numbers, 297U);
  EXPECT_EQ(masked, stream.report().not_numbers);
  EXPECT_GT(stream.report().constant_channels, 0U);
}

// The unit of the power is the observer's: watts per hertz are about 1e-26.
TEST(SearchStream, FloatsMayHaveAnyUnit) {
  Simulation simulation{.band = kBand, .bits = 32, .seed = 8};
  simulation.pulses.push_back({.dm = 60, .time = 1, .samples = 4, .snr = 30});
  const std::vector<std::byte> bytes = simulated(simulation, 20000);
  const Settings settings{.dm_end = 100, .widest = 16, .bits = 32};
  const auto plain = searched(kBand, settings, bytes);
  ASSERT_EQ(plain.size(), 1U);
  for (const float unit : {0x1p100F, -0x1p100F, 0x1p-100F}) {
    std::vector<std::byte> scaled = bytes;
    for (std::size_t i = 0; i < scaled.size(); i += 4) {
      float value = 0;
      std::memcpy(&value, scaled.data() + i, 4);
      value *= unit;
      std::memcpy(scaled.data() + i, &value, 4);
    }
    const auto found = searched(kBand, settings, scaled);
    if (unit < 0) {
      EXPECT_EQ(found.size(), 0U);  // the pulse has less power than the noise
      continue;
    }
    ASSERT_EQ(found.size(), 1U) << unit;
    EXPECT_EQ(found[0].snr, plain[0].snr) << unit;
  }
}

// Lost rows are zeros, a thousand deviations below the others: they count neither in means nor in deviations.
TEST(SearchFlags, LostRowsInEveryPartDoNotCount) {
  Simulation simulation{.band = kBand, .bits = 32, .seed = 9};
  simulation.pulses.push_back({.dm = 60, .time = 1, .samples = 16, .snr = 30});
  std::vector<std::byte> bytes = simulated(simulation, 20000), mask(20000 * kBand.channels / 8);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i, 4);
    value = i / 4 / kBand.channels % 40 == 0 ? 0 : value + 16000;
    std::memcpy(bytes.data() + i, &value, 4);
  }
  for (std::size_t r = 0; r < 20000; r += 40)
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(r * kBand.channels / 8), kBand.channels / 8, std::byte{255});
  Stream stream(host(), kBand, {.dm_end = 100, .widest = 16, .bits = 32}, {.effort = Effort::quick});
  stream.push_mask(mask);
  stream.push(bytes);
  const auto found = stream.finish();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].snr, 30, 3);
}

TEST(SearchFlags, BurstsAndGivenMasksAreExcised) {
  Simulation simulation{.band = kBand, .seed = 18};
  simulation.pulses.push_back({.dm = 120, .time = 2, .samples = 4, .snr = 25});
  std::vector<std::byte> bytes = simulated(simulation, 32000);
  for (std::size_t r = 20000; r < 20040; ++r) {
    for (std::size_t c = 0; c < 128; ++c) bytes[r * 128 + c] = std::byte(220);  // all channels at once: DM 0
  }
  const Settings plain{.dm_end = 200, .widest = 64};
  EXPECT_GT(searched(kBand, plain, bytes).size(), 1U);
  Settings flagged = plain;
  flagged.flagging.threshold = 7;
  const auto found = searched(kBand, flagged, bytes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].dm, 120, 6);
  Stream stream(host(), kBand, plain, {.effort = Effort::quick});
  std::vector<std::byte> mask(32000 * 16);
  std::fill(mask.begin() + 20000 * 16, mask.begin() + 20040 * 16, std::byte(255));
  stream.push_mask(mask);
  stream.push(bytes);
  EXPECT_EQ(stream.finish().size(), 1U);
  EXPECT_EQ(stream.report().flagged, 40U * 128);
}

// Limits of an independent program in Python with rational moments (M, shape, low, high), 0.00135 per side.
TEST(SearchFlags, KurtosisLimits) {
  const double expected[][4] = {{32, 1, .3858, 2.7315},
                                {256, 1, .7038, 1.4960},
                                {256, .5, .6671, 1.6693},
                                {256, 8, .7474, 1.3150},
                                {1024, 1, .8349, 1.2170}};
  for (const auto& [m, shape, low, high] : expected) {
    const KurtosisLimits limits = kurtosis_limits(static_cast<std::size_t>(m), shape, 2 * 0.0013499);
    EXPECT_NEAR(limits.low, low, 1e-3) << m << " " << shape;
    EXPECT_NEAR(limits.high, high, 2e-3) << m << " " << shape;
  }
}

// Exponential noise is flagged at the nominal rate whatever its power; a steady carrier and a gated one are flagged.
TEST(SearchFlags, KurtosisFindsCarriers) {
  const std::size_t channels = 512, rows = 128 * 100;
  std::mt19937_64 random(4);
  std::exponential_distribution<float> power(1);
  for (const float scale : {1e-6F, 1e6F}) {
    std::vector<float> values(channels * rows);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float value = power(random);
      if (i % channels == 7) value = 1;
      if (i % channels == 9 && i / channels % 128 < 16) value += 20;
      values[i] = scale * value;
    }
    Mask mask(rows, channels);
    flag_kurtosis(
        {.data = reinterpret_cast<const std::byte*>(values.data()), .rows = rows, .channels = channels, .bits = 32},
        {.kurtosis = 128, .shape = 1, .false_alarm = 0.01}, 1, mask);
    std::size_t noise = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      std::size_t flagged = 0;
      for (std::size_t r = 0; r < rows; r += 128) flagged += mask.at(r, c) ? 1 : 0;
      if (c == 7 || c == 9) {
        EXPECT_EQ(flagged, 100U) << c;
      } else {
        noise += flagged;
      }
    }
    EXPECT_NEAR(static_cast<double>(noise) / (510 * 100), 0.01, 0.0016);  // 3.6 deviations of the count
  }
}

// One window of 128 values, 50 of them 1 and the others 0: both sums are 50, the estimate is 129 / 127 (128 / 50 - 1).
TEST(SearchFlags, KurtosisEstimateIsExact) {
  const double estimate = 129.0 / 127 * (128.0 / 50 - 1);
  std::vector<float> values(128);
  std::fill_n(values.begin(), 50, 1.0F);
  const auto flagged_with = [&](double limit) {  // with the rate of false alarms whose upper limit this is
    double low = 1e-6, high = 0.5;
    for (int i = 0; i < 14; ++i) {
      const double middle = std::sqrt(low * high);
      (kurtosis_limits(128, 1, middle).high > limit ? low : high) = middle;
    }
    Mask mask(128, 1);
    flag_kurtosis({.data = reinterpret_cast<const std::byte*>(values.data()), .rows = 128, .channels = 1, .bits = 32},
                  {.kurtosis = 128, .shape = 1, .false_alarm = low}, 1, mask);
    return mask.at(0, 0);
  };
  EXPECT_TRUE(flagged_with(0.997 * estimate));
  EXPECT_FALSE(flagged_with(1.003 * estimate));
}

std::string refused_stream(const Band& band, const Settings& settings) {
  return ridge::test::error_of([&] { Stream(host(), band, settings); }, ErrorKind::invalid_argument);
}

TEST(SearchStream, RefusesImpossibleSettings) {
  EXPECT_THAT(refused_stream(kBand, {.bits = 3}), HasSubstr("1, 2, 4, 8, 16 or 32 bits, got 3"));
  EXPECT_THAT(refused_stream(kBand, {.threshold = 0}), HasSubstr("threshold"));
  EXPECT_THAT(refused_stream(kBand, {.threshold = std::nan("")}), HasSubstr("threshold"));
  EXPECT_THAT(refused_stream(kBand, {.widest = 0}), HasSubstr("widest"));
  EXPECT_THAT(refused_stream(kBand, {.dm_begin = 5, .dm_end = 1}), HasSubstr("begin <= end"));
  Band odd = kBand;
  odd.channels = 3;
  EXPECT_THAT(refused_stream(odd, {.bits = 1}), HasSubstr("whole number of bytes"));
  EXPECT_THAT(ridge::test::error_of([] { kurtosis_limits(3, 1, 0.01); }, ErrorKind::invalid_argument),
              HasSubstr("16 to"));
}

TEST(SearchStream, ShortInputsEndCleanly) {
  for (const std::size_t rows : {0, 1, 2, 63, 300}) {
    const Simulation simulation{.band = kBand, .seed = 2};
    EXPECT_TRUE(searched(kBand, {.dm_end = 100, .threshold = 8}, simulated(simulation, rows)).empty()) << rows;
  }
}

}  // namespace
}  // namespace ridge::search
