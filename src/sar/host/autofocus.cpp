// Phase-gradient autofocus for tracks along a swath. A bright point is cut out of the image, its azimuth compression is
// undone, and the phase history of its exact distance is removed: what remains along the pulses of its aperture is the
// phase error. Differences between neighbouring pulses are averaged over the points, and their sum is the error.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/fft.hpp>
#include <ridge/sar/omega_k.hpp>

#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

struct Bright {
  std::size_t row = 0, column = 0;
  float power = 0;
};

// The brightest points, at most one per row, down to a hundredth of the power of the brightest.
std::vector<Bright> brightest(const Problem& problem, const std::vector<Complex>& image, std::size_t most) {
  std::vector<Bright> found;
  for (std::size_t row = 0; row < problem.samples; ++row) {
    Bright best{.row = row};
    for (std::size_t p = 0; p < problem.pulses; ++p) {
      const float power = std::norm(image[row * problem.pulses + p]);
      if (power > best.power) best = {row, p, power};
    }
    if (best.power > 0) found.push_back(best);
  }
  std::sort(found.begin(), found.end(), [](const Bright& a, const Bright& b) { return a.power > b.power; });
  if (found.size() > most) found.resize(most);
  const float least = found.empty() ? 0 : found.front().power / 100;
  std::erase_if(found, [&](const Bright& one) { return !(one.power >= least); });
  return found;
}

// Removes the mean and the linear trend over the pulses that were seen, and sets the others to the nearest value.
void remove_trend(std::vector<double>& phase, const std::vector<bool>& seen) {
  double n = 0, t = 0, tt = 0, y = 0, ty = 0;
  for (std::size_t i = 0; i < phase.size(); ++i) {
    if (!seen[i]) continue;
    const auto x = static_cast<double>(i);
    n += 1, t += x, tt += x * x, y += phase[i], ty += x * phase[i];
  }
  const double determinant = n * tt - t * t;
  if (!(determinant > 0)) return std::fill(phase.begin(), phase.end(), 0.0);
  const double slope = (n * ty - t * y) / determinant, mean = (y - slope * t) / n;
  for (std::size_t i = 0; i < phase.size(); ++i)
    phase[i] = seen[i] ? phase[i] - mean - slope * static_cast<double>(i) : 0;
}

class PhaseErrors {
 public:
  explicit PhaseErrors(const Problem& problem)
      : problem_(problem), along_(host(), {.shape = {problem.pulses}, .in_place = true}, {.effort = Effort::quick}) {}

  // Phase error per pulse from an image; `half` is half the window around a point, in pulses.
  std::vector<double> estimate(const std::vector<Complex>& image, const std::vector<Bright>& points,
                               double half) const {
    const std::size_t pulses = problem_.pulses;
    std::vector<std::complex<double>> steps(pulses);
    std::vector<bool> seen(pulses, false);
    std::vector<std::complex<double>> line(pulses);
    for (const Bright& point : points) {
      const auto [first, end] = history(image, point, half, line);
      std::vector<std::complex<double>> own(pulses);
      std::complex<double> against;
      for (std::size_t q = first; q < end; ++q) {
        seen[q] = true;
        if (q == first) continue;
        own[q] = std::conj(line[q - 1]) * line[q];
        against += std::conj(steps[q]) * own[q];
      }
      // A point's position is known only up to the trend of the error over its aperture, which adds a constant to its
      // steps: they are aligned with those of the points before.
      const std::complex<double> turn = std::norm(against) > 0 ? std::conj(against) / std::abs(against) : 1.0;
      for (std::size_t q = first; q < end; ++q) steps[q] += own[q] * turn;
    }
    std::vector<double> phase(pulses);
    for (std::size_t q = 1; q < pulses; ++q)
      phase[q] = phase[q - 1] + (std::norm(steps[q]) > 0 ? std::arg(steps[q]) : 0);
    remove_trend(phase, seen);
    return phase;
  }

 private:
  // Echo of one point along the track without its own phase history; returns the pulses of its aperture.
  std::pair<std::size_t, std::size_t> history(const std::vector<Complex>& image, const Bright& point, double half,
                                              std::vector<std::complex<double>>& line) const {
    const Radar& radar = problem_.radar;
    const std::size_t pulses = problem_.pulses;
    const auto centre = static_cast<double>(point.column);
    std::fill(line.begin(), line.end(), 0.0);
    for (std::size_t p = 0; p < pulses; ++p) {
      const double off = std::abs(static_cast<double>(p) - centre);
      if (off <= half) line[p] = std::complex<double>(image[point.row * pulses + p]);
    }
    along_.forward(line);
    const double range = radar.near_range_m + range_cell(radar) * static_cast<double>(point.row);
    for (std::size_t f = 0; f < pulses; ++f) {
      const double sine = bin_frequency(f, pulses, radar.pulse_rate_hz) * wavelength(radar) / (2 * radar.speed_m_s);
      if (std::abs(2 * bin_frequency(f, pulses, radar.pulse_rate_hz)) > doppler_band(problem_)) {
        line[f] = 0;
      } else {
        line[f] *= std::polar(1.0, -4 * kPi / wavelength(radar) * range * (std::sqrt(1 - sine * sine) - 1));
      }
    }
    along_.inverse(line);
    const double widest = wavelength(radar) * doppler_band(problem_) / (4 * radar.speed_m_s);
    const double reach = range * widest / std::sqrt(1 - widest * widest) / along_cell(radar);
    const auto first = static_cast<std::size_t>(std::max(0.0, std::ceil(centre - reach)));
    const auto end = std::min(pulses, static_cast<std::size_t>(std::max(0.0, centre + reach)) + 1);
    for (std::size_t q = first; q < end; ++q) {
      const double distance = std::hypot(range, (static_cast<double>(q) - centre) * along_cell(radar));
      line[q] *= std::polar(1.0, 4 * kPi / wavelength(radar) * (distance - range));
    }
    return {first, end};
  }

  const Problem& problem_;
  fft::Plan<double> along_;
};

}  // namespace

std::vector<Offset> autofocus(const Problem& problem, std::span<const Complex> echoes,
                              const AutofocusOptions& options) {
  if (options.iterations < 1 || options.targets < 1 || !(options.width_m >= 0)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sar: autofocus needs at least one iteration and one target and a width of at least 0 m, "
                            "got {}, {} and {} m",
                            options.iterations, options.targets, options.width_m));
  }
  std::vector<Offset> track(problem.pulses);
  std::vector<Complex> image(problem.pulses * problem.samples);
  const PhaseErrors errors(problem);
  const Radar& radar = problem.radar;
  const double aperture = 2 * radar.near_range_m * wavelength(radar) * doppler_band(problem) / (4 * radar.speed_m_s);
  double width = options.width_m > 0 ? options.width_m : aperture / 4;
  for (std::size_t i = 0; i < options.iterations; ++i) {
    Backprojection({.frame = problem, .method = Method::factorized, .track = track}).run(echoes, image);
    const auto points = brightest(problem, image, options.targets);
    const double half = std::max(8.0, width / 2 / along_cell(radar));
    const std::vector<double> phase = errors.estimate(image, points, half);
    for (std::size_t q = 0; q < track.size(); ++q) track[q].range_m += phase[q] * wavelength(radar) / (4 * kPi);
    width /= 2;
  }
  return track;
}

}  // namespace ridge::sar
