// Draws a random transform to be checked and describes it.
#pragma once
#include <cstddef>
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

// Shapes of the boxes.
std::vector<std::size_t> given_shape(const fft::Problem& problem);
std::vector<std::size_t> wanted_shape(const fft::Problem& problem);
// Packed index in the whole shape of a packed index in a box of it.
std::size_t whole_place(const fft::Box& box, const std::vector<std::size_t>& shape, std::size_t index);

// Draws any shape, kind, stride, batch and operator that the header allows.
template <class T>
FftCase draw_fft(Draw& draw);

template <class T>
std::string fft_in_words(const FftCase& made);

// Memory layout of a transform's input and output, derived from <ridge/fft.hpp> alone.

struct FftSide {
  std::vector<std::size_t> shape{}, strides{};  // one per axis, slowest first
  std::size_t batch = 0;                        // elements between transforms
  std::size_t extent = 0;                       // elements from the first to the last used, inclusive
  bool aliases = false;                         // two points share an element

  // Element that holds point `index` (packed, last axis fastest) of transform `line`.
  std::size_t at(std::size_t line, std::size_t index) const;
};

struct FftSides {
  FftSide samples{}, spectrum{};
};
FftSides sides_of(const fft::Problem& problem);

}  // namespace ridge::check
