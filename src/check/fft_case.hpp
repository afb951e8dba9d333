// Draws a random transform to be checked and describes it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "check/check.hpp"

namespace ridge::check {

// Special values in one transform of the batch; the other transforms must not be affected.
enum class Oddity { none, nan, infinite, denormal };

struct FftCase {
  fft::Problem problem{};
  Oddity oddity = Oddity::none;
  std::size_t odd_line = 0;
  std::uint64_t data = 0, by_chance = 0;
  std::size_t shift = 0;  // offset in elements of the spans from the allocated address
};

std::size_t points_of(const std::vector<std::size_t>& shape);
std::vector<std::size_t> spectrum_shape(const fft::Problem& problem);

// Draws any shape, kind, stride, batch and operator that the header allows.
template <class T>
FftCase draw_fft(Draw& draw);

template <class T>
std::string fft_in_words(const FftCase& made);

}  // namespace ridge::check
