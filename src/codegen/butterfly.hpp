// Generates small transforms that a work-item computes in registers: `dft16(v)` transforms v[0] .. v[15] in place, in
// natural order on both sides, with exp(-2 pi i ...).
#pragma once
#include <complex>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ridge::codegen {

// Larger prime radices are left to Rader's and Bluestein's methods.
inline constexpr std::size_t kLargestPrimeRadix = 31;

// Treatment of the twiddles inside butterflies of 16 or 32 points: separate products, or fused into the following sums
// (144 and 384 operations instead of 160 and 412, but longer dependence chains). `apart_assembled`: separate products;
// butterflies with a power of two as radix are one PTX statement if the compiler accepts it.
enum class Roots { apart, apart_assembled, in_sums };

// Types, complex arithmetic and one function per radix (and per part of a radix).
std::string butterfly_text(const std::set<std::size_t>& radices, bool float64, Roots roots = Roots::apart);

// Floating-point instructions of one butterfly, fused ones counted once.
double butterfly_operations(std::size_t radix);

// A butterfly of 8, 16, 32 or 64 points as one PTX statement: the operations of `dft16(v)`, hidden from the optimizer,
// which would spend a fifth of a kernel's compile time on them.
bool has_assembly(std::size_t radix);
std::string butterfly_assembly(std::size_t radix, bool float64);

// The first factor into which a radix is decomposed; the radix itself if it is not (butterfly.cpp).
std::size_t first_part(std::size_t radix);

// A transform of n points with the twiddles of the preceding pass fused in: input q is multiplied by w^(q u), w =
// exp(-2 pi i / points), which gives X[u + points / n k] of a transform of `points` points. A pair of sum and
// difference takes six fused operations, twiddle included: 192 for 16 points. A plain butterfly of 16 points takes 144,
// and its 15 twiddles 60 more.

// `twiddled16(v, r)`: transforms v[0] .. v[15] in place, in natural order on both sides; n is a power of two, at
// least 2.
std::string twiddled_butterfly_text(std::size_t n);

// Values of r for one u: twiddled_roots(n) pairs of a cosine and a tangent.
std::size_t twiddled_roots(std::size_t n);
std::vector<std::complex<float>> twiddled_roots_of(std::size_t n, std::size_t points, std::size_t u);

}  // namespace ridge::codegen
