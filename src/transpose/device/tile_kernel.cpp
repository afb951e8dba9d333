// Generates and launches the tile kernels of tile_padded and tile_vectorized.
#include "transpose/device/tile_kernel.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/kernel_text.hpp"

namespace ridge::transpose {
namespace {

constexpr std::size_t kLocalArrays = 48 * 1024;  // bytes; the dialect's limit without LOCAL_BLOCK

const char* name(Raster raster) {
  switch (raster) {
    case Raster::rows:
      return "rows";
    case Raster::bands:
      return "bands";
    case Raster::diagonal:
      return "diagonal";
  }
  return "unknown";
}

const char* place_tile(Raster raster) {
  switch (raster) {
    case Raster::rows:
      return "#define PLACE_TILE(place, d, a) d = (place) / tiles_across; a = (place) % tiles_across\n";
    case Raster::bands:
      return "#define PLACE_TILE(place, d, a) \\\n"
             "  const uint band = (place) / (8 * tiles_across), inside = (place) % (8 * tiles_across); \\\n"
             "  const uint height = tiles_down - band * 8 < 8 ? tiles_down - band * 8 : 8; \\\n"
             "  d = band * 8 + inside % height; a = inside / height\n";
    case Raster::diagonal:
      return "#define PLACE_TILE(place, d, a) \\\n"
             "  d = (place) / tiles_across; a = ((place) % tiles_across + d) % tiles_across\n";
  }
  return "";
}

constexpr std::array<char, 4> kMember{'x', 'y', 'z', 'w'};

// Expression of word `word` of output unit `j`: element j of each of the rows that share the word.
std::string transposed_word(std::size_t element_bytes, std::size_t j, std::size_t word) {
  const auto held = [](std::size_t row, std::size_t member) { return fmt::format("h{}.{}", row, kMember[member]); };
  switch (element_bytes) {
    case 8:
      return held(word / 2, 2 * j + word % 2);
    case 4:
      return held(word, j);
    case 2: {
      const std::string low = held(2 * word, j / 2), high = held(2 * word + 1, j / 2);
      if (j % 2 == 0) return fmt::format("({} & 0xffffu) | ({} << 16)", low, high);
      return fmt::format("({} >> 16) | ({} & 0xffff0000u)", low, high);
    }
    default: {
      std::string text;
      for (std::size_t byte = 0; byte < 4; ++byte) {
        text += fmt::format("{}(({} >> {} & 0xffu) << {})", byte == 0 ? "" : " | ", held(4 * word + byte, j / 4),
                            j % 4 * 8, byte * 8);
      }
      return text;
    }
  }
}

// Macro used by tiles.cl: transposes one block in registers and stores it in local memory.
std::string transpose_block_text(std::size_t element_bytes, std::size_t width) {
  std::string text = "#define TRANSPOSE_BLOCK(to, held, k)";
  if (width == 1) return text + " to[0] = held[k];\n";
  for (std::size_t j = 0; j < width; ++j) text += fmt::format(" \\\n  const UNIT h{0} = held[k * WIDTH + {0}];", j);
  for (std::size_t j = 0; j < width; ++j) {
    text += fmt::format(" \\\n  to[{} * PLANE] = make_uint4(", j);
    for (std::size_t word = 0; word < 4; ++word) {
      text += (word == 0 ? "" : ", ") + transposed_word(element_bytes, j, word);
    }
    text += ");";
  }
  return text + "\n";
}

std::size_t pitch(const TileOptions& options) { return options.units_down | 1; }
std::size_t unit_bytes(const Layout& layout, const TileOptions& options) {
  return layout.element_bytes * options.unit_elements;
}
std::size_t local_bytes(const Layout& layout, const TileOptions& options) {
  const std::size_t tile = options.units_across * pitch(options) * options.unit_elements * unit_bytes(layout, options);
  return layout.in_place ? 2 * tile : tile;
}

std::size_t tiles_along(std::size_t elements, std::size_t units, const TileOptions& options) {
  const std::size_t tile = units * options.unit_elements;
  return elements / tile + (elements % tile != 0);
}

std::uint64_t groups(const Layout& layout, const TileOptions& options) {
  const std::uint64_t down = tiles_along(layout.rows, options.units_down, options);
  const std::uint64_t across = tiles_along(layout.columns, options.units_across, options);
  if (layout.in_place) {
    const std::uint64_t side = down + down % 2;
    return side / 2 * (side + 1) * layout.batch;
  }
  const std::uint64_t tiles = down * across * layout.batch;
  return tiles / options.tiles_per_group + (tiles % options.tiles_per_group != 0);
}

std::string unaligned(const Layout& layout, const TileOptions& options) {
  const std::size_t width = options.unit_elements;
  if (width == 1) return {};
  if (layout.rows % width != 0 || layout.columns % width != 0) {
    return fmt::format("16-byte units need rows and columns in multiples of {}, got {} x {}", width, layout.rows,
                       layout.columns);
  }
  for (const Strides& strides : {layout.input, layout.output}) {
    if (strides.row % width != 0 || (layout.batch > 1 && strides.batch % width != 0)) {
      return fmt::format("16-byte units need row and batch strides in multiples of {}, got {} and {}", width,
                         strides.row, strides.batch);
    }
  }
  return {};
}

std::string refusal(const Device& device, const Layout& layout, const TileOptions& options) {
  const Limits& limits = device.limits();
  if (!layout.unit_columns()) {
    return fmt::format("needs column strides of 1, got a column stride of {} in the input and {} in the output",
                       layout.input.column, layout.output.column);
  }
  if (std::string reason = unaligned(layout, options); !reason.empty()) return reason;
  if (options.items > limits.work_group || options.items > limits.work_group_sides[0]) {
    return fmt::format("needs work-groups of {}, the device allows {}", options.items,
                       std::min(limits.work_group, limits.work_group_sides[0]));
  }
  const std::size_t local = local_bytes(layout, options), most = std::min(limits.local_memory, kLocalArrays);
  if (local > most) {
    return fmt::format("needs {} of local memory, the limit is {}", base::human_bytes(static_cast<double>(local)),
                       base::human_bytes(static_cast<double>(most)));
  }
  if (std::max(layout.rows, layout.columns) > kMostGroups)
    return fmt::format("needs fewer than 2^31 rows and columns, got {} x {}", layout.rows, layout.columns);
  if (groups(layout, options) > kMostGroups / options.tiles_per_group) {
    return fmt::format("needs more than {} work-groups, the limit of one launch", kMostGroups);
  }
  return {};
}

std::vector<Argument> scalars(const Layout& layout, const TileOptions& options) {
  const std::size_t width = options.unit_elements;
  const auto count = [](std::uint64_t value) { return Argument(static_cast<std::uint32_t>(value)); };
  const auto stride = [width](std::uint64_t value) { return Argument(value / width); };
  const std::size_t down = tiles_along(layout.rows, options.units_down, options);
  if (layout.in_place) {
    return {count(layout.rows / width), stride(layout.input.row), stride(layout.input.batch), count(down),
            count(down + down % 2)};
  }
  const std::size_t across = tiles_along(layout.columns, options.units_across, options);
  return {count(layout.rows / width),
          count(layout.columns / width),
          stride(layout.input.row),
          stride(layout.output.row),
          stride(layout.input.batch),
          stride(layout.output.batch),
          count(down),
          count(across),
          count(down * across * layout.batch)};
}

}  // namespace

KernelSource tile_source(const Layout& layout, const TileOptions& options) {
  const std::size_t width = options.unit_elements;
  std::string text = fmt::format(
      "// Corner turn of {}-byte elements by tiles of {} rows x {} columns, {} bytes per unit\n", layout.element_bytes,
      options.units_down * width, options.units_across * width, unit_bytes(layout, options));
  text += options.streaming ? "#define LOAD_UNIT(p) LOAD_ONCE(p)\n#define STORE_UNIT(p, v) STORE_ONCE(p, v)\n"
                            : "#define LOAD_UNIT(p) (*(p))\n#define STORE_UNIT(p, v) (*(p) = (v))\n";
  if (!layout.in_place) text += place_tile(options.raster);
  text += transpose_block_text(layout.element_bytes, width);
  text += ridge::detail::kernel_text("transpose/tiles");
  text += ridge::detail::kernel_text(layout.in_place ? "transpose/tiles_in_place" : "transpose/tiles_out_of_place");
  const auto number = [](std::size_t value) { return std::to_string(value); };
  return {.name = "transpose tiles",
          .text = text,
          .defines = {{"UNIT", unit_type(unit_bytes(layout, options))},
                      {"WIDTH", number(width)},
                      {"UNITS_DOWN", number(options.units_down)},
                      {"UNITS_ACROSS", number(options.units_across)},
                      {"WORK_ITEMS", number(options.items)},
                      {"BLOCKS", number(options.units_down * options.units_across / options.items)},
                      {"PITCH", number(pitch(options))},
                      {"PLANE", number(options.units_across * pitch(options))},
                      {"TILES_PER_GROUP", number(options.tiles_per_group)}}};
}

Entry tile_entry(const std::string& variant, const Device& device, const Layout& layout, const TileOptions& options,
                 double efficiency) {
  const std::size_t width = options.unit_elements;
  Entry entry{.candidate = planner::Candidate{.variant = variant,
                                              .parameters = {{"tile", fmt::format("{}x{}", options.units_down * width,
                                                                                  options.units_across * width)},
                                                             {"items", std::to_string(options.items)}},
                                              .refusal = refusal(device, layout, options),
                                              .cost = device_cost(layout, efficiency)},
              .kernels = [=] { return std::vector{tile_source(layout, options)}; },
              .build =
                  [=] {
                    const Launch launch{.groups = {groups(layout, options), 1, 1}, .items = {options.items, 1, 1}};
                    return std::make_shared<DeviceVariant>(device, layout, tile_source(layout, options), launch,
                                                           scalars(layout, options));
                  }};
  auto& parameters = entry.candidate.parameters;
  if (layout.in_place) {
    parameters.emplace_back("order", "pairs");
  } else {
    parameters.emplace_back("order", name(options.raster));
    if (options.tiles_per_group != 1) parameters.emplace_back("tiles", std::to_string(options.tiles_per_group));
  }
  parameters.emplace_back("access", options.streaming ? "once" : "cached");
  return entry;
}

}  // namespace ridge::transpose
