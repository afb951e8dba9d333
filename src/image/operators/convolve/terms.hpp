// Decomposition of a convolution kernel into separable terms.
#pragma once
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

struct SeparableTerm {
  std::vector<double> down, across;
};
// Decomposes a kernel into at most `most` products of a column and a row; empty if more are needed. Eliminates the
// largest remaining weight repeatedly, which finds the rank without a singular value decomposition and is exact for
// small ranks.
std::vector<SeparableTerm> separable_terms(const Convolve& kernel, std::size_t most);
// The terms if they are cheaper than the direct sum, else none. A term needs two passes and an addition; the direct sum
// needs one pass over all weights.
std::vector<SeparableTerm> cheap_separable_terms(const Convolve& kernel);

}  // namespace ridge::image
