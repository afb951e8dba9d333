// Pulses as the sky makes them, smeared within channels and between samples, through the whole search: S/N against
// theory, pulses missed. RIDGE_SLOW=1 injects 1,000 per case and prints a table; RIDGE_INJECT_DEVICE chooses the
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <ridge/search.hpp>

#include "search/input_block.hpp"
#include "search/simulate.hpp"

namespace ridge::search {
namespace {

// Channels so wide that samples are added in twos from DM 57 on, in fours from 114, in eights from 228.
const Band kWide{.channels = 128, .first_mhz = 1500, .step_mhz = -1.5, .interval = 256e-6};

enum class Places {
  apart,    // at random times
  borders,  // beginning within two samples of a block's first
  pairs,    // two at the same time, of very different dispersion measures
};

struct Case {
  const char* name;
  Settings settings = {.dm_end = 420, .widest = 128};
  const char* variant = "";
  Band band = kWide;
  Places places = Places::apart;
  bool interference = false;
  std::size_t count = 1000;  // pulses with RIDGE_SLOW=1
  double least_dm = 0;
  double kept = 1.01;  // S/N found / in the data: the best of many trials and widths, without flagged values
};

struct Injected {
  Pulse pulse{};
  PlacedPulse placed{};
  double exact = 0;  // S/N in the data, noise included, at the true delays and the best boxcar
  double found = 0;  // S/N of its candidate; 0: missed
  double dm = 0, time = 0;
};

Simulation pulses_of(const Case& one, std::size_t count, std::uint64_t seed) {
  Simulation simulation{.band = one.band, .bits = one.settings.bits, .seed = seed, .smeared = true};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double most = one.settings.dm_end - 20, block = static_cast<double>(one.settings.block) * one.band.interval;
  for (std::size_t i = 0; i < count; ++i) {
    double time = 0.1 + 0.8 * (static_cast<double>(i) + 0.2 * uniform(random)),
           dm = one.least_dm + (most - one.least_dm) * uniform(random);
    if (one.places == Places::borders)
      time = block * static_cast<double>(i + 1) + 4 * one.band.interval * (uniform(random) - 0.5);
    if (one.places == Places::pairs) {
      time = i % 2 == 0 ? time : simulation.pulses.back().time;
      dm = (i % 2 == 0 ? 0.0 : 0.6 * most) + 0.4 * dm;
    }
    simulation.pulses.push_back({.dm = dm,
                                 .time = time,
                                 .samples = static_cast<std::size_t>(std::exp2(5 * uniform(random))),
                                 .snr = 8 + 27 * uniform(random)});
  }
  return simulation;
}

// Mean and deviation of simulated noise.
std::pair<double, double> levels_of(Simulation simulation) {
  constexpr std::size_t kRows = 4096;
  simulation.pulses.clear();
  const std::size_t channels = simulation.band.channels;
  std::vector<std::byte> bytes(kRows * channels * simulation.bits / 8);
  std::vector<float> values(kRows * channels);
  simulate(simulation, 0, kRows, bytes);
  unpack(bytes.data(), simulation.bits, false, values.data(), values.size());
  double sum = 0, square = 0;
  for (const float value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const float value : values) square += (value - mean) * (value - mean);
  return {mean, std::sqrt(square / static_cast<double>(values.size()))};
}

// Adds the part of each pulse's boxcar that is in these rows.
void add_exact(const Simulation& simulation, std::pair<double, double> levels, std::span<const std::byte> bytes,
               std::size_t first, std::size_t count, std::vector<Injected>& all) {
  const Band& band = simulation.band;
  std::vector<float> values(count * band.channels);
  unpack(bytes.data(), simulation.bits, false, values.data(), values.size());
  for (Injected& one : all) {
    if (one.placed.last < static_cast<double>(first) - 2 || one.placed.first > static_cast<double>(first + count) + 2)
      continue;
    const double norm = levels.second * std::sqrt(static_cast<double>(band.channels * one.placed.box_samples));
    for (std::size_t c = 0; c < band.channels; ++c) {
      const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
      const auto late = std::lround(delay_seconds(one.pulse.dm, mhz, band.highest_mhz()) / band.interval);
      for (std::size_t k = 0; k < one.placed.box_samples; ++k) {
        const long row = std::lround(one.placed.box_begin) + late + static_cast<long>(k) - static_cast<long>(first);
        if (row < 0 || row >= static_cast<long>(count)) continue;
        one.exact += (values[static_cast<std::size_t>(row) * band.channels + c] - levels.first) / norm;
      }
    }
  }
}

// A burst of all channels every 0.8 s, away from the pulses, and four channels that are strong half of the time.
void add_interference(const Band& band, std::size_t first, std::size_t count, std::span<std::byte> bytes) {
  const auto period = static_cast<std::size_t>(0.8 / band.interval),
             quiet = static_cast<std::size_t>(0.7 / band.interval);
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t at = (first + r) % period;
    for (std::size_t c = 0; c < band.channels; ++c) {
      if ((at >= quiet && at < quiet + 10) || (c % 32 == 5 && at * 16 / period % 2 == 0))
        bytes[r * band.channels + c] = std::byte{240};
    }
  }
}

// Gives every pulse the strongest candidate that overlaps it, and returns the number of candidates of none.
std::size_t match(const Band& band, const std::vector<Candidate>& found, std::vector<Injected>& all) {
  const double whole = delay_seconds(1, band.lowest_mhz(), band.highest_mhz());
  std::size_t strange = 0;
  for (const Candidate& one : found) {
    bool used = false;
    for (Injected& pulse : all) {
      const double width = static_cast<double>(pulse.placed.box_samples) * band.interval;
      const double middle = pulse.placed.box_begin * band.interval + width / 2;
      const double reach = (width + one.width) / 2 + 2 * band.interval,
                   apart = whole * std::abs(one.dm - pulse.pulse.dm);
      if (apart > 2 * reach + 0.03 || std::abs(one.time - middle) > reach + apart) continue;
      used = true;
      if (one.snr > pulse.found) pulse.found = one.snr, pulse.dm = one.dm, pulse.time = one.time;
    }
    strange += used ? 0 : 1;
  }
  return strange;
}

std::vector<Injected> injected(const Simulation& simulation, const Case& wanted, std::size_t& strange) {
  std::vector<Injected> all;
  for (const Pulse& pulse : simulation.pulses) all.push_back({pulse, placed_pulse(simulation, pulse)});
  const char* const where = std::getenv("RIDGE_INJECT_DEVICE");
  Stream stream(where != nullptr ? device(where) : host(), wanted.band, wanted.settings,
                {.effort = Effort::quick, .use_wisdom = false, .variant = wanted.variant});
  const auto rows = static_cast<std::size_t>((simulation.pulses.back().time + 1) / wanted.band.interval);
  const auto levels = levels_of(simulation);
  constexpr std::size_t kRows = 16384;
  const std::size_t row_bytes = wanted.band.channels * simulation.bits / 8;
  std::vector<std::byte> bytes(kRows * row_bytes);
  std::vector<Candidate> found;
  for (std::size_t first = 0; first < rows; first += kRows) {
    const std::size_t count = std::min(kRows, rows - first);
    const std::span<std::byte> some = std::span(bytes).first(count * row_bytes);
    simulate(simulation, first, count, some);
    add_exact(simulation, levels, some, first, count, all);
    if (wanted.interference) add_interference(wanted.band, first, count, some);
    stream.push(some);
    for (const Candidate& one : stream.take()) found.push_back(one);
  }
  for (const Candidate& one : stream.finish()) found.push_back(one);
  strange = match(wanted.band, found, all);
  return all;
}

void print_groups(const std::vector<Injected>& all, const char* name, const std::vector<double>& edges,
                  double (*of)(const Injected&)) {
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    double n = 0, theory = 0, exact = 0;
    for (const Injected& one : all) {
      if (of(one) < edges[i] || of(one) >= edges[i + 1] || one.found == 0) continue;
      ++n, theory += one.found / one.pulse.snr, exact += one.found / one.exact;
    }
    if (n > 0)
      fmt::print("{} {} to {}: {} pulses, {:.4f} of theory, {:.4f} of the S/N in the data\n", name, edges[i],
                 edges[i + 1], n, theory / n, exact / n);
  }
}

const Settings kDefault{.dm_end = 420, .widest = 128};
const Settings kBorders{.dm_end = 420, .widest = 128, .block = 8192};
// Strong pulses of low dispersion measure are flagged themselves.
const Settings kFlagged{.dm_end = 420, .widest = 128, .flagging = {.threshold = 6, .channel_sigma = 8}};
// From 800 to 400 MHz delays are far from linear in frequency; channels in ascending order.
const Band kLow{.channels = 256, .first_mhz = 401.5625, .step_mhz = 1.5625, .interval = 1e-3};

Settings of_bits(std::size_t bits) { return {.dm_end = 420, .widest = 128, .bits = bits}; }

const Case kCases[] = {
    {.name = "exact", .settings = {.dm_end = 420, .widest = 128, .exact = true}},
    {.name = "planned", .settings = kDefault},
    {.name = "brute_force", .settings = kDefault, .variant = "brute_force"},
    {.name = "fourier", .settings = kDefault, .variant = "fourier", .count = 200},
    {.name = "one_bit", .settings = of_bits(1)},
    {.name = "two_bits", .settings = of_bits(2)},
    {.name = "four_bits", .settings = of_bits(4)},
    {.name = "sixteen_bits", .settings = of_bits(16)},
    {.name = "floats", .settings = of_bits(32)},
    {.name = "low_band", .settings = {.dm_end = 60, .widest = 128}, .band = kLow},
    {.name = "borders", .settings = kBorders, .places = Places::borders, .count = 300},
    {.name = "pairs", .settings = kDefault, .places = Places::pairs},
    {.name = "flagged", .settings = kFlagged, .interference = true, .least_dm = 30, .kept = 0.975},
};

class SearchInjections : public testing::TestWithParam<Case> {};

TEST_P(SearchInjections, HaveTheirTheoreticalSignalToNoiseRatio) {
  const bool slow = std::getenv("RIDGE_SLOW") != nullptr;
  const Case& wanted = GetParam();
  std::size_t strange = 0, missed = 0, above = 0;
  const std::vector<Injected> all = injected(pulses_of(wanted, slow ? wanted.count : 30, 41), wanted, strange);
  double total = 0, theory = 0, data = 0, count = 0;
  for (const Injected& one : all) {
    if (one.found > 0) total += one.found, theory += one.pulse.snr, data += one.exact, ++count;
    if (one.exact < 8) continue;
    ++above;
    if (one.found > 0) continue;
    ++missed;
    fmt::print("missed: S/N {:.2f} (put in {:.2f}), DM {:.2f}, {} samples, boxcar of {}, at {:.3f} s\n", one.exact,
               one.pulse.snr, one.pulse.dm, one.pulse.samples, one.placed.box_samples, one.pulse.time);
  }
  // Interference may hide one.
  EXPECT_LE(missed, wanted.interference ? all.size() / 1000 : 0U);
  if (slow) {
    fmt::print(
        "{}: {} pulses, {} above 8 sigma, {} of these missed, S/N {:.4f} of theory, {:.4f} of that in the data, {} "
        "other candidates\n",
        wanted.name, all.size(), above, missed, total / theory, total / data, strange);
    print_groups(all, "S/N", {8, 10, 12, 15, 20, 36}, [](const Injected& one) { return one.pulse.snr; });
    print_groups(all, "samples", {1, 2, 4, 8, 16, 33},
                 [](const Injected& one) { return static_cast<double>(one.pulse.samples); });
    print_groups(all, "DM", {0, 57, 114, 228, 400}, [](const Injected& one) { return one.pulse.dm; });
  }
  // The best of many trials, widths and times is above the mean by 3 / S/N to 4 / S/N. Strong pulses exceed 1 and 2
  // bits.
  if (wanted.settings.bits > 2 && !wanted.interference) {
    const bool pairs = wanted.places == Places::pairs;  // each pulse adds to the boxcars of the other one
    EXPECT_NEAR(total / theory, 1, !slow ? 0.05 : pairs ? 0.03 : 0.02);
  }
  EXPECT_NEAR(total / data, wanted.kept, slow ? 0.02 : 0.03);
  EXPECT_LE(strange, all.size() / 100 + 1);
}
INSTANTIATE_TEST_SUITE_P(Cases, SearchInjections, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// Pulses of one to six samples where samples are added because channels smear: a pulse may be shorter than an added
// sample and divided between two of them.
TEST(SearchInjection, NarrowPulsesOfAddedSamplesAreFound) {
  Simulation simulation{.band = kWide, .seed = 51, .smeared = true};
  std::mt19937_64 random(simulation.seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    simulation.pulses.push_back({.dm = 60 + 340 * uniform(random),
                                 .time = 0.1 + static_cast<double>(i) + 0.2 * uniform(random),
                                 .samples = static_cast<std::size_t>(1 + 6 * uniform(random)),
                                 .snr = 8 + 2 * uniform(random)});
  }
  std::size_t strange = 0, above = 0;
  for (const Injected& one : injected(simulation, {.name = "narrow"}, strange)) {
    if (one.exact < 8) continue;
    ++above;
    EXPECT_GT(one.found, 0) << "S/N " << one.exact << ", DM " << one.pulse.dm << ", " << one.pulse.samples
                            << " samples";
  }
  EXPECT_GT(above, 60U);
  EXPECT_LE(strange, 1U);
}

// The strong pulse of each pair is seen at all dispersion measures at the time of the weak one.
TEST(SearchInjection, NarrowPulsesBesideStrongOnesAreFound) {
  Simulation simulation{.band = kWide, .seed = 61, .smeared = true};
  std::mt19937_64 random(simulation.seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (std::size_t i = 0; i < 40; ++i) {
    const double time = 0.1 + static_cast<double>(i) + 0.2 * uniform(random);
    simulation.pulses.push_back({.dm = 100 + 60 * uniform(random), .time = time, .samples = 21, .snr = 27});
    simulation.pulses.push_back(
        {.dm = 300 + 100 * uniform(random), .time = time, .samples = 1, .snr = 9 + 2 * uniform(random)});
  }
  std::size_t strange = 0;
  for (const Injected& one : injected(simulation, {.name = "beside"}, strange)) {
    if (one.exact < 8) continue;
    EXPECT_GT(one.found, 0) << "S/N " << one.exact << ", DM " << one.pulse.dm;
  }
  EXPECT_LE(strange, 1U);
}

// Probability of at least `count` events where `mean` are expected.
double at_least(std::size_t count, double mean) {
  double fewer = 0;
  for (std::size_t k = 0; k < count; ++k)
    fewer += std::exp(static_cast<double>(k) * std::log(mean) - mean - std::lgamma(static_cast<double>(k) + 1));
  return 1 - fewer;
}

// Noise gives as many candidates as Gaussian noise has clumps of boxcars above the threshold. noise_rate.py computes
// their number per 10^9 samples of series to 15 %: boxcars of overlapping trials, widths and times are not independent,
// and the second measurement uses a finer grid of them. RIDGE_SLOW=1 searches 10^9 samples of series;
// RIDGE_NOISE_SAMPLES, RIDGE_NOISE_SEED and RIDGE_NOISE_DEVICE set another number, the seed and the device.
TEST(SearchInjection, CandidatesOfNoiseAreAsManyAsExpected) {
  const char* wanted = std::getenv("RIDGE_NOISE_SAMPLES");
  const double samples = wanted != nullptr ? std::atof(wanted) : std::getenv("RIDGE_SLOW") != nullptr ? 1e9 : 2e7;
  const char *seed = std::getenv("RIDGE_NOISE_SEED"), *where = std::getenv("RIDGE_NOISE_DEVICE");
  const Simulation simulation{.band = kWide, .seed = seed != nullptr ? std::strtoull(seed, nullptr, 10) : 77};
  Stream stream(where != nullptr ? device(where) : host(), kWide, {.dm_end = 420, .threshold = 5, .widest = 32},
                {.effort = Effort::quick, .use_wisdom = false, .variant = "brute_force"});
  constexpr std::size_t kRows = 16384;
  std::vector<std::byte> bytes(kRows * kWide.channels);
  std::vector<Candidate> found;
  double each = 0;  // series samples per input sample
  for (const Segment& segment : stream.segments())
    each += static_cast<double>(segment.dms.size()) / static_cast<double>(segment.factor);
  const auto rows = static_cast<std::size_t>(samples / each);
  for (std::size_t first = 0; first < rows; first += kRows) {
    simulate(simulation, first, kRows, bytes);
    stream.push(bytes);
    for (const Candidate& one : stream.take()) found.push_back(one);
  }
  for (const Candidate& one : stream.finish()) found.push_back(one);
  constexpr double kSurely = 1e-4, kError = 1.15;
  for (const auto& [limit, rate] : {std::pair{5.0, 1536.0}, {5.5, 437.0}, {6.0, 37.8}, {6.5, 2.16}, {7.0, 0.09}}) {
    const auto above = static_cast<std::size_t>(std::count_if(
        found.begin(), found.end(), [&, least = limit](const Candidate& one) { return one.snr >= least; }));
    const double expected = rate * 1e-9 * each * static_cast<double>(rows);
    fmt::print("{:.3g} samples of series: {} candidates above {}, {:.2f} expected\n", samples, above, limit, expected);
    EXPECT_GT(at_least(above, expected * kError), kSurely) << limit;
    EXPECT_LT(at_least(above + 1, expected / kError), 1 - kSurely) << limit;
  }
}

}  // namespace
}  // namespace ridge::search
