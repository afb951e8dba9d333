// Timing of filter-bank variants on random samples, on GPUs in device memory, and their comparison with the definition.
#include "filterbank/trials.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "filterbank/reference.hpp"

namespace ridge::filterbank {
namespace {

constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};
// Samples of all stations together; in checking mode, where times are not used, only enough to compare.
constexpr std::size_t kTrialSamples = std::size_t{1} << 20, kCheckedSamples = std::size_t{1} << 17;
constexpr std::size_t kTrialBytes = std::size_t{256} << 20;
constexpr std::size_t kResidentBytes = std::size_t{1} << 30;  // of spectra in device memory
constexpr double kComparedProducts = 1e8;                     // multiplications of the direct DFT
constexpr std::size_t kMostLines = 512;
// Relative to the spectra's root mean square: single precision through a long sum, a transform and a phase factor.
constexpr double kAllowed = 1e-5;

}  // namespace

Trials::Trials(const Problem& problem, const Geometry& geometry)
    : problem_(problem),
      geometry_(geometry),
      first_(geometry.channels * geometry.taps / geometry.hop + 1),
      phase_{0.1f, 0.3f / static_cast<float>(geometry.channels)} {
  const std::size_t each = geometry.hop * geometry.stations * geometry.polarizations;
  spectra_ = std::clamp<std::size_t>((checking() ? kCheckedSamples : kTrialSamples) / each, 16,
                                     std::max<std::size_t>(16, kTrialBytes / (8 * geometry.spectrum_size())));
  if (geometry.by_channel) first_ = (first_ + geometry.times - 1) / geometry.times * geometry.times;
}

// Enough samples that no spectrum reads before the first or after the last one.
void Trials::fill() {
  if (in_.size() != 0) return;
  const Geometry& g = geometry_;
  const auto samples = static_cast<std::size_t>(g.newest(first_ + spectra_ + g.times)) + 1 + g.longest;
  in_ = base::AlignedArray<std::byte>((samples / g.block + 2) * g.frame_bytes());
  fill_random(in_.span(), g.samples == Samples::float32 ? Numbers::float32 : Numbers::bits);
  out_ = base::AlignedArray<std::complex<float>>((spectra_ + 2 * g.times) * g.spectrum_size());
  std::fill(out_.begin(), out_.end(), 0.0f);
  if (g.delayed) phases_.assign(spectra_ * g.polarizations * g.stations, phase_);
}

void Trials::run(const Variant& variant, const Weights& weights) {
  const RawView raw(0, in_.data(), in_.size(), nullptr, 0);
  variant.run(
      {.raw = raw, .first = first_, .spectra = spectra_, .weights = weights, .out = out_.data(), .phases = phases_});
}

// Enough samples to occupy all compute units; scaled to the spectra of a run.
double Trials::resident_seconds(const Device& device, const Variant& variant, const Weights& weights) {
  const Geometry& g = geometry_;
  Queue queue = device.queue();
  if (!samples_) {
    const std::size_t each = g.spectrum_size() * sizeof(std::complex<float>);
    const std::size_t most = std::min(kResidentBytes, device.limits().memory / 8) / each;
    resident_count_ = (std::max(spectra_, most) + g.times - 1) / g.times * g.times;
    const auto samples = static_cast<std::size_t>(g.newest(first_ + resident_count_)) + 1 + g.longest;
    samples_ = device.buffer((samples / g.block + 2) * g.frame_bytes(), {.name = "filter bank samples"});
    channels_ = device.buffer((resident_count_ + g.times) * each, {.name = "filter bank spectra"});
    fill_random(queue, samples_, g.samples == Samples::float32 ? Numbers::float32 : Numbers::bits);
  }
  const Resident work{.samples = samples_, .spectra = channels_, .first = first_, .count = resident_count_};
  const double seconds =
      best_device_seconds(queue, {[&] { variant.enqueue(queue, work, weights, {}); }}, {.seconds = 0.02, .at_least = 2})
          .front();
  return seconds * static_cast<double>(spectra_) / static_cast<double>(resident_count_);
}

double Trials::seconds(const Variant& variant) {
  const auto weights = variant.prepare(problem_.weights);
  if (const Device* device = variant.resident_device(); device != nullptr && !geometry_.delayed)
    return resident_seconds(*device, variant, *weights);
  fill();
  return base::best_seconds([&] { run(variant, *weights); }, kTrial);
}

void Trials::make_expected() {
  fill();
  const Geometry& g = geometry_;
  const auto channels = static_cast<double>(g.channels);
  const std::size_t all = spectra_ * g.stations * g.polarizations;
  const auto affordable = static_cast<std::size_t>(kComparedProducts / (channels * channels));
  const std::size_t count = std::min(all, std::clamp<std::size_t>(affordable, 4, kMostLines));
  std::vector<std::vector<std::complex<double>>> samples(g.stations * g.polarizations);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = count == 1 ? 0 : i * (all - 1) / (count - 1);  // includes the first and the last
    const Line line{at / (g.stations * g.polarizations), at / g.polarizations % g.stations, at % g.polarizations};
    auto& stream = samples[line.station * g.polarizations + line.polarization];
    if (stream.empty()) stream = station_samples(problem_, in_.span(), line.station, line.polarization);
    const auto spectrum = reference(problem_, stream, first_ + line.time, 1);
    for (std::size_t k = 0; k < g.channels; ++k) {
      std::complex<double> value = spectrum[k];
      if (problem_.bandpass.size() == g.channels) {
        value *= problem_.bandpass[k];
      } else if (!problem_.bandpass.empty()) {
        value *= problem_.bandpass[(line.polarization * g.stations + line.station) * g.channels + k];
      }
      if (g.delayed) {
        const double cycles = double{phase_.start} + double{phase_.slope} * static_cast<double>(g.signed_channel(k));
        value *= std::polar(1.0, 2 * std::numbers::pi * cycles);
      }
      expected_.push_back(static_cast<float>(value.real()));
      expected_.push_back(static_cast<float>(value.imag()));
    }
    lines_.push_back(line);
  }
  got_.resize(expected_.size());
}

std::string Trials::place_of(std::size_t value) const {
  const Line& line = lines_[value / (2 * geometry_.channels)];
  return fmt::format("spectrum {}, station {}, polarization {}, channel {}", line.time, line.station, line.polarization,
                     value / 2 % geometry_.channels);
}

planner::Comparison Trials::compare(const Variant& variant) {
  if (expected_.empty()) make_expected();
  const Geometry& g = geometry_;
  const float none = std::numeric_limits<float>::quiet_NaN();
  std::fill(out_.begin(), out_.end(), std::complex<float>(none, none));
  run(variant, *variant.prepare(problem_.weights));
  float* got = got_.data();
  for (const Line& line : lines_) {
    for (std::size_t k = 0; k < g.channels; ++k) {
      const std::complex<float> value = out_[g.place(first_, first_ + line.time, line.polarization, line.station, k)];
      *got++ = value.real();
      *got++ = value.imag();
    }
  }
  for (std::uint64_t t = first_; t < first_ + spectra_; ++t) {
    for (std::size_t i = 0; i < g.stations * g.polarizations; ++i) {
      for (std::size_t k = 0; k < g.channels; ++k) {
        const std::complex<float> value = out_[g.place(first_, t, i % g.polarizations, i / g.polarizations, k)];
        if (std::isfinite(value.real()) && std::isfinite(value.imag())) continue;
        return {.worst = none,
                .allowed = kAllowed,
                .where = fmt::format("spectrum {}, station {}, polarization {}, channel {}", t - first_,
                                     i / g.polarizations, i % g.polarizations, k)};
      }
    }
  }
  return planner::compare(std::span<const float>(got_), std::span<const float>(expected_), kAllowed,
                          [&](std::size_t value) { return place_of(value); });
}

}  // namespace ridge::filterbank
