#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/nufft.hpp>

namespace nu = ridge::nufft;
using Values = std::vector<std::complex<double>>;

int main() {
  constexpr std::size_t n = 128, hours = 40, antennas = 21;  // pixels per side, positions of the Earth, three arms of 7
  constexpr double pi = std::numbers::pi;
  Values places, baselines;  // east + i north
  for (std::size_t arm = 0; arm < 3; ++arm) {
    for (int k = 1; k <= 7; ++k) places.push_back(std::polar(std::pow(1.5, k), 2 * pi * double(arm) / 3));
  }
  for (std::size_t hour = 0; hour < hours; ++hour) {  // six hours under a source at the pole
    const auto turn = std::polar(1.0, pi * (double(hour) / (hours - 1) - 0.5) / 2);
    for (std::size_t a = 0; a < antennas; ++a) {
      for (std::size_t b = a + 1; b < antennas; ++b) baselines.push_back(turn * (places[b] - places[a]));
    }
  }
  double longest = 0;
  for (const auto& baseline : baselines) longest = std::max(longest, std::abs(baseline));
  const std::size_t count = baselines.size();
  std::vector<double> u(count), v(count);  // radians per pixel
  for (std::size_t j = 0; j < count; ++j) {
    u[j] = 2.7 / longest * baselines[j].real();
    v[j] = 2.7 / longest * baselines[j].imag();
  }

  struct Star {
    std::size_t row, column;
    double flux;
  };
  const std::vector<Star> stars = {{40, 70, 1.0}, {75, 50, 0.5}, {90, 98, 0.1}};
  Values visibilities(count);
  for (const Star& star : stars) {
    const double y = double(star.row) - n / 2, x = double(star.column) - n / 2;
    for (std::size_t j = 0; j < count; ++j) visibilities[j] += std::polar(star.flux, -(v[j] * y + u[j] * x));
  }

  const auto map_of = [&](const Values& strengths, std::size_t side) {  // type 1: the sky, convolved with the beam
    auto map = nu::plan<double>(ridge::host(), {.modes = {side, side}, .points = count, .epsilon = 1e-9});
    map.set_points(v, u);
    Values modes(side * side);
    map.run(strengths, modes);
    std::vector<double> real(side * side);
    for (std::size_t i = 0; i < real.size(); ++i) real[i] = modes[i].real() / double(count);
    return real;
  };
  std::vector<double> dirty = map_of(visibilities, n);
  const std::vector<double> beam = map_of(Values(count, 1), 2 * n);
  double lobe = 0;
  for (std::size_t i = 0; i < beam.size(); ++i) {
    const auto off = [](std::size_t at) { return std::abs(long(at) - long(n)); };
    if (off(i / (2 * n)) > 3 || off(i % (2 * n)) > 3) lobe = std::max(lobe, beam[i]);
  }
  std::printf("%zu visibilities of %zu antennas\n", count, antennas);
  std::printf("dirty map: side lobes of %.2f; %td pixels are brighter than the faintest star, 0.1\n", lobe,
              std::count_if(dirty.begin(), dirty.end(), [](double value) { return value > 0.1; }));

  Values model(n * n);
  for (int step = 0; step < 400; ++step) {  // CLEAN: subtract the beam of the brightest pixel
    const auto at = std::size_t(std::max_element(dirty.begin(), dirty.end()) - dirty.begin());
    const std::size_t row = at / n, column = at % n;
    const double flux = 0.1 * dirty[at];
    model[at] += flux;
    for (std::size_t i = 0; i < n * n; ++i) dirty[i] -= flux * beam[(n + i / n - row) * 2 * n + n + i % n - column];
  }
  for (const Star& star : stars) {
    std::printf("star of %.1f at (%zu, %zu): found %.3f\n", star.flux, star.row, star.column,
                model[star.row * n + star.column].real());
  }
  const nu::Problem problem{.type = nu::Type::to_points, .modes = {n, n}, .points = count, .epsilon = 1e-9, .sign = -1};
  auto predict = nu::plan<double>(ridge::host(), problem);  // type 2: what the antennas would measure
  predict.set_points(v, u);
  Values predicted(count);
  predict.run(model, predicted);
  double difference = 0, size = 0;
  for (std::size_t j = 0; j < count; ++j) {
    difference += std::norm(predicted[j] - visibilities[j]);
    size += std::norm(visibilities[j]);
  }
  std::printf("visibilities of the model: off by %.0e\n", std::sqrt(difference / size));
}
