// Complex transforms of 2^k points on one core: all choices on this machine, and the best of them.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fft/host/power2/engine.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

// One method for a length. `engine` is an instruction set ("fcma", "neon", "avx2", ...). Without levels the line
// consists of Stockham passes with these radices; with levels, depth-first passes of those radices precede lines of the
// remaining length and a reordering. With rows there are two steps: columns of `rows` points, then rows.
struct Power2Choice {
  std::string name;  // "fcma 4*16*(16*16*4)"
  std::string engine;
  std::vector<std::size_t> levels;
  std::vector<std::size_t> line;
  std::size_t rows = 0;
};

inline constexpr std::size_t kMaxPower2 = std::size_t{1} << 30;

// Everything that can run on this machine, the best static choice first.
template <class T>
std::vector<Power2Choice> power2_choices(std::size_t n);

// Error{invalid_argument} if n is not a power of two up to 2^30 or the choice does not belong to it.
template <class T>
std::unique_ptr<LineKernel<T>> make_power2(std::size_t n, const Power2Choice& choice);

template <class T>
std::unique_ptr<LineKernel<T>> default_power2(std::size_t n);

}  // namespace ridge::fft

// LineKernel implementations over an engine: one for lines in cache, one for the depth-first descent, one for two
// steps.

namespace ridge::fft::power2 {

std::string radix_text(const std::vector<std::size_t>& radices);  // "16*16*4"

// Real additions and multiplications of one butterfly of 2, 4, 8 or 16 points without twiddles; 0 for other radices.
double butterfly_flops(std::size_t radix);

template <class T>
std::unique_ptr<LineKernel<T>> make_kernel(const Engine<T>& engine, std::size_t n, const Power2Choice& choice);

}  // namespace ridge::fft::power2
