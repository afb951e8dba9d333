// Simplifies loops and axes to the shortest form that visits the same elements.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/fft/tensor.hpp>

namespace ridge::fft {

// Removes dimensions of length 1, merges contiguous neighbours and puts the fastest last. Any length of 0 gives a
// single dimension of length 0.
std::vector<Dimension> shortest(std::vector<Dimension> loops);

std::size_t count(const std::vector<Dimension>& dimensions);

// Returns true if two different index tuples map to the same element of that side, or if that cannot be excluded
// cheaply.
enum class TensorSide { input, output };
bool shares_elements(const std::vector<Dimension>& dimensions, TensorSide side);

// The lowest and the highest element visited, relative to the first, in elements of that side.
struct Reach {
  std::ptrdiff_t low = 0, high = 0;
};
Reach reach(const std::vector<Dimension>& dimensions, TensorSide side);  // Error if it leaves the address space

// Strides of a packed array of these lengths on both sides, last axis fastest.
std::vector<Dimension> packed(const std::vector<Dimension>& dimensions);

// Calls visit(input offset, output offset) for items [begin, end) of the product of all lengths, last fastest.
template <class Visit>
void for_each_item(const std::vector<Dimension>& dimensions, std::size_t begin, std::size_t end, const Visit& visit) {
  constexpr std::size_t kMost = 64;
  const std::size_t rank = dimensions.size();
  std::size_t index[kMost];
  std::ptrdiff_t in = 0, out = 0;
  std::size_t rest = begin;
  for (std::size_t d = rank; d-- > 0;) {
    index[d] = rest % dimensions[d].length;
    rest /= dimensions[d].length;
    in += static_cast<std::ptrdiff_t>(index[d]) * dimensions[d].input;
    out += static_cast<std::ptrdiff_t>(index[d]) * dimensions[d].output;
  }
  for (std::size_t i = begin; i < end; ++i) {
    visit(in, out);
    for (std::size_t d = rank; d-- > 0;) {
      in += dimensions[d].input;
      out += dimensions[d].output;
      if (++index[d] < dimensions[d].length) break;
      in -= static_cast<std::ptrdiff_t>(dimensions[d].length) * dimensions[d].input;
      out -= static_cast<std::ptrdiff_t>(dimensions[d].length) * dimensions[d].output;
      index[d] = 0;
    }
  }
}

}  // namespace ridge::fft
