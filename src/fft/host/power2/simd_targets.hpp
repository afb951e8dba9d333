// Highway targets that the FFT is built for. SVE vectors have no compile-time size and cannot be elements of the arrays
// of a butterfly (and at 256 bits would be no faster than two NEON pipes); the other excluded targets add no
// instruction that a butterfly uses. The last three, AVX10.2, Sapphire Rapids and Zen 4, are given by their bits,
// because older versions of Highway have no names for them: those processors run the code of HWY_AVX3.
#pragma once
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3 | HWY_AVX3_DL | (1LL << 3) | (1LL << 4) | (1LL << 6))
