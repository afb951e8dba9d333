// Highway targets of kernels that compute with bytes and 16-bit integers: as base/simd_targets.hpp, and the AVX-512
// extensions, whose shuffles and conversions of bytes are faster.
#pragma once
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
