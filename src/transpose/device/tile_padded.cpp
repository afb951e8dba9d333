// Tiles through padded local memory, one element per access: works for every element size and every shape.
#include <vector>

#include "transpose/device/tile_kernel.hpp"

namespace ridge::transpose {
namespace {

struct Tile {
  std::size_t down, across, items;
};

std::vector<Tile> tiles(std::size_t element_bytes) {
  if (element_bytes == 16) return {{32, 32, 256}, {16, 32, 256}, {16, 16, 128}};
  if (element_bytes >= 4) return {{32, 32, 256}, {64, 64, 512}, {64, 64, 256}};
  return {{64, 64, 256}, {128, 128, 512}, {32, 32, 256}};
}

}  // namespace

void list_device_tile_padded(const Device& device, const Layout& layout, std::vector<Entry>& entries) {
  double efficiency = layout.element_bytes >= 8 ? 0.88 : 0.1 * static_cast<double>(layout.element_bytes) + 0.3;
  const auto list = [&](const Tile& tile, Raster raster, bool streaming) {
    entries.push_back(tile_entry("tile_padded", device, layout,
                                 {.unit_elements = 1,
                                  .units_down = tile.down,
                                  .units_across = tile.across,
                                  .items = tile.items,
                                  .raster = raster,
                                  .streaming = streaming},
                                 efficiency));
    efficiency -= 0.005;
  };
  for (const Tile& tile : tiles(layout.element_bytes)) {
    // In-place pairs need square tiles. Two tiles of 128 x 128 would exceed the registers.
    if (layout.in_place && (tile.down != tile.across || tile.down > 64)) continue;
    list(tile, Raster::rows, false);
    if (layout.element_bytes >= 4) list(tile, Raster::rows, true);  // smaller elements have no streaming instruction
    if (!layout.in_place) list(tile, Raster::bands, false);
  }
  // For old devices on which power-of-two strides map concurrent accesses to the same memory partition.
  if (!layout.in_place) list(tiles(layout.element_bytes).front(), Raster::diagonal, false);
}

}  // namespace ridge::transpose
