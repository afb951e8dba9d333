#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/fft.hpp>

int main() {
  const std::size_t rate = 8000;  // samples per second; the recording lasts one second
  const double step = 2 * std::numbers::pi / static_cast<double>(rate);
  std::vector<double> sound(rate), back(rate);
  for (std::size_t i = 0; i < rate; ++i)
    sound[i] = std::sin(440 * step * static_cast<double>(i)) + 0.5 * std::sin(1000 * step * static_cast<double>(i));

  const double n = static_cast<double>(rate);
  const auto fft =
      ridge::fft::plan<double>(ridge::host(), {.shape = {rate}, .kind = ridge::fft::Kind::real, .scale_inverse = 1 / n},
                               {.effort = ridge::Effort::quick});
  std::vector<std::complex<double>> spectrum(rate / 2 + 1);
  fft.forward(sound, spectrum);
  for (std::size_t hertz = 0; hertz < spectrum.size(); ++hertz) {
    const double loudness = 2 * std::abs(spectrum[hertz]) / n;  // amplitude of each tone
    if (loudness > 0.1) std::printf("%zu Hz, amplitude %.2f\n", hertz, loudness);
  }

  fft.inverse(spectrum, back);
  double worst = 0;
  for (std::size_t i = 0; i < rate; ++i) worst = std::fmax(worst, std::fabs(back[i] - sound[i]));
  std::printf("the inverse transform restores the sound: %s\n", worst < 1e-12 ? "True" : "False");
}
