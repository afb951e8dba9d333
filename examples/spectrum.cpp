// Finds the tones in a noisy recording: window and real transform in one pass, then the peaks of the spectrum.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include <ridge/fft.hpp>

int main() {
  const std::size_t n = 48000;  // one second of sound: 1 Hz per bin; not a power of two
  const double tones[] = {440, 1000, 9973};
  std::mt19937 generator(1);
  std::normal_distribution<float> noise(0, 1);
  std::vector<float> sound(n);
  std::vector<double> window(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    window[i] = 0.5 - 0.5 * std::cos(turn);
    double value = 0;
    for (const double hertz : tones) value += 0.2 * std::sin(hertz * turn);
    sound[i] = static_cast<float>(value) + noise(generator);
  }

  const auto fft = ridge::fft::plan<float>(
      ridge::host(), {.shape = {n}, .kind = ridge::fft::Kind::real, .load_forward = {.window = window}},
      {.effort = ridge::Effort::quick});
  std::vector<std::complex<float>> spectrum(n / 2 + 1);
  fft.forward(sound, spectrum);

  const auto power = [&](std::size_t k) { return std::norm(spectrum[k]); };
  double mean = 0;
  for (std::size_t k = 1; k < n / 2; ++k) mean += power(k) / static_cast<double>(n / 2);
  for (std::size_t k = 1; k < n / 2; ++k) {
    if (power(k) > 30 * mean && power(k) > power(k - 1) && power(k) > power(k + 1)) std::printf("%zu Hz\n", k);
  }
}
