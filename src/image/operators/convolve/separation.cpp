// Decomposition of a convolution kernel into a sum of separable terms.
#include "image/operators/convolve/terms.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::image {

std::vector<SeparableTerm> separable_terms(const Convolve& kernel, std::size_t most) {
  constexpr double kNothing = 1e-7;  // relative to the largest weight: the weights have float precision
  std::vector<double> rest(kernel.kernel.begin(), kernel.kernel.end());
  const auto larger = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const double largest = std::abs(*std::max_element(rest.begin(), rest.end(), larger));
  std::vector<SeparableTerm> terms;
  for (;;) {
    const auto at = static_cast<std::size_t>(std::max_element(rest.begin(), rest.end(), larger) - rest.begin());
    const double pivot = rest[at];
    if (std::abs(pivot) <= kNothing * largest) break;
    if (terms.size() == most) return {};
    const std::size_t row = at / kernel.columns, column = at % kernel.columns;
    SeparableTerm term;
    for (std::size_t r = 0; r < kernel.rows; ++r) term.down.push_back(rest[r * kernel.columns + column]);
    for (std::size_t c = 0; c < kernel.columns; ++c) term.across.push_back(rest[row * kernel.columns + c] / pivot);
    for (std::size_t r = 0; r < kernel.rows; ++r) {
      for (std::size_t c = 0; c < kernel.columns; ++c) rest[r * kernel.columns + c] -= term.down[r] * term.across[c];
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

std::vector<SeparableTerm> cheap_separable_terms(const Convolve& kernel) {
  return separable_terms(kernel, kernel.rows * kernel.columns / (kernel.rows + kernel.columns + 4));
}

}  // namespace ridge::image
