// Source pixels and weights of each output row and column of a resize.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/image/operators.hpp>

namespace ridge::image {

// Source pixels of one output pixel along an axis.
struct ResizeTap {
  std::ptrdiff_t from = 0;
  std::vector<double> weights = {};  // of pixels from, from + 1, ...; border pixels are replicated
};
struct ResizeTaps {
  std::vector<ResizeTap> down = {}, across = {};  // one per output row, one per output column
};
ResizeTaps resize_taps(const Resize& resize, const Shape& in);
// Four weights of Keys' cubic convolution (A = -0.75) for a position x beyond the second pixel.
void cubic_weights(double x, double weights[4]);

}  // namespace ridge::image
