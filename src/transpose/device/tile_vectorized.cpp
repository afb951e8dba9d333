// Tiles moved in 16-byte accesses on both sides; small blocks are transposed in registers before they reach local
// memory.
#include <vector>

#include "transpose/device/tile_kernel.hpp"

namespace ridge::transpose {
namespace {

struct BlockTile {
  std::size_t down, across, items;  // down, across: in blocks of 16 bytes x the same number of rows
};

// Contiguous runs of at least 128 bytes on both sides, and 64 to 256 bytes in flight per work-item.
std::vector<BlockTile> block_tiles(std::size_t element_bytes) {
  switch (element_bytes) {
    case 8:
      return {{32, 32, 256}, {16, 16, 128}, {32, 32, 512}, {16, 32, 256}};
    case 4:
      return {{16, 16, 256}, {16, 16, 128}, {32, 16, 256}, {8, 8, 64}};
    case 2:
      return {{16, 16, 256}, {8, 16, 128}, {8, 8, 64}};
    default:
      return {{8, 8, 64}, {8, 16, 128}};
  }
}

}  // namespace

void list_device_tile_vectorized(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  const std::size_t width = 16 / layout.element_bytes;
  if (width == 1) {
    Entry entry = tile_entry("tile_vectorized", device, layout, {.units_down = 32, .units_across = 32}, 0.9);
    entry.candidate.refusal = "needs elements of at most 8 bytes, got 16: see tile_padded";
    entries.push_back(std::move(entry));
    return;
  }
  double efficiency = 0.93;
  const std::vector<BlockTile> all = block_tiles(layout.element_bytes);
  for (const BlockTile& tile : all) {
    if (layout.in_place && tile.down != tile.across) continue;
    for (const bool streaming : {false, true}) {
      for (const Raster raster : {Raster::rows, Raster::bands}) {
        if (layout.in_place && raster != Raster::rows) continue;
        const TileOptions options{.unit_elements = width,
                                  .units_down = tile.down,
                                  .units_across = tile.across,
                                  .items = tile.items,
                                  .raster = raster,
                                  .streaming = streaming};
        entries.push_back(tile_entry("tile_vectorized", device, layout, options, efficiency));
        efficiency -= 0.005;
        if (!layout.in_place && streaming && raster == Raster::rows && &tile == &all.front()) {
          TileOptions several = options;
          several.tiles_per_group = 4;
          entries.push_back(tile_entry("tile_vectorized", device, layout, several, efficiency - 0.05));
        }
      }
    }
  }
}

}  // namespace ridge::transpose
