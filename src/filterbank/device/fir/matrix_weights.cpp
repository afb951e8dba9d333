// Weights and twiddle factors for the matrix-unit kernels.
#include "filterbank/device/fir/matrix_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <ridge/half.hpp>

namespace ridge::filterbank::on_device {

std::pair<std::uint16_t, std::uint16_t> split_float16(double value) {
  const std::uint16_t upper = to_float16(static_cast<float>(value));
  return {upper, to_float16(static_cast<float>(value - static_cast<double>(from_float16(upper))))};
}

FirWeights matrix_weights(const Geometry& g, const MatrixLayout& layout, std::span<const double> prototype) {
  const std::size_t taps = g.taps, channels = g.channels, cyclic = layout.cyclic_words;
  const std::size_t words = cyclic > 0 ? cyclic : matrix_words(taps);
  double largest = 0;
  for (const double weight : prototype) largest = std::max(largest, std::abs(weight));
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  // Scales the largest weight to just below 2^14, so that weights down to 2^-28 of it keep all their bits.
  const int up = 14 - exponent;
  FirWeights out;
  out.words.assign(2 * words * channels, 0);
  for (std::size_t m = 0; m < channels; ++m) {
    const double sign = g.centred && m % 2 != 0 ? -1 : 1;
    const auto upper_lower = [&](std::int64_t i) -> std::pair<std::uint16_t, std::uint16_t> {
      if (i < 0 || i >= static_cast<std::int64_t>(taps)) return {0, 0};
      return split_float16(std::ldexp(sign * prototype[static_cast<std::size_t>(i) * channels + channels - 1 - m], up));
    };
    for (std::size_t word = 0; word < words; ++word) {
      // Index of the pair's second weight.
      const auto behind = static_cast<std::int64_t>(cyclic > 0 ? cyclic - 1 : taps) - static_cast<std::int64_t>(word);
      const auto [a_upper, a_lower] = upper_lower(cyclic > 0 && word == 0 ? 0 : behind + 1);
      const auto [b_upper, b_lower] = upper_lower(behind);
      out.words[2 * (m * words + word)] = a_upper | static_cast<std::uint32_t>(b_upper) << 16;
      out.words[2 * (m * words + word) + 1] = a_lower | static_cast<std::uint32_t>(b_lower) << 16;
    }
  }
  const double down = std::ldexp(1.0, layout.exponent - up);
  const std::size_t first = layout.first_points;
  for (std::size_t q = 0; q < channels / first; ++q) {
    for (std::size_t u = 0; u < first; ++u) {
      out.tables.emplace_back(
          std::polar(down, -2 * std::numbers::pi * static_cast<double>(q * u) / static_cast<double>(channels)));
    }
  }
  return out;
}

bool supports_matrix(const Geometry& g) {
  return g.critical() && g.polarizations == 2 && g.samples != Samples::float32 && g.block == g.channels &&
         g.channels % 32 == 0 && g.channels <= 256 && g.taps >= 2 && g.taps <= 64 && !g.by_channel;
}

}  // namespace ridge::filterbank::on_device
