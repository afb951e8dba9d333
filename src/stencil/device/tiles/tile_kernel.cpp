// Kernel text of tiles in local memory with several steps per launch.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.hpp"
#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/cells/gather.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kLocalArrays = 48 * 1024;  // per work-group; more would need LOCAL_BLOCK, which OpenCL limits too

// Names of a cell's position: x is its index in the grid (possibly outside along a periodic axis), near_x the index in
// the tile's local array.
class TileWriter {
 public:
  explicit TileWriter(const TileKernel& kernel) : kernel_(kernel), layout_(kernel.text.layout) {}

  std::string text() const {
    std::string code = kernel_.text.source_functions();
    code += fmt::format(
        "KERNEL WORK_GROUP(ITEMS_X, 1, 1) void update_tile(GLOBAL const CELL* RESTRICT in, GLOBAL CELL* RESTRICT out, "
        "{}int width, int "
        "height, int planes, ulong pitch, ulong origin, ulong field) {{\n",
        layout_.coefficients > 0 ? "GLOBAL const CELL* RESTRICT coefficients, " : "");
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      for (const char* parity : {"even", "odd"}) {
        if (std::string_view(parity) == "odd" && kernel_.options.depth == 1) continue;
        code += fmt::format("  LOCAL_ARRAY(CELL, {}{}, ROOM_Z * ROOM_Y * ROOM_X);\n", parity, f);
      }
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      code += fmt::format("  const int first_{0} = (int)GROUP_ID({1}) * TILE_{2} - HALO_{2};\n", kAxisNames[axis],
                          2 - axis, upper(axis));
    }
    code += load();
    for (std::size_t step = 1; step <= kernel_.options.depth; ++step) code += "  BARRIER();\n" + advance(step);
    return code + "}\n";
  }

 private:
  static char upper(std::size_t axis) { return static_cast<char>(kAxisNames[axis] - 'a' + 'A'); }
  bool periodic(std::size_t axis) const { return layout_.low[axis] == Border::periodic; }
  std::size_t room(std::size_t axis, std::size_t step) const {
    return kernel_.options.tile[axis] +
           2 * (kernel_.options.depth - step) * static_cast<std::size_t>(layout_.radius[axis]);
  }

  // Updates every cell of the tile and of the remaining halo after `step` steps, strided over the work-items.
  std::string loop(std::size_t step, const std::string& body) const {
    const std::size_t count = room(0, step) * room(1, step) * room(2, step);
    std::string code = fmt::format("  for (int k = LOCAL_ID(0); k < {}; k += ITEMS_X) {{\n", count);
    const std::size_t row = room(2, step), plane = row * room(1, step);
    code += fmt::format("    const int near_x = k % {} + {}, near_y = k / {} % {} + {}, near_z = k / {} + {};\n", row,
                        step * static_cast<std::size_t>(layout_.radius[2]), row, room(1, step),
                        step * static_cast<std::size_t>(layout_.radius[1]), plane,
                        step * static_cast<std::size_t>(layout_.radius[0]));
    code += "    const int x = first_x + near_x, y = first_y + near_y, z = first_z + near_z;\n";
    return code + body + "  }\n";
  }

  std::string outside() const {
    std::string test;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (periodic(axis) && layout_.radius[axis] > 0) continue;
      test += fmt::format("{}{} < 0 || {} >= {}", test.empty() ? "" : " || ", kAxisNames[axis], kAxisNames[axis],
                          kSide[axis]);
    }
    return test;
  }

  std::string load() const {
    std::string body;
    if (const std::string test = outside(); !test.empty()) body += fmt::format("    if ({}) continue;\n", test);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool wraps = periodic(axis) && layout_.radius[axis] > 0;
      body += wraps ? fmt::format("    const int from_{0} = ({0} % {1} + {1}) % {1};\n", kAxisNames[axis], kSide[axis])
                    : fmt::format("    const int from_{0} = {0};\n", kAxisNames[axis]);
    }
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      body += fmt::format(
          "    even{0}[(near_z * ROOM_Y + near_y) * ROOM_X + near_x] = in[{0} * field + origin + ((ulong)from_z * "
          "height + from_y) * pitch + from_x];\n",
          f);
    }
    return loop(0, body);
  }

  // Position of a read in the local array: along a periodic axis the tile continues, along others the border mapping
  // applies.
  std::string near_index(std::size_t axis, int offset) const {
    if (offset == 0) return fmt::format("near_{}", kAxisNames[axis]);
    const std::string moved = fmt::format("{} {} {}", kAxisNames[axis], offset < 0 ? '-' : '+', std::abs(offset));
    if (kernel_.text.maps(axis) && !periodic(axis))
      return fmt::format("(source_{0}({1}, {2}) - first_{0})", kAxisNames[axis], moved, kSide[axis]);
    return fmt::format("(near_{} {} {})", kAxisNames[axis], offset < 0 ? '-' : '+', std::abs(offset));
  }

  std::string coefficient(const Operation& read) const {
    std::array<std::string, 3> index;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::string moved(1, kAxisNames[axis]);
      if (read.offset[axis] != 0)
        moved =
            fmt::format("({} {} {})", kAxisNames[axis], read.offset[axis] < 0 ? '-' : '+', std::abs(read.offset[axis]));
      if (periodic(axis) && layout_.radius[axis] > 0) {
        moved = fmt::format("(({0} % {1} + {1}) % {1})", moved, kSide[axis]);
      } else if (kernel_.text.maps(axis) && read.offset[axis] != 0) {
        moved = fmt::format("source_{}({}, {})", kAxisNames[axis], moved, kSide[axis]);
      }
      index[axis] = moved;
    }
    return fmt::format("coefficients[{} * field + origin + ((ulong){} * height + {}) * pitch + {}]", read.field,
                       index[0], index[1], index[2]);
  }

  std::string advance(std::size_t step) const {
    const bool final = step == kernel_.options.depth;
    const char* from = step % 2 == 1 ? "even" : "odd";
    const char* to = step % 2 == 1 ? "odd" : "even";
    const std::string here = "(near_z * ROOM_Y + near_y) * ROOM_X + near_x";
    std::string body;
    std::string skip = outside();
    if (final) {
      // A tile may extend beyond the grid along a periodic axis too; those cells belong to other tiles.
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (periodic(axis) && layout_.radius[axis] > 0)
          skip += fmt::format("{}{} >= {}", skip.empty() ? "" : " || ", kAxisNames[axis], kSide[axis]);
      }
    }
    if (!skip.empty()) body += fmt::format("    if ({}) continue;\n", skip);
    std::string frozen;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (layout_.begin[axis] > 0)
        frozen += fmt::format("{}{} < {}", frozen.empty() ? "" : " || ", kAxisNames[axis], layout_.begin[axis]);
      const std::size_t cut = layout_.shape[axis] - layout_.end[axis];
      if (cut > 0)
        frozen += fmt::format("{}{} >= {} - {}", frozen.empty() ? "" : " || ", kAxisNames[axis], kSide[axis], cut);
    }
    if (!frozen.empty()) {
      body += fmt::format("    if ({}) {{\n", frozen);
      for (std::size_t f = 0; !final && f < layout_.fields; ++f)
        body += fmt::format("      {0}{1}[{2}] = {3}{1}[{2}];\n", to, f, here, from);
      body += "      continue;\n    }\n";
    }
    body += kernel_.text.statements("    ", "t", [&](const Operation& read) {
      if (read.kind == Node::Kind::coefficient) return coefficient(read);
      return fmt::format("{}{}[({} * ROOM_Y + {}) * ROOM_X + {}]", from, read.field, near_index(0, read.offset[0]),
                         near_index(1, read.offset[1]), near_index(2, read.offset[2]));
    });
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      body += final ? fmt::format("    out[{} * field + origin + ((ulong)z * height + y) * pitch + x] = {};\n", f,
                                  kernel_.text.result(f, "t"))
                    : fmt::format("    {}{}[{}] = {};\n", to, f, here, kernel_.text.result(f, "t"));
    }
    return loop(step, body);
  }

  const TileKernel& kernel_;
  const Layout& layout_;
};

std::size_t room(const TileKernel& kernel, std::size_t axis) {
  return kernel.options.tile[axis] +
         2 * kernel.options.depth * static_cast<std::size_t>(kernel.text.layout.radius[axis]);
}

}  // namespace

std::size_t TileKernel::local_bytes() const {
  const Layout& layout = text.layout;
  return room(*this, 0) * room(*this, 1) * room(*this, 2) * layout.fields * layout.element_bytes *
         (options.depth > 1 ? 2 : 1);
}

std::string TileKernel::refusal(const Limits& limits) const {
  if (options.items > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", options.items, limits.work_group);
  const std::size_t most = std::min(limits.local_memory, kLocalArrays);
  if (local_bytes() > most) {
    return fmt::format("needs {} of local memory, {} are available",
                       base::human_bytes(static_cast<double>(local_bytes())),
                       base::human_bytes(static_cast<double>(most)));
  }
  if (std::string reason = grid_refusal(launch(), place); !reason.empty()) return reason;
  // A mirrored cell must be in the same tile.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool mirror = text.layout.low[axis] == Border::mirror || text.layout.high[axis] == Border::mirror;
    if (mirror && static_cast<std::size_t>(text.layout.radius[axis]) > text.layout.shape[axis])
      return fmt::format("needs at least {} cells along a mirrored axis (the radius), got {}", text.layout.radius[axis],
                         text.layout.shape[axis]);
  }
  return {};
}

KernelSource TileKernel::source() const {
  const auto word = [](std::size_t value) { return std::to_string(value); };
  const auto halo = [&](std::size_t axis) {
    return word(options.depth * static_cast<std::size_t>(text.layout.radius[axis]));
  };
  return {.name = "stencil tiles",
          .text = fmt::format("// {} steps of a tile of {} x {} x {} cells in local memory\n", options.depth,
                              options.tile[0], options.tile[1], options.tile[2]) +
                  TileWriter(*this).text(),
          .defines = {{"CELL", text.cell},
                      {"ITEMS_X", word(options.items)},
                      {"TILE_X", word(options.tile[2])},
                      {"TILE_Y", word(options.tile[1])},
                      {"TILE_Z", word(options.tile[0])},
                      {"HALO_X", halo(2)},
                      {"HALO_Y", halo(1)},
                      {"HALO_Z", halo(0)},
                      {"ROOM_X", word(room(*this, 2))},
                      {"ROOM_Y", word(room(*this, 1))},
                      {"ROOM_Z", word(room(*this, 0))}}};
}

Launch TileKernel::launch() const {
  const auto groups = [&](std::size_t axis) {
    return static_cast<std::uint64_t>((place.sides[axis] + options.tile[axis] - 1) / options.tile[axis]);
  };
  return {.groups = {groups(2), groups(1), groups(0)}, .items = {options.items}};
}

std::vector<Argument> TileKernel::scalars() const {
  const auto count = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto offset = [](std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); };
  return {count(place.width()), count(place.height()), count(place.planes()),
          offset(place.pitch),  offset(place.origin),  offset(place.field)};
}

}  // namespace ridge::stencil
