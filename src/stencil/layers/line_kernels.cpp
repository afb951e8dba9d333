// Kernel text for layers computed line by line along their axis. Every value of a line is read once: a work-item has
// the line, or the part of it that is under way, in registers. Memory variables are replaced in place, because no other
// work-item reads them.
#include "stencil/layers/line_kernels.hpp"

#include <algorithm>
#include <cstdlib>
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
    std::string local_arrays, tile_load, tile_store, own_load, load, store;
    std::string arrays = fmt::format("  CELL before[{0}], fresh[{1}], scales[{1}];\n", cells, band);
    for (std::size_t i = 0; i < layer_.memories; ++i) {
      arrays += fmt::format("  GLOBAL CELL* const memory_line{0} = memory + {0} * block;\n", i);
      if (by_x_) {
        if (near_.count(i) > 0) load += near_load(i);
      } else if (is_loaded_early(i)) {
        arrays += fmt::format("  CELL memory{}[{}];\n", i, cells);
        load +=
            fmt::format("      memory{}[k] = at >= 0 && at < {} && {} ? {} : (CELL)0;\n", i, band, kLive, stored(i));
      } else {
        arrays += fmt::format("  CELL own{}[{}];\n", i, band);
        own_load += fmt::format("      own{}[at] = {} ? {} : (CELL)0;\n", i, kLive, stored(i));
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
    if (layer_.shared > 0 && by_x_) load += shared_text();
    const std::size_t block = marches() ? 4 : 6, reach = shared_reach();
    const std::size_t early =
        whole_blocks(2 * place.radius + reach, block);  // cells that a computed one needs before it
    const auto planes = static_cast<double>(layout_.shape[1]) * static_cast<double>(layout_.shape[2] + 256);
    const auto read = [&](const Operation& op) { return read_text(op); };
    return "\n" + ridge::detail::fill_kernel_text(
                      by_x_ ? "stencil/layer_row" : "stencil/layer_column",
                      {{"items", std::to_string(by_x_ ? row_items(place) : kLineItems)},
                       {"name", line_kernel_name(place.axis)},
                       {"numbers", std::to_string(kLineNumbers)},
                       {"band", std::to_string(band)},
                       {"radius", std::to_string(place.radius)},
                       {"cells", std::to_string(cells)},
                       {"block", std::to_string(block)},
                       {"lead", std::to_string(marches() ? early : whole_blocks(cells, block))},
                       {"offset", planes * static_cast<double>(cells) < 0x1p31 ? "int" : "long"},
                       {"arrays", arrays + shared_arrays(cells)},
                       {"shared", by_x_ ? "" : column_shared_text(early - reach, block)},
                       {"rows", std::to_string(tile_rows(layer_.place))},
                       {"parts", std::to_string(row_parts(place))},
                       {"part", std::to_string(kPart)},
                       {"window", std::to_string(window())},
                       {"local_arrays", local_arrays},
                       {"vector", vector()},
                       {"wide", std::to_string(wide())},
                       {"tile_load", tile_load},
                       {"tile_store", tile_store},
                       {"own_load", own_load},
                       {"profile_begin", std::to_string(quads() ? 4 * place.radius : place.radius)},
                       {"load", load},
                       {"body", quad_text() + body_text().statements("      ", "t", read)},
                       {"result", body_text().result(0, "t")},
                       {"store", store}});
  }

 private:
  static std::size_t whole_blocks(std::size_t cells, std::size_t block) { return (cells + block - 1) / block * block; }
  // Along z and y: long lines are loaded while they are computed, because they would take too many registers.
  bool marches() const { return line_cells(layer_.place) > 20; }
  static constexpr const char* kLive = "at >= live_begin && at < live_end";

  std::size_t window() const { return kPart + 2 * layer_.place.radius; }
  // Four profiles of a cell are stored together and loaded at once.
  bool quads() const { return line_profile_quads<T>(layer_.profiles); }
  std::string quad_text() const {
    return quads() ? "      const float4 profiles_here = *(GLOBAL const float4*)(profile + 4 * at);\n" : "";
  }
  CellText body_text() const { return cell_text(layer_.main.outputs, layout_, type_name<T>()); }

  // Along z and y: neighbours read the memory variable, or values that are shared depend on it.
  bool is_loaded_early(std::size_t i) const { return layer_.shared > 0 || near_.count(i) > 0; }
  // Cells from which a shared value reads, on each side.
  std::size_t shared_reach() const {
    int reach = 0;
    for (const Operation& op : flatten(layer_.first.outputs).operations) {
      if (op.kind == Node::Kind::read) reach = std::max(reach, std::abs(op.offset[layer_.place.axis]));
    }
    return static_cast<std::size_t>(reach);
  }

  // A memory variable of a line along x, with zeros beyond the band.
  std::string near_load(std::size_t i) const {
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    return fmt::format(
        "  CELL memory{0}[{1}];\n"
        "  UNROLL for (int k = 0; k < {1}; ++k) {{\n"
        "    const int at = begin + k - {2};\n"
        "    memory{0}[k] = at >= 0 && at < {3} ? {4} : (CELL)0;\n"
        "  }}\n",
        i, window(), radius, cells - 2 * radius, tiled(i, "at"));
  }
  // A memory variable of cell `at` of the work-item's line: in global memory; along x, in its tile.
  static std::string stored(std::size_t i) { return fmt::format("memory_line{}[at * deep]", i); }
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

  std::string shared_arrays(std::size_t count) const {
    std::string arrays;
    for (std::size_t i = 0; i < layer_.shared; ++i)
      arrays +=
          fmt::format("  CELL shared{0}[{1}];\n  UNROLL for (int k = 0; k < {1}; ++k) shared{0}[k] = 0;\n", i, count);
    return arrays;
  }
  // Values of cell `at` that neighbours share, element `k` of the line; they are zero outside the band.
  std::string shared_values() const {
    const CellText values = cell_text(layer_.first.outputs, layout_, type_name<T>());
    std::string store;
    for (std::size_t i = 0; i < layer_.shared; ++i)
      store += fmt::format("      shared{}[k] = {};\n", i, values.result(i, "s"));
    const auto read = [&](const Operation& op) { return shared_read_text(op); };
    return quad_text() + values.statements("      ", "s", read) + store;
  }
  // Along x, of all cells that a work-item reads.
  std::string shared_text() const {
    const std::size_t cells = line_cells(layer_.place), radius = layer_.place.radius;
    return shared_arrays(window()) +
           fmt::format(
               "  UNROLL for (int k = 0; k < {}; ++k) {{\n    const int at = begin + k - {};\n    if (at >= 0 && at "
               "< {}) {{\n{}    }}\n  }}\n",
               window(), radius, cells - 2 * radius, shared_values());
  }
  // Along z and y, of the block that is `early` cells before the one that is computed.
  std::string column_shared_text(std::size_t early, std::size_t block) const {
    if (layer_.shared == 0) return {};
    return fmt::format(
        "    UNROLL for (int k = first + {0}; k < first + {0} + {1}; ++k) {{\n      const int at = k - {2};\n"
        "      if (at < 0 || at >= {3}) continue;\n{4}    }}\n",
        early, block, layer_.place.radius, layer_.place.extent[layer_.place.axis], shared_values());
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
      return op.field < layer_.profiles ? profile_text(op.field, by) : by_x_ ? "scale_tile[mine + at]" : "scales[at]";
    if (op.field == 0) return by_x_ ? "new_tile[mine + at]" : "fresh[at]";
    if (op.field == layer_.previous_field()) return element("before", by);
    if (op.field > layer_.previous_field())
      return element(fmt::format("shared{}", op.field - layer_.previous_field() - 1), by);
    const std::size_t i = op.field - 1;
    if (by_x_ ? near_.count(i) > 0 : is_loaded_early(i)) return element(fmt::format("memory{}", i), by);
    return by_x_ ? tiled(i, "at") : fmt::format("own{}[at]", i);
  }
  // In the loop over the elements `k` of a line.
  std::string shared_read_text(const Operation& op) const {
    const int by = op.offset[layer_.place.axis];
    const auto near = [&](const std::string& array) { return fmt::format("{}[k + ({})]", array, by); };
    if (op.field < layer_.profiles) return profile_text(op.field, by);
    if (op.field == layer_.previous()) return near("before");
    if (op.field == layer_.scaling()) return by_x_ ? "scale_tile[mine + at]" : "scale_line[at * along]";
    const std::size_t i = op.field - layer_.others();
    if (!by_x_ || near_.count(i) > 0) return near(fmt::format("memory{}", i));
    return tiled(i, "at");
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
