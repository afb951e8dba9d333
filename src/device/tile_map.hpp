// Tensor map of an array, for copies of tiles between global and local memory by TMA (CUDA from Hopper on).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <ridge/device.hpp>

namespace ridge::detail {

struct TileMapShape {
  bool float64 = false;                  // numbers have 8 bytes, else 4
  std::uint64_t offset = 0;              // bytes from the buffer's start; a multiple of 16
  std::uint64_t columns = 1;             // contiguous numbers per row
  std::uint64_t rows = 1, row = 16;      // rows per array, and bytes between them: a multiple of 16
  std::uint64_t arrays = 1, array = 16;  // number of arrays, and bytes between them
  std::uint32_t box_columns = 1,
                box_rows = 1;  // box of one copy: at most 256 of either, rows of a multiple of 16 bytes
};

// The driver's descriptor, passed as a kernel argument in two parts (TILE_MAP of the dialect).
struct TileMap {
  struct alignas(64) Half {
    std::array<std::uint64_t, 8> words;
  };
  Half first, rest;
};

// Error{unavailable} if the device has no TMA.
TileMap tile_map(const Buffer& buffer, const TileMapShape& shape);

}  // namespace ridge::detail
