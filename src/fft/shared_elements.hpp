// Tests whether strides map two different index tuples to the same element.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft {

// An index below `count` with a stride of `step` elements.
struct Run {
  std::size_t count, step;
};

// Returns true if two index tuples map to the same element. Nested runs do not. Other cases are enumerated if that is
// affordable, else assumed to share.
bool share_elements(std::vector<Run> runs);

}  // namespace ridge::fft
