// Limits of the generalized spectral kurtosis, SK = (M a + 1) / (M - 1) * (M S2 / S1^2 - 1), for M values of gamma
// distributed power with shape a. The distribution depends on M and a alone.
//
// Upper limit: Pearson's curve p' / p = -(x + c1) / (c0 + c1 x + c2 x^2) from the four exact moments, integrated
// numerically, whatever its type. Lower limit: Skovgaard's double saddlepoint approximation of P(S2 <= s | S1), because
// Pearson's curve has 0.6 to 0.8 of the nominal probability there.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "search/flags.hpp"

namespace ridge::search {
namespace {

using Moments = std::array<long double, 5>;
constexpr long double kBinomial[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};

long double rising(long double x, int n) {
  long double product = 1;
  for (int i = 0; i < n; ++i) product *= x + i;
  return product;
}

struct Shape {
  double mean, sigma, skew, kurtosis;
};
// S2 / S1^2 and S1 are independent, so the moments of the ratio are quotients of moments. Central moments are small
// differences of these, hence long double.
Shape kurtosis_moments(long double m, long double a) {
  Moments raw{}, cumulant{}, sum{1}, ratio{}, central{};
  for (int k = 0; k < 5; ++k) raw[static_cast<std::size_t>(k)] = rising(a, 2 * k);
  for (std::size_t n = 1; n < 5; ++n) {
    cumulant[n] = raw[n];
    for (std::size_t j = 1; j < n; ++j) cumulant[n] -= kBinomial[n - 1][j - 1] * cumulant[j] * raw[n - j];
    for (std::size_t j = 1; j <= n; ++j) sum[n] += kBinomial[n - 1][j - 1] * m * cumulant[j] * sum[n - j];
  }
  for (std::size_t k = 0; k < 5; ++k) ratio[k] = sum[k] / rising(m * a, 2 * static_cast<int>(k));
  for (std::size_t n = 0; n < 5; ++n) {
    for (std::size_t j = 0; j <= n; ++j) {
      central[n] += kBinomial[n][j] * ratio[j] * std::pow(-ratio[1], static_cast<long double>(n - j));
    }
  }
  const long double factor = (m * a + 1) / (m - 1), variance = central[2] * (factor * m) * (factor * m);
  const long double root = std::sqrt(central[2]);
  return {.mean = static_cast<double>(factor * (m * ratio[1] - 1)),
          .sigma = static_cast<double>(std::sqrt(variance)),
          .skew = static_cast<double>(central[3] / (root * root * root)),
          .kurtosis = static_cast<double>(central[4] / (central[2] * central[2]))};
}

double upper_limit(const Shape& shape, double probability) {
  constexpr double kStep = 1e-3, kFrom = -12, kTo = 60;  // in sigma
  const double b1 = shape.skew * shape.skew, b2 = shape.kurtosis, den = 10 * b2 - 12 * b1 - 18;
  const double c0 = (4 * b2 - 3 * b1) / den, c1 = shape.skew * (b2 + 3) / den, c2 = (2 * b2 - 3 * b1 - 6) / den;
  // The logarithm of the density, from the middle outwards as far as the denominator is positive.
  const auto walk = [&](double step, double end) {
    std::vector<double> logs{0};
    double x = 0, slope = -c1 / c0;
    while (std::abs(x) < std::abs(end)) {
      x += step;
      const double q = c0 + c1 * x + c2 * x * x;
      if (!(q > 0)) break;
      const double next = -(x + c1) / q;
      logs.push_back(logs.back() + (slope + next) / 2 * step);
      slope = next;
    }
    return logs;
  };
  const std::vector<double> above = walk(kStep, kTo), below = walk(-kStep, kFrom);
  double most = 0, total = 0;
  for (const auto* logs : {&above, &below}) most = std::max(most, *std::max_element(logs->begin(), logs->end()));
  for (const auto* logs : {&above, &below}) {
    for (const double log : *logs) total += std::exp(log - most);
  }
  double tail = 0;
  std::size_t i = above.size();
  while (i > 0 && tail < probability * total) tail += std::exp(above[--i] - most);
  return shape.mean + shape.sigma * kStep * static_cast<double>(i);
}

// Cumulant function of (x, x^2) tilted by (t1, t2), its gradient and its Hessian, on a grid of y = sqrt(x), which
// removes the singularity at 0.
class Saddlepoint {
 public:
  Saddlepoint(double m, double a) : m_(m), a_(a) {
    constexpr int kPoints = 3000;
    const double end = 9 + 2 * std::sqrt(a);
    for (int i = 1; i <= kPoints; ++i) {
      const double y = end * i / kPoints;
      x_.push_back(y * y);
      base_.push_back((2 * a - 1) * std::log(y) - y * y);
    }
    start_ = tilted(0, 0);
  }

  // P(mean of x^2 <= s given that the mean of x is a).
  double probability(double s) {
    double t1 = 0, t2 = 0;
    for (int i = 0; i < 60; ++i) {
      const Tilt at = tilted(t1, t2);
      const double r1 = a_ - at.m1, r2 = s - at.m2, det = at.c11 * at.c22 - at.c12 * at.c12;
      const double d1 = (r1 * at.c22 - r2 * at.c12) / det, d2 = (r2 * at.c11 - r1 * at.c12) / det;
      const double size = std::max({std::abs(d1), std::abs(d2), 1e-30}), scale = std::min(1.0, 0.5 / size);
      t1 += d1 * scale;
      t2 = std::min(t2 + d2 * scale, -1e-9);
      if (size < 1e-10) break;
    }
    const Tilt at = tilted(t1, t2);
    const double det = at.c11 * at.c22 - at.c12 * at.c12;
    const double w = -std::sqrt(std::max(0.0, 2 * m_ * (start_.log - (at.log - t1 * a_ - t2 * s))));
    const double u = t2 * std::sqrt(m_ * det / start_.c11);
    if (w == 0) return 0.5;
    return std::erfc(-w / std::numbers::sqrt2) / 2 +
           std::exp(-w * w / 2) / std::sqrt(2 * std::numbers::pi) * (1 / w - 1 / u);
  }

 private:
  struct Tilt {
    double log, m1, m2, c11, c12, c22;
  };
  Tilt tilted(double t1, double t2) const {
    double most = -1e300, s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) most = std::max(most, base_[i] + (t1 + t2 * x_[i]) * x_[i]);
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double x = x_[i], w = std::exp(base_[i] + (t1 + t2 * x) * x - most);
      s0 += w, s1 += w * x, s2 += w * x * x, s3 += w * x * x * x, s4 += w * x * x * x * x;
    }
    s1 /= s0, s2 /= s0, s3 /= s0, s4 /= s0;
    return {std::log(s0) + most, s1, s2, s2 - s1 * s1, s3 - s1 * s2, s4 - s2 * s2};
  }
  double m_, a_;
  std::vector<double> x_, base_;
  Tilt start_{};
};

double lower_limit(double m, double a, double probability) {
  Saddlepoint saddlepoint(m, a);
  double left = a * a * 1.02, right = a * (a + 1) * 0.999;
  for (int i = 0; i < 30; ++i) {
    const double middle = (left + right) / 2;
    (saddlepoint.probability(middle) < probability ? left : right) = middle;
  }
  return (m * a + 1) / (m - 1) * (left / (a * a) - 1);
}

}  // namespace

KurtosisLimits kurtosis_limits(std::size_t m, double shape, double false_alarm) {
  if (m < 16 || m > 65536)
    throw Error(ErrorKind::invalid_argument, fmt::format("search: kurtosis needs 16 to 65536 samples, got {}", m));
  if (!(shape >= 0.25) || !(shape <= 1e4) || !(false_alarm > 1e-8) || !(false_alarm < 0.5)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("search: kurtosis needs a shape of 0.25 to 10000 and a false-alarm rate of 1e-8 to 0.5, got "
                    "{} and {}",
                    shape, false_alarm));
  }
  const auto count = static_cast<double>(m);
  return {.low = lower_limit(count, shape, false_alarm / 2),
          .high = upper_limit(kurtosis_moments(count, shape), false_alarm / 2)};
}

}  // namespace ridge::search
