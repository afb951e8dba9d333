// Tiles that the tensor memory accelerator brings, for the passes that take them.
#pragma once
#include <cstddef>
#include <string>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// Tiles that fill a compute unit, or half of one, and come ahead.
struct TileShape {
  std::size_t points;    // a tile
  std::size_t items;     // a group
  std::size_t resident;  // groups a compute unit
};
inline constexpr TileShape kColumnTile{16384, 512, 1};
inline constexpr TileShape kConductedTile{16384, 512, 1}, kConductedDoubles{8192, 512, 1};
// Why the lines of a problem cannot be brought ahead in tiles; empty: they can.
std::string tiles_refusal(const Device& device, const AxisProblem& problem);
// Gives a pass the radices and the work-items of such tiles; empty, or why not.
std::string shape_tile(const Device& device, PassDesign& pass, const TileShape& shape);

// What lies between two passes is kept in the second one's tiles, each of them one run; false: no whole tiles.
bool between_in_tiles(PassDesign& first, PassDesign& second, const TileShape& shape);

}  // namespace ridge::fft::on_device
