// Limits the host's instruction sets: RIDGE_SIMD=avx2 (or avx512, sse4, neon, fcma) disables newer ones, to measure one
// processor's code on another and to find which instruction set has a fault.
#pragma once

namespace ridge::base {

// Applies RIDGE_SIMD once, before the first kernel is chosen. Error{invalid_argument} if it names an unknown set.
void limit_instruction_sets();

// True if the processor has Armv8.3 complex arithmetic (FCMA) and RIDGE_SIMD does not disable it.
bool has_fcma();
// True if the processor has AVX2 (and with it fused multiply-add) and RIDGE_SIMD does not disable it.
bool has_fma();

// Throws if the library was built for one instruction set (RIDGE_TARGETS=native) that this processor lacks.
void require_built_instructions();

}  // namespace ridge::base
