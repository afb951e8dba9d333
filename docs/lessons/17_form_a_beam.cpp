#include <array>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/search/beams.hpp>

using namespace ridge::search;

int main() {
  constexpr std::size_t kStations = 16, kTimes = 1024;
  std::vector<std::array<double, 3>> stations;
  for (std::size_t s = 0; s < kStations; ++s) stations.push_back({7.0 * double(s), 3.0 * double(s * s % 11), 0});
  const std::vector<std::array<double, 3>> directions = {{0.6, 0, 0.8}, {0, 0.6, 0.8}};
  const std::vector<double> mhz = {150};

  // A wave of amplitude 1 from the first direction.
  std::vector<std::complex<float>> voltages(kTimes * kStations);
  for (std::size_t i = 0; i < voltages.size(); ++i) {
    const double cycles = mhz[0] * 1e6 * stations[i % kStations][0] * 0.6 / 299792458;
    voltages[i] = std::complex<float>(std::polar(1.0, 2 * std::numbers::pi * cycles));
  }
  Beamformer beams(ridge::host(), {.stations = kStations, .beams = 2, .times = kTimes, .integrate = kTimes});
  beams.set_weights(beam_weights(stations, directions, mhz));
  std::vector<float> power(2);
  beams.power(voltages, power);
  std::printf("power per sample: %.2f towards the wave, %.2f elsewhere\n", power[0] / kTimes, power[1] / kTimes);
}
