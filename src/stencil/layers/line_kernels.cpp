// Kernel text for layers computed line by line along their axis. Every value of a line is read once: a work-item has
// the line in registers. Memory variables are replaced in place, because no other work-item reads them.
#include "stencil/layers/line_kernels.hpp"

#include <set>

#include <fmt/format.h>

#include "device/kernel_template.hpp"
#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/pass.hpp"

namespace ridge::stencil {
namespace {

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
    return "\n" + ridge::detail::fill_kernel_text(
                      by_x_ ? "stencil/layer_row" : "stencil/layer_column",
                      {{"items", std::to_string(by_x_ ? row_items(place) : kLineItems)},
                       {"name", line_kernel_name(place.axis)},
                       {"numbers", std::to_string(kLineNumbers)},
                       {"band", std::to_string(band)},
                       {"radius", std::to_string(place.radius)},
                       {"cells", std::to_string(cells)},
                       {"block", std::to_string(kBlock)},
                       {"rows", std::to_string(tile_rows(layer_.place))},
                       {"parts", std::to_string(row_parts(place))},
                       {"part", std::to_string(kPart)},
                       {"window", std::to_string(window())},
                       {"local_arrays", local_arrays},
                       {"vector", vector()},
                       {"wide", std::to_string(wide())},
                       {"tile_load", tile_load},
                       {"tile_store", tile_store},
                       {"own_arrays", own_arrays},
                       {"own_load", own_load},
                       {"profile_begin", std::to_string(quads() ? 4 * place.radius : place.radius)},
                       {"load", load},
                       {"body", quad_text() + body_text().statements("      ", "t", read)},
                       {"result", body_text().result(0, "t")},
                       {"store", store}});
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
