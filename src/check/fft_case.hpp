// A transform to be checked: drawn, and said in words.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "check/check.hpp"

namespace ridge::check {

// What lies in one line of the batch, to see that its neighbours do not notice.
enum class Oddity { none, nan, infinite, denormal };

struct FftCase {
  fft::Problem problem{};
  Oddity oddity = Oddity::none;
  std::size_t odd_line = 0;
  std::uint64_t data = 0, by_chance = 0;
  std::size_t shift = 0;  // elements the spans begin behind what an allocator gives
};

std::size_t points_of(const std::vector<std::size_t>& shape);
std::vector<std::size_t> spectrum_shape(const fft::Problem& problem);

// Any shape, kind, stride, batch and operator that the header allows.
template <class T>
FftCase draw_fft(Draw& draw);

template <class T>
std::string fft_in_words(const FftCase& made);

}  // namespace ridge::check
