// Cache lines that will be written from end to end need not be read from memory first.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::filterbank {

// Whether make_fresh() does anything here: ARM has an instruction that puts a line of zeros into the cache.
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

// Lines that lie wholly within the bytes become zeros in the cache, at no cost to memory.
inline void make_fresh([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__aarch64__)
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  for (std::uintptr_t line = (begin + 63) / 64 * 64; line + 64 <= end; line += 64) {
    asm volatile("dc zva, %0" : : "r"(line) : "memory");
  }
#endif
}

}  // namespace ridge::filterbank
