// Kernel text for products on the matrix units: float16 inputs, float32 sums.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::codegen {

// Defines matrix_multiply_16 and matrix_multiply_8 (16 x 16 or 16 x 8 times 8 columns) and the float16 conversions. A
// device without matrix units emulates them through EMULATION_WORDS words of local memory after the kernel's own,
// declared by FRAGMENTS(address). The kernel must name the work-item, its lane and its warp `item`, `lane` and `warp`.
std::string matrix_macros_text(std::size_t items);

}  // namespace ridge::codegen
