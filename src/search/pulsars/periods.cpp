// Periodicity search: resampled to each trial acceleration, transformed, whitened by medians, harmonics summed.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/search/periods.hpp>

#include "base/threads.hpp"
#include "search/input_block.hpp"
#include "search/layout.hpp"

namespace ridge::search {
namespace {

constexpr double kLight = 299792458.0;
constexpr std::size_t kWhitened = 128;         // bins per median
constexpr std::size_t kSeriesRows = 16384;     // rows per block of the statistics
constexpr std::size_t kMostFound = 1'000'000;  // candidates of all accelerations: the weakest are dropped beyond

[[noreturn]] void refuse_periods(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "periods: " + message);
}

// Natural logarithm of the probability that the sum of n exponential variables of mean 1 exceeds s.
double log_gamma_tail(std::size_t n, double s) {
  double term = 1, sum = 1;
  for (std::size_t k = 1; k < n; ++k) {
    term *= s / static_cast<double>(k);
    sum += term;
  }
  return -s + std::log(sum);
}

// Number of standard deviations beyond which a normal variable is with probability exp(log_p).
double sigma_of(double log_p) {
  if (log_p >= std::log(0.5)) return 0;
  double x = std::sqrt(-2 * log_p);
  for (int i = 0; i < 50; ++i) {
    // log Q(x) by erfc, or by its asymptotic series far out.
    const double log_q = x < 30 ? std::log(std::erfc(x / std::numbers::sqrt2) / 2)
                                : -x * x / 2 - std::log(x * std::sqrt(2 * std::numbers::pi)) - 1 / (x * x);
    const double step = (log_q - log_p) / (x + 1 / std::max(x, 1e-3));
    x = std::max(1e-6, x + step);
    if (std::abs(step) < 1e-10) break;
  }
  return x;
}

// Divides the powers by their local mean: medians of blocks over ln 2, interpolated linearly.
void whiten(std::vector<float>& power) {
  const std::size_t blocks = std::max<std::size_t>(1, power.size() / kWhitened);
  std::vector<double> level(blocks);
  std::vector<float> order;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t begin = b * kWhitened, end = b + 1 == blocks ? power.size() : begin + kWhitened;
    order.assign(power.begin() + static_cast<std::ptrdiff_t>(begin), power.begin() + static_cast<std::ptrdiff_t>(end));
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2), order.end());
    level[b] = std::max(1e-30, order[order.size() / 2] / std::numbers::ln2);
  }
  for (std::size_t k = 0; k < power.size(); ++k) {
    const double at = std::clamp(static_cast<double>(k) / kWhitened - 0.5, 0.0, static_cast<double>(blocks - 1));
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, blocks - 1);
    const double share = at - static_cast<double>(low);
    power[k] = static_cast<float>(power[k] / (level[low] * (1 - share) + level[high] * share));
  }
}

// True if p times the frequency is within a few bins of q times one in the set, for any p and q up to 16.
bool related(double frequency, const std::set<double>& others, double width) {
  for (int p = 1; p <= 16; ++p) {
    for (int q = 1; q <= 16; ++q) {
      const double reach = width * (p + q);
      const auto next = others.lower_bound((frequency * p - reach) / q);
      if (next != others.end() && *next * q <= frequency * p + reach) return true;
    }
  }
  return false;
}

struct Spectrum {
  std::size_t samples = 0;
  double seconds = 0;  // length of the series
  double log_trials = 0;
};

// Candidates of one whitened spectrum above the threshold.
void search_spectrum(const std::vector<float>& power, const Spectrum& spectrum, double acceleration,
                     const PeriodSettings& settings, std::vector<PeriodCandidate>& found) {
  std::vector<float> sum = power;
  for (std::size_t harmonics = 1; harmonics <= settings.harmonics; harmonics *= 2) {
    // Bin j is the highest harmonic; the fundamental is j / harmonics.
    if (harmonics > 1) {
      for (std::size_t j = 1; j < power.size(); ++j) {
        float total = 0;
        for (std::size_t h = 1; h <= harmonics; ++h) total += power[(2 * j * h + harmonics) / (2 * harmonics)];
        sum[j] = total;
      }
    }
    // The power at which the significance reaches the threshold, found once per number of harmonics.
    double low = static_cast<double>(harmonics), high = low + 2000;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (sigma_of(log_gamma_tail(harmonics, middle) + spectrum.log_trials) < settings.threshold ? low : high) = middle;
    }
    const auto least = static_cast<std::size_t>(settings.lowest_hz * spectrum.seconds * static_cast<double>(harmonics));
    for (std::size_t j = std::max<std::size_t>(least, harmonics); j < power.size(); ++j) {
      if (!(sum[j] >= high)) continue;
      PeriodCandidate one;
      one.frequency = static_cast<double>(j) / static_cast<double>(harmonics) / spectrum.seconds;
      one.period = 1 / one.frequency;
      one.acceleration = acceleration;
      one.harmonics = harmonics;
      one.power = sum[j];
      one.sigma = sigma_of(log_gamma_tail(harmonics, sum[j]) + spectrum.log_trials);
      found.push_back(one);
    }
  }
}

// Steps between the first and the last trial acceleration.
double acceleration_steps(const PeriodSettings& settings, double seconds, double interval) {
  double step = settings.acceleration_step;
  if (step == 0) step = kLight / (0.125 / interval * seconds * seconds);
  const double largest = std::max(std::abs(settings.acceleration_begin), std::abs(settings.acceleration_end));
  if (!(largest * seconds < kLight)) {
    refuse_periods(
        fmt::format("a source cannot change its speed by more than that of light: accelerations need less than {:.3g} "
                    "m/s^2 over {:.3g} s, got {:.3g}",
                    kLight / seconds, seconds, largest));
  }
  const double count = std::ceil((settings.acceleration_end - settings.acceleration_begin) / step);
  if (!(count < 1e6)) refuse_periods(fmt::format("needs at most 1000000 trial accelerations, got {:.3g}", count));
  return count;
}

std::vector<double> trial_accelerations(const PeriodSettings& settings, double seconds, double interval) {
  const double count = acceleration_steps(settings, seconds, interval);
  std::vector<double> all;
  if (settings.acceleration_begin == settings.acceleration_end) return {settings.acceleration_begin};
  for (double i = 0; i <= count; ++i)
    all.push_back(settings.acceleration_begin +
                  (settings.acceleration_end - settings.acceleration_begin) * i / std::max(count, 1.0));
  return all;
}

// Keeps the strongest of each set of related candidates.
std::vector<PeriodCandidate> sifted(std::vector<PeriodCandidate> found, double seconds, std::size_t most) {
  std::stable_sort(found.begin(), found.end(),
                   [](const PeriodCandidate& a, const PeriodCandidate& b) { return a.sigma > b.sigma; });
  std::vector<PeriodCandidate> kept;
  std::set<double> frequencies;
  for (const PeriodCandidate& one : found) {
    if (kept.size() == most) break;
    if (related(one.frequency, frequencies, 1.5 / seconds)) continue;
    kept.push_back(one);
    frequencies.insert(one.frequency);
  }
  return kept;
}

void drop_weakest(std::vector<PeriodCandidate>& found) {
  if (found.size() <= kMostFound) return;
  const auto half = found.begin() + static_cast<std::ptrdiff_t>(kMostFound / 2);
  std::nth_element(found.begin(), half, found.end(),
                   [](const PeriodCandidate& a, const PeriodCandidate& b) { return a.sigma > b.sigma; });
  found.erase(half, found.end());
}

}  // namespace

void check(const PeriodSettings& settings, std::size_t samples, double interval) {
  const std::size_t n = samples / 2 * 2;
  if (n < 1024) refuse_periods(fmt::format("needs at least 1024 samples, got {}", samples));
  if (!(interval > 0)) refuse_periods(fmt::format("the sample interval must be positive, got {}", interval));
  if (settings.harmonics == 0 || settings.harmonics > 32 || (settings.harmonics & (settings.harmonics - 1)) != 0)
    refuse_periods(fmt::format("needs 1, 2, 4, 8, 16 or 32 harmonics, got {}", settings.harmonics));
  if (!(settings.acceleration_begin <= settings.acceleration_end) || !(settings.acceleration_step >= 0))
    refuse_periods("accelerations must be ascending, with a step of 0 or more");
  if (!(settings.lowest_hz >= 0 && settings.lowest_hz < 0.5 / interval))
    refuse_periods(
        fmt::format("the lowest frequency needs at least 0 and less than {:.6g} Hz, half of the sampling rate, got {}",
                    0.5 / interval, settings.lowest_hz));
  acceleration_steps(settings, static_cast<double>(n) * interval, interval);
}

std::vector<PeriodCandidate> find_periods(const Device& device, std::span<const float> series, double interval,
                                          const PeriodSettings& settings) {
  check(settings, series.size(), interval);
  const std::size_t n = series.size() / 2 * 2;
  const double seconds = static_cast<double>(n) * interval;
  const std::vector<double> accelerations = trial_accelerations(settings, seconds, interval);
  Spectrum spectrum{.samples = n, .seconds = seconds};
  spectrum.log_trials = std::log(static_cast<double>(n / 2) * (1 + std::log2(static_cast<double>(settings.harmonics))) *
                                 static_cast<double>(accelerations.size()));
  const fft::Plan<float> plan(
      device,
      {.shape = {n}, .kind = fft::Kind::real, .threads = settings.threads, .directions = fft::Directions::forward},
      {.effort = Effort::quick});
  double mean = 0;
  for (std::size_t t = 0; t < n; ++t) mean += series[t] / static_cast<double>(n);
  std::vector<PeriodCandidate> found;
  std::vector<float> samples(n), power(n / 2 + 1);
  std::vector<std::complex<float>> transform(n / 2 + 1);
  for (const double& acceleration : accelerations) {
    for (std::size_t t = 0; t < n; ++t) {
      // Time at which a source of this acceleration emitted the sample, relative to the middle of the series.
      const double x = (static_cast<double>(t) - static_cast<double>(n) / 2) * interval;
      const double from = static_cast<double>(t) - acceleration * x * x / (2 * kLight) / interval;
      const auto index = static_cast<std::ptrdiff_t>(std::lround(from));
      samples[t] = index >= 0 && index < static_cast<std::ptrdiff_t>(n)
                       ? static_cast<float>(series[static_cast<std::size_t>(index)] - mean)
                       : 0.0F;
    }
    plan.forward(std::span<const float>(samples), std::span<std::complex<float>>(transform));
    for (std::size_t k = 0; k < power.size(); ++k) power[k] = std::norm(transform[k]);
    power[0] = 0;
    whiten(power);
    search_spectrum(power, spectrum, acceleration, settings, found);
    drop_weakest(found);
    const double done = static_cast<double>(&acceleration - accelerations.data() + 1);
    if (settings.progress) settings.progress(done / static_cast<double>(accelerations.size()));
  }
  return sifted(std::move(found), seconds, settings.most);
}

struct SeriesState {
  Band band;
  std::size_t bits;
  bool is_signed;
  std::vector<std::size_t> late{};
  std::vector<std::byte> pending{};
  std::vector<float> series{};
  std::uint64_t rows = 0;
  std::size_t row_bytes() const { return band.channels * bits / 8; }
  void add(std::size_t count);
};

void SeriesState::add(std::size_t count) {
  const RawRows raw{
      .data = pending.data(), .rows = count, .channels = band.channels, .bits = bits, .is_signed = is_signed};
  Mask mask(count, band.channels);
  std::uint64_t not_numbers = 0;
  const ChannelStatistics statistics = channel_statistics(raw, part_sums(raw, mask, 0, not_numbers));
  std::vector<float> row(band.channels), scale(band.channels);
  for (std::size_t c = 0; c < band.channels; ++c) {
    scale[c] = statistics.sigma[c] > 0 ? 1 / (statistics.sigma[c] * std::sqrt(static_cast<float>(band.channels))) : 0;
  }
  series.resize(rows + count, 0);
  for (std::size_t r = 0; r < count; ++r) {
    unpack(raw.row(r), bits, is_signed, row.data(), band.channels);
    for (std::size_t c = 0; c < band.channels; ++c) {
      if (rows + r >= late[c] && std::isfinite(row[c]))
        series[rows + r - late[c]] += (row[c] - statistics.mean[c]) * scale[c];
    }
  }
  rows += count;
  pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count * row_bytes()));
}

namespace {

double delay_samples(const Band& band, double dm, double mhz) {
  constexpr double kMost = 1e15;
  const double samples = delay_seconds(dm, mhz, band.highest_mhz()) / band.interval;
  if (!(samples < kMost)) refuse_periods(fmt::format("DM {} is a delay of {:.3g} samples: too long", dm, samples));
  return samples;
}

}  // namespace

Dedisperser::Dedisperser(const Band& band, double dm, std::size_t bits, bool is_signed)
    : state_(std::make_unique<SeriesState>(SeriesState{band, bits, is_signed})) {
  check_band(band);
  check_bits(bits, band.channels);
  if (!(dm >= 0) || !std::isfinite(dm))
    refuse_periods(fmt::format("the dispersion measure must not be negative, got {}", dm));
  for (std::size_t c = 0; c < band.channels; ++c) {
    const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
    state_->late.push_back(static_cast<std::size_t>(std::llround(delay_samples(band, dm, mhz))));
  }
}
Dedisperser::~Dedisperser() = default;

void Dedisperser::push(std::span<const std::byte> bytes) {
  SeriesState& state = *state_;
  state.pending.insert(state.pending.end(), bytes.begin(), bytes.end());
  while (state.pending.size() >= kSeriesRows * state.row_bytes()) state.add(kSeriesRows);
}

std::vector<float> Dedisperser::finish() {
  SeriesState& state = *state_;
  const std::size_t rows = state.pending.size() / state.row_bytes();
  if (rows > 1) state.add(rows);
  const std::size_t sweep = *std::max_element(state.late.begin(), state.late.end());
  state.series.resize(state.series.size() > sweep ? state.series.size() - sweep : 0);
  return std::move(state.series);
}

}  // namespace ridge::search
