// Direct sums that define the transforms, for single outputs.
#pragma once
#include <complex>
#include <cstddef>

#include "nufft/variant.hpp"
#include "plan/comparison.hpp"

namespace ridge::nufft {

// The mode stored at `index` of a set, from all strengths.
template <class T>
std::complex<double> reference_mode(const Layout& layout, const Coordinates<T>& points,
                                    const std::complex<T>* strengths, std::size_t index);

// The value at point j, from all modes of a set.
template <class T>
std::complex<double> reference_value(const Layout& layout, const Coordinates<T>& points, const std::complex<T>* modes,
                                     std::size_t j);

// Compares `outputs` results of a set, evenly distributed over it, with direct sums. The type of the layout says which
// array is the result. The errors of single outputs exceed their root mean square, which epsilon limits.
template <class T>
planner::Comparison compare_with_sums(const Layout& layout, const Coordinates<T>& points,
                                      const std::complex<T>* strengths, const std::complex<T>* modes,
                                      std::size_t outputs);

}  // namespace ridge::nufft
