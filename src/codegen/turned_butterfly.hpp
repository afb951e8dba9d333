// A transform of n points whose inputs are turned first, as the passes behind the first one need it: input q by
// w^(q u), w = exp(-2 pi i / points), which gives X[u + points / n k] of a transform of so many points. Six fused
// operations for every sum and difference and nothing for the turns: 192 for 16 points, where the butterfly alone has
// 144 and the products in front of it 60.
#pragma once
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

namespace ridge::codegen {

// `turned16(v, r)`: v[0] .. v[15] in place, both sides in natural order; n is a power of two from 2 on.
std::string turned_butterfly_text(std::size_t n);

// What r has for one u: pairs of a cosine and a tangent, turned_roots(n) of them.
std::size_t turned_roots(std::size_t n);
std::vector<std::complex<float>> turned_roots_of(std::size_t n, std::size_t points, std::size_t u);

}  // namespace ridge::codegen
