// Complex transforms of lengths with prime factors above 13, which mixed radix does not support.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// Makes the inner transform of another length. The registry decides which variant.
template <class T>
using MakeLine = std::function<std::unique_ptr<LineKernel<T>>(std::size_t)>;

// Every factory throws Error{invalid_argument} for unsupported lengths.

// Odd lengths by definition, n^2 / 2 products on sums and differences of mirrored points: for short primes.
inline constexpr std::size_t kMaxDirect = 251;
template <class T>
std::unique_ptr<LineKernel<T>> make_direct(std::size_t n);

// A prime p as a cyclic convolution of p - 1 points (Rader 1968).
template <class T>
std::unique_ptr<LineKernel<T>> make_rader(std::size_t p, const MakeLine<T>& make_inner);

// Any length as a convolution with a chirp, padded to `padded` >= 2 n - 1 points (Bluestein 1970).
template <class T>
std::unique_ptr<LineKernel<T>> make_bluestein(std::size_t n, std::size_t padded, const MakeLine<T>& make_inner);

// n = columns * rows: `columns`-point transforms down the columns, twiddles, then along rows of `row` points.
template <class T>
std::unique_ptr<LineKernel<T>> make_columns_then_rows(std::size_t n, std::size_t row, const MakeLine<T>& make_inner);

// Lists the variants for n; none for lengths without a prime factor above 13. make_inner must support smooth lengths
// and, for composite n, the prime parts of n.
template <class T>
void list_prime(std::size_t n, const MakeLine<T>& make_inner, std::vector<LineChoice<T>>& out);

}  // namespace ridge::fft
