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
  bool buffered = false;  // a tile is turned into a padded buffer first and written from there, row after row
  bool ahead = false;     // and the next tile is asked for meanwhile
};

// Elements on the side of a tile that goes through the buffer.
std::size_t square_side(std::size_t element_bytes);

// Tiles worth trying where the output is written directly: 512 bytes wide, which is about how far prefetchers run ahead
// of a row (or half of that), and so high that the output is written in runs of 512 bytes to 8 KiB. In place: the
// square.
struct DirectTile {
  std::size_t rows, columns;
  double efficiency;
};
std::vector<DirectTile> direct_tiles(const Layout& layout);

// The candidate, refused where a column stride is not 1.
Entry simd_entry(const std::string& variant, const Layout& layout, const SimdOptions& options, double efficiency);

}  // namespace ridge::transpose
