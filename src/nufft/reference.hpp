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

// The relative rounding error of modes whose grid cells add `terms` values of random sign one after another, in any
// order. Epsilon does not include it: it grows with the number of points per mode.
double rounding_of_sums(double terms, double roundoff);

// The values that one grid cell adds when the points are uniform: a kernel covers at most 8 of the 2 cells per mode of
// an axis.
double uniform_terms(double points, double modes, std::size_t axes);

// Compares `outputs` results of a set, evenly distributed over it, with direct sums. The type of the layout says which
// array is the result. The errors of single outputs exceed their root mean square, which epsilon limits.
template <class T>
planner::Comparison compare_with_sums(const Layout& layout, const Coordinates<T>& points,
                                      const std::complex<T>* strengths, const std::complex<T>* modes,
                                      std::size_t outputs);

}  // namespace ridge::nufft
