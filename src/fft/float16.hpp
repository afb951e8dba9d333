// Transforms of 16-bit float arrays on the host: the whole array is widened to float, transformed, and rounded.
#pragma once
#include <cstdint>

#include <ridge/fft.hpp>
#include <ridge/half.hpp>

#include "fft/variant.hpp"

namespace ridge::fft {

inline float from_stored(Storage storage, std::uint16_t bits) {
  return storage == Storage::float16 ? from_float16(bits) : from_bfloat16(bits);
}
inline std::uint16_t to_stored(Storage storage, float value) {
  return storage == Storage::float16 ? to_float16(value) : to_bfloat16(value);
}

// The arrays are already checked and have the transform's extents.
void run_float16(const Transform<float>& transform, Direction direction, const std::uint16_t* in, std::uint16_t* out);

}  // namespace ridge::fft
