// The tile variant behind simd and non_temporal.
#pragma once
#include <string>

#include "transpose/host/simd_kernels.hpp"
#include "transpose/host/tile_variant.hpp"

namespace ridge::transpose {

struct SimdOptions {
  Tiling tiling = {};
  Stores stores = Stores::ordinary;
  bool buffered = false;  // a tile is turned into a padded buffer first and written from there, row after row
};

// Elements on a square tile's side: rows of 512 bytes where the tile then stays below half a nearest cache.
std::size_t square_side(std::size_t element_bytes);

// The candidate, refused where a column stride is not 1.
Entry simd_entry(const std::string& variant, const Layout& layout, const SimdOptions& options, double efficiency);

}  // namespace ridge::transpose
