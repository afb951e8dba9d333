// What lines are held against while planning: the same transform in wider precision, and what rounding explains.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// In double, or with more digits where that can be had soon.
template <class T>
std::vector<std::complex<double>> wide_line(Direction direction, const std::vector<std::complex<T>>& in);

// Of the largest error of many points, in units of their root mean square: the specification's gate bounds the root
// mean square of the errors, twice of it where a convolution stands for the transform.
double largest_rounding(std::size_t points, bool float64);
template <class T>
double largest_rounding(std::size_t points) {
  return largest_rounding(points, sizeof(T) == sizeof(double));
}

}  // namespace ridge::fft
