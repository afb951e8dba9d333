// Conversions between float and the 16-bit floats that arrays store: IEEE float16 (11 significant bits, up to 65504)
// and bfloat16 (the upper half of a float).
//
//   std::vector<std::uint16_t> stored(n);
//   for (std::size_t i = 0; i < n; ++i) stored[i] = ridge::to_float16(values[i]);
#pragma once
#include <bit>
#include <cstdint>

namespace ridge {

// Exact.
inline float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Rounds to nearest, ties to even. Overflow gives infinity; NaN stays NaN.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// Exact.
inline float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  if (rest >= 0x400u) return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000u));
  // Subnormal: a multiple of 2^-24.
  const float small = static_cast<float>(rest) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

// Rounds to nearest, ties to even. Overflow gives infinity; NaN stays NaN.
inline std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (rest >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (rest >= 0x38800000u) {
    return static_cast<std::uint16_t>(sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13));
  }
  // Below 2^-14 float16 values are spaced by 2^-24, as floats are from 1/2 up.
  const float shifted = std::bit_cast<float>(rest) + 0.5f;
  return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
}

}  // namespace ridge
