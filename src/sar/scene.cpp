// Checks a SAR problem against the algorithm's limits, and simulates the echoes of point targets.
#include <fmt/format.h>
#include <ridge/sar/backprojection.hpp>

#include "base/threads.hpp"
#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, "sar: " + why); }

double beam_band(const Radar& radar) { return 4 * radar.speed_m_s * std::sin(radar.beam_rad / 2) / wavelength(radar); }

// Phase at the edge of the range band that the algorithm neglects (it has no secondary range compression), in radians.
double neglected_phase(const Problem& problem) {
  const Radar& radar = problem.radar;
  const double doppler = doppler_band(problem) / 2;
  const double rate =
      2 * radar.speed_m_s * radar.speed_m_s * std::pow(radar.carrier_hz, 3) /
      (kLight * (radar.near_range_m + range_cell(radar) * static_cast<double>(problem.samples)) * doppler * doppler);
  return kPi * std::pow(radar.bandwidth_hz / 2, 2) / rate;
}

}  // namespace

double range_cell(const Radar& radar) { return kLight / (2 * radar.sample_rate_hz); }
double along_cell(const Radar& radar) { return radar.speed_m_s / radar.pulse_rate_hz; }
double doppler_band(const Problem& problem) { return problem.doppler_share * beam_band(problem.radar); }

void check(const Problem& problem) {
  const Radar& radar = problem.radar;
  const std::pair<const char*, double> positive[] = {
      {"carrier frequency", radar.carrier_hz}, {"bandwidth", radar.bandwidth_hz},   {"pulse length", radar.pulse_s},
      {"sample rate", radar.sample_rate_hz},   {"pulse rate", radar.pulse_rate_hz}, {"speed", radar.speed_m_s},
      {"near range", radar.near_range_m},      {"beam width", radar.beam_rad}};
  for (const auto& [name, value] : positive) {
    if (!(value > 0) || !std::isfinite(value))
      refuse(fmt::format("the {} must be finite and above 0, got {}", name, value));
  }
  if (radar.beam_rad > 1) refuse(fmt::format("the beam width must be at most 1 rad, got {} rad", radar.beam_rad));
  if (problem.pulses < 16 || problem.samples < 16)
    refuse(fmt::format("a frame needs at least 16 pulses of 16 samples, got {} x {}", problem.pulses, problem.samples));
  if (problem.samples > (1U << 20) || problem.pulses > (1U << 20))
    refuse(fmt::format("a frame has at most 2^20 pulses and samples, got {} x {}", problem.pulses, problem.samples));
  if (!(problem.doppler_share > 0) || problem.doppler_share > 0.95) {
    refuse(fmt::format("the Doppler share must be in (0, 0.95], got {}", problem.doppler_share));
  }
  if (radar.bandwidth_hz > 0.9 * radar.sample_rate_hz) {
    refuse(fmt::format("a bandwidth of {:.3g} MHz needs a sample rate of at least {:.3g} MHz, got {:.3g} MHz",
                       radar.bandwidth_hz / 1e6, radar.bandwidth_hz / 0.9e6, radar.sample_rate_hz / 1e6));
  }
  if (const double chirp_samples = radar.pulse_s * radar.sample_rate_hz;
      chirp_samples > static_cast<double>(problem.samples) / 2) {
    refuse(fmt::format(
        "the pulse lasts {:.0f} samples, more than half of the frame's {}: use a shorter pulse or more samples",
        chirp_samples, problem.samples));
  }
  if (beam_band(radar) > radar.pulse_rate_hz) {
    refuse(fmt::format("the beam's Doppler band of {:.4g} Hz needs at least that pulse rate, got {:.4g} Hz",
                       beam_band(radar), radar.pulse_rate_hz));
  }
}

void check_range_doppler(const Problem& problem) {
  check(problem);
  if (const double phase = neglected_phase(problem); phase > kPi / 4) {
    refuse(fmt::format(
        "the coupling of range and Doppler is {:.2g} rad, above the range-Doppler algorithm's limit of {:.2g}: use a "
        "smaller bandwidth or Doppler share, back-projection or omega-k",
        phase, kPi / 4));
  }
}

std::vector<Complex> simulate(const Problem& problem, const std::vector<Target>& targets) {
  return simulate(problem, targets, {});
}

std::vector<Complex> simulate(const Problem& problem, const std::vector<Target>& targets,
                              const std::vector<Offset>& track) {
  check(problem);
  if (!track.empty() && track.size() != problem.pulses)
    refuse(fmt::format("the track needs one offset per pulse, {}, got {}", problem.pulses, track.size()));
  const Radar& radar = problem.radar;
  std::vector<Complex> echoes(problem.pulses * problem.samples);
  base::parallel(problem.threads, [&](std::size_t thread, std::size_t threads) {
    const auto [begin, end] = base::share(problem.pulses, thread, threads);
    std::vector<std::complex<double>> row(problem.samples);
    for (std::size_t pulse = begin; pulse < end; ++pulse) {
      std::fill(row.begin(), row.end(), 0);
      const Offset offset = track.empty() ? Offset{} : track[pulse];
      const double place = along_cell(radar) * static_cast<double>(pulse) + offset.along_m;
      for (const Target& target : targets) {
        const double range = std::hypot(target.range_m - offset.range_m, place - target.along_m);
        const double strength = target.amplitude * beam(radar, (target.along_m - place) / range);
        if (strength == 0) continue;
        const auto echo = std::polar(strength, -4 * kPi / wavelength(radar) * range);
        const double delay = 2 * (range - radar.near_range_m) / kLight;
        for (std::size_t n = 0; n < problem.samples; ++n) {
          row[n] += echo * chirp(radar, static_cast<double>(n) / radar.sample_rate_hz - delay);
        }
      }
      for (std::size_t n = 0; n < problem.samples; ++n) echoes[pulse * problem.samples + n] = Complex(row[n]);
    }
  });
  return echoes;
}

}  // namespace ridge::sar
