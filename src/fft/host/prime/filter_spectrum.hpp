// Spectra of the filters of Rader's and Bluestein's convolutions.
#pragma once
#include <algorithm>
#include <complex>
#include <vector>

#include "base/aligned.hpp"
#include "fft/host/prime/wide_transform.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::prime {

// The transform of the n points of `filter` (with room for wide_room(n), overwritten), times `scale`, computed in
// higher precision than T and rounded once: a convolution has the errors of two transforms, and a filter from a third
// one would add half as much again. Filters of double beyond kLongestExactFilter are transformed in double, because
// exact ones would take too long to plan.
inline constexpr std::size_t kLongestExactFilter = std::size_t{1} << 17;
template <class T>
std::vector<std::complex<T>> filter_spectrum(WidePoints& filter, std::size_t n, DoubleDouble scale);

// In place, for smooth lengths and values of double precision: filters for float.
void spectrum_in_double(base::AlignedArray<std::complex<double>>& values);

// As above, with a given kernel.
inline void spectrum_by(const LineKernel<double>& kernel, base::AlignedArray<std::complex<double>>& values) {
  base::AlignedArray<std::complex<double>> spectrum(values.size()), scratch(kernel.scratch());
  kernel.run(Direction::forward, values.data(), spectrum.data(), scratch.data());
  std::copy(spectrum.begin(), spectrum.end(), values.begin());
}

}  // namespace ridge::fft::prime
