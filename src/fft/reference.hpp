// Reference transform for tests and `ridge check`: any length, written for accuracy and clarity, more precise than
// double.
//
// long double has a 64-bit mantissa on x86 and 113 bits in software on ARM, too slow for a million points. References
// for double therefore use pairs of doubles (about 106 bits). For float, double is enough.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "fft/roots.hpp"

namespace ridge::fft::reference {

using fft::DoubleDouble;
using fft::Point;

// exp(sign * 2 pi i k / n) for every k, each from one long double call with an angle below pi/4: the same few angles in
// every octant if n is even.
template <class Real>
std::vector<Point<Real>> roots_of_unity(std::size_t n, int sign) {
  const std::size_t step = std::gcd(n, std::size_t{8});
  std::vector<std::pair<long double, long double>> first(n / step + 1);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const long double angle =
        std::numbers::pi_v<long double> / 4 * static_cast<long double>(i * step) / static_cast<long double>(n);
    if constexpr (sizeof(Real) == sizeof(double)) {
      first[i] = {std::cos(static_cast<double>(angle)), std::sin(static_cast<double>(angle))};
    } else {
      first[i] = {std::cos(angle), std::sin(angle)};
    }
  }
  std::vector<Point<Real>> points(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t octant = 8 * k / n, rest = 8 * k % n;
    auto [c, s] = first[(octant % 2 == 1 ? n - rest : rest) / step];
    if (octant % 2 == 1) std::swap(c, s);
    long double x = c, y = s;
    if (octant / 2 == 1) x = -s, y = c;
    if (octant / 2 == 2) x = -c, y = -s;
    if (octant / 2 == 3) x = s, y = -c;
    y *= sign;
    if constexpr (sizeof(Real) == sizeof(double)) {
      points[k] = {static_cast<double>(x), static_cast<double>(y)};
    } else {
      points[k] = {DoubleDouble::from(x), DoubleDouble::from(y)};
    }
  }
  return points;
}

inline std::size_t smallest_factor(std::size_t n) {
  for (std::size_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

// Decimation in time over the smallest prime factor; primes by definition. `roots` belongs to the whole length, which
// is n * root_step.
template <class Real>
void transform(const Point<Real>* in, std::size_t stride, std::size_t n, Point<Real>* out,
               const std::vector<Point<Real>>& roots, std::size_t root_step) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const std::size_t p = smallest_factor(n), m = n / p;
  for (std::size_t j = 0; j < p; ++j) transform(in + j * stride, stride * p, m, out + j * m, roots, root_step * p);
  std::vector<Point<Real>> column(p);
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t j = 0; j < p; ++j) column[j] = out[j * m + k] * roots[j * k % n * root_step];
    for (std::size_t f = 0; f < p; ++f) {
      Point<Real> sum = column[0];
      for (std::size_t j = 1; j < p; ++j) sum = sum + column[j] * roots[j * f % p * m * root_step];
      out[k + f * m] = sum;
    }
  }
}

// Compiled once, with optimization: most of the time of the tests of transforms.
extern template void transform<double>(const Point<double>*, std::size_t, std::size_t, Point<double>*,
                                       const std::vector<Point<double>>&, std::size_t);
extern template void transform<DoubleDouble>(const Point<DoubleDouble>*, std::size_t, std::size_t, Point<DoubleDouble>*,
                                             const std::vector<Point<DoubleDouble>>&, std::size_t);

// The precision of a reference for T.
template <class T>
struct WiderOf {
  using Type = double;
};
template <>
struct WiderOf<double> {
  using Type = DoubleDouble;
};
template <class T>
using Wider = typename WiderOf<T>::Type;

// Keeps the roots of the last length in each direction: they take longer than one transform, and hundreds follow.
template <class Real>
const std::vector<Point<Real>>& kept_roots(std::size_t n, int sign) {
  thread_local std::vector<Point<Real>> kept[2];
  std::vector<Point<Real>>& roots = kept[sign > 0 ? 1 : 0];
  if (roots.size() != n) roots = roots_of_unity<Real>(n, sign);
  return roots;
}

template <class T>
std::vector<Point<Wider<T>>> dft(const std::vector<std::complex<T>>& in, bool inverse) {
  using Real = Wider<T>;
  std::vector<Point<Real>> x(in.size()), y(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) x[i] = {Real(in[i].real()), Real(in[i].imag())};
  transform(x.data(), 1, x.size(), y.data(), kept_roots<Real>(in.size(), inverse ? 1 : -1), 1);
  return y;
}

// sqrt(sum |actual - expected|^2 / sum |expected|^2); actual points are `stride` apart. Returns infinity if a point is
// NaN, so that no comparison and no std::max hides it.
template <class T>
double relative_error(const std::complex<T>* actual, std::size_t stride, const std::vector<Point<Wider<T>>>& expected) {
  using Real = Wider<T>;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double re = static_cast<double>(Real(actual[i * stride].real()) - expected[i].re);
    const double im = static_cast<double>(Real(actual[i * stride].imag()) - expected[i].im);
    const double er = static_cast<double>(expected[i].re), ei = static_cast<double>(expected[i].im);
    difference += re * re + im * im;
    norm += er * er + ei * ei;
  }
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::sqrt(difference / norm);
}

// The specified error limit: 0.6 epsilon sqrt(log2 N).
template <class T>
double error_gate(std::size_t n) {
  return 0.6 * std::numeric_limits<T>::epsilon() * std::sqrt(std::max(1.0, std::log2(static_cast<double>(n))));
}

template <class T>
std::vector<std::complex<T>> random_points(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<T> uniform(T(-0.5), T(0.5));
  std::vector<std::complex<T>> points(n);
  for (auto& point : points) {
    const T re = uniform(generator), im = uniform(generator);
    point = {re, im};
  }
  return points;
}

}  // namespace ridge::fft::reference
