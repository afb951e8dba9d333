#include "stencil/device/frame_tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "stencil/device/gather.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kTileItems = 256, kTileLength = 64;
constexpr std::size_t kLocalMemory = 48 << 10;  // what every device gives a kernel

// Pieces of the rows at top and bottom, whole width, then of the columns between them. A step leaves what it knows: a
// radius less on every side that is not the grid's.
constexpr const char* kFrameTiles = R"(
KERNEL WORK_GROUP(256, 1, 1) void update_frame_tiles(GLOBAL const CELL* in, GLOBAL CELL* out, {0}, int end_x, int end_y,
                                                     int across, int along) {{
  LOCAL_BLOCK(CELL, cells, 2 * FIELDS * ROOM);
  const int item = LOCAL_ID(0);
  int piece = (int)GROUP_ID(0), x0 = 0, x1 = width, y0 = 0, y1 = height;
  if (piece < 2 * across) {{
    y0 = piece < across ? 0 : height - BAND_Y;
    y1 = y0 + BAND_Y;
    x0 = piece % across * LENGTH;
    x1 = x0 + LENGTH < width ? x0 + LENGTH : width;
  }} else {{
    piece -= 2 * across;
    x0 = piece < along ? 0 : width - BAND_X;
    x1 = x0 + BAND_X;
    y0 = BAND_Y + piece % along * LENGTH;
    y1 = y0 + LENGTH < height - BAND_Y ? y0 + LENGTH : height - BAND_Y;
  }}
  const int left = x0 - BAND_X < 0 ? 0 : x0 - BAND_X, right = x1 + BAND_X > width ? width : x1 + BAND_X;
  const int top = y0 - BAND_Y < 0 ? 0 : y0 - BAND_Y, bottom = y1 + BAND_Y > height ? height : y1 + BAND_Y;
  const int row = right - left, all = row * (bottom - top);
  const int first = -(top * row + left);  // of cell (0, 0), which may be far away
  for (int i = item; i < all; i += 256) {{
    const ulong at = origin + (ulong)(top + i / row) * pitch + (left + i % row);
    for (int f = 0; f < FIELDS; ++f) cells[f * ROOM + i] = in[f * field + at];
  }}
  BARRIER();
  for (int step = 1; step <= DEPTH; ++step) {{
    LOCAL const CELL* const from = cells + (step - 1) % 2 * FIELDS * ROOM;
    LOCAL CELL* const to = cells + step % 2 * FIELDS * ROOM;
    const int known_left = left == 0 ? 0 : left + step * RADIUS_X;
    const int known_right = right == width ? width : right - step * RADIUS_X;
    const int known_top = top == 0 ? 0 : top + step * RADIUS_Y;
    const int known_bottom = bottom == height ? height : bottom - step * RADIUS_Y;
    // From cell to cell without dividing: as many rows and columns on as 256 cells are.
    const int wide = known_right - known_left, rows_on = 256 / wide, columns_on = 256 % wide;
    int x = known_left + item % wide, y = known_top + item / wide;
    while (y < known_bottom) {{
      if (x >= FIRST_X && x < end_x && y >= FIRST_Y && y < end_y) {{
        update_cell(from, to, width, height, planes, row, first, ROOM, 0, y, x);
      }} else {{
        const int at = (y - top) * row + (x - left);
        for (int f = 0; f < FIELDS; ++f) to[f * ROOM + at] = from[f * ROOM + at];
      }}
      x += columns_on;
      y += rows_on + (x >= known_right ? 1 : 0);
      x -= x >= known_right ? wide : 0;
    }}
    BARRIER();
  }}
  const int wide = x1 - x0, own = wide * (y1 - y0);
  for (int i = item; i < own; i += 256) {{
    const int x = x0 + i % wide, y = y0 + i / wide;
    const ulong at = origin + (ulong)y * pitch + x;
    for (int f = 0; f < FIELDS; ++f)
      out[f * field + at] = cells[(DEPTH % 2 * FIELDS + f) * ROOM + (y - top) * row + (x - left)];
  }}
}}
)";

// The same function over cells in local memory, whose places are small numbers.
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
  if (layout.dimensions != 2) return "planes have no such pieces";
  if (layout.coefficients > 0) return "coefficients stay where they are";
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    if (layout.radius[axis] == 0) return "there are sides without a frame";
    if (layout.low[axis] == Border::periodic) return "what a border has is far away";
    if (2 * band(axis) >= layout.shape[axis]) return "the borders meet";
  }
  if (layout.shape[1] * (kTileLength + 2 * band(2)) + layout.shape[2] > (std::size_t{1} << 30))
    return "cells are counted in 30 bits here";
  if (limits.work_group < kTileItems) return "needs work-groups of 256";
  if (local_bytes() > std::min(kLocalMemory, limits.local_memory)) return "a piece does not fit local memory";
  return {};
}

KernelSource FrameTiles::source() const {
  const Layout& layout = text.layout;
  codegen::Text code;
  code.raw("#define READ(p) (*(p))\n");
  code.raw(text.source_functions());
  code.raw(in_local_memory(update_cell_text(text, "READ")));
  code.block(kFrameTiles, kSizeParameters);
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
