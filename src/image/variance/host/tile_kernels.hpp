// Kernels of the variance on the host: windows built from parts, tiles in padded arrays of floats, exact integer sums.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ridge/image/variance.hpp>

namespace ridge::image {

// Builds a window from parts along one axis: blocks of base^k cells, several of which form the window.
struct Join {
  enum class Kind {
    grow,    // blocks of `cells` become blocks of base * cells, from those `cells` apart
    take,    // the window, empty so far, becomes the current blocks
    append,  // the window of `before` cells is extended by the block of `cells` behind it
  } kind;
  int cells, before;
};
// Joins in order; the window is complete at the end.
std::vector<Join> joins_of(int window, int base);

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

// Exact integer sums for the variance: column sums run down the rows, totals along each row.

// Adds a row of values and subtracts an old one (null: none) in the sums and squares of n columns. Narrow: 8-bit values
// minus 128, and windows of at most 255 rows.
void exchange_narrow(const std::uint8_t* fresh, const std::uint8_t* old, std::int16_t* sums, std::int32_t* squares,
                     int n);
void exchange_wide(const std::int32_t* fresh, const std::int32_t* old, std::int64_t* sums, std::int64_t* squares,
                   int n);

// Variances of `count` adjacent windows of `window` columns and `cells` values each, from the sums of count + window -
// 1 columns. Narrow: 8-bit values minus 128 and at most 1024 cells, so that every number fits the 24 bits of a float;
// `running` holds 2 (count + window + 64).
void finish_narrow(const std::int16_t* sums, const std::int32_t* squares, int window, int count, int cells,
                   std::int32_t* running, float* out);
void finish_wide(const std::int64_t* sums, const std::int64_t* squares, int window, int count, int cells, float* out);

}  // namespace ridge::image
