// Radix 2 with six fused multiply-adds per butterfly (fma6.cpp), by either choice of the divisor.
#pragma once
#include <cstddef>
#include <memory>

#include "fft/variant.hpp"

namespace ridge::fft {

// The part of a twiddle that the butterflies divide by: the larger one, or always the imaginary one, with 1e-7 in place
// of 0, as in the work before the thesis. None: butterflies of ten operations, for comparison.
enum class Divisor { larger, imaginary, none };

template <class T>
std::unique_ptr<LineKernel<T>> make_fma6_divided_by(Divisor divisor, std::size_t n);

}  // namespace ridge::fft
