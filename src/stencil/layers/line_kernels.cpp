// Kernel text for layers computed line by line along their axis. Every value of a line is read once: a work-item has
// the line in registers. Memory variables are replaced in place, because no other work-item reads them.
#include "stencil/layers/line_kernels.hpp"

#include <set>

#include <fmt/format.h>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/pass.hpp"

namespace ridge::stencil {
namespace {

// Along z or y. The new level, the scale and memory variables that only their own cell reads are loaded for BLOCK cells
// at once: a store may otherwise delay the loads after it.
constexpr const char* kColumnKernel = R"(
KERNEL WORK_GROUP({items}, 1, 1) void {name}(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL CELL* memories, GLOBAL const long* RESTRICT table,
    ulong newer, ulong older, ulong scale, ulong step, ulong other_step, uint width, uint others) {{
  AFTER_PREVIOUS_KERNEL();
  const uint item = (uint)GROUP_ID(0) * {items}u + (uint)LOCAL_ID(0);
  const uint other = item / width, x = item - other * width;
  if (other >= others) return;
  GLOBAL const long* side = table + {numbers} * (int)GROUP_ID(1);
  const int live_begin = (int)side[3], live_end = (int)side[4];
  const ulong cell = (ulong)side[0] * step + (ulong)other * other_step + x;
  const ulong deep_step = (ulong)others * width, block = {band} * deep_step;
  GLOBAL CELL* memory = memories + side[1] + item;
  GLOBAL const CELL* profile = profiles + side[2] + {profile_begin};
  CELL before[{cells}];
  UNROLL for (int k = 0; k < {cells}; ++k) before[k] = grid[older + cell + (ulong)((long)(k - {radius}) * (long)step)];
{load}  UNROLL for (int first = 0; first < {band}; first += {block}) {{
    CELL fresh[{block}], scales[{block}]{own_arrays};
    UNROLL for (int k = 0; k < {block}; ++k) {{
      const int at = first + k;
      if (at >= {band}) continue;
      fresh[k] = grid[newer + cell + (ulong)at * step];
      scales[k] = media[scale + cell + (ulong)at * step];
{own_load}    }}
    UNROLL for (int k = 0; k < {block}; ++k) {{
      const int at = first + k;
      if (at >= {band}) continue;
{body}      grid[newer + cell + (ulong)at * step] = {result};
      if (at >= live_begin && at < live_end) {{
{store}      }}
    }}
  }}
}}
)";

// Along x: tiles of rows of one plane pass through local memory, so that neighbouring work-items access neighbouring
// cells. A work-item computes {part} cells of a row and holds the cells that they read in registers. Cells are copied
// {wide} at a time. Memory variables exist only for the cells of the band whose profiles are not all zero.
constexpr const char* kRowKernel = R"(
KERNEL WORK_GROUP({items}, 1, 1) void {name}(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL CELL* memories, GLOBAL const long* RESTRICT table,
    ulong newer, ulong older, ulong scale, ulong pitch, ulong plane, uint height, uint rows) {{
  AFTER_PREVIOUS_KERNEL();
  LOCAL_ARRAY({vector}, old_vectors, {rows} * {cells} / {wide});
  LOCAL_ARRAY({vector}, new_vectors, {rows} * {band} / {wide});
  LOCAL_ARRAY({vector}, scale_vectors, {rows} * {band} / {wide});
  LOCAL CELL* const old_tile = (LOCAL CELL*)old_vectors;
  LOCAL CELL* const new_tile = (LOCAL CELL*)new_vectors;
  LOCAL CELL* const scale_tile = (LOCAL CELL*)scale_vectors;
{local_arrays}  const int item = LOCAL_ID(0), first_row = (int)GROUP_ID(1) * {rows}, left = (int)height - first_row;
  const int tile_rows = left < {rows} ? left : {rows};
  GLOBAL const long* side = table + {numbers} * (int)GROUP_ID(0);
  const int live_begin = (int)side[3], live_end = (int)side[4], live = live_end - live_begin;
  const ulong cell = (ulong)GROUP_ID(2) * plane + (ulong)first_row * pitch + (ulong)side[0];
  const ulong block = (ulong)rows * (ulong)live;
  GLOBAL CELL* memory = memories + side[1] + ((ulong)GROUP_ID(2) * height + (ulong)first_row) * (ulong)live;
  GLOBAL const CELL* profile = profiles + side[2] + {profile_begin};
  UNROLL for (int i = item; i < {rows} * {cells} / {wide}; i += {items}) {{
    const int row = i / ({cells} / {wide}), column = i % ({cells} / {wide}) * {wide};
    if (row < tile_rows)
      old_vectors[i] =
          *(GLOBAL const {vector}*)(grid + older + cell + (ulong)row * pitch + (ulong)(long)(column - {radius}));
  }}
  UNROLL for (int i = item; i < {rows} * {band} / {wide}; i += {items}) {{
    const int row = i / ({band} / {wide}), at = i % ({band} / {wide}) * {wide};
    if (row < tile_rows) {{
      const ulong from = cell + (ulong)row * pitch + (ulong)at;
      new_vectors[i] = *(GLOBAL const {vector}*)(grid + newer + from);
      scale_vectors[i] = *(GLOBAL const {vector}*)(media + scale + from);
{tile_load}    }}
  }}
  BARRIER();
  const int row = item / {parts}, begin = item % {parts} * {part}, mine = row * {band};
  CELL before[{window}];
  UNROLL for (int k = 0; k < {window}; ++k)
    before[k] = begin + k < {cells} ? old_tile[row * {cells} + begin + k] : (CELL)0;
{load}  BARRIER();
  UNROLL for (int j = 0; j < {part}; ++j) {{
    const int at = begin + j;
    if (at < {band}) {{
{body}      new_tile[mine + at] = {result};
{store}    }}
  }}
  BARRIER();
  UNROLL for (int i = item; i < {rows} * {band} / {wide}; i += {items}) {{
    const int row = i / ({band} / {wide}), at = i % ({band} / {wide}) * {wide};
    if (row < tile_rows) {{
      *(GLOBAL {vector}*)(grid + newer + cell + (ulong)row * pitch + (ulong)at) = new_vectors[i];
{tile_store}    }}
  }}
}}
)";

// Indices of the memory variables that neighbours read.
template <class T>
std::set<std::size_t> shared_memories(const LoweredLayer<T>& layer) {
  std::set<std::size_t> read;
  for (const Operation& op : flatten(layer.main.outputs).operations) {
    if (op.kind == Node::Kind::read && op.field > 0 && op.field < layer.previous_field() &&
        op.offset[layer.place.axis] != 0)
      read.insert(op.field - 1);
  }
  return read;
}

template <class T>
class LineText {
 public:
  LineText(const LoweredLayer<T>& layer, const Layout& layout, bool aligned)
      : layer_(layer),
        layout_(layout),
        near_(shared_memories(layer)),
        by_x_(layer.place.axis == 2),
        aligned_(aligned) {}

  std::string text() const {
    const LayerPlace& place = layer_.place;
    const std::size_t band = place.extent[place.axis], cells = line_cells(place);
    std::string local_arrays, tile_load, tile_store, own_arrays, own_load, load, store;
    for (std::size_t i = 0; i < layer_.memories; ++i) {
      if (near_.count(i) > 0) {
        load += near_load(i);
      } else {
        own_arrays += fmt::format(", own{}[{}]", i, kBlock);
        own_load += fmt::format("      own{}[k] = {} ? {} : (CELL)0;\n", i, kLive, stored(i));
      }
      store += fmt::format("{}{} = {};\n", by_x_ ? "      " : "        ", by_x_ ? tiled(i, "at") : stored(i),
                           body_text().result(i + 1, "t"));
      local_arrays += fmt::format(
          "  LOCAL_ARRAY({0}, memory_vectors{1}, {2} * {3} / {4});\n"
          "  LOCAL CELL* const memory_tile{1} = (LOCAL CELL*)memory_vectors{1};\n",
          vector(), i, tile_rows(layer_.place), band, wide());
      tile_load += fmt::format("      memory_vectors{}[i] = {} ? {} : {};\n", i, kLive, row_stored(i),
                               wide() == 1 ? "(CELL)0" : "make_float4(0, 0, 0, 0)");
      tile_store += fmt::format("      if ({}) {} = memory_vectors{}[i];\n", kLive, row_stored(i), i);
    }
    if (layer_.shared > 0) load += shared_text();
    const auto read = [&](const Operation& op) { return read_text(op); };
    return fmt::format(
        fmt::runtime(by_x_ ? kRowKernel : kColumnKernel), fmt::arg("items", by_x_ ? row_items(place) : kLineItems),
        fmt::arg("name", line_kernel_name(place.axis)), fmt::arg("numbers", kLineNumbers), fmt::arg("band", band),
        fmt::arg("radius", place.radius), fmt::arg("cells", cells), fmt::arg("block", kBlock),
        fmt::arg("rows", tile_rows(layer_.place)), fmt::arg("parts", row_parts(place)), fmt::arg("part", kPart),
        fmt::arg("window", window()), fmt::arg("local_arrays", local_arrays), fmt::arg("vector", vector()),
        fmt::arg("wide", wide()), fmt::arg("tile_load", tile_load), fmt::arg("tile_store", tile_store),
        fmt::arg("own_arrays", own_arrays), fmt::arg("own_load", own_load),
        fmt::arg("profile_begin", quads() ? 4 * place.radius : place.radius), fmt::arg("load", load),
        fmt::arg("body", quad_text() + body_text().statements("      ", "t", read)),
        fmt::arg("result", body_text().result(0, "t")), fmt::arg("store", store));
  }

 private:
  static constexpr std::size_t kBlock = 6;  // cells of a line whose own values are loaded at once
  static constexpr const char* kLive = "at >= live_begin && at < live_end";

  std::size_t window() const { return kPart + 2 * layer_.place.radius; }
  // Four profiles of a cell are stored together and loaded at once.
  bool quads() const { return line_profile_quads<T>(layer_.profiles); }
  std::string quad_text() const {
    return quads() ? "      const float4 profiles_here = *(GLOBAL const float4*)(profile + 4 * at);\n" : "";
  }
  CellText body_text() const { return cell_text(layer_.main.outputs, layout_, type_name<T>()); }

  // A memory variable of a line, with zeros beyond the band.
  std::string near_load(std::size_t i) const {
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    return fmt::format(
        "  CELL memory{0}[{1}];\n"
        "  UNROLL for (int k = 0; k < {1}; ++k) {{\n"
        "    const int at = {2}k - {3};\n"
        "    memory{0}[k] = at >= 0 && at < {4}{5} ? {6} : (CELL)0;\n"
        "  }}\n",
        i, by_x_ ? window() : cells, by_x_ ? "begin + " : "", radius, cells - 2 * radius,
        by_x_ ? "" : fmt::format(" && {}", kLive), by_x_ ? tiled(i, "at") : stored(i));
  }
  // A memory variable of cell `at` of the work-item's line: in global memory; along x, in its tile.
  static std::string stored(std::size_t i) { return fmt::format("memory[{} * block + (ulong)at * deep_step]", i); }
  static std::string tiled(std::size_t i, const char* at) { return fmt::format("memory_tile{}[mine + {}]", i, at); }
  // Expression for a memory variable of the tile's row `row` and cell `at`, in global memory.
  std::string row_stored(std::size_t i) const {
    const std::string at = fmt::format("{} * block + (ulong)(row * live + at - live_begin)", i);
    return wide() == 1 ? fmt::format("memory[{}]", at) : fmt::format("*(GLOBAL float4*)(memory + {})", at);
  }
  // Cells copied at a time along x: four if every row of every array starts at a multiple of four cells.
  std::size_t wide() const {
    const LayerPlace& place = layer_.place;
    const std::size_t all =
        place.begin[2] | place.extent[2] | place.radius | place.cells | layout_.begin[2] | layout_.end[2];
    return sizeof(T) == sizeof(float) && aligned_ && all % 4 == 0 ? 4 : 1;
  }
  const char* vector() const { return wide() == 1 ? "CELL" : "float4"; }

  // Values that neighbours share, zero outside the band.
  std::string shared_text() const {
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    const CellText values = cell_text(layer_.first.outputs, layout_, type_name<T>());
    std::string arrays, store;
    const std::size_t count = by_x_ ? window() : cells;
    for (std::size_t i = 0; i < layer_.shared; ++i) {
      arrays +=
          fmt::format("  CELL shared{0}[{1}];\n  UNROLL for (int k = 0; k < {1}; ++k) shared{0}[k] = 0;\n", i, count);
      store += fmt::format("      shared{}[k] = {};\n", i, values.result(i, "s"));
    }
    const auto read = [&](const Operation& op) { return shared_read_text(op); };
    return arrays + fmt::format(
                        "  UNROLL for (int k = {}; k < {}; ++k) {{\n    const int at = {}k - {};\n    if (at >= 0 && "
                        "at < {}) {{\n{}{}    }}\n  }}\n",
                        by_x_ ? 0 : radius, by_x_ ? count : cells - radius, by_x_ ? "begin + " : "", radius,
                        cells - 2 * radius, quad_text() + values.statements("      ", "s", read), store);
  }

  // An element of a line's array, `by` cells away.
  std::string element(const std::string& array, int by) const {
    return fmt::format("{}[{} + {}]", array, by_x_ ? "j" : "at", static_cast<int>(layer_.place.radius) + by);
  }
  std::string profile_text(std::size_t k, int by) const {
    if (!quads()) return fmt::format("profile[{} + at + ({})]", k * layer_.values[0].size(), by);
    if (by == 0) return fmt::format("profiles_here.{}", "xyzw"[k]);
    return fmt::format("profile[4 * (at + ({})) + {}]", by, k);
  }
  std::string read_text(const Operation& op) const {
    const int by = op.offset[layer_.place.axis];
    if (op.kind == Node::Kind::coefficient)
      return op.field < layer_.profiles ? profile_text(op.field, by) : by_x_ ? "scale_tile[mine + at]" : "scales[k]";
    if (op.field == 0) return by_x_ ? "new_tile[mine + at]" : "fresh[k]";
    if (op.field == layer_.previous_field()) return element("before", by);
    if (op.field > layer_.previous_field())
      return element(fmt::format("shared{}", op.field - layer_.previous_field() - 1), by);
    if (near_.count(op.field - 1) > 0) return element(fmt::format("memory{}", op.field - 1), by);
    return by_x_ ? tiled(op.field - 1, "at") : fmt::format("own{}[k]", op.field - 1);
  }
  // In the loop over the elements `k` of a line.
  std::string shared_read_text(const Operation& op) const {
    const int by = op.offset[layer_.place.axis];
    const auto near = [&](const std::string& array) { return fmt::format("{}[k + ({})]", array, by); };
    if (op.field < layer_.profiles) return profile_text(op.field, by);
    if (op.field == layer_.previous()) return near("before");
    if (op.field == layer_.scaling()) return by_x_ ? "scale_tile[mine + at]" : "media[scale + cell + (ulong)at * step]";
    const std::size_t i = op.field - layer_.others();
    if (near_.count(i) > 0) return near(fmt::format("memory{}", i));
    return by_x_ ? tiled(i, "at") : fmt::format("({} ? {} : (CELL)0)", kLive, stored(i));
  }

  const LoweredLayer<T>& layer_;
  const Layout& layout_;
  std::set<std::size_t> near_;
  bool by_x_, aligned_;
};

}  // namespace

std::string line_kernel_name(std::size_t axis) { return fmt::format("layer_lines_{}", kAxisNames[axis]); }

template <class T>
std::string line_kernel_text(const LoweredLayer<T>& layer, const Layout& layout, bool aligned) {
  return LineText<T>(layer, layout, aligned).text();
}

template std::string line_kernel_text(const LoweredLayer<float>&, const Layout&, bool);
template std::string line_kernel_text(const LoweredLayer<double>&, const Layout&, bool);

}  // namespace ridge::stencil
