// Checks SAR frames of random echoes, every pixel, against the range-Doppler algorithm in double. The reference derives
// its filters from the radar's geometry and shares no code with src/sar.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "base/window.hpp"
#include "check/check.hpp"

namespace ridge::check {
namespace {

using Value = std::complex<double>;

constexpr double kLightSpeed = 299792458.0;

// Unscaled discrete Fourier transform of any length, by the factors of the length.
class PlainTransform {
 public:
  PlainTransform(std::size_t n, double sign) : roots_(n) {
    for (std::size_t i = 0; i < n; ++i)
      roots_[i] = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  }
  std::vector<Value> operator()(const std::vector<Value>& in) const {
    const std::size_t n = in.size(), step = roots_.size() / n;
    std::size_t p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (n % p != 0) p = n;
    if (n == 1) return in;
    const std::size_t m = n / p;
    std::vector<std::vector<Value>> parts;
    for (std::size_t j = 0; j < p; ++j) {
      std::vector<Value> part(m);
      for (std::size_t i = 0; i < m; ++i) part[i] = in[i * p + j];
      parts.push_back((*this)(part));
    }
    std::vector<Value> out(n);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < p; ++j) out[k] += roots_[j * k % n * step] * parts[j][k % m];
    }
    return out;
  }

 private:
  std::vector<Value> roots_;
};

// Frequency of bin k of n; the upper half is negative.
double frequency_of(std::size_t k, std::size_t n, double rate) {
  const double bin = static_cast<double>(k) - (2 * k < n ? 0.0 : static_cast<double>(n));
  return bin * rate / static_cast<double>(n);
}

// Divides the spectrum of a line by the chirp's and applies the window to the band; the window's sum becomes 1.
std::vector<Value> range_filter(const sar::Problem& problem, const PlainTransform& forward) {
  const sar::Radar& radar = problem.radar;
  const std::size_t n = problem.samples;
  std::vector<Value> pulse(n), filter(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / radar.sample_rate_hz, middle = t - radar.pulse_s / 2;
    const double sweep = radar.bandwidth_hz / radar.pulse_s;  // Hz per second
    if (t < radar.pulse_s) pulse[i] = std::polar(1.0, std::numbers::pi * sweep * middle * middle);
  }
  const std::vector<Value> spectrum = forward(pulse);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double place = 2 * (frequency_of(k, n, radar.sample_rate_hz) / radar.bandwidth_hz);
    const double weight = base::window_at(problem.window, place);
    if (weight != 0) filter[k] = weight / spectrum[k];
    sum += weight;
  }
  for (Value& value : filter) value /= sum;
  return filter;
}

// A sinc of 16 taps with a Kaiser window of beta 7, `fraction` of a cell after the eighth tap; the taps add up to 1.
std::vector<double> interpolation(double fraction) {
  std::vector<double> taps(16);
  double sum = 0;
  for (int i = 0; i < 16; ++i) {
    const double x = i - 7 - fraction, inside = 1 - x * x / 64;
    const double sinc = x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
    taps[static_cast<std::size_t>(i)] =
        inside <= 0 ? 0 : sinc * std::cyl_bessel_i(0.0, 7 * std::sqrt(inside)) / std::cyl_bessel_i(0.0, 7.0);
    sum += taps[static_cast<std::size_t>(i)];
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

// Quantities of one Doppler bin.
struct DopplerBin {
  double weight = 0;  // window divided by the antenna pattern; 0 outside the processed band
  double cosine = 1;  // cosine of the angle off broadside at which a target has this Doppler shift
  float stretch = 0;  // slant range beyond the closest range, as a fraction of the closest range
};
std::vector<DopplerBin> doppler_bins(const sar::Problem& problem) {
  const sar::Radar& radar = problem.radar;
  const double wavelength = kLightSpeed / radar.carrier_hz, edge = std::sin(radar.beam_rad / 2);
  const double band = problem.doppler_share * (4 * radar.speed_m_s * edge / wavelength);
  std::vector<DopplerBin> bins(problem.pulses);
  double sum = 0;
  for (std::size_t f = 0; f < problem.pulses; ++f) {
    const double doppler = frequency_of(f, problem.pulses, radar.pulse_rate_hz);
    const double sine = doppler * wavelength / (2 * radar.speed_m_s);
    const double wanted = base::window_at(problem.window, 2 * doppler / band);
    sum += wanted;
    if (wanted == 0) continue;
    const double pattern = (1 + std::cos(std::numbers::pi * sine / edge)) / 2, cosine = std::sqrt(1 - sine * sine);
    bins[f] = {wanted / pattern, cosine, static_cast<float>(1 / cosine - 1)};
  }
  for (DopplerBin& bin : bins) bin.weight /= sum;
  return bins;
}

// Phase and amplitude that compensate the Doppler history of a target at closest range R. Its echo along the track has
// the phase -4 pi / wavelength * sqrt(R^2 + (v t)^2); by stationary phase its spectrum at a bin is rate^(-1/2)
// cosine^(-3/2) exp(-i (4 pi / wavelength * R cosine + pi / 4)) with rate = 2 v^2 / (wavelength R). The result keeps
// the phase -4 pi R / wavelength.
Value azimuth_filter(const sar::Problem& problem, const DopplerBin& bin, double range) {
  const sar::Radar& radar = problem.radar;
  const double wavelength = kLightSpeed / radar.carrier_hz;
  const double rate = 2 * radar.speed_m_s * radar.speed_m_s / (wavelength * range);
  const double spectrum = radar.pulse_rate_hz / std::sqrt(rate) * std::pow(bin.cosine, -1.5);
  const double phase = 4 * std::numbers::pi / wavelength * range;
  return std::polar(bin.weight / spectrum, phase * bin.cosine + std::numbers::pi / 4 - phase);
}

// Value of a line at a place between its cells. taps: 16 taps at one of 1024 positions between two cells; the place is
// computed in float, as in every variant: another place gives another answer. Otherwise the trigonometric polynomial
// through all cells: chirp_z at the exact place, phase with the migration of the middle range.
class Straight {
 public:
  Straight(std::string variant, std::size_t samples, float first)
      : variant_(std::move(variant)), n_(samples), first_(first) {
    for (int fraction = 0; fraction <= 1024; ++fraction) taps_.push_back(interpolation(fraction / 1024.0));
  }
  bool by_taps() const { return variant_ == "taps"; }
  // `line`: the cells for taps, otherwise their spectrum.
  Value operator()(const std::vector<Value>& line, std::size_t r, float stretch) const {
    if (!by_taps()) return polynomial(line, r, stretch);
    const float shift = (first_ + static_cast<float>(r)) * stretch, whole = std::floor(shift);
    const std::vector<double>& taps = taps_[static_cast<std::size_t>((shift - whole) * 1024 + 0.5F)];
    Value sum;
    for (std::ptrdiff_t i = 0; i < 16; ++i) {
      const auto row = static_cast<std::ptrdiff_t>(r) + static_cast<std::ptrdiff_t>(whole) + i - 7;
      if (row >= 0 && row < static_cast<std::ptrdiff_t>(n_))
        sum += taps[static_cast<std::size_t>(i)] * line[static_cast<std::size_t>(row)];
    }
    return sum;
  }

 private:
  Value polynomial(const std::vector<Value>& spectrum, std::size_t r, float stretch) const {
    const auto n = static_cast<double>(n_), row = static_cast<double>(r);
    const double from = variant_ == "chirp_z" ? row : static_cast<double>(n_ / 2);
    const Value step = std::polar(1.0, 2 * std::numbers::pi * (row + (double{first_} + from) * double{stretch}) / n);
    const std::size_t positive = (n_ + 1) / 2;
    Value above, below;
    for (std::size_t k = positive; k-- > 0;) above = above * step + spectrum[k];
    for (std::size_t k = positive; k < n_; ++k) below = (below + spectrum[k]) * std::conj(step);
    return (above + below) / n;
  }

  std::string variant_;
  std::size_t n_;
  float first_;
  std::vector<std::vector<double>> taps_;
};

// Range compression, corner turn, Doppler transform, migration correction with azimuth compression, inverse transform:
// [range][pulse].
std::vector<Value> focused(const sar::Problem& problem, const std::vector<sar::Complex>& echoes,
                           const std::string& variant) {
  const std::size_t pulses = problem.pulses, samples = problem.samples;
  const PlainTransform along_range(samples, -1), from_range(samples, 1), to_doppler(pulses, -1), back(pulses, 1);
  const std::vector<Value> compression = range_filter(problem, along_range);
  std::vector<std::vector<Value>> plane(samples, std::vector<Value>(pulses));
  for (std::size_t p = 0; p < pulses; ++p) {
    std::vector<Value> line(samples);
    for (std::size_t r = 0; r < samples; ++r) line[r] = Value(echoes[p * samples + r]);
    line = along_range(line);
    for (std::size_t k = 0; k < samples; ++k) line[k] *= compression[k];
    line = from_range(line);
    for (std::size_t r = 0; r < samples; ++r) plane[r][p] = line[r];
  }
  for (std::vector<Value>& row : plane) row = to_doppler(row);
  const double cell = kLightSpeed / (2 * problem.radar.sample_rate_hz);
  const Straight straight(variant, samples, static_cast<float>(problem.radar.near_range_m / cell));
  const std::vector<DopplerBin> bins = doppler_bins(problem);
  for (std::size_t f = 0; f < pulses; ++f) {
    std::vector<Value> line(samples);
    for (std::size_t r = 0; r < samples; ++r) line[r] = plane[r][f];
    if (!straight.by_taps()) line = along_range(line);
    for (std::size_t r = 0; r < samples; ++r) {
      plane[r][f] = 0;
      if (bins[f].weight == 0) continue;
      const double range = problem.radar.near_range_m + cell * static_cast<double>(r);
      plane[r][f] = straight(line, r, bins[f].stretch) * azimuth_filter(problem, bins[f], range);
    }
  }
  std::vector<Value> image;
  for (std::vector<Value>& row : plane) {
    row = back(row);
    image.insert(image.end(), row.begin(), row.end());
  }
  return image;
}

}  // namespace

std::string frame_text(const sar::Problem& problem) {
  return fmt::format(
      "{} pulses x {} samples from {:.0f} m, window {}, chirp of {:.2f} us, beam of {:.3f} rad, {:.2f} of its Doppler "
      "band, migration by {}",
      problem.pulses, problem.samples, problem.radar.near_range_m, static_cast<int>(problem.window),
      1e6 * problem.radar.pulse_s, problem.radar.beam_rad, problem.doppler_share,
      problem.migration.empty() ? "the planner's choice" : problem.migration);
}

Outcome check_sar(Draw& draw) {
  Random& random = draw.random;
  sar::Problem problem;
  problem.window = random.one_of(std::vector{sar::Window::none, sar::Window::hamming, sar::Window::taylor});
  problem.threads = random.below(4);
  problem.doppler_share = 0.3 + 0.6 * random.uniform();
  problem.radar.near_range_m = 3000 + 5000 * random.uniform();
  problem.radar.beam_rad = 0.05 + 0.05 * random.uniform();
  const double chirp_share = 0.1 + 0.35 * random.uniform();
  const bool large = draw.points > (1U << 20);
  const std::uint64_t data = random.bits();
  problem.migration = !draw.device.is_host() ? "" : random.one_of(std::vector<std::string>{"", "taps", "chirp_z"});
  const std::size_t side = large ? 1024 : std::clamp<std::size_t>(draw.points / 40, 40, 400);
  problem.samples = std::max<std::size_t>(32, random.length(side));
  problem.pulses = std::max<std::size_t>(32, random.length(side));
  problem.radar.pulse_s = chirp_share * static_cast<double>(problem.samples) / problem.radar.sample_rate_hz;
  Outcome outcome;
  draw.problem = frame_text(problem);
  sar::check(problem);
  const sar::Plan focus(draw.device, problem);
  std::vector<sar::Complex> echoes(problem.pulses * problem.samples);
  Random values(data);
  for (sar::Complex& echo : echoes) {
    const double real = 2 * values.uniform() - 1, imaginary = 2 * values.uniform() - 1;
    echo = {static_cast<float>(real), static_cast<float>(imaginary)};
  }
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  std::vector<sar::Complex> image(echoes.size(), {unwritten, unwritten});
  focus.run(echoes, image);
  draw.answered(std::as_writable_bytes(std::span(image)));
  const planner::Decision& migration = focus.decisions().back();
  const std::string chosen = migration.trials[migration.winner].name;
  const std::vector<Value> expected = focused(problem, echoes, chosen.substr(0, chosen.find('(')));
  double square = 0;
  for (const Value& value : expected) square += std::norm(value);
  const double allowed = 2e-5 * std::sqrt(square / static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (std::abs(Value(image[i]) - expected[i]) <= allowed) continue;
    outcome.wrong = fmt::format("range {}, pulse {}: {}{:+}i instead of {}{:+}i, allowed {:.1e}", i / problem.pulses,
                                i % problem.pulses, image[i].real(), image[i].imag(), expected[i].real(),
                                expected[i].imag(), allowed);
    break;
  }
  return outcome;
}

}  // namespace ridge::check
