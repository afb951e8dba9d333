// Sines and cosines as compile-time constants.
#pragma once
#include <array>
#include <cstddef>

namespace ridge::fft::real {

// The power series, for angles of at most pi / 4.
constexpr long double sine_series(long double x) {
  long double term = x, sum = 0;
  for (int i = 1; i < 40; i += 2) sum += term, term *= -x * x / static_cast<long double>((i + 1) * (i + 2));
  return sum;
}
constexpr long double cosine_series(long double x) {
  long double term = 1, sum = 0;
  for (int i = 0; i < 40; i += 2) sum += term, term *= -x * x / static_cast<long double>((i + 1) * (i + 2));
  return sum;
}

template <class T>
struct CosineSine {
  T cosine, sine;
};

// cos and sin of 2 pi k / n. The octant is computed in integers, so that 0, 1 and equal values are exact.
template <class T>
constexpr CosineSine<T> cosine_sine_at(std::size_t k, std::size_t n) {
  constexpr long double kQuarterOfPi = 0.785398163397448309615660845819875721049292L;
  const std::size_t octant = 8 * (k % n) / n, rest = 8 * (k % n) % n;
  const std::size_t small = octant % 2 == 1 ? n - rest : rest;
  const long double angle = kQuarterOfPi * static_cast<long double>(small) / static_cast<long double>(n);
  long double c = cosine_series(angle), s = sine_series(angle);
  if (octant % 2 == 1) {
    const long double swap = c;
    c = s, s = swap;
  }
  const long double x = octant / 2 == 0 ? c : octant / 2 == 1 ? -s : octant / 2 == 2 ? -c : s;
  const long double y = octant / 2 == 0 ? s : octant / 2 == 1 ? c : octant / 2 == 2 ? -s : -c;
  return {static_cast<T>(x), static_cast<T>(y)};
}

template <class T, std::size_t N>
constexpr std::array<CosineSine<T>, N> cosines_sines() {
  std::array<CosineSine<T>, N> points{};
  for (std::size_t k = 0; k < N; ++k) points[k] = cosine_sine_at<T>(k, N);
  return points;
}

template <class T, std::size_t N>
inline constexpr std::array<CosineSine<T>, N> kCosinesSines = cosines_sines<T, N>();

}  // namespace ridge::fft::real
