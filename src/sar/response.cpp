// Measures the point response of an image: cuts through a peak, interpolated to 32 values per cell.
#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/window.hpp"
#include "sar/geometry.hpp"

namespace ridge::sar {
namespace {

constexpr std::size_t kCells = 64, kFine = 32;

// Finds the peak's position, its width at half power and its highest side lobe in a finely sampled cut, in grid steps.
Cut study(const std::vector<double>& magnitude) {
  const auto top = std::max_element(magnitude.begin(), magnitude.end());
  const auto peak = static_cast<std::size_t>(top - magnitude.begin());
  const double half = *top / std::sqrt(2.0);
  const auto crossing = [&](int step) {
    std::size_t i = peak;
    while (i > 0 && i + 1 < magnitude.size() && magnitude[i] > half) i += static_cast<std::size_t>(step);
    const std::size_t inner = i - static_cast<std::size_t>(step);
    const double share = (magnitude[inner] - half) / (magnitude[inner] - magnitude[i]);
    return std::abs(static_cast<double>(inner) - static_cast<double>(peak)) + share;
  };
  const auto side_lobe = [&](int step) {
    std::size_t i = peak;
    const auto inside = [&] { return i > 0 && i + 1 < magnitude.size(); };
    while (inside() && magnitude[i + static_cast<std::size_t>(step)] <= magnitude[i])
      i += static_cast<std::size_t>(step);
    double highest = 0;
    for (; inside(); i += static_cast<std::size_t>(step)) highest = std::max(highest, magnitude[i]);
    return highest;
  };
  // Refines the position by the parabola through the three largest values.
  double offset = 0;
  if (peak > 0 && peak + 1 < magnitude.size()) {
    const double left = magnitude[peak - 1], right = magnitude[peak + 1];
    const double bend = left - 2 * *top + right;
    if (bend < 0) offset = 0.5 * (left - right) / bend;
  }
  return {.position = static_cast<double>(peak) + offset,
          .width = crossing(1) + crossing(-1),
          .side_lobe_db = 20 * std::log10(std::max(side_lobe(1), side_lobe(-1)) / *top)};
}

// Takes kCells values from `first` on, with wraparound at `length`, and interpolates them kFine times by zero-padding
// their spectrum.
Cut cut(std::size_t first, std::size_t length, const std::function<Complex(std::size_t)>& at, double& height) {
  const planner::Options quick{.effort = Effort::quick};
  std::vector<std::complex<double>> values(kCells), spectrum(kCells), wide(kCells * kFine), fine(kCells * kFine);
  for (std::size_t i = 0; i < kCells; ++i) values[i] = at((first + i) % length);
  fft::plan<double>(host(), {.shape = {kCells}, .threads = 1}, quick).forward(values, spectrum);
  for (std::size_t k = 0; k < kCells; ++k) wide[k < kCells / 2 ? k : k + wide.size() - kCells] = spectrum[k];
  fft::plan<double>(host(), {.shape = {wide.size()}, .threads = 1}, quick).inverse(wide, fine);
  std::vector<double> magnitude(fine.size());
  std::transform(fine.begin(), fine.end(), magnitude.begin(), [](const auto& z) { return std::abs(z); });
  Cut found = study(magnitude);
  height = *std::max_element(magnitude.begin(), magnitude.end()) / kCells;
  found.position = std::fmod(found.position / kFine + static_cast<double>(first), static_cast<double>(length));
  found.width /= kFine;
  return found;
}

}  // namespace

Response measure(const Problem& problem, std::span<const Complex> image, double range, double along,
                 std::size_t reach) {
  const std::size_t ranges = problem.samples, pulses = problem.pulses;
  if (ranges < kCells || pulses < kCells || image.size() < ranges * pulses) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sar: measure() needs an image of at least {0}x{0} cells", kCells));
  }
  const auto wrapped = [](double place, std::size_t length) {
    const double size = static_cast<double>(length);
    return static_cast<std::size_t>(std::llround(std::fmod(std::fmod(place, size) + size, size))) % length;
  };
  std::size_t row = 0, column = 0;
  double peak = -1;
  const auto far = static_cast<double>(reach);
  for (double dr = -far; dr <= far; ++dr) {
    for (double dp = -far; dp <= far; ++dp) {
      const std::size_t r = wrapped(range + dr, ranges), p = wrapped(along + dp, pulses);
      if (const double here = std::abs(image[r * pulses + p]); here > peak) peak = here, row = r, column = p;
    }
  }
  Response response;
  double range_height = 0, along_height = 0;
  response.range = cut((row + ranges - kCells / 2) % ranges, ranges,
                       [&](std::size_t r) { return image[r * pulses + column]; }, range_height);
  response.along = cut((column + pulses - kCells / 2) % pulses, pulses,
                       [&](std::size_t p) { return image[row * pulses + p]; }, along_height);
  response.peak =
      peak > 0 ? range_height * along_height / peak : 0;  // the point response is separable: a product of its two cuts
  return response;
}

Response expected(const Problem& problem) {
  check(problem);
  // Fourier transform of the window, at 64 values per cell of 1 / band, for 16 cells on either side.
  constexpr int kSteps = 64, kReach = 16, kPoints = 4096;
  std::vector<double> magnitude;
  for (int i = -kReach * kSteps; i <= kReach * kSteps; ++i) {
    double sum = 0;
    for (int k = 0; k < kPoints; ++k) {
      const double x = (k + 0.5) / kPoints - 0.5;
      sum += base::window_at(problem.window, 2 * x) * std::cos(2 * kPi * x * i / kSteps);
    }
    magnitude.push_back(std::abs(sum));
  }
  const Cut ideal = study(magnitude);
  const auto scaled = [&](double band_share) {
    return Cut{.position = 0, .width = ideal.width / kSteps / band_share, .side_lobe_db = ideal.side_lobe_db};
  };
  return {.peak = 1,
          .range = scaled(problem.radar.bandwidth_hz / problem.radar.sample_rate_hz),
          .along = scaled(doppler_band(problem) / problem.radar.pulse_rate_hz)};
}

}  // namespace ridge::sar
