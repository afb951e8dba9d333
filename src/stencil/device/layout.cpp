// Padded layout of fields in device memory.
#include "stencil/device/layout.hpp"

namespace ridge::stencil {
namespace {

std::array<std::size_t, 3> three_sides(const std::vector<std::size_t>& shape) {
  std::array<std::size_t, 3> sides{1, 1, 1};
  for (std::size_t i = 0; i < shape.size() && i < 3; ++i) sides[3 - shape.size() + i] = shape[i];
  return sides;
}

}  // namespace

DeviceLayout packed_layout(const std::vector<std::size_t>& shape) {
  DeviceLayout layout{.sides = three_sides(shape)};
  layout.pitch = layout.width();
  layout.field = layout.cells();
  return layout;
}

DeviceLayout padded_layout(const std::vector<std::size_t>& shape, std::size_t element_bytes, std::size_t aligned) {
  const std::size_t line = 128 / element_bytes, room = 2048 / element_bytes;
  DeviceLayout layout{.sides = three_sides(shape)};
  layout.pitch = (layout.width() + line - 1) / line * line;
  layout.origin = room + (line - aligned % line) % line;
  layout.field = layout.plane() * layout.planes() + 2 * room + (aligned % line == 0 ? 0 : line);
  return layout;
}

}  // namespace ridge::stencil
