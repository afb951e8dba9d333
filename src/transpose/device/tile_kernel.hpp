// The kernel behind tile_padded and tile_vectorized. A unit is what one work-item moves at once: an element, or 16
// bytes of neighbouring elements. A tile of units goes through local memory, whose rows are one unit longer than the
// tile's, so that neither the writes down a column nor the reads along a row hit one bank twice.
#pragma once
#include <cstddef>
#include <string>

#include "transpose/device/device_variant.hpp"

namespace ridge::transpose {

// In which order the groups take the tiles of a matrix.
enum class Raster {
  rows,      // along the input's rows
  bands,     // down eight tiles, then one to the right: reads and writes both stay within few pages
  diagonal,  // along diagonals: neither reads nor writes of running groups share rows
};

struct TileOptions {
  std::size_t unit_elements = 1;                   // 1, or 16 bytes' worth
  std::size_t units_down = 32, units_across = 32;  // blocks of unit_elements x unit_elements in a tile; powers of two
  std::size_t items = 256;                         // work-items a group
  Raster raster = Raster::rows;
  bool streaming = false;           // LOAD_ONCE and STORE_ONCE
  std::size_t tiles_per_group = 1;  // taken one after the other

  bool operator==(const TileOptions&) const = default;
};

KernelSource tile_source(const Layout& layout, const TileOptions& options);

// The candidate with the reason it is refused, if any. In place the tile must be square, and two are held.
Entry tile_entry(const std::string& variant, const Device& device, const Layout& layout, const TileOptions& options,
                 double efficiency);

}  // namespace ridge::transpose
