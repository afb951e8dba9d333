// Constants and functions of the radar geometry that simulation and focusing share.
#pragma once
#include <cmath>
#include <complex>
#include <numbers>

#include <ridge/sar.hpp>

namespace ridge::sar {

inline constexpr double kLight = 299792458.0;
inline constexpr double kPi = std::numbers::pi;

inline double wavelength(const Radar& radar) { return kLight / radar.carrier_hz; }

// Two-way antenna pattern at sin(angle) off broadside: a raised cosine between its nulls, 0 beyond.
inline double beam(const Radar& radar, double sine) {
  const double x = sine / std::sin(radar.beam_rad / 2);
  return std::abs(x) >= 1 ? 0 : 0.5 + 0.5 * std::cos(kPi * x);
}

// Value of the chirp at time t (seconds) after its start; 0 outside the pulse.
inline std::complex<double> chirp(const Radar& radar, double t) {
  if (t < 0 || t >= radar.pulse_s) return 0;
  const double from_middle = t - radar.pulse_s / 2;
  return std::polar(1.0, kPi * radar.bandwidth_hz / radar.pulse_s * from_middle * from_middle);
}

// Frequency of bin k of n at sample rate `rate`: bins from n / 2 on are negative frequencies.
inline double bin_frequency(std::size_t k, std::size_t n, double rate) {
  const auto bin = static_cast<double>(k), bins = static_cast<double>(n);
  return (2 * k < n ? bin : bin - bins) * rate / bins;
}

}  // namespace ridge::sar
