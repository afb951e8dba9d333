// RIDGE_SIMD=avx2 (or avx512, sse4, neon, fcma) makes the host do without newer instructions: for measuring one
// processor's code on another, and for telling a fault of one instruction set from others.
#pragma once

namespace ridge::base {

// Once, before the first kernel is chosen. Error{invalid_argument} where the environment names an unknown set.
void limit_instruction_sets();

// Armv8.3's complex arithmetic: there, and not given up by the environment.
bool has_fcma();
// AVX2, whose processors have fused products as well: the same.
bool has_fma();

}  // namespace ridge::base
