// Complex transforms of a power of two points on one core: every way this machine can do one, and the best of them.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft {

// One way to do a length. `engine` is an instruction set ("fcma", "neon", "avx2", ...). Without levels the line is
// Stockham passes with these radices; with levels, depth-first passes of those radices come before lines of the
// remaining length, and a reorder after them. With rows there are two steps: columns of so many points, then rows.
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

// Error{invalid_argument} where n is no power of two up to 2^30 or the choice does not belong to it.
template <class T>
std::unique_ptr<LineKernel<T>> make_power2(std::size_t n, const Power2Choice& choice);

template <class T>
std::unique_ptr<LineKernel<T>> default_power2(std::size_t n);

}  // namespace ridge::fft
