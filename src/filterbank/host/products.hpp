// Correlator kernels of the host: products of the signals of one block of channels, summed over times.
#pragma once
#include <cstddef>

namespace ridge::filterbank {

// Channels per block: their real parts are stored first, then their imaginary parts.
inline constexpr std::size_t kProductChannels = 16;
inline constexpr std::size_t kSignalFloats = 2 * kProductChannels;
inline constexpr std::size_t kTileRows = 2, kTileColumns = 4;  // signals per tile
inline constexpr std::size_t kTileFloats = kTileRows * kTileColumns * kSignalFloats;

// sums[r][c] += x[t][row + r] conj(x[t][column + c]) over the times, in increasing t.
struct ProductTile {
  const float* rows;        // signal `row` at time 0
  const float* columns;     // signal `column` at time 0
  std::size_t time_stride;  // floats
  std::size_t times;
  float* sums;  // kTileFloats, [r][c][re, im][channel]
};

struct ProductKernels {
  void (*tile)(const ProductTile& tile);
  // Splits `count` (at most kProductChannels) complex values into real parts, then imaginary parts; the rest is 0.
  void (*split)(const float* from, std::size_t count, float* to);
};

const ProductKernels& product_kernels();

}  // namespace ridge::filterbank
