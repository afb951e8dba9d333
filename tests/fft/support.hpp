// What the tests of the public FFT share.
#pragma once
#include <cstddef>
#include <cstdlib>

#include <ridge/fft.hpp>

#include "fft/reference.hpp"

namespace ridge::fft {

inline planner::Options quick() { return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false}; }

// RIDGE_SLOW=1 asks for every length the specification names.
inline std::size_t longest_length() { return std::getenv("RIDGE_SLOW") == nullptr ? 512 : 4096; }

inline std::size_t largest_prime_factor(std::size_t n) {
  std::size_t largest = 1;
  for (std::size_t p = 2; n > 1; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return largest;
}

// The gate of the specification for lengths made of codelets; the convolutions behind large prime factors make three
// passes of twice the length and more, for which twice the gate is held.
template <class T>
double length_gate(std::size_t n) {
  return (largest_prime_factor(n) > 13 ? 2 : 1) * reference::error_gate<T>(n);
}

}  // namespace ridge::fft
