// The transforms of a few points that a work-item does in registers, as text: `dft16(v)` works on v[0] .. v[15] in
// place, both sides in natural order, exp(-2 pi i ...).
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ridge::codegen {

// A prime radix beyond this is left to Rader and Bluestein.
inline constexpr std::size_t kLargestPrimeRadix = 31;

// The types, the complex arithmetic and a function for each radix (and for what those are made of).
std::string butterfly_text(const std::set<std::size_t>& radices, bool float64);

// Floating-point instructions of one butterfly, fused ones counted once.
double butterfly_operations(std::size_t radix);

}  // namespace ridge::codegen
