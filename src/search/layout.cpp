// Delays of a band, trial dispersion measures and checked sizes.
#include "search/layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/threads.hpp"

namespace ridge::search {
namespace {

[[noreturn]] void refuse_problem(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "search: " + message);
}

constexpr std::size_t kMostTrials = std::size_t{1} << 20;

}  // namespace

double Band::highest_mhz() const {
  return step_mhz < 0 ? first_mhz : first_mhz + step_mhz * static_cast<double>(channels - 1);
}
double Band::lowest_mhz() const {
  return step_mhz < 0 ? first_mhz + step_mhz * static_cast<double>(channels - 1) : first_mhz;
}

double delay_seconds(double dm, double mhz, double reference_mhz) {
  return kDispersion * dm * (1 / (mhz * mhz) - 1 / (reference_mhz * reference_mhz));
}

void check_band(const Band& band) {
  if (band.channels == 0) refuse_problem("needs at least one channel, got 0");
  if (band.channels > kMostChannels)
    refuse_problem(fmt::format("needs at most {} channels, got {}", kMostChannels, band.channels));
  if (!(band.interval > 0) || !std::isfinite(band.interval))
    refuse_problem(fmt::format("the sample interval (tsamp) must be positive, got {}", band.interval));
  if (!std::isfinite(band.step_mhz) || band.step_mhz == 0)
    refuse_problem(fmt::format("the channel step (foff) must not be 0, got {}", band.step_mhz));
  if (!std::isfinite(band.first_mhz) || !(band.lowest_mhz() > 0)) {
    refuse_problem(fmt::format("the band must lie above 0 MHz: fch1 {} MHz, {} channels of foff {} MHz", band.first_mhz,
                               band.channels, band.step_mhz));
  }
}

std::vector<Segment> plan_trials(const Band& band, const TrialOptions& options) {
  check_band(band);
  if (!(options.dm_begin >= 0) || !(options.dm_end >= options.dm_begin) || !std::isfinite(options.dm_end)) {
    refuse_problem(fmt::format("dispersion measures must satisfy 0 <= begin <= end, got {} to {}", options.dm_begin,
                               options.dm_end));
  }
  if (!(options.tolerance > 1) || !(options.tolerance <= 10))
    refuse_problem(fmt::format("the tolerance must be above 1 and at most 10, got {}", options.tolerance));
  const double step = std::abs(band.step_mhz), width = step * static_cast<double>(band.channels);
  const double middle = (band.highest_mhz() + band.lowest_mhz()) / 2, cube = middle * middle * middle;
  const double smear = 2 * kDispersion * step / cube;        // seconds per DM within a channel
  const double across = 2 * kDispersion * width / cube / 4;  // effective broadening per error of DM (Levin 2012)
  std::vector<Segment> segments{Segment{}};
  std::size_t trials = 0;
  for (double dm = options.dm_begin;;) {
    while (smear * dm > options.smear_per_sample * static_cast<double>(segments.back().factor) * band.interval &&
           segments.back().factor < options.most_factor) {
      const std::size_t factor = 2 * segments.back().factor;
      if (segments.back().dms.empty()) segments.pop_back();
      segments.push_back({.factor = factor});
    }
    segments.back().dms.push_back(dm);
    if (++trials > kMostTrials)
      refuse_problem(fmt::format("more than {} trials: lower the range or raise the tolerance", kMostTrials));
    if (dm >= options.dm_end) break;
    const double sample = static_cast<double>(segments.back().factor) * band.interval;
    const double square = sample * sample + options.pulse_seconds * options.pulse_seconds + smear * smear * dm * dm;
    dm = std::min(dm + std::sqrt(square * (options.tolerance * options.tolerance - 1)) / across, options.dm_end);
  }
  return segments;
}

std::int32_t Layout::nearest(std::size_t trial, std::size_t channel) const {
  return static_cast<std::int32_t>(std::lround(delay[trial] * slope[channel]));
}

std::size_t Layout::delay_range(std::size_t group) const {
  std::size_t range = 0;
  for (std::size_t d = 0; d < trials; d += group) {
    const std::int32_t first = nearest(d, channels - 1), last = nearest(std::min(d + group, trials) - 1, channels - 1);
    range = std::max(range, static_cast<std::size_t>(last - first));
  }
  return range;
}

std::size_t Layout::delay_range_class(std::size_t group) const {
  // Rounding may make the difference of an inner channel larger by one.
  return std::bit_ceil(std::max<std::size_t>(delay_range(group) + 1, 32));
}

double Layout::additions() const {
  return static_cast<double>(channels) * static_cast<double>(trials) * static_cast<double>(times);
}

std::string Layout::key() const {
  return fmt::format("{} channels {} trials {} times of {}, {}{}", channels, trials, times, row, text,
                     exact ? ", exact" : "");
}

Layout resolve(const Problem& problem) {
  const Band& band = problem.band;
  check_band(band);
  if (band.step_mhz > 0) refuse_problem("a plan needs the highest frequency first: reverse the channels");
  if (problem.dms.empty()) refuse_problem("needs at least one dispersion measure, got 0");
  if (problem.times == 0) refuse_problem("needs at least one output time, got 0");
  double before = 0;
  for (const double dm : problem.dms) {
    if (!(dm >= before) || !std::isfinite(dm))
      refuse_problem(
          fmt::format("dispersion measures must be ascending and not negative, got {} after {}", dm, before));
    before = dm;
  }
  Layout layout{.channels = band.channels, .trials = problem.dms.size(), .times = problem.times};
  const double top = band.highest_mhz(), whole = delay_seconds(1, band.lowest_mhz(), top);
  for (std::size_t c = 0; c < band.channels; ++c) {
    const double mhz = band.first_mhz + band.step_mhz * static_cast<double>(c);
    layout.slope.push_back(whole > 0 ? delay_seconds(1, mhz, top) / whole : 0);
  }
  for (const double dm : problem.dms) layout.delay.push_back(dm * whole / band.interval);
  const double longest = layout.delay.back() + static_cast<double>(problem.times) + 2.0 * kRoundingMargin;
  constexpr double kMostBytes = 1e15;
  if (longest * static_cast<double>(band.channels) > kMostBytes || longest > 1e9 ||
      static_cast<double>(problem.times) * static_cast<double>(problem.dms.size()) > kMostBytes) {
    refuse_problem(fmt::format("{} channels x {:.3g} samples (the longest delay is {:.3g}) exceed the address space",
                               band.channels, longest, layout.delay.back()));
  }
  layout.row = problem.times + static_cast<std::size_t>(std::lround(layout.delay.back())) + kRoundingMargin;
  if (problem.row == 0) layout.row = (layout.row + 3) / 4 * 4;  // aligned rows are loaded faster
  if (problem.row != 0) {
    if (problem.row < layout.row || problem.row > 2'000'000'000) {
      refuse_problem(fmt::format("rows need {} to 2000000000 samples for {} times and delays of up to {:.0f}, got {}",
                                 layout.row, problem.times, layout.delay.back(), problem.row));
    }
    layout.row = problem.row;
  }
  layout.exact = problem.exact;
  layout.threads = problem.threads != 0 ? problem.threads : base::hardware_threads();
  layout.text = fmt::format("{:.6g} MHz step {:.6g}, {:.6g} s, delays {:.2f} to {:.2f}", band.first_mhz, band.step_mhz,
                            band.interval, layout.delay.front(), layout.delay.back());
  return layout;
}

}  // namespace ridge::search
