// Whether strides lead to the same element twice.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft {

// An index that runs below `count` and moves by `step` elements.
struct Run {
  std::size_t count, step;
};

// Whether two index tuples lead to the same element. Nested runs cannot; anything else is tried out where that is
// affordable and counted as sharing where it is not.
bool share_elements(std::vector<Run> runs);

}  // namespace ridge::fft
