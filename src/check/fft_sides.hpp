// Where the points of a transform lie in memory, from the words of <ridge/fft.hpp> alone.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/fft.hpp>

namespace ridge::check {

struct FftSide {
  std::vector<std::size_t> shape{}, strides{};  // one per axis, slowest first
  std::size_t batch = 0;                        // elements from a transform to the next
  std::size_t extent = 0;                       // elements from the first to the last used, both included
  bool aliases = false;                         // two points share an element

  // Element of the point `index` (packed, last axis fastest) of transform `line`.
  std::size_t at(std::size_t line, std::size_t index) const;
};

struct FftSides {
  FftSide samples{}, spectrum{};
};
FftSides sides_of(const fft::Problem& problem);

}  // namespace ridge::check
