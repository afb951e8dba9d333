// A butterfly of 8, 16, 32 or 64 points as one statement of assembly, for compilers that take PTX: what `dft16(v)` does
// operation by operation, but nothing that the optimizer would look through for a fifth of a kernel's compile time.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::codegen {

bool has_assembly(std::size_t radix);
std::string butterfly_assembly(std::size_t radix, bool float64);

// How a radix is taken apart (butterfly.cpp).
std::size_t first_part(std::size_t radix);

}  // namespace ridge::codegen
