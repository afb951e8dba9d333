#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <ridge/fft.hpp>

int main() {
  const std::size_t n = 1024;
  std::vector<double> tone(n), none(n, 1), hann(n), blackman(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double radians = 2 * std::numbers::pi * static_cast<double>(i);
    tone[i] = std::sin(100.5 * radians / n);  // half way between two bins: the worst case
    const double angle = radians / (n - 1);
    hann[i] = 0.5 - 0.5 * std::cos(angle);
    blackman[i] = 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
  }
  for (const auto& [name, window] :
       {std::pair("none", none), std::pair("hann", hann), std::pair("blackman", blackman)}) {
    // The window is multiplied in while the samples are loaded, without an extra pass over memory.
    const auto fft = ridge::fft::plan<double>(
        ridge::host(), {.shape = {n}, .kind = ridge::fft::Kind::real, .load_forward = {.window = window}},
        {.effort = ridge::Effort::quick});
    std::vector<std::complex<double>> spectrum(n / 2 + 1);
    fft.forward(tone, spectrum);
    double peak = 0, far = 0;
    for (std::size_t k = 0; k < spectrum.size(); ++k) {
      peak = std::max(peak, std::norm(spectrum[k]));
      if (k >= 200) far = std::max(far, std::norm(spectrum[k]));
    }
    std::printf("%-9s 100 bins away: %6.1f dB\n", name, 10 * std::log10(far / peak));
  }
}
