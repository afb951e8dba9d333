#include "filterbank/device/matrix_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ridge::filterbank::on_device {

std::uint16_t half_bits(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (size == 0) return sign;
  int exponent = 0;
  std::frexp(size, &exponent);  // size = m 2^exponent, m in [0.5, 1)
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, -step)));
  // 1024 .. 2048 steps of a normal number, fewer of one below 2^-14.
  const int biased = step + 24;
  return static_cast<std::uint16_t>(sign + (steps < 1024 ? steps : (biased << 10) + steps));
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

MatrixWeights matrix_weights(const KernelDesign& design, std::span<const double> prototype) {
  const Geometry& g = design.geometry;
  const std::size_t taps = g.taps, channels = g.channels, words = matrix_words(taps);
  double largest = 0;
  for (const double weight : prototype) largest = std::max(largest, std::abs(weight));
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  // The largest just below 2^14: what is 2^-28 of it still has all its bits.
  const int up = 14 - exponent;
  MatrixWeights out;
  out.words.assign(2 * words * channels, 0);
  for (std::size_t m = 0; m < channels; ++m) {
    const double sign = g.centred && m % 2 != 0 ? -1 : 1;
    const auto upper_lower = [&](std::int64_t i) -> std::pair<std::uint16_t, std::uint16_t> {
      if (i < 0 || i >= static_cast<std::int64_t>(taps)) return {0, 0};
      const double weight = std::ldexp(sign * prototype[static_cast<std::size_t>(i) * channels + channels - 1 - m], up);
      const std::uint16_t upper = half_bits(weight);
      return {upper, half_bits(weight - half_value(upper))};
    };
    for (std::size_t word = 0; word < words; ++word) {
      const auto e = static_cast<std::int64_t>(word) - 1;
      const auto [a_upper, a_lower] = upper_lower(static_cast<std::int64_t>(taps) - e);
      const auto [b_upper, b_lower] = upper_lower(static_cast<std::int64_t>(taps) - e - 1);
      out.words[2 * m * words + word] = a_upper | static_cast<std::uint32_t>(b_upper) << 16;
      out.words[(2 * m + 1) * words + word] = a_lower | static_cast<std::uint32_t>(b_lower) << 16;
    }
  }
  // Samples of 16 bits are taken as parts of 256.
  const bool parts = design.fir == Fir::matrix_async && g.samples == Samples::int16;
  const double down = std::ldexp(1.0, (parts ? 8 : 0) - up);
  const std::size_t others = channels / 16;
  for (std::size_t q = 0; q < others; ++q) {
    for (std::size_t u = 0; u < 16; ++u) {
      out.tables.emplace_back(
          std::polar(down, -2 * std::numbers::pi * static_cast<double>(q * u) / static_cast<double>(channels)));
    }
  }
  return out;
}

}  // namespace ridge::filterbank::on_device
