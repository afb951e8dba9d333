// Direct sums that define the transforms, for single outputs.
#pragma once
#include <complex>
#include <cstddef>

#include "nufft/variant.hpp"

namespace ridge::nufft {

// The mode stored at `index` of a set, from all strengths.
template <class T>
std::complex<double> reference_mode(const Layout& layout, const Coordinates<T>& points,
                                    const std::complex<T>* strengths, std::size_t index);

// The value at point j, from all modes of a set.
template <class T>
std::complex<double> reference_value(const Layout& layout, const Coordinates<T>& points, const std::complex<T>* modes,
                                     std::size_t j);

}  // namespace ridge::nufft
