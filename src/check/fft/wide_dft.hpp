// Reference discrete Fourier transform in about twice the precision of T. Written for clarity; shares no code with
// src/fft.
#pragma once
#include <cmath>
#include <cstddef>
#include <numbers>
#include <type_traits>
#include <vector>

#include "base/double_double.hpp"

namespace ridge::check {

// double for float, about 106 bits for double.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, base::DoubleDouble>;

template <class Real>
struct WidePoint {
  Real re{}, im{};
  friend WidePoint operator+(const WidePoint& a, const WidePoint& b) { return {a.re + b.re, a.im + b.im}; }
  friend WidePoint operator*(const WidePoint& a, const WidePoint& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

inline std::size_t smallest_prime_factor(std::size_t n) {
  for (std::size_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

// exp(sign 2 pi i k / n) for k < n.
template <class Real>
std::vector<WidePoint<Real>> wide_roots(std::size_t n, int sign) {
  // long double has 11 bits more than double, which is enough for the roots; products and sums need more.
  using Angle = std::conditional_t<std::is_same_v<Real, double>, double, long double>;
  std::vector<WidePoint<Real>> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Angle angle = sign * 2 * std::numbers::pi_v<Angle> * (static_cast<Angle>(k) / static_cast<Angle>(n));
    if constexpr (std::is_same_v<Real, double>) {
      roots[k] = {std::cos(angle), std::sin(angle)};
    } else {
      roots[k] = {Real::from(std::cos(angle)), Real::from(std::sin(angle))};
    }
  }
  return roots;
}

// out[k] = sum over j of in[j * stride] roots[j k], recursively over the smallest prime factor of n; prime lengths by
// the definition. `roots` holds the roots of unity of order n * root_step.
template <class Real>
void wide_dft(const WidePoint<Real>* in, std::size_t stride, std::size_t n, const std::vector<WidePoint<Real>>& roots,
              std::size_t root_step, WidePoint<Real>* out) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const std::size_t parts = smallest_prime_factor(n), length = n / parts;
  for (std::size_t part = 0; part < parts; ++part)
    wide_dft(in + part * stride, stride * parts, length, roots, root_step * parts, out + part * length);
  std::vector<WidePoint<Real>> terms(parts);
  for (std::size_t k = 0; k < length; ++k) {
    for (std::size_t part = 0; part < parts; ++part) terms[part] = out[part * length + k];
    for (std::size_t block = 0; block < parts; ++block) {
      WidePoint<Real> sum = terms[0];
      for (std::size_t part = 1; part < parts; ++part)
        sum = sum + terms[part] * roots[part * (k + block * length) % n * root_step];
      out[block * length + k] = sum;
    }
  }
}

}  // namespace ridge::check
