// The tile variant behind simd and non_temporal.
#pragma once
#include <string>
#include <vector>

#include "transpose/host/simd_kernels.hpp"
#include "transpose/host/tile_variant.hpp"

namespace ridge::transpose {

struct SimdOptions {
  Tiling tiling = {};
  Stores stores = Stores::ordinary;
  bool buffered = false;  // a tile is transposed into a padded buffer and written from there, row after row
  bool ahead = false;     // with buffered: prefetches the next tile
};

// Side, in elements, of a tile that goes through the buffer.
std::size_t square_side(std::size_t element_bytes);

// Tiles to try if the output is written directly: 512 bytes wide, which is about the distance of hardware prefetchers
// (or half of that), and so high that the output is written in runs of 512 bytes to 8 KiB. In place: one square tile.
struct DirectTile {
  std::size_t rows, columns;
  double efficiency;
};
std::vector<DirectTile> direct_tiles(const Layout& layout);

// Returns the candidate, refused if a column stride is not 1.
Entry simd_entry(const std::string& variant, const Layout& layout, const SimdOptions& options, double efficiency);

}  // namespace ridge::transpose
