// Generates small transforms that a work-item computes in registers: `dft16(v)` transforms v[0] .. v[15] in place, in
// natural order on both sides, with exp(-2 pi i ...).
#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ridge::codegen {

// Larger prime radices are left to Rader's and Bluestein's methods.
inline constexpr std::size_t kLargestPrimeRadix = 31;

// Treatment of the twiddles inside butterflies of 16 or 32 points: separate products, or fused into the following sums
// (144 and 384 operations instead of 160 and 412, but longer dependence chains). `assembled`: separate products, with
// powers of two as PTX if the compiler accepts it.
enum class Roots { apart, apart_assembled, in_sums };

// Types, complex arithmetic and one function per radix (and per part of a radix).
std::string butterfly_text(const std::set<std::size_t>& radices, bool float64, Roots roots = Roots::apart);

// Floating-point instructions of one butterfly, fused ones counted once.
double butterfly_operations(std::size_t radix);

}  // namespace ridge::codegen
