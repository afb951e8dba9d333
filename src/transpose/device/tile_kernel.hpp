// The kernel behind tile_padded and tile_vectorized. A unit is the data of one memory access of a work-item: an
// element, or 16 bytes of neighbouring elements. A tile of units goes through local memory. Its rows are padded there
// by one unit, so that neither writes down a column nor reads along a row have bank conflicts.
#pragma once
#include <cstddef>
#include <string>

#include "transpose/device/device_variant.hpp"

namespace ridge::transpose {

// Order in which work-groups process the tiles of a matrix.
enum class Raster {
  rows,      // along the input's rows
  bands,     // down eight tiles, then one to the right: reads and writes both stay within few pages
  diagonal,  // along diagonals: concurrent groups share neither input nor output rows
};

struct TileOptions {
  std::size_t unit_elements = 1;                   // 1, or the number of elements in 16 bytes
  std::size_t units_down = 32, units_across = 32;  // blocks of unit_elements x unit_elements in a tile; powers of two
  std::size_t items = 256;                         // work-items per group
  Raster raster = Raster::rows;
  bool streaming = false;           // LOAD_ONCE and STORE_ONCE: the data are not reused
  std::size_t tiles_per_group = 1;  // processed one after another

  bool operator==(const TileOptions&) const = default;
};

KernelSource tile_source(const Layout& layout, const TileOptions& options);

// Returns the candidate, with the reason if it is refused. In place, the tile must be square and two tiles are held.
Entry tile_entry(const std::string& variant, const Device& device, const Layout& layout, const TileOptions& options,
                 double efficiency);

}  // namespace ridge::transpose
