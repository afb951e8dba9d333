// Transforms in twice the precision of double against sums in long double.
#include "fft/host/prime/wide_transform.hpp"

#include <cfloat>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/unit_root.hpp"

namespace ridge::fft::prime {
namespace {

using Wide = std::complex<long double>;

// Long double has 113 bits on some machines and 64 on others; pairs of doubles have about a hundred.
constexpr long double kLast = std::max(LDBL_EPSILON, static_cast<long double>(1e-31));

Wide root(std::size_t k, std::size_t n) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

Wide value(const Point<DoubleDouble>& p) {
  const auto sum = [](DoubleDouble x) { return static_cast<long double>(x.high) + static_cast<long double>(x.low); };
  return {sum(p.re), sum(p.im)};
}

WidePoints random_points(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> part(-1, 1);
  WidePoints points(wide_room(n));
  for (std::size_t k = 0; k < n; ++k) {
    points.set(k, {{part(generator), 1e-17 * part(generator)}, {part(generator), 1e-17 * part(generator)}});
  }
  return points;
}

TEST(WideTransform, IsTheSumInTwicePrecision) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 23, 30, 46, 64, 97, 100, 121, 128, 210, 243, 625}) {
    WidePoints points = random_points(n, static_cast<unsigned>(n));
    std::vector<Wide> in(n);
    for (std::size_t k = 0; k < n; ++k) in[k] = value(points.get(k));
    WidePoints spare(wide_room(n));
    wide_transform(points, spare, n, DoubleDouble(1) / 3.0);
    for (std::size_t k = 0; k < n; ++k) {
      Wide wanted = 0;
      for (std::size_t j = 0; j < n; ++j) wanted += in[j] * root(j * k, n);
      EXPECT_LE(std::abs(value(points.get(k)) - wanted / 3.0L), 20 * static_cast<long double>(n) * kLast)
          << n << " points, frequency " << k;
    }
  }
}

TEST(WideTransform, OfAnEvenSequenceByHalfItsLength) {
  for (const std::size_t n : {2, 4, 6, 8, 10, 26, 32, 64, 90, 100, 250, 256, 625 * 2}) {
    const WidePoints points = random_points(n / 2 + 1, static_cast<unsigned>(n));
    WidePoints even(wide_room(n / 2)), odd(wide_room(n / 2));
    std::vector<Wide> in(n);
    for (std::size_t j = 0; j < n; ++j) {
      const Point<DoubleDouble> x = points.get(std::min(j, n - j));
      (j % 2 == 0 ? even : odd).set(j / 2, x);
      in[j] = value(x);
    }
    std::vector<std::complex<double>> spectrum(n / 2 + 1);
    even_spectrum(even, odd, n, DoubleDouble(1) / static_cast<double>(n), spectrum.data());
    for (std::size_t k = 0; k <= n / 2; ++k) {
      Wide wanted = 0;
      for (std::size_t j = 0; j < n; ++j) wanted += in[j] * root(j * k, n);
      wanted /= static_cast<long double>(n);
      const auto error = std::abs(Wide(spectrum[k].real(), spectrum[k].imag()) - wanted);
      EXPECT_LE(error, 1.01L * DBL_EPSILON / 2 * std::abs(wanted) + 20 * static_cast<long double>(n) * kLast)
          << n << " points, frequency " << k;
    }
  }
}

TEST(UnitRoots, HaveAHundredBits) {
  for (const std::size_t n : {1, 2, 3, 7, 8, 16, 17, 100, 1009, 4096, 1000003}) {
    for (std::size_t k = 0; k < n; k += n / 97 + 1) {
      const base::UnitRoot one = base::unit_root(k, n);
      const Wide wanted = root(k, n), got = value({{one.re, one.re_low}, {one.im, one.im_low}});
      EXPECT_LE(std::abs(got - wanted), 16 * kLast) << k << " of " << n;
      EXPECT_LE(std::abs(one.re_low), DBL_EPSILON / 2 * std::abs(one.re)) << k << " of " << n;
    }
  }
}

}  // namespace
}  // namespace ridge::fft::prime
