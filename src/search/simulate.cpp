// Noise from a hash of seed, channel and sample, and pulses: with the delays that brute force applies, or smeared
// within each channel as a real pulse is.
#include "search/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "search/input_block.hpp"
#include "search/layout.hpp"

namespace ridge::search {
namespace {

std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

constexpr double kExcessKurtosis = -0.15;  // of a sum of eight uniform bytes

// Sum of the eight bytes of a hash: mean 0, variance 1.
float noise_at(std::uint64_t stream, std::uint64_t sample) {
  const std::uint64_t h = mixed(stream + sample * 0x9e3779b97f4a7c15ULL);
  // Four sums of two bytes in 16-bit fields, then their total.
  const std::uint64_t pairs = (h & 0x00ff00ff00ff00ffULL) + ((h >> 8) & 0x00ff00ff00ff00ffULL);
  const auto sum = static_cast<int>((pairs * 0x0001000100010001ULL) >> 48);
  return static_cast<float>(sum - 1020) * (1 / 209.0215F);
}

// Mean and standard deviation of the stored values before rounding.
struct Levels {
  double mean, sigma;
};
Levels levels_of(std::size_t bits) {
  switch (bits) {
    case 1:
      return {0.5, 1};
    case 2:
      return {1.5, 1};
    case 4:
      return {7.5, 2.5};
    case 8:
      return {96, 16};
    case 16:
      return {30000, 400};
    default:
      return {1000, 10};
  }
}

// Share of a weak signal's S/N that is left after rounding: slope of the mean over the rounded values' deviation.
double efficiency_of(std::size_t bits) {
  if (bits >= 16) return 1;
  const Levels levels = levels_of(bits);
  const int most = (1 << bits) - 1;
  double slope = 0, mean = 0, square = 0;
  const auto below = [&](double x) { return std::erfc((levels.mean - x) / levels.sigma / std::numbers::sqrt2) / 2; };
  for (int value = 0; value <= most; ++value) {
    const double low = value == 0 ? 0 : below(value - 0.5), high = value == most ? 1 : below(value + 0.5);
    mean += value * (high - low);
    square += static_cast<double>(value) * value * (high - low);
    const double z = (value + 0.5 - levels.mean) / levels.sigma;
    // The density of the noise, with the term of its excess kurtosis.
    const double density = 1 + kExcessKurtosis / 24 * (z * z * z * z - 6 * z * z + 3);
    if (value < most) slope += density * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  }
  return slope / std::sqrt(square - mean * mean);
}

// Integral up to x of a box of `width` samples that is smeared over `smear` samples.
double smeared_integral(double x, double width, double smear) {
  const auto ramp = [](double y) { return std::max(0.0, y); };
  const auto square = [&](double y) { return ramp(y) * ramp(y) / 2; };
  if (smear < 1e-4) return ramp(x) - ramp(x - width);
  return (square(x) - square(x - width) - square(x - smear) + square(x - width - smear)) / smear;
}

void check_simulation(const Simulation& simulation) {
  check_band(simulation.band);
  check_bits(simulation.bits, simulation.band.channels);
  for (const Pulse& pulse : simulation.pulses) {
    if (!(pulse.dm >= 0) || !(pulse.time >= 0) || !(pulse.snr >= 0) || pulse.samples == 0 ||
        !std::isfinite(pulse.dm + pulse.time + pulse.snr)) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("search: a pulse needs dm, time and snr of 0 or more and a width of at least one sample, "
                              "got {}, {}, {}, {}",
                              pulse.dm, pulse.time, pulse.snr, pulse.samples));
    }
  }
}

}  // namespace

double PlacedPulse::share(std::size_t channel, double sample) const {
  const double x = sample - begin[channel];
  return smeared_integral(x + 1, samples, smear[channel]) - smeared_integral(x, samples, smear[channel]);
}

PlacedPulse placed_pulse(const Simulation& simulation, const Pulse& pulse) {
  const Band& band = simulation.band;
  PlacedPulse placed{.samples = static_cast<double>(pulse.samples)};
  const double exact = pulse.time / band.interval + 1e-9, start = simulation.smeared ? exact : std::floor(exact);
  std::vector<double> late(band.channels);
  for (std::size_t c = 0; c < band.channels; ++c) {
    const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
    const double delay = delay_seconds(pulse.dm, mhz, band.highest_mhz()) / band.interval;
    late[c] = std::round(delay);
    const double smear = simulation.smeared
                             ? 2 * kDispersion * pulse.dm * std::abs(band.step_mhz) / (mhz * mhz * mhz) / band.interval
                             : 0;
    placed.smear.push_back(smear);
    placed.begin.push_back(start + (simulation.smeared ? delay - smear / 2 : late[c]));
    placed.first = std::min(c == 0 ? placed.begin[c] : placed.first, std::floor(placed.begin[c]));
    placed.last = std::max(placed.last, placed.begin[c] + placed.samples + smear);
  }
  // The channels' sum at the nearest delays, and the boxcar that has the highest S/N in it.
  const double widest = *std::max_element(placed.smear.begin(), placed.smear.end());
  const double origin = std::floor(start - widest / 2) - 1;
  std::vector<double> prefix{0};
  for (double t = 0; t < placed.samples + widest + 4; ++t) {
    double sum = 0;
    for (std::size_t c = 0; c < band.channels; ++c) sum += placed.share(c, origin + t + late[c]);
    prefix.push_back(prefix.back() + sum);
  }
  double best = 0;
  for (std::size_t begin = 0; begin < prefix.size(); ++begin) {
    for (std::size_t end = begin + 1; end < prefix.size(); ++end) {
      const double snr = (prefix[end] - prefix[begin]) / std::sqrt(static_cast<double>((end - begin) * band.channels));
      if (!(snr > best * (1 + 1e-9))) continue;
      best = snr;
      placed.box_begin = origin + static_cast<double>(begin);
      placed.box_samples = end - begin;
    }
  }
  placed.amplitude = static_cast<float>(pulse.snr / best);
  return placed;
}

void simulate(const Simulation& simulation, std::uint64_t first, std::size_t rows, std::span<std::byte> out) {
  check_simulation(simulation);
  const Band& band = simulation.band;
  const std::size_t channels = band.channels, row_bytes = channels * simulation.bits / 8;
  if (out.size() < rows * row_bytes) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("search: {} rows need {} bytes, got {}", rows, rows * row_bytes, out.size()));
  }
  const Levels levels = levels_of(simulation.bits);
  const double rounding = simulation.bits == 8 ? std::sqrt(1 + 1 / (12 * levels.sigma * levels.sigma)) : 1;
  const double gain = simulation.bits < 8 ? 1 / efficiency_of(simulation.bits) : rounding;
  std::vector<PlacedPulse> placed;
  for (const Pulse& pulse : simulation.pulses) {
    const double begin = pulse.time / band.interval - 2, end = static_cast<double>(first + rows);
    if (begin > end) continue;
    placed.push_back(placed_pulse(simulation, pulse));
    placed.back().amplitude *= static_cast<float>(gain);
    if (placed.back().last < static_cast<double>(first)) placed.pop_back();
  }
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share mine = base::share(rows, thread, threads);
    std::vector<float> row(channels);
    std::vector<std::uint64_t> streams(channels);
    for (std::size_t c = 0; c < channels; ++c)
      streams[c] = mixed(simulation.seed * 0xd6e8feb86659fd93ULL + mixed(c + 0x2545f4914f6cdd1dULL));
    for (std::size_t r = mine.begin; r < mine.end; ++r) {
      const std::uint64_t sample = first + r;
      for (std::size_t c = 0; c < channels; ++c) row[c] = noise_at(streams[c], sample);
      for (const PlacedPulse& one : placed) {
        const auto at = static_cast<double>(sample);
        if (at < one.first || at >= one.last) continue;
        for (std::size_t c = 0; c < channels; ++c) {
          if (at + 1 > one.begin[c]) row[c] += one.amplitude * static_cast<float>(one.share(c, at));
        }
      }
      for (float& value : row) value = static_cast<float>(levels.mean) + value * static_cast<float>(levels.sigma);
      pack(row.data(), simulation.bits, out.data() + r * row_bytes, channels);
    }
  });
}

}  // namespace ridge::search
