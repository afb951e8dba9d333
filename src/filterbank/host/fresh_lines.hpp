// Allocates cache lines for writing without reading them from memory first.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::filterbank {

// True if make_fresh() has an effect: ARM can zero a line in the cache (dc zva).
inline bool can_make_fresh() {
#if defined(__aarch64__)
  static const bool can = [] {
    std::uint64_t kind = 0;
    asm("mrs %0, dczid_el0" : "=r"(kind));
    return (kind & 16) == 0 && (kind & 15) == 4;  // permitted, 64 bytes
  }();
  return can;
#else
  return false;
#endif
}

// Zeroes in the cache, without memory traffic, the lines that lie completely within the range.
inline void make_fresh([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__aarch64__)
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  for (std::uintptr_t line = (begin + 63) / 64 * 64; line + 64 <= end; line += 64) {
    asm volatile("dc zva, %0" : : "r"(line) : "memory");
  }
#endif
}

}  // namespace ridge::filterbank
