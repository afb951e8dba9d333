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

// Where the roots within a butterfly of 16 or 32 points go: each a product of its own, or into the sums behind it (144
// and 384 operations for 160 and 412, but chains of them are longer). Apart and assembled: powers of two as PTX where
// the compiler takes it.
enum class Roots { apart, apart_assembled, in_sums };

// The types, the complex arithmetic and a function for each radix (and for what those are made of).
std::string butterfly_text(const std::set<std::size_t>& radices, bool float64, Roots roots = Roots::apart);

// Floating-point instructions of one butterfly, fused ones counted once.
double butterfly_operations(std::size_t radix);

}  // namespace ridge::codegen
