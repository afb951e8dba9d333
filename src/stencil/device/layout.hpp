// Layout of a field in device memory: rows padded to whole vectors, with readable padding before and after.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

struct DeviceLayout {
  std::array<std::size_t, 3> sides{1, 1, 1};  // slowest first: {planes, rows, cells of a row}
  std::size_t pitch = 1;                      // elements between rows
  std::size_t origin = 0;                     // elements before the first cell
  std::size_t field = 0;                      // elements of a field, padding included
  std::size_t width() const { return sides[2]; }
  std::size_t height() const { return sides[1]; }
  std::size_t planes() const { return sides[0]; }
  std::size_t plane() const { return pitch * sides[1]; }
  std::size_t cells() const { return sides[0] * sides[1] * sides[2]; }
};

// Contiguous rows, as in a user's grid.
DeviceLayout packed_layout(const std::vector<std::size_t>& shape);

// Layout of rows whose cell number `aligned` is at a multiple of 128 bytes; two kilobytes of padding at both ends.
DeviceLayout padded_layout(const std::vector<std::size_t>& shape, std::size_t element_bytes, std::size_t aligned = 0);

}  // namespace ridge::stencil
