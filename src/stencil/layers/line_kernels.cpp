// Kernel text for layers computed line by line along their axis. Every value of a line is read once: along z and y a
// work-item has the line in registers, along x a group has rows in local memory. Memory variables are replaced in
// place, because no other work-item or group reads them.
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
  const uint item = (uint)GROUP_ID(0) * {items}u + (uint)LOCAL_ID(0);
  const uint other = item / width, x = item - other * width;
  if (other >= others) return;
  GLOBAL const long* side = table + {numbers} * (int)GROUP_ID(1);
  const int live_begin = (int)side[3], live_end = (int)side[4];
  const ulong cell = (ulong)side[0] * step + (ulong)other * other_step + x;
  const ulong deep_step = (ulong)others * width, block = {band} * deep_step;
  GLOBAL CELL* memory = memories + side[1] + item;
  GLOBAL const CELL* profile = profiles + side[2] + {radius};
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

// Along x: rows of {cells} cells in local memory, {lines} of them per pass.
constexpr const char* kRowKernel = R"(
KERNEL WORK_GROUP({items}, 1, 1) void {name}(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL CELL* memories, GLOBAL const long* RESTRICT table,
    ulong newer, ulong older, ulong scale, ulong pitch, ulong plane, uint height, uint rows) {{
  LOCAL_ARRAY(CELL, before, {local});
{local_arrays}  const int item = LOCAL_ID(0), line = item / {cells}, column = item % {cells}, at = column - {radius};
  GLOBAL const long* side = table + {numbers} * (int)GROUP_ID(1);
  const int in_band = line < {lines} && at >= 0 && at < {band};
  const int live = line < {lines} && at >= (int)side[3] && at < (int)side[4];
  const ulong block = (ulong)rows * {band};
  GLOBAL const CELL* profile = profiles + side[2] + {radius};
  CELL fresh[{passes}], scales[{passes}]{own_arrays};
  ulong cells[{passes}], memory[{passes}];
  UNROLL for (int k = 0; k < {passes}; ++k) {{
    const uint row = (uint)GROUP_ID(0) * {rows_of_group}u + (uint)(k * {lines} + line);
    const int inside = line < {lines} && row < rows, spot = (k * {lines} + line) * {cells} + column;
    cells[k] = row / height * plane + row % height * pitch + (ulong)(side[0] + at);
    memory[k] = (ulong)side[1] + (ulong)row * {band} + (ulong)(long)at;
    const CELL old = inside ? grid[older + cells[k]] : (CELL)0;
    fresh[k] = inside && in_band ? grid[newer + cells[k]] : (CELL)0;
    scales[k] = inside && in_band ? media[scale + cells[k]] : (CELL)0;
    if (line < {lines}) before[spot] = old;
{load}  }}
  BARRIER();
{shared}  if (!in_band) return;
  UNROLL for (int k = 0; k < {passes}; ++k) {{
    const uint row = (uint)GROUP_ID(0) * {rows_of_group}u + (uint)(k * {lines} + line);
    const int spot = (k * {lines} + line) * {cells} + column;
    if (row < rows) {{
{body}      grid[newer + cells[k]] = {result};
      if (live) {{
{store}      }}
    }}
  }}
}}
)";

// Which memory variables neighbours read.
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
  LineText(const LoweredLayer<T>& layer, const Layout& layout)
      : layer_(layer), layout_(layout), near_(shared_memories(layer)), by_x_(layer.place.axis == 2) {}

  std::string text() const {
    const LayerPlace& place = layer_.place;
    const std::size_t band = place.extent[place.axis], cells = line_cells(place), lines = kRowItems / cells;
    std::string local_arrays, own_arrays, own_load, load, store;
    for (std::size_t i = 0; i < layer_.memories; ++i) {
      if (near_.count(i) > 0) {
        local_arrays += fmt::format("  LOCAL_ARRAY(CELL, memory{}, {});\n", i, kRowPasses * lines * cells);
        load += near_load(i);
      } else {
        own_arrays += fmt::format(", own{}[{}]", i, by_x_ ? kRowPasses : kBlock);
        (by_x_ ? load : own_load) += own_load_text(i);
      }
      store += fmt::format("        {} = {};\n", stored(i), body_text().result(i + 1, "t"));
    }
    for (std::size_t i = 0; i < layer_.shared; ++i)
      local_arrays += fmt::format("  LOCAL_ARRAY(CELL, shared{}, {});\n", i, kRowPasses * lines * cells);
    const std::string shared = layer_.shared > 0 ? shared_text() : "";
    const auto read = [&](const Operation& op) { return read_text(op); };
    return fmt::format(
        fmt::runtime(by_x_ ? kRowKernel : kColumnKernel), fmt::arg("items", by_x_ ? kRowItems : kLineItems),
        fmt::arg("name", line_kernel_name(place.axis)), fmt::arg("numbers", kLineNumbers), fmt::arg("band", band),
        fmt::arg("radius", place.radius), fmt::arg("cells", cells), fmt::arg("lines", lines),
        fmt::arg("passes", kRowPasses), fmt::arg("rows_of_group", rows_of_group(place)),
        fmt::arg("local", kRowPasses * lines * cells), fmt::arg("block", kBlock),
        fmt::arg("local_arrays", local_arrays), fmt::arg("own_arrays", own_arrays), fmt::arg("own_load", own_load),
        fmt::arg("load", by_x_ ? load : load + shared), fmt::arg("shared", shared),
        fmt::arg("body", body_text().statements("      ", "t", read)), fmt::arg("result", body_text().result(0, "t")),
        fmt::arg("store", store));
  }

 private:
  static constexpr std::size_t kBlock = 6;  // cells of a line whose own values are loaded at once

  CellText body_text() const { return cell_text(layer_.main.outputs, layout_, type_name<T>()); }

  std::string near_load(std::size_t i) const {
    if (by_x_)
      return fmt::format("    if (line < {1}) memory{0}[spot] = inside && live ? {2} : (CELL)0;\n", i,
                         kRowItems / line_cells(layer_.place), stored(i));
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    return fmt::format(
        "  CELL memory{0}[{1}];\n"
        "  UNROLL for (int k = 0; k < {1}; ++k) {{\n"
        "    const int at = k - {2};\n"
        "    memory{0}[k] = at >= 0 && at < {3} && at >= live_begin && at < live_end ? {4} : (CELL)0;\n"
        "  }}\n",
        i, cells, radius, cells - 2 * radius, stored(i));
  }
  std::string own_load_text(std::size_t i) const {
    return fmt::format("      own{}[k] = {} ? {} : (CELL)0;\n", i,
                       by_x_ ? "inside && live" : "at >= live_begin && at < live_end", stored(i));
  }
  // A memory variable of cell `at` in global memory.
  std::string stored(std::size_t i) const {
    return fmt::format("{}[{} * block + {}]", by_x_ ? "memories" : "memory", i,
                       by_x_ ? "memory[k]" : "(ulong)at * deep_step");
  }

  // Values that neighbours share, zero outside the band.
  std::string shared_text() const {
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    const CellText values = cell_text(layer_.first.outputs, layout_, type_name<T>());
    std::string arrays, store;
    for (std::size_t i = 0; i < layer_.shared; ++i) {
      if (!by_x_)
        arrays +=
            fmt::format("  CELL shared{0}[{1}];\n  UNROLL for (int k = 0; k < {1}; ++k) shared{0}[k] = 0;\n", i, cells);
      store += by_x_ ? fmt::format("      shared{}[spot] = in_band ? {} : (CELL)0;\n", i, values.result(i, "s"))
                     : fmt::format("    shared{}[at + {}] = {};\n", i, radius, values.result(i, "s"));
    }
    const auto read = [&](const Operation& op) { return shared_read_text(op); };
    if (!by_x_)
      return arrays + fmt::format("  UNROLL for (int at = 0; at < {}; ++at) {{\n{}{}  }}\n", cells - 2 * radius,
                                  values.statements("    ", "s", read), store);
    return fmt::format(
        "  if (line < {0}) {{\n"
        "    UNROLL for (int k = 0; k < {1}; ++k) {{\n"
        "      const int spot = (k * {0} + line) * {2} + column;\n{3}{4}    }}\n  }}\n  BARRIER();\n",
        kRowItems / cells, kRowPasses, cells, values.statements("      ", "s", read), store);
  }

  // An element of a line's array, `by` cells away.
  std::string element(const std::string& array, int by) const {
    if (by_x_) return fmt::format("{}[spot + ({})]", array, by);
    return fmt::format("{}[at + {}]", array, static_cast<int>(layer_.place.radius) + by);
  }
  std::string memory_text(std::size_t i, int by) const {
    return near_.count(i) > 0 ? element(fmt::format("memory{}", i), by) : fmt::format("own{}[k]", i);
  }
  std::string profile_text(std::size_t k, int by) const {
    return fmt::format("profile[{} + at + ({})]", k * layer_.values[0].size(), by);
  }
  std::string read_text(const Operation& op) const {
    const int by = op.offset[layer_.place.axis];
    if (op.kind == Node::Kind::read) {
      if (op.field == 0) return "fresh[k]";
      if (op.field == layer_.previous_field()) return element("before", by);
      return op.field < layer_.previous_field()
                 ? memory_text(op.field - 1, by)
                 : element(fmt::format("shared{}", op.field - layer_.previous_field() - 1), by);
    }
    return op.field < layer_.profiles ? profile_text(op.field, by) : "scales[k]";
  }
  std::string shared_read_text(const Operation& op) const {
    const int by = op.offset[layer_.place.axis];
    if (op.field < layer_.profiles) return profile_text(op.field, by);
    if (op.field == layer_.previous()) return element("before", by);
    if (op.field == layer_.scaling()) return by_x_ ? "scales[k]" : "media[scale + cell + (ulong)at * step]";
    const std::size_t i = op.field - layer_.others();
    if (near_.count(i) > 0 || by_x_) return memory_text(i, by);
    return fmt::format("(at >= live_begin && at < live_end ? {} : (CELL)0)", stored(i));
  }

  const LoweredLayer<T>& layer_;
  const Layout& layout_;
  std::set<std::size_t> near_;
  bool by_x_;
};

}  // namespace

std::string line_kernel_name(std::size_t axis) { return fmt::format("layer_lines_{}", kAxisNames[axis]); }

template <class T>
std::string line_kernel_text(const LoweredLayer<T>& layer, const Layout& layout) {
  return LineText<T>(layer, layout).text();
}

template std::string line_kernel_text(const LoweredLayer<float>&, const Layout&);
template std::string line_kernel_text(const LoweredLayer<double>&, const Layout&);

}  // namespace ridge::stencil
