// Values of filterbank rows packed in 1, 2, 4, 8, 16 or 32 bits.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::search {

// Error{invalid_argument} unless bits is 1, 2, 4, 8, 16 or 32 and rows of `channels` values are whole bytes.
void check_bits(std::size_t bits, std::size_t channels);

// Reads `count` values of one row; the first is in the lowest bits of a byte. 32 bits are floats, fewer are unsigned
// integers, or signed bytes if `is_signed`.
void unpack(const std::byte* in, std::size_t bits, bool is_signed, float* out, std::size_t count);

// Writes values rounded to whole numbers and limited to the range of the bits; floats as they are.
void pack(const float* in, std::size_t bits, std::byte* out, std::size_t count);

}  // namespace ridge::search
