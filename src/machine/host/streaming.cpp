// Non-temporal stores on Arm, for the memory probes.
#include "machine/host/kernels.hpp"

#include <cstring>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace ridge::machine {

#if defined(__aarch64__)

bool arm_has_streaming_stores() { return true; }

void arm_write_streaming(std::byte* to, std::size_t bytes, std::uint64_t word) {
  const uint64x2_t pair = vdupq_n_u64(word);
  std::size_t i = 0;
  for (; i + 128 <= bytes; i += 128)
    asm volatile(
        "stnp %q1, %q1, [%0]\n\t"
        "stnp %q1, %q1, [%0, #32]\n\t"
        "stnp %q1, %q1, [%0, #64]\n\t"
        "stnp %q1, %q1, [%0, #96]"
        :
        : "r"(to + i), "w"(pair)
        : "memory");
  for (; i + 8 <= bytes; i += 8) std::memcpy(to + i, &word, 8);
}

void arm_copy_streaming(const std::byte* from, std::byte* to, std::size_t bytes) {
  std::size_t i = 0;
  for (; i + 128 <= bytes; i += 128)
    asm volatile(
        "ldp q0, q1, [%1]\n\t"
        "ldp q2, q3, [%1, #32]\n\t"
        "ldp q4, q5, [%1, #64]\n\t"
        "ldp q6, q7, [%1, #96]\n\t"
        "stnp q0, q1, [%0]\n\t"
        "stnp q2, q3, [%0, #32]\n\t"
        "stnp q4, q5, [%0, #64]\n\t"
        "stnp q6, q7, [%0, #96]"
        :
        : "r"(to + i), "r"(from + i)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "memory");
  std::memcpy(to + i, from + i, bytes - i);
}

#else

bool arm_has_streaming_stores() { return false; }
void arm_write_streaming(std::byte*, std::size_t, std::uint64_t) {}
void arm_copy_streaming(const std::byte*, std::byte*, std::size_t) {}

#endif

}  // namespace ridge::machine
