// Computes the filters and interpolation weights of the range-Doppler algorithm.
#include "sar/tables.hpp"

#include <ridge/fft.hpp>

#include "base/threads.hpp"
#include "base/window.hpp"
#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

// Interpolation weights: a sinc under a Kaiser window with side lobes at about -80 dB.
std::vector<float> taps() {
  constexpr double kBeta = 7.0;
  std::vector<float> out;
  for (int fraction = 0; fraction <= kFractions; ++fraction) {
    double row[kTaps], sum = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const double x = tap - (kTaps / 2 - 1) -
                       static_cast<double>(fraction) / kFractions;  // distance from the interpolated position
      const double share = x / (kTaps / 2);
      const double taper = std::abs(share) >= 1 ? 0
                                                : std::cyl_bessel_i(0.0, kBeta * std::sqrt(1 - share * share)) /
                                                      std::cyl_bessel_i(0.0, kBeta);
      row[tap] = taper * (x == 0 ? 1 : std::sin(kPi * x) / (kPi * x));
      sum += row[tap];
    }
    for (const double value : row) out.push_back(static_cast<float>(value / sum));
  }
  return out;
}

}  // namespace

// Range compression filter: window / chirp spectrum inside the band, so that the compressed spectrum is exactly the
// window and the chirp's spectral ripple is removed.
std::vector<std::complex<double>> range_compression(const Problem& problem) {
  const Radar& radar = problem.radar;
  const std::size_t n = problem.samples;
  std::vector<std::complex<double>> pulse(n), spectrum(n), filter(n);
  for (std::size_t i = 0; i < n; ++i) pulse[i] = chirp(radar, static_cast<double>(i) / radar.sample_rate_hz);
  const planner::Options quick{.effort = Effort::quick};
  fft::plan<double>(host(), {.shape = {n}, .threads = 1}, quick).forward(pulse, spectrum);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double share = bin_frequency(k, n, radar.sample_rate_hz) / radar.bandwidth_hz;
    const double wanted = base::window_at(problem.window, 2 * share);
    if (wanted == 0) continue;
    filter[k] = wanted / spectrum[k];
    sum += wanted;
  }
  for (auto& value : filter) value /= sum;  // the inverse transform is unscaled: this makes the peak 1
  return filter;
}

Tables make_tables(const Problem& problem) {
  const Radar& radar = problem.radar;
  const std::size_t pulses = problem.pulses;
  Tables tables;
  tables.compression = range_compression(problem);
  tables.taps = taps();
  tables.first_range = static_cast<float>(radar.near_range_m / range_cell(radar));
  tables.stretch.resize(pulses);
  // sine: of the angle off broadside at which a target has Doppler shift f; cosine: ratio of closest range to slant
  // range
  std::vector<double> weights(pulses), cosine(pulses);
  double sum = 0;
  for (std::size_t f = 0; f < pulses; ++f) {
    const double doppler = bin_frequency(f, pulses, radar.pulse_rate_hz);
    const double sine = doppler * wavelength(radar) / (2 * radar.speed_m_s);
    const double wanted = base::window_at(problem.window, 2 * doppler / doppler_band(problem));
    if (wanted == 0) continue;
    cosine[f] = std::sqrt(1 - sine * sine);
    weights[f] = wanted / beam(radar, sine);
    tables.stretch[f] = static_cast<float>(1 / cosine[f] - 1);
    sum += wanted;
  }
  tables.azimuth.resize(problem.samples * pulses);
  base::parallel(problem.threads, [&](std::size_t thread, std::size_t threads) {
    const auto [begin, end] = base::share(problem.samples, thread, threads);
    for (std::size_t r = begin; r < end; ++r) {
      const double range = radar.near_range_m + range_cell(radar) * static_cast<double>(r);
      // Stationary phase: a target's Doppler spectrum has this magnitude and a constant phase of pi / 4.
      const double rate = 2 * radar.speed_m_s * radar.speed_m_s / (wavelength(radar) * range);
      const double height = radar.pulse_rate_hz / std::sqrt(rate);
      for (std::size_t f = 0; f < pulses; ++f) {
        if (weights[f] == 0) continue;
        // The magnitude grows with the curvature of sqrt(1 - sine^2), as cosine^(-3/2); this divides it out.
        const double size = weights[f] / (sum * height) * std::pow(cosine[f], 1.5);
        tables.azimuth[r * pulses + f] =
            Complex(std::polar(size, 4 * kPi / wavelength(radar) * range * (cosine[f] - 1) + kPi / 4));
      }
    }
  });
  return tables;
}

}  // namespace ridge::sar
