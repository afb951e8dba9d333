// Complex transforms of lengths 2^a 3^b 5^c 7^d 11^e 13^f on one core, by mixed-radix Stockham passes; beyond the
// cache, by two steps of shorter ones.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

bool is_smooth(std::size_t n);  // no prime factor above 13

// Lists of radices whose product is n, cheapest first, each in the order of its passes. Empty if n is not smooth. n = 1
// has one empty list.
template <class T>
std::vector<std::vector<std::size_t>> mixed_radices(std::size_t n);

// Error{invalid_argument} if the product of the radices is not n or a radix has no codelet.
template <class T>
std::unique_ptr<LineKernel<T>> make_mixed(std::size_t n, const std::vector<std::size_t>& radices);

// n = rows * columns, both smooth.
template <class T>
std::unique_ptr<LineKernel<T>> make_mixed_two_step(std::size_t rows, std::size_t columns);

}  // namespace ridge::fft
