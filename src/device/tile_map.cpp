#include "device/tile_map.hpp"

#include "device/backend.hpp"

namespace ridge::detail {

TileMap tile_map(const Buffer& buffer, const TileMapShape& shape) {
  MemoryState& memory = buffer.state();
  return memory.device->tile_map(memory, shape);
}

}  // namespace ridge::detail
