// How an array of rows lies in memory, told to the copies that bring tiles of it into local memory, and take them from
// there, by themselves (CUDA from Hopper on).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <ridge/device.hpp>

namespace ridge::detail {

struct TileMapShape {
  bool float64 = false;                         // numbers of 8 bytes, else of 4
  std::uint64_t offset = 0;                     // bytes from the buffer's start; a multiple of 16
  std::uint64_t columns = 1;                    // numbers of a row, one after the other
  std::uint64_t rows = 1, row = 16;             // of an array, and bytes from one to the next: a multiple of 16
  std::uint64_t arrays = 1, array = 16;         // and of arrays
  std::uint32_t box_columns = 1, box_rows = 1;  // one copy takes: at most 256 of either, columns of whole 16 bytes
};

// The driver's own description, a kernel's argument in two halves (TILE_MAP of the dialect).
struct TileMap {
  struct alignas(64) Half {
    std::array<std::uint64_t, 8> words;
  };
  Half first, rest;
};

// Error{unavailable} where the device has no such copies.
TileMap tile_map(const Buffer& buffer, const TileMapShape& shape);

}  // namespace ridge::detail
