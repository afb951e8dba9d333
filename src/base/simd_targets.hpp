// Highway targets of kernels that compute with float and double: every target compiled costs build time, and a
// processor of a target that is left out runs the code of the next older one. SVE vectors have no size at compile time,
// so they cannot be elements of arrays in registers (and at 256 bits would be no faster than two NEON pipes). SSSE3 and
// the AVX-512 extensions add no instruction that these kernels use. AVX10.2, Sapphire Rapids and Zen 4 are given as
// numbers: older versions of Highway have no names for their bits.
#pragma once
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3 | HWY_AVX3_DL | (1LL << 3) | (1LL << 4) | (1LL << 6))
