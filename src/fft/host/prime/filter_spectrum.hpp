// The spectra of the filters behind Rader's and Bluestein's convolutions.
#pragma once
#include <algorithm>
#include <complex>
#include <vector>

#include "base/aligned.hpp"
#include "fft/host/prime/wide_transform.hpp"
#include "fft/variant.hpp"

namespace ridge::fft::prime {

// The transform of the n points of `filter`, which has room for wide_room(n) and is used up, times `scale`, with more
// digits than T, rounded once: a convolution has two transforms of its own to err in, and a filter that was made by a
// third would add half as much again. Filters of double beyond kLongestExactFilter are transformed in double, for
// exactness would take longer than a plan may.
inline constexpr std::size_t kLongestExactFilter = std::size_t{1} << 17;
template <class T>
std::vector<std::complex<T>> filter_spectrum(WidePoints& filter, std::size_t n, DoubleDouble scale);

// In place, of a smooth length, and of values that double holds well enough: those for float.
void spectrum_in_double(base::AlignedArray<std::complex<double>>& values);

// The same by a kernel that is there.
inline void spectrum_by(const LineKernel<double>& kernel, base::AlignedArray<std::complex<double>>& values) {
  base::AlignedArray<std::complex<double>> spectrum(values.size()), scratch(kernel.scratch());
  kernel.run(Direction::forward, values.data(), spectrum.data(), scratch.data());
  std::copy(spectrum.begin(), spectrum.end(), values.begin());
}

}  // namespace ridge::fft::prime
