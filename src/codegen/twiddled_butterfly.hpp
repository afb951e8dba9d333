// A transform of n points with the twiddles of the preceding pass fused in: input q is multiplied by w^(q u), w =
// exp(-2 pi i / points), which gives X[u + points / n k] of a transform of `points` points. Six fused operations per
// sum and difference, none for the twiddles: 192 for 16 points, where the butterfly alone has 144 and separate
// products 60.
#pragma once
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::codegen {

// `twiddled16(v, r)`: transforms v[0] .. v[15] in place, in natural order on both sides; n is a power of two, at
// least 2.
std::string twiddled_butterfly_text(std::size_t n);

// Values of r for one u: twiddled_roots(n) pairs of a cosine and a tangent.
std::size_t twiddled_roots(std::size_t n);
std::vector<std::complex<float>> twiddled_roots_of(std::size_t n, std::size_t points, std::size_t u);

}  // namespace ridge::codegen
