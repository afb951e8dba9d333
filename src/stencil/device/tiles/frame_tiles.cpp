// Kernel that updates the frame of a 2D grid in tiles.
#include "stencil/device/tiles/frame_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/cells/gather.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kTileItems = 256, kTileLength = 64;
constexpr std::size_t kLocalMemory = 48 << 10;  // available to a kernel on every device

// The same function over cells in local memory, with 32-bit indices.
std::string in_local_memory(std::string code) {
  for (const auto& [from, to] : {std::pair{"GLOBAL ", "LOCAL "}, {"ulong", "int"}}) {
    const std::string_view word(from);
    for (std::size_t at = 0; (at = code.find(word, at)) != std::string::npos;) code.replace(at, word.size(), to);
  }
  return code;
}

}  // namespace

std::size_t FrameTiles::room() const {
  return std::max(2 * band(1) * (kTileLength + 2 * band(2)), 2 * band(2) * (kTileLength + 2 * band(1)));
}

std::size_t FrameTiles::local_bytes() const {
  return 2 * text.layout.fields * room() * (text.cell == "double" ? 8 : 4);
}

std::size_t FrameTiles::across() const { return (place.width() + kTileLength - 1) / kTileLength; }
std::size_t FrameTiles::along() const { return (place.height() - 2 * band(1) + kTileLength - 1) / kTileLength; }

std::string FrameTiles::refusal(const Limits& limits) const {
  const Layout& layout = text.layout;
  if (layout.dimensions != 2) return fmt::format("needs a 2D grid, got {} dimensions", layout.dimensions);
  if (layout.coefficients > 0) return fmt::format("needs an update without coefficients, got {}", layout.coefficients);
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    if (layout.radius[axis] == 0)
      return fmt::format("needs a radius of at least 1 along both axes, got 0 along axis {}", axis - 1);
    if (layout.low[axis] == Border::periodic)
      return "periodic borders read the opposite side of the grid: not available with tiles";
    if (2 * band(axis) >= layout.shape[axis])
      return fmt::format("needs more than {} cells (both borders), got {}", 2 * band(axis), layout.shape[axis]);
  }
  if (layout.shape[1] * (kTileLength + 2 * band(2)) + layout.shape[2] > (std::size_t{1} << 30))
    return fmt::format("{} x {} cells exceed the 30-bit indices of a tile", layout.shape[1], layout.shape[2]);
  if (limits.work_group < kTileItems)
    return fmt::format("needs work-groups of {}, the device allows {}", kTileItems, limits.work_group);
  if (local_bytes() > std::min(kLocalMemory, limits.local_memory))
    return fmt::format("needs {} bytes of local memory per tile, {} are available", local_bytes(),
                       std::min(kLocalMemory, limits.local_memory));
  return {};
}

KernelSource FrameTiles::source() const {
  const Layout& layout = text.layout;
  codegen::Text code;
  code.raw("#define READ(p) (*(p))\n");
  code.raw(text.source_functions());
  code.raw(in_local_memory(update_cell_text(text, "READ")));
  code.raw(ridge::detail::kernel_text("stencil/frame_tiles"));
  const auto word = [](auto number) { return std::to_string(number); };
  return {.name = "stencil frame tiles",
          .text = code.str(),
          .defines = {{"CELL", text.cell},
                      {"FIELDS", word(layout.fields)},
                      {"DEPTH", word(depth)},
                      {"LENGTH", word(kTileLength)},
                      {"ROOM", word(room())},
                      {"BAND_X", word(band(2))},
                      {"BAND_Y", word(band(1))},
                      {"RADIUS_X", word(layout.radius[2])},
                      {"RADIUS_Y", word(layout.radius[1])},
                      {"FIRST_X", word(layout.begin[2])},
                      {"FIRST_Y", word(layout.begin[1])}}};
}

Launch FrameTiles::launch() const {
  return {.groups = {2 * (across() + along())}, .items = {kTileItems}, .local_bytes = local_bytes()};
}

std::vector<Argument> FrameTiles::scalars() const {
  const auto count = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto offset = [](std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); };
  return {count(place.width()), count(place.height()), count(place.planes()),     offset(place.pitch),
          offset(place.origin), offset(place.field),   count(text.layout.end[2]), count(text.layout.end[1]),
          count(across()),      count(along())};
}

}  // namespace ridge::stencil
