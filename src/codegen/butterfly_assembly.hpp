// A butterfly of 8, 16, 32 or 64 points as one PTX statement: the operations of `dft16(v)`, hidden from the optimizer,
// which would spend a fifth of a kernel's compile time on them.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::codegen {

bool has_assembly(std::size_t radix);
std::string butterfly_assembly(std::size_t radix, bool float64);

// Decomposition of a radix (butterfly.cpp).
std::size_t first_part(std::size_t radix);

}  // namespace ridge::codegen
