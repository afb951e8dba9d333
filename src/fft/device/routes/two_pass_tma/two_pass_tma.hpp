// Tiles fetched by the tensor memory accelerator (TMA), for the passes that use them.
#pragma once
#include <cstddef>
#include <string>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// Shape of tiles that fill a compute unit, or half of one, and are prefetched.
struct TileShape {
  std::size_t points;    // per tile
  std::size_t items;     // per work-group
  std::size_t resident;  // work-groups per compute unit
};
inline constexpr TileShape kColumnTile{16384, 512, 1};
inline constexpr TileShape kProducerTile{16384, 512, 1}, kProducerTileDouble{8192, 512, 1};
// Reason why the lines of a problem cannot be prefetched in tiles; empty: they can.
std::string tiles_refusal(const Device& device, const AxisProblem& problem);
// Sets the radices and work-items of a pass for such tiles. Returns the reason if impossible, else an empty string.
std::string shape_tile(const Device& device, PassDesign& pass, const TileShape& shape);

// Stores the intermediate data in the second pass's tiles, each contiguous. False if there are no whole tiles.
bool between_in_tiles(PassDesign& first, PassDesign& second, const TileShape& shape);

}  // namespace ridge::fft::on_device
