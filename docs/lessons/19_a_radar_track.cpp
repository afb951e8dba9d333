#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <ridge/sar/omega_k.hpp>

using namespace ridge::sar;

int main() {
  Problem frame{.pulses = 400, .samples = 160};  // L band: a wavelength of 24 cm
  frame.radar.pulse_s = 1e-6;
  const double pulses = double(frame.pulses);
  std::vector<Offset> gusts(frame.pulses);
  for (std::size_t i = 0; i < gusts.size(); ++i) {
    const double t = double(i) / pulses;
    gusts[i] = {.along_m = 0.05 * std::cos(12 * t), .range_m = 0.1 * std::sin(15 * t) + 0.02 * std::sin(40 * t)};
  }
  struct Place {
    double pulse, cell, amplitude;
  };
  const std::vector<Place> places = {{160.5, 49, 1}, {200.25, 64.5, 0.5}, {240.75, 80, 1}};
  std::vector<Target> targets;
  for (const Place& place : places) {
    targets.push_back({.along_m = place.pulse * along_cell(frame.radar),
                       .range_m = frame.radar.near_range_m + place.cell * range_cell(frame.radar),
                       .amplitude = place.amplitude});
  }
  const std::vector<Complex> echoes = simulate(frame, targets, gusts);

  const auto report = [&](const char* name, const auto& focus) {
    std::vector<Complex> image(echoes.size());
    focus.run(echoes, image);
    std::vector<Response> answers;
    for (const Place& place : places) answers.push_back(measure(frame, image, place.cell, place.pulse, 8));
    std::printf("%-32s peaks %.2f, %.2f, %.2f; width %.1f cells\n", name, answers[0].peak, answers[1].peak,
                answers[2].peak, answers[1].along.width);
  };
  report("straight line, range-Doppler", plan(ridge::host(), frame));
  report("measured track, back-projection", Backprojection({.frame = frame, .track = gusts}));
  report("measured track, factorized", Backprojection({.frame = frame, .method = Method::factorized, .track = gusts}));
  const std::vector<Offset> estimated = autofocus(frame, echoes);  // from the phases of the brightest points
  report("estimated track, factorized",
         Backprojection({.frame = frame, .method = Method::factorized, .track = estimated}));

  double mean = 0, slope = 0, norm = 0, square = 0;  // a constant and a trend only move the image
  const auto error = [&](std::size_t i) { return estimated[i].range_m - gusts[i].range_m; };
  const auto at = [&](std::size_t i) { return double(i) - (pulses - 1) / 2; };
  for (std::size_t i = 0; i < gusts.size(); ++i) {
    mean += error(i) / pulses;
    slope += at(i) * error(i);
    norm += at(i) * at(i);
  }
  for (std::size_t i = 50; i < gusts.size() - 50; ++i) {
    square += std::pow(error(i) - mean - slope / norm * at(i), 2) / (pulses - 100);
  }
  const auto [least, most] = std::minmax_element(
      gusts.begin(), gusts.end(), [](const Offset& a, const Offset& b) { return a.range_m < b.range_m; });
  std::printf("gusts of %.0f mm; estimated to better than a centimetre: %s\n", 1000 * (most->range_m - least->range_m),
              std::sqrt(square) < 0.01 ? "True" : "False");
}
