// Evaluates window functions, with the series of Bessel's I0 for Kaiser's.
#include "base/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace ridge::base {
namespace {

using std::numbers::pi;

// The modified Bessel function of order 0 by its series: every term is positive, so nothing cancels.
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 500 && term > sum * 1e-18; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// Coefficients of Taylor's window: side lobes at -35 dB, the first four of equal height.
std::vector<double> taylor_coefficients() {
  constexpr int kLevel = 5;
  const double a = std::acosh(std::pow(10.0, 35.0 / 20)) / pi;
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

double window_at(Window window, double x, double shape) {
  if (std::abs(x) > 1) return 0;
  switch (window) {
    case Window::none:
      return 1;
    case Window::hamming:
      return 0.54 + 0.46 * std::cos(pi * x);
    case Window::blackman:
      return 0.42 + 0.5 * std::cos(pi * x) + 0.08 * std::cos(2 * pi * x);
    case Window::kaiser: {
      const double beta = shape == 0 ? 10.61 : shape;
      return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - x * x))) / bessel_i0(beta);
    }
    case Window::gaussian: {
      const double sigma = shape == 0 ? 0.22 : shape;
      return std::exp(-0.5 * (x / sigma) * (x / sigma));
    }
    case Window::taylor: {
      static const std::vector<double> f = taylor_coefficients();
      double sum = 1;
      for (std::size_t m = 0; m < f.size(); ++m) sum += 2 * f[m] * std::cos(pi * static_cast<double>(m + 1) * x);
      return sum;
    }
  }
  return 0;
}

}  // namespace ridge::base
