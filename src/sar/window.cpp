#include "sar/window.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace ridge::sar {
namespace {

constexpr double kPi = std::numbers::pi;

// Taylor's weights for side lobes of -35 dB, the first four of them level.
std::vector<double> taylor_coefficients() {
  constexpr int kLevel = 5;
  const double a = std::acosh(std::pow(10.0, 35.0 / 20)) / kPi;
  const double sigma2 = kLevel * kLevel / (a * a + (kLevel - 0.5) * (kLevel - 0.5));
  std::vector<double> f;
  for (int m = 1; m < kLevel; ++m) {
    double above = 1, below = 1;
    for (int i = 1; i < kLevel; ++i) {
      above *= 1 - m * m / (sigma2 * (a * a + (i - 0.5) * (i - 0.5)));
      if (i != m) below *= 1 - static_cast<double>(m * m) / (i * i);
    }
    f.push_back((m % 2 == 1 ? 1 : -1) * above / (2 * below));
  }
  return f;
}

}  // namespace

double weight(Window window, double x) {
  if (std::abs(x) > 0.5) return 0;
  switch (window) {
    case Window::none:
      return 1;
    case Window::hamming:
      return 0.54 + 0.46 * std::cos(2 * kPi * x);
    case Window::taylor: {
      static const std::vector<double> f = taylor_coefficients();
      double sum = 1;
      for (std::size_t m = 0; m < f.size(); ++m) sum += 2 * f[m] * std::cos(2 * kPi * static_cast<double>(m + 1) * x);
      return sum;
    }
  }
  return 0;
}

}  // namespace ridge::sar
