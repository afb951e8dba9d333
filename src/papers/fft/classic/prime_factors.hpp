// The prime-factor transforms (winograd.cpp), for products of coprime factors 2, 3, 4, 5, 7, 8: the divisors of 840.
#pragma once
#include <cstddef>
#include <memory>

#include "fft/variant.hpp"

namespace ridge::fft {

bool has_coprime_factors(std::size_t n);
// Throw Error{invalid_argument} for other lengths.
template <class T>
std::unique_ptr<LineKernel<T>> make_good_thomas(std::size_t n);
template <class T>
std::unique_ptr<LineKernel<T>> make_winograd(std::size_t n);

}  // namespace ridge::fft
