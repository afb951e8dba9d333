// Reference and error bound of line kernels during planning: the same transform in wider precision.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// Computed in double, or with more digits if that is fast enough.
template <class T>
std::vector<std::complex<double>> wide_line(Direction direction, const std::vector<std::complex<T>>& in);

// Bound of the largest error of many points, in units of their root mean square. The specification bounds the root mean
// square of the errors; twice that for convolutions.
double largest_rounding(std::size_t points, bool float64);
template <class T>
double largest_rounding(std::size_t points) {
  return largest_rounding(points, sizeof(T) == sizeof(double));
}

}  // namespace ridge::fft
