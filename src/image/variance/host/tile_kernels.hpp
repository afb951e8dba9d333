// Variances of a tile whose window cells are in one padded array of floats.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/image/variance.hpp>

#include "image/variance/joins.hpp"

namespace ridge::image {

struct VarianceTile {
  const float* in;  // (rows + window_rows - 1) x (columns + window_columns - 1)
  std::size_t pitch;
  int rows, columns, window_rows, window_columns;
  const std::vector<Join>*down, *across;  // joins of the trees
  float* scratch;                         // four times the size of the padded tile
  float* out;
  std::size_t out_pitch;
};

using TileKernel = void (*)(const VarianceTile& tile);
TileKernel tile_kernel(VarianceMethod method);  // two_pass, koenig, online, pairwise, three_wise

}  // namespace ridge::image
