// Windowed-sinc prototype filters, and their response to a tone.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/filterbank.hpp>

#include "base/window.hpp"
#include "fft/variant.hpp"

namespace ridge::filterbank {
namespace {

using std::numbers::pi;

void check_sizes(std::span<const double> prototype, std::size_t channels) {
  if (channels == 0 || prototype.empty() || prototype.size() % channels != 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: a prototype needs a whole number of taps of {} values each, got {} values",
                            channels, prototype.size()));
  }
}

double amplitude_db(double amplitude, double of) { return 20 * std::log10(std::max(amplitude, 1e-300) / of); }

// |H| at offset j / (fine * taps) channels, for each j up to half the band.
std::vector<double> spectrum_of(std::span<const double> prototype, std::size_t fine) {
  const std::size_t n = fine * prototype.size();
  const auto line = fft::default_line<double>(n);
  std::vector<std::complex<double>> points(n), scratch(line->scratch() + 1);
  std::copy(prototype.begin(), prototype.end(), points.begin());
  line->run(fft::Direction::forward, points.data(), points.data(), scratch.data());
  std::vector<double> amplitudes(n / 2 + 1);
  for (std::size_t i = 0; i < amplitudes.size(); ++i) amplitudes[i] = std::abs(points[i]);
  return amplitudes;
}

}  // namespace

std::vector<double> design(std::size_t channels, std::size_t taps, const Prototype& prototype) {
  if (channels == 0 || taps == 0)
    throw Error(ErrorKind::invalid_argument,
                "filterbank: a prototype needs at least 1 channel and 1 tap, got one without values");
  if (!(prototype.width > 0) || !std::isfinite(prototype.width) || !(prototype.shape >= 0) ||
      !(prototype.shape <= 500)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: a prototype needs a width above 0 and a shape from 0 to 500, got width {} "
                            "and shape {}",
                            prototype.width, prototype.shape));
  }
  const std::size_t length = channels * taps;
  std::vector<double> h(length);
  const double centre = (static_cast<double>(length) - 1) / 2, half = static_cast<double>(length) / 2;
  for (std::size_t n = 0; n < length; ++n) {
    const double from_centre = static_cast<double>(n) - centre;
    const double angle = pi * prototype.width * from_centre / static_cast<double>(channels);
    const double sinc = angle == 0 ? 1 : std::sin(angle) / angle;
    h[n] = sinc * base::window_at(prototype.window, from_centre / half, prototype.shape);
  }
  const double sum = std::accumulate(h.begin(), h.end(), 0.0);
  for (double& value : h) value /= sum;
  return h;
}

std::vector<double> branch_weights(std::span<const double> prototype, std::size_t channels) {
  check_sizes(prototype, channels);
  const std::size_t taps = prototype.size() / channels;
  std::vector<double> weights(prototype.size());
  for (std::size_t m = 0; m < channels; ++m) {
    for (std::size_t i = 0; i < taps; ++i) weights[m * taps + i] = prototype[i * channels + (channels - 1 - m)];
  }
  return weights;
}

std::vector<double> prototype_of(std::span<const double> weights, std::size_t channels) {
  check_sizes(weights, channels);
  const std::size_t taps = weights.size() / channels;
  std::vector<double> prototype(weights.size());
  for (std::size_t m = 0; m < channels; ++m) {
    for (std::size_t i = 0; i < taps; ++i) prototype[i * channels + (channels - 1 - m)] = weights[m * taps + i];
  }
  return prototype;
}

double response_db(std::span<const double> prototype, std::size_t channels, double offset) {
  check_sizes(prototype, channels);
  std::complex<double> sum = 0;
  for (std::size_t n = 0; n < prototype.size(); ++n) {
    sum += prototype[n] * std::polar(1.0, -2 * pi * offset * static_cast<double>(n) / static_cast<double>(channels));
  }
  return amplitude_db(std::abs(sum), std::abs(std::accumulate(prototype.begin(), prototype.end(), 0.0)));
}

Quality quality(std::span<const double> prototype, std::size_t channels, double beyond) {
  check_sizes(prototype, channels);
  constexpr std::size_t kFine = 16;
  const std::vector<double> amplitudes = spectrum_of(prototype, kFine);
  const double per_channel = static_cast<double>(kFine * prototype.size() / channels);
  double leak = 0, low = amplitudes[0], high = amplitudes[0];
  for (std::size_t i = 0; i < amplitudes.size(); ++i) {
    const double offset = static_cast<double>(i) / per_channel;
    if (offset >= beyond) leak = std::max(leak, amplitudes[i]);
    if (offset <= 0.25) low = std::min(low, amplitudes[i]), high = std::max(high, amplitudes[i]);
  }
  return {.leakage_db = amplitude_db(leak, amplitudes[0]),
          .ripple_db = amplitude_db(high, std::max(low, 1e-300)),
          .edge_db = response_db(prototype, channels, 0.5),
          .beyond = beyond};
}

}  // namespace ridge::filterbank
