// Checks range-Doppler focusing by identities: linearity; echoes rotated by pulses give an image rotated by pulses; the
// echoes of one point, from the geometry alone, give a peak of its height and phase at its place.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"

namespace ridge::check {
namespace {

using Pixel = std::complex<double>;

constexpr double kSpeedOfLight = 299792458.0;
constexpr double kSarGate = 2e-5;     // relative to the image's root mean square, as in comparisons
constexpr double kPeakHeight = 0.08;  // of a point: stationary phase over few oscillations
constexpr double kPeakPhase = 0.1;    // radians

double range_cell(const sar::Problem& problem) { return kSpeedOfLight / (2 * problem.radar.sample_rate_hz); }

sar::Problem draw_frame(Draw& draw) {
  Random& random = draw.random;
  sar::Problem problem;
  sar::Radar& radar = problem.radar;
  problem.window = random.one_of(std::vector{sar::Window::none, sar::Window::hamming, sar::Window::taylor});
  problem.threads = random.below(4);
  problem.doppler_share = 0.5 + 0.4 * random.uniform();
  radar.near_range_m = 3000 + 3000 * random.uniform();
  radar.beam_rad = 0.06 + 0.03 * random.uniform();
  problem.migration = !draw.device.is_host() ? "" : random.one_of(std::vector<std::string>{"", "taps", "chirp_z"});
  const double chirp_share = 0.1 + 0.3 * random.uniform(), faster = 1.05 + 0.5 * random.uniform();
  const std::size_t most = std::size_t{1} << 20;
  const std::size_t side = std::clamp<std::size_t>(
      static_cast<std::size_t>(std::sqrt(static_cast<double>(draw.points))), 40, std::size_t{1} << 14);
  // Frames that hold all echoes of a point in their middle have at least 160 cells, of which the chirp fills 45.
  const bool holds_a_point = random.chance(0.5) && draw.points >= (std::size_t{1} << 15);
  problem.samples = std::clamp<std::size_t>(random.length(2 * side), holds_a_point ? 160 : 32, most);
  const double wavelength = kSpeedOfLight / radar.carrier_hz;
  radar.pulse_rate_hz = faster * 4 * radar.speed_m_s * std::sin(radar.beam_rad / 2) / wavelength;
  const double farthest = radar.near_range_m + static_cast<double>(problem.samples) * range_cell(problem);
  const double reach = farthest * std::tan(radar.beam_rad / 2) * radar.pulse_rate_hz / radar.speed_m_s;
  const std::size_t least = holds_a_point ? 2 * static_cast<std::size_t>(reach) + 8 : 32;
  problem.pulses = std::clamp<std::size_t>(draw.points / problem.samples, least, most);
  const double least_share = holds_a_point ? 46 / static_cast<double>(problem.samples) : 0;
  radar.pulse_s = std::max(chirp_share, least_share) * static_cast<double>(problem.samples) / radar.sample_rate_hz;
  return problem;
}

// A point at a whole pulse and a whole range cell.
struct Point {
  std::size_t pulse = 0, row = 0;
};

double slant_range(const sar::Problem& problem, std::size_t row) {
  return problem.radar.near_range_m + static_cast<double>(row) * range_cell(problem);
}

// Echoes of a point of amplitude 1: its range and the antenna's pattern at every pulse.
std::vector<sar::Complex> echoes_of(const sar::Problem& problem, const Point& point) {
  const sar::Radar& radar = problem.radar;
  const double closest = slant_range(problem, point.row), edge = std::sin(radar.beam_rad / 2);
  const double wavelength = kSpeedOfLight / radar.carrier_hz, sweep = radar.bandwidth_hz / radar.pulse_s;
  std::vector<sar::Complex> echoes(problem.pulses * problem.samples);
  for (std::size_t p = 0; p < problem.pulses; ++p) {
    const double along =
        (static_cast<double>(p) - static_cast<double>(point.pulse)) * radar.speed_m_s / radar.pulse_rate_hz;
    const double range = std::hypot(closest, along), sine = along / range;
    if (std::abs(sine) >= edge) continue;
    const double pattern = (1 + std::cos(std::numbers::pi * sine / edge)) / 2;
    const double delay = 2 * (range - radar.near_range_m) / kSpeedOfLight;
    for (std::size_t n = 0; n < problem.samples; ++n) {
      const double t = static_cast<double>(n) / radar.sample_rate_hz - delay, middle = t - radar.pulse_s / 2;
      if (t < 0 || t >= radar.pulse_s) continue;
      const double phase = std::numbers::pi * sweep * middle * middle - 4 * std::numbers::pi / wavelength * range;
      echoes[p * problem.samples + n] = sar::Complex(std::polar(pattern, phase));
    }
  }
  return echoes;
}

class SarLaws {
 public:
  SarLaws(Draw& draw, const sar::Problem& problem, std::uint64_t data)
      : draw_(draw), problem_(problem), random_(data), focus_(draw.device, problem) {}

  std::string check() {
    const std::vector<sar::Complex> x = noise();
    const std::vector<sar::Complex> image = focused(x);
    std::string wrong = linearity(x, image);
    if (wrong.empty()) wrong = shift(x, image);
    if (wrong.empty()) wrong = impulse();
    return wrong;
  }

 private:
  std::vector<sar::Complex> noise() {
    std::vector<sar::Complex> echoes(problem_.pulses * problem_.samples);
    fill_values(std::as_writable_bytes(std::span(echoes)), Values::float32, random_.bits());
    return echoes;
  }

  std::vector<sar::Complex> focused(const std::vector<sar::Complex>& echoes) const {
    const float none = std::numeric_limits<float>::quiet_NaN();
    std::vector<sar::Complex> image(echoes.size(), {none, none});
    focus_.run(echoes, image);
    draw_.answered(std::as_writable_bytes(std::span(image)));
    return image;
  }

  // Every pixel within the gate, relative to the root mean square.
  template <class Right>
  std::string compare(const char* law, const std::vector<sar::Complex>& got, const Right& right) const {
    double square = 0;
    for (std::size_t i = 0; i < got.size(); ++i) square += std::norm(right(i));
    const double allowed = kSarGate * std::sqrt(square / static_cast<double>(got.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double off = std::abs(Pixel(got[i]) - right(i));
      if (!(off <= allowed))
        return fmt::format("{}: range {}, pulse {}: {:.2e} off, allowed {:.1e}", law, i / problem_.pulses,
                           i % problem_.pulses, off, allowed);
    }
    return {};
  }

  std::string linearity(const std::vector<sar::Complex>& x, const std::vector<sar::Complex>& image) {
    const std::vector<sar::Complex> y = noise(), other = focused(y);
    std::vector<sar::Complex> sum(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sum[i] = 0.5F * x[i] - 0.25F * y[i];
    return compare("linearity", focused(sum),
                   [&](std::size_t i) { return 0.5 * Pixel(image[i]) - 0.25 * Pixel(other[i]); });
  }

  std::string shift(const std::vector<sar::Complex>& x, const std::vector<sar::Complex>& image) {
    const std::size_t pulses = problem_.pulses, by = random_.below(pulses);
    std::vector<sar::Complex> moved(x.size());
    const auto cut = static_cast<std::ptrdiff_t>((pulses - by) * problem_.samples);
    std::rotate_copy(x.begin(), x.begin() + cut, x.end(), moved.begin());  // pulse p becomes pulse p + by
    return compare("shift", focused(moved), [&](std::size_t i) {
      return Pixel(image[i / pulses * pulses + (i % pulses + pulses - by) % pulses]);
    });
  }

  // A point whose echoes are all in the frame.
  std::string impulse() {
    const sar::Radar& radar = problem_.radar;
    const auto chirp = static_cast<std::size_t>(radar.pulse_s * radar.sample_rate_hz) + 1;
    constexpr double kLeastChirp = 30;  // oscillations: fewer are cut off at other phases than the filter expects
    if (radar.pulse_s * radar.bandwidth_hz < kLeastChirp) return {};
    constexpr std::size_t kMargin = 12;  // cells: migration and the interpolation's taps
    if (problem_.samples < chirp + 2 * kMargin + 1) return {};
    const Point point{.pulse = problem_.pulses / 2,
                      .row = random_.between(kMargin, problem_.samples - chirp - kMargin)};
    const double range = slant_range(problem_, point.row);
    const double reach = range * std::tan(radar.beam_rad / 2) * radar.pulse_rate_hz / radar.speed_m_s;  // pulses
    if (reach + 2 > static_cast<double>(problem_.pulses / 2)) return {};
    const std::vector<sar::Complex> image = focused(echoes_of(problem_, point));
    std::size_t highest = 0;
    for (std::size_t i = 0; i < image.size() && !std::isnan(std::norm(image[highest])); ++i) {  // stops at a NaN
      if (!(std::norm(image[i]) <= std::norm(image[highest]))) highest = i;
    }
    const Pixel peak(image[point.row * problem_.pulses + point.pulse]);
    const double turns = 2 * range / (kSpeedOfLight / radar.carrier_hz);
    const double phase = std::arg(peak * std::polar(1.0, 2 * std::numbers::pi * (turns - std::floor(turns))));
    const bool there = highest == point.row * problem_.pulses + point.pulse;
    if (there && std::abs(std::abs(peak) - 1) <= kPeakHeight && std::abs(phase) <= kPeakPhase) return {};
    return fmt::format(
        "impulse: a point at range {}, pulse {} has its peak at {}, {}, the height {:.4f} and the phase {:.4f}, "
        "allowed 1 +- {} and 0 +- {}",
        point.row, point.pulse, highest / problem_.pulses, highest % problem_.pulses, std::abs(peak), phase,
        kPeakHeight, kPeakPhase);
  }

  Draw& draw_;
  const sar::Problem& problem_;
  Random random_;
  sar::Plan focus_;
};

}  // namespace

Outcome sar_laws(Draw& draw) {
  const std::uint64_t data = draw.random.bits();
  const sar::Problem problem = draw_frame(draw);
  draw.problem = frame_text(problem);
  sar::check(problem);
  return {.wrong = SarLaws(draw, problem, data).check()};
}

}  // namespace ridge::check
