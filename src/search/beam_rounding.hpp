// Weights and voltages of beams, rounded to bytes or 16-bit floats.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <vector>

#include <ridge/half.hpp>
#include <ridge/search/beams.hpp>

namespace ridge::search {

// One part of a value, rounded. Bytes are limited to -127 .. 127, and NaN becomes 0. 16-bit floats are limited to
// -65504 .. 65504, and NaN stays NaN.
inline float rounded(float value, BeamArithmetic arithmetic) {
  switch (arithmetic) {
    case BeamArithmetic::int8:
      return std::isnan(value) ? 0.0F : std::nearbyint(std::clamp(value, -127.0F, 127.0F));
    case BeamArithmetic::float16:
      return from_float16(to_float16(std::clamp(value, -65504.0F, 65504.0F)));
    case BeamArithmetic::float32:
      break;
  }
  return value;
}

inline std::complex<float> rounded(std::complex<float> value, float scale, BeamArithmetic arithmetic) {
  return {rounded(value.real() * scale, arithmetic), rounded(value.imag() * scale, arithmetic)};
}

struct RoundedWeights {
  std::vector<std::complex<float>> values;  // multiplied by `scale` and rounded
  float scale = 1;                          // the largest part becomes 127 (bytes) or 1 to 2 (16-bit floats)
};
// Throws Error{invalid_argument} if a weight is not finite, except for float32, which keeps all weights as they are.
RoundedWeights round_weights(std::span<const std::complex<float>> weights, BeamArithmetic arithmetic);

}  // namespace ridge::search
