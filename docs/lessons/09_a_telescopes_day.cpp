#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include <ridge/filterbank.hpp>

using namespace ridge::filterbank;

int main() {
  const std::size_t channels = 64, taps = 8, stations = 2, times = 4096;
  const Problem problem{.channels = channels, .taps = taps, .stations = stations, .polarizations = 1};  // int8
  const auto bank = plan(ridge::host(), problem, {.effort = ridge::Effort::quick});
  std::printf("leakage beyond 1.5 channels: %.0f dB\n", quality(bank.problem().weights, channels).leakage_db);

  // The sky: both telescopes receive a spectral line at channel 20, each with its own noise.
  std::mt19937 random(9);
  std::normal_distribution<double> noise(0, 8);
  const auto rounded = [](double v) { return static_cast<std::int8_t>(std::clamp(std::round(v), -127.0, 127.0)); };
  std::vector<std::int8_t> packed;  // block, station, sample
  for (std::size_t block = 0; block < times; ++block)
    for (std::size_t station = 0; station < stations; ++station)
      for (std::size_t i = 0; i < channels; ++i) {
        const std::complex<double> line =
            std::polar(3.0, 2 * std::numbers::pi * 20 / channels * static_cast<double>(i));
        packed.push_back(rounded(line.real() + noise(random)));
        packed.push_back(rounded(line.imag() + noise(random)));
      }

  // The samples arrive in pieces of any size, as from a network.
  Stream stream(bank);
  Correlator correlator(problem, {.times = times});
  const std::span<const std::byte> data = std::as_bytes(std::span(packed));
  std::vector<std::complex<float>> spectra(times * bank.spectrum_size()), visibilities(3 * channels);
  std::size_t done = 0;
  for (std::size_t begin = 0; begin < data.size(); begin += 100'001) {
    const auto piece = data.subspan(begin, std::min<std::size_t>(100'001, data.size() - begin));
    done += stream.push(piece, std::span(spectra).subspan(done * bank.spectrum_size()));
  }
  correlator.push(spectra, visibilities);

  // Baseline 0 is the first telescope with itself, baseline 1 the pair.
  const auto above_noise = [&](std::size_t baseline) {
    std::vector<float> power(channels);
    for (std::size_t k = 0; k < channels; ++k) power[k] = std::abs(visibilities[baseline * channels + k]);
    const float line = power[20];
    std::nth_element(power.begin(), power.begin() + channels / 2, power.end());
    return line / power[channels / 2];
  };
  std::printf("alone the line is %.0f times above the noise, correlated more than 20 times: %s\n",
              static_cast<double>(above_noise(0)), above_noise(1) > 20 ? "True" : "False");
}
