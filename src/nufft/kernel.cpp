// Width, shape, polynomials and Fourier transform of the prolate spreading kernel.
#include "nufft/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ridge::nufft {
namespace {

struct Shape {
  double error;  // root mean square aliasing error of one axis, relative to the modes
  double share;  // bandwidth as a share of pi * width * (1 - 1 / (2 upsampling)), for the least error
};

constexpr std::size_t kNarrowest = 2;

// One row per element of kUpsamplings, widths from kNarrowest. Computed from the kernel's Fourier transform for 64
// modes: the sum of squares of all aliases over that of the mode, averaged over the modes. Rounding limits the computed
// error of the last widths at upsampling 2 and 2.25; the values are extrapolated.
constexpr std::array<std::array<Shape, kWidest - kNarrowest + 1>, kUpsamplings.size()> kShapes{{
    {{{3.32e-2, 0.950},
      {3.39e-3, 0.980},
      {3.61e-4, 0.990},
      {3.75e-5, 0.990},
      {3.92e-6, 0.995},
      {4.11e-7, 0.995},
      {4.28e-8, 0.995},
      {4.49e-9, 0.995},
      {4.62e-10, 0.995},
      {4.80e-11, 0.995},
      {4.95e-12, 0.995},
      {5.27e-13, 0.995},
      {5.91e-14, 0.995},
      {7.14e-15, 0.995},
      {8.00e-16, 1.000}}},
    {{{5.70e-2, 0.940},
      {8.33e-3, 0.970},
      {1.27e-3, 0.985},
      {1.88e-4, 0.985},
      {2.97e-5, 0.990},
      {4.57e-6, 0.990},
      {7.26e-7, 0.990},
      {1.14e-7, 0.990},
      {1.78e-8, 0.995},
      {2.54e-9, 0.995},
      {3.59e-10, 0.995},
      {5.24e-11, 0.995},
      {9.47e-12, 0.995},
      {1.83e-12, 0.995},
      {3.19e-13, 0.985}}},
    {{{9.45e-2, 0.915},
      {1.90e-2, 0.950},
      {4.07e-3, 0.970},
      {9.84e-4, 0.980},
      {2.31e-4, 0.985},
      {5.49e-5, 0.985},
      {1.27e-5, 0.990},
      {2.91e-6, 0.990},
      {6.47e-7, 0.990},
      {1.53e-7, 0.990},
      {2.83e-8, 0.995},
      {5.68e-9, 0.995},
      {1.43e-9, 0.995},
      {4.70e-10, 0.995},
      {1.50e-10, 0.995}}},
    {{{2.92e-2, 0.955},
      {2.71e-3, 0.980},
      {2.56e-4, 0.990},
      {2.41e-5, 0.995},
      {2.23e-6, 0.995},
      {2.10e-7, 0.995},
      {1.95e-8, 0.995},
      {1.83e-9, 0.995},
      {1.69e-10, 0.995},
      {1.56e-11, 0.995},
      {1.46e-12, 0.995},
      {1.36e-13, 0.995},
      {1.33e-14, 0.995},
      {1.40e-15, 0.995},
      {2.00e-16, 1.000}}},
}};

const Shape& shape_of(std::size_t width, double upsampling) {
  const std::size_t row =
      static_cast<std::size_t>(std::find(kUpsamplings.begin(), kUpsamplings.end(), upsampling) - kUpsamplings.begin());
  return kShapes.at(row).at(width - kNarrowest);
}

double bandwidth_of(std::size_t width, double upsampling) {
  return shape_of(width, upsampling).share * std::numbers::pi * static_cast<double>(width) * (1 - 1 / (2 * upsampling));
}

// Root mean square of the mode factors of one axis, relative to that of frequency 0: the factor by which the division
// by the kernel's transform, about exp(c (sqrt(1 - u^2) - 1)), amplifies rounding errors of high frequencies.
double amplification(std::size_t width, double upsampling) {
  constexpr int kSamples = 32;
  const double highest = 1 / (2 * upsampling - 1);
  double sum = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double u = highest * (i + 0.5) / kSamples;
    sum += std::exp(2 * bandwidth_of(width, upsampling) * (1 - std::sqrt(1 - u * u)));
  }
  return std::sqrt(sum / kSamples);
}

// Legendre coefficients of even orders: the eigenvector of the least eigenvalue of a tridiagonal matrix, by inverse
// iteration (Xiao, Rokhlin, Yarvin 2001). Scaled to 1 at z = 0 by the caller.
std::vector<double> prolate_coefficients(double c) {
  constexpr std::size_t kTerms = 60;
  constexpr int kMostRounds = 400;
  std::vector<double> diagonal(kTerms), beside(kTerms), vector(kTerms, 0.0), next(kTerms);
  for (std::size_t i = 0; i < kTerms; ++i) {
    const double k = 2.0 * static_cast<double>(i);
    diagonal[i] = k * (k + 1) + (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1)) * c * c;
    beside[i] = (k + 2) * (k + 1) / ((2 * k + 3) * std::sqrt((2 * k + 1) * (2 * k + 5))) * c * c;
  }
  vector[0] = 1;
  double change = 1;
  for (int round = 0; round < kMostRounds && change > 1e-15; ++round) {
    std::vector<double> pivot = diagonal;
    next = vector;
    for (std::size_t i = 1; i < kTerms; ++i) {
      const double factor = beside[i - 1] / pivot[i - 1];
      pivot[i] -= factor * beside[i - 1];
      next[i] -= factor * next[i - 1];
    }
    next[kTerms - 1] /= pivot[kTerms - 1];
    for (std::size_t i = kTerms - 1; i-- > 0;) next[i] = (next[i] - beside[i] * next[i + 1]) / pivot[i];
    double square = 0;
    for (const double value : next) square += value * value;
    const double scale = std::copysign(1 / std::sqrt(square), next[0]);
    change = 0;
    for (std::size_t i = 0; i < kTerms; ++i) {
      change += std::abs(next[i] * scale - vector[i]);
      vector[i] = next[i] * scale;
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) vector[i] *= std::sqrt(2.0 * static_cast<double>(i) + 0.5);
  return vector;
}

// Coefficients of 1, s, s^2, ... of the polynomial through values at the Chebyshev nodes cos(pi (j + 1/2) / n).
std::vector<double> monomials(const std::vector<double>& values) {
  const std::size_t n = values.size();
  std::vector<double> sum(n, 0.0), before(n, 0.0), now(n, 0.0);  // Chebyshev polynomials of orders m - 1 and m
  now[0] = 1;
  for (std::size_t m = 0; m < n; ++m) {
    double coefficient = 0;
    for (std::size_t j = 0; j < n; ++j) {
      coefficient += values[j] * std::cos(std::numbers::pi * static_cast<double>(m) * (static_cast<double>(j) + 0.5) /
                                          static_cast<double>(n));
    }
    coefficient *= (m == 0 ? 1.0 : 2.0) / static_cast<double>(n);
    for (std::size_t p = 0; p < n; ++p) sum[p] += coefficient * now[p];
    std::vector<double> after(n, 0.0);
    for (std::size_t p = 0; p + 1 < n; ++p) after[p + 1] = (m == 0 ? 1 : 2) * now[p];
    for (std::size_t p = 0; p < n; ++p) after[p] -= before[p];
    before = std::exchange(now, std::move(after));
  }
  return sum;
}

double aliasing_error(std::size_t width, double upsampling, std::size_t axes) {
  constexpr double kMargin = 1.5;  // for small and unfavourable problems
  return kMargin * std::sqrt(static_cast<double>(axes)) * shape_of(width, upsampling).error;
}

}  // namespace

double expected_error(std::size_t width, double upsampling, std::size_t axes, double roundoff) {
  constexpr double kAmplified = 1.8, kTransformed = 5;  // rounding errors in units of `roundoff`, measured
  constexpr double kTables = 2.5e-15;                   // of the kernel's tables, which are computed in double
  const double rounding = kAmplified * std::pow(amplification(width, upsampling), static_cast<double>(axes));
  return std::hypot(aliasing_error(width, upsampling, axes), roundoff * std::hypot(rounding, kTransformed), kTables);
}

double rounded_products_error(std::size_t width, double upsampling, std::size_t axes) {
  constexpr double kRounded = 1.7e-4;  // measured: 3e-4 in three dimensions at width 4 and upsampling 2
  return std::hypot(aliasing_error(width, upsampling, axes),
                    kRounded * std::pow(amplification(width, upsampling), static_cast<double>(axes)));
}

std::size_t kernel_width(double epsilon, double upsampling, std::size_t axes, double roundoff) {
  for (std::size_t width = kNarrowest; width <= kWidest; ++width) {
    if (expected_error(width, upsampling, axes, roundoff) <= epsilon) return width;
  }
  return 0;
}

double least_error(std::size_t axes, double roundoff) {
  double least = 1;
  for (std::size_t width = kNarrowest; width <= kWidest; ++width) {
    least = std::min(least, expected_error(width, kUpsamplings[0], axes, roundoff));
  }
  return least;
}

Kernel::Kernel(std::size_t width, double upsampling)
    : width_(width), bandwidth_(bandwidth_of(width, upsampling)), legendre_(prolate_coefficients(bandwidth_)) {
  const double middle = (*this)(0);
  for (double& coefficient : legendre_) coefficient /= middle;
}

double Kernel::operator()(double z) const {
  double before = 1, now = z, sum = legendre_[0];
  for (std::size_t j = 2; j < 2 * legendre_.size(); ++j) {
    const auto order = static_cast<double>(j);
    const double next = ((2 * order - 1) * z * now - (order - 1) * before) / order;
    before = std::exchange(now, next);
    if (j % 2 == 0) sum += legendre_[j / 2] * next;
  }
  return sum;
}

std::size_t Kernel::degree() const { return width_ + 2; }

std::vector<double> Kernel::polynomials() const {
  const std::size_t terms = degree() + 1;
  const auto width = static_cast<double>(width_);
  std::vector<double> table(terms * width_);
  for (std::size_t cell = 0; cell < width_; ++cell) {
    std::vector<double> values(terms);
    for (std::size_t j = 0; j < terms; ++j) {
      const double s = std::cos(std::numbers::pi * (static_cast<double>(j) + 0.5) / static_cast<double>(terms));
      values[j] = (*this)((static_cast<double>(cell) + (s + 1) / 2 - width / 2) * 2 / width);
    }
    const std::vector<double> powers = monomials(values);
    for (std::size_t p = 0; p < terms; ++p) table[p * width_ + cell] = powers[terms - 1 - p];
  }
  return table;
}

// s decreases by 2 per cell, and a radian has cells / (2 pi) cells.
std::vector<double> Kernel::slope_polynomials(std::size_t cells) const {
  const std::vector<double> values = polynomials();
  const double scale = -static_cast<double>(cells) / std::numbers::pi;
  std::vector<double> slopes(values.size(), 0.0);
  for (std::size_t p = 0; p < degree(); ++p) {
    const double power = static_cast<double>(degree() - p);
    for (std::size_t c = 0; c < width_; ++c) slopes[(p + 1) * width_ + c] = scale * power * values[p * width_ + c];
  }
  return slopes;
}

// The prolate function is its own Fourier transform, rescaled: the integral of psi(z) exp(i c u z) over [-1, 1] is
// lambda psi(u), with lambda the integral of psi itself divided by psi(0) = 1.
double Kernel::factor(double angle) const {
  const auto width = static_cast<double>(width_);
  const double integral = 2 * legendre_[0] * width / 2;
  return 1 / (integral * (*this)(angle * width / (2 * bandwidth_)));
}

std::vector<double> Kernel::mode_factors(std::size_t modes, std::size_t cells) const {
  std::vector<double> factors(modes);
  for (std::size_t i = 0; i < modes; ++i) {
    const double frequency = static_cast<double>(i) - static_cast<double>(modes / 2);
    factors[i] = factor(2 * std::numbers::pi * frequency / static_cast<double>(cells));
  }
  return factors;
}

}  // namespace ridge::nufft
