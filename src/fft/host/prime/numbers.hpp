// Number theory of Rader's and Bluestein's transforms.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridge::fft::prime {

std::vector<std::size_t> prime_factors(std::size_t n);  // ascending, with repetition; empty for 1
bool is_prime(std::size_t n);
std::size_t power_modulo(std::size_t base, std::size_t exponent, std::size_t modulus);  // modulus below 2^32
std::size_t primitive_root(std::size_t p);                                              // the smallest; p prime
std::size_t smooth_length(std::size_t at_least);   // the length with the least expected cost
double transform_cost(std::size_t smooth_length);  // in flops at the speed of a power of two, measured

}  // namespace ridge::fft::prime
