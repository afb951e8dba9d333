// Validation of a filter-bank problem and the layout of its stream.
#include "filterbank/geometry.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/threads.hpp"

namespace ridge::filterbank {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::invalid_argument, "filterbank: " + what); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

void check_counts(const Problem& problem) {
  if (problem.channels == 0) refuse("channels is 0: at least 1 is needed");
  if (problem.taps == 0) refuse("taps is 0: at least 1 is needed (1 is a plain FFT of weighted blocks)");
  if (problem.stations == 0) refuse("stations is 0: at least 1 is needed");
  if (problem.polarizations < 1 || problem.polarizations > 2) {
    refuse(fmt::format("{} polarizations: 1 or 2 are supported", problem.polarizations));
  }
  // Beyond any practical use, and small enough that no product of them overflows.
  constexpr std::size_t kMost = std::size_t{1} << 24;
  if (problem.channels > kMost || problem.taps > kMost || problem.stations > kMost || problem.input_block > kMost ||
      problem.channels * problem.taps > (std::size_t{1} << 30) ||
      problem.channels * problem.taps > (std::size_t{1} << 40) / problem.stations) {
    refuse(
        fmt::format("{} channels x {} taps x {} stations is too large: each at most 2^24, channels x taps at most "
                    "2^30, all three at most 2^40",
                    problem.channels, problem.taps, problem.stations));
  }
}

std::size_t hop_of(const Problem& problem) {
  const auto [numerator, denominator] = problem.oversampling;
  if (numerator == 0 || denominator == 0 || numerator > (std::size_t{1} << 24) ||
      denominator > (std::size_t{1} << 24)) {
    refuse(
        fmt::format("an oversampling of {}/{}: numerator and denominator must be 1 to 2^24", numerator, denominator));
  }
  if (numerator < denominator) {
    refuse(fmt::format("an oversampling of {}/{} is below 1: samples between the spectra would be skipped", numerator,
                       denominator));
  }
  if (problem.channels * denominator % numerator != 0) {
    refuse(fmt::format("{} channels oversampled by {}/{}: {} x {} / {} samples per spectrum is no whole number",
                       problem.channels, numerator, denominator, problem.channels, denominator, numerator));
  }
  return problem.channels * denominator / numerator;
}

}  // namespace

std::size_t bytes_of(Samples samples) {
  switch (samples) {
    case Samples::int4:
      return 1;
    case Samples::int8:
      return 2;
    case Samples::int16:
      return 4;
    default:
      return 8;
  }
}

Geometry resolve(const Problem& problem) {
  check_counts(problem);
  Geometry geometry{};
  geometry.channels = problem.channels;
  geometry.taps = problem.taps;
  geometry.stations = problem.stations;
  geometry.polarizations = problem.polarizations;
  geometry.samples = problem.samples == Samples::same ? Samples::float32 : problem.samples;
  geometry.hop = hop_of(problem);
  // The samples of a single station are contiguous for any block size.
  geometry.block = problem.input_block == 0 || problem.stations == 1 ? problem.channels : problem.input_block;
  geometry.threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  geometry.sample_bytes = bytes_of(problem.samples);
  geometry.centred = problem.centred;
  if (problem.centred && problem.channels % 2 != 0) {
    refuse(fmt::format("centred needs an even number of channels, got {}", problem.channels));
  }
  geometry.by_channel = problem.order == Order::channel;
  geometry.times = geometry.by_channel ? problem.output_times : 1;
  geometry.delayed = problem.delays.wanted;
  geometry.longest = problem.delays.wanted ? problem.delays.longest : 0;
  if (geometry.times == 0 || geometry.times > (std::size_t{1} << 24)) {
    refuse(fmt::format("output_times must be 1 to 2^24, got {}", problem.output_times));
  }
  if (geometry.longest > (std::size_t{1} << 30) || !std::isfinite(problem.delays.frequency)) {
    refuse(fmt::format("delays.longest must be at most 2^30 samples and delays.frequency finite, got {} and {}",
                       problem.delays.longest, problem.delays.frequency));
  }
  const std::size_t factors = problem.bandpass.size();
  if (factors != 0 && factors != problem.channels && factors != geometry.spectrum_size()) {
    refuse(fmt::format(
        "a bandpass of {} factors: {} (one per channel) or {} (one per polarization, station and channel) are needed",
        factors, problem.channels, geometry.spectrum_size()));
  }
  return geometry;
}

void check_summed(const Geometry& geometry, std::size_t summed, const char* what) {
  const std::size_t channels = geometry.channels;
  if (summed == 0 || channels % summed != 0) {
    refuse(fmt::format("{} needs a number of summed channels that divides the bank's channels; got {} of {}", what,
                       summed, channels));
  }
  // Channel 0 is the centre of the band; the lowest frequency follows the highest one.
  const std::size_t upper = (channels + 1) / 2;
  if (geometry.centred || summed == channels || upper % summed == 0) return;
  refuse(
      fmt::format("{} with sums of {} of {} channels: one sum would join both edges of the band; needs a number that "
                  "divides the {} channels from the centre to the upper edge, or all channels{}",
                  what, summed, channels, upper, channels % 2 == 0 ? ", or centred (--centred)" : ""));
}

Problem complete(const Problem& problem) {
  resolve(problem);
  Problem whole = problem;
  if (whole.samples == Samples::same) whole.samples = Samples::float32;
  if (whole.weights.empty()) {
    whole.weights = design(problem.channels, problem.taps, problem.prototype);
  } else if (whole.weights.size() != problem.channels * problem.taps) {
    refuse(fmt::format("got {} weights; {} channels x {} taps need {}", whole.weights.size(), problem.channels,
                       problem.taps, problem.channels * problem.taps));
  }
  for (std::size_t i = 0; i < whole.weights.size(); ++i) {
    if (!std::isfinite(whole.weights[i]))
      refuse(fmt::format("weights must be finite: number {} is {}", i, whole.weights[i]));
  }
  return whole;
}

std::uint64_t Geometry::samples_in(std::uint64_t bytes) const {
  const std::uint64_t piece = polarizations * sample_bytes;  // bytes of one sample, all polarizations
  const std::uint64_t frame = bytes / frame_bytes(), rest = bytes % frame_bytes();
  const std::uint64_t before_last = (stations - 1) * block * piece;
  return frame * block + (rest > before_last ? (rest - before_last) / piece : 0);
}

std::int64_t Geometry::oldest_row(std::uint64_t spectrum) const {
  const auto span = static_cast<std::int64_t>(channels * taps);
  return floor_divide(newest(spectrum) + 1 - span, static_cast<std::int64_t>(channels));
}

std::uint64_t Geometry::frame_start(std::int64_t sample) const {
  return sample <= 0 ? 0 : static_cast<std::uint64_t>(sample) / block * frame_bytes();
}

std::string Geometry::key() const {
  return fmt::format("{} channels {} taps hop {} stations {} polarizations {} {}{}{}{}{}", channels, taps, hop,
                     stations, polarizations, to_string(samples),
                     block == channels ? "" : fmt::format(" block {}", block), centred ? " centred" : "",
                     by_channel ? fmt::format(" channel-major {}", times) : "",
                     delayed ? fmt::format(" delays {}", longest) : "");
}

double Geometry::flops() const {
  const auto c = static_cast<double>(channels), t = static_cast<double>(taps);
  return static_cast<double>(stations * polarizations) * (c * (2 + 4 * (t - 1)) + 5 * c * std::log2(c));
}

double Geometry::bytes() const {
  const auto each = static_cast<double>(stations * polarizations);
  return each * static_cast<double>(hop * sample_bytes + channels * sizeof(std::complex<float>));
}

std::vector<SpectrumRange> flagged(const Problem& problem, std::span<const Hole> holes) {
  const Geometry g = resolve(problem);
  const std::uint64_t span = g.channels * g.taps;
  std::vector<SpectrumRange> ranges;
  for (const Hole& hole : holes) {
    if (hole.samples == 0) continue;
    // Spectrum t is affected if newest(t) = (t + 1) hop - 1 >= first and newest(t) - span < end.
    const std::uint64_t first = (hole.first - std::min<std::uint64_t>(hole.first, g.longest)) / g.hop;
    const std::uint64_t end = (hole.first + hole.samples + span - 1) / g.hop;
    if (!ranges.empty() && first <= ranges.back().end) {
      ranges.back().end = std::max(ranges.back().end, end);
    } else if (end > first) {
      ranges.push_back({first, end});
    }
  }
  return ranges;
}

}  // namespace ridge::filterbank
