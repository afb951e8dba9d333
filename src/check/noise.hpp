// Random input for the checks, independent of the library's own generators.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>

#include "check/random.hpp"

namespace ridge::check {

inline void fill_bits(std::span<std::byte> bytes, Random random) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = random.bits();
    std::memcpy(bytes.data() + at, &word, bytes.size() - at < 8 ? bytes.size() - at : 8);
  }
}

// Uniform in [-1, 1).
inline void fill_floats(std::span<std::byte> bytes, Random random) {
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const auto value = static_cast<float>(2 * random.uniform() - 1);
    std::memcpy(bytes.data() + at, &value, 4);
  }
}

}  // namespace ridge::check
