// Memory layout of a transform's input and output, derived from <ridge/fft.hpp> alone.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::check {

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
