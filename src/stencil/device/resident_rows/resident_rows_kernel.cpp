// Kernel text of rows that stay in registers.
#include "stencil/device/resident_rows/resident_rows_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "device/kernel_text.hpp"
#include "stencil/device/mail_pass.hpp"
#include "stencil/device/resident.hpp"

namespace ridge::stencil {
namespace {

// Tiles along an axis: as few as cover it if neighbours overlap by two halos. 0: one tile is larger than the axis, or
// its halos take all of it. First cells are rounded down to multiples of `unit`.
int tile_count(int side, int tile, int halo, int unit) {
  if (side == tile) return 1;
  if (side < tile || tile <= 2 * halo) return 0;
  const int advance = tile - 2 * halo, others = pieces(side - tile, advance);
  const bool exact = (side - tile) % others == 0 && (side - tile) / others % unit == 0;
  if (exact || unit == 1) return others + 1;
  return advance < 2 * unit ? 0 : pieces(side - tile, advance - unit + 1) + 1;
}

class RowsWriter {
 public:
  explicit RowsWriter(const ResidentRowsKernel& kernel) : kernel_(kernel), layout_(kernel.text.layout) {}

  std::string text() const {
    std::string code = ridge::detail::kernel_text("codegen/mailbox") +
                       ridge::detail::kernel_text("stencil/vector_rows") +
                       ridge::detail::kernel_text("stencil/resident_rows");
    for (const char* letters : {"uv", "vu"}) replace_mark(code, "STEP", step(letters[0], letters[1]));
    return code;
  }

 private:
  int rows() const { return kernel_.options.rows; }
  int reach() const { return layout_.radius[1]; }

  // One step from the old to the new values. Rows that need no other sub-group come first.
  std::string step(char from, char to) const {
    std::string code;
    for (int side = 0; side < 2; ++side) {
      for (int r = 0; r < reach(); ++r) {
        code += fmt::format("        STORE_ROW(here + {} * WIDTH, {}[{}]);\n", side * reach() + r, from,
                            side == 0 ? r : rows() - reach() + r);
      }
    }
    code += "        BARRIER();\n        CELL before[RADIUS_Y][VECTOR], after[RADIUS_Y][VECTOR];\n";
    std::set<std::string> loaded;
    for (int r = reach(); r < rows() - reach(); ++r) code += row(r, from, to, loaded);
    for (int r = 0; r < reach(); ++r) {
      code += fmt::format("        LOAD_ROW(before[{}], part > 0 ? here - {} * WIDTH : here);\n", r, reach() - r);
      code += fmt::format("        LOAD_ROW(after[{}], part < SUB_GROUPS - 1 ? here + {} * WIDTH : here);\n", r,
                          2 * reach() + r);
    }
    for (int r = 0; r < rows(); ++r) {
      if (r < reach() || r >= rows() - reach()) code += row(r, from, to, loaded);
    }
    return code;
  }

  // Name of the row that is read, and the row as an array.
  std::pair<std::string, std::string> row_of(int r, char from) const {
    if (r < 0) return {fmt::format("b{}", r + reach()), fmt::format("before[{}]", r + reach())};
    if (r >= rows()) return {fmt::format("a{}", r - rows()), fmt::format("after[{}]", r - rows())};
    return {fmt::format("{}{}", from, r), fmt::format("{}[{}]", from, r)};
  }

  // The statements of a row, after the shuffles that are not yet in `loaded`.
  std::string row(int r, char from, char to, std::set<std::string>& loaded) const {
    std::string shuffles, statements;
    const int vector = kernel_.vector();
    for (int i = 0; i < vector; ++i) {
      const std::string prefix = fmt::format("t{}_{}_", r, i);
      statements += kernel_.text.statements("        ", prefix, [&](const Operation& read) {
        const auto [name, array] = row_of(r + read.offset[1], from);
        const int at = i + read.offset[2];
        if (at >= 0 && at < vector) return fmt::format("{}[{}]", array, at);
        std::string other = fmt::format("{}_{}", name, signed_word(at));
        if (loaded.insert(other).second) {
          shuffles +=
              at < 0 ? fmt::format("        const CELL {} = SHUFFLE_UP({}[{}], 1);\n", other, array, at + vector)
                     : fmt::format("        const CELL {} = SHUFFLE_DOWN({}[{}], 1);\n", other, array, at - vector);
        }
        return other;
      });
      const std::string fresh = fmt::format("{}[{}][{}]", to, r, i), old = fmt::format("{}[{}][{}]", from, r, i);
      statements += fmt::format("        {} = {};\n", fresh, kernel_.text.result(0, prefix));
      for (const std::string& side : kept(r, i))
        statements += fmt::format("        {0} = keep_{1} ? {2} : {0};\n", fresh, side, old);
    }
    return shuffles + statements;
  }

  // Sides of the grid at which a cell of the patch keeps its value.
  std::vector<std::string> kept(int r, int i) const {
    const auto below = [&](std::size_t axis) { return static_cast<int>(layout_.begin[axis]); };
    const auto above = [&](std::size_t axis) { return static_cast<int>(layout_.shape[axis] - layout_.end[axis]); };
    std::vector<std::string> sides;
    if (i < below(2)) sides.push_back("left");
    if (i >= kernel_.vector() - above(2)) sides.push_back("right");
    if (r < below(1)) sides.push_back("top");
    if (r >= rows() - above(1)) sides.push_back("bottom");
    return sides;
  }

  const ResidentRowsKernel& kernel_;
  const Layout& layout_;
};

}  // namespace

int ResidentRowsKernel::halo_x() const { return pieces(options.depth * text.layout.radius[2], vector()) * vector(); }

int ResidentRowsKernel::tiles_x() const {
  return tile_count(static_cast<int>(text.layout.shape[2]), tile_width(), halo_x(), vector());
}

int ResidentRowsKernel::tiles_y() const {
  return tile_count(static_cast<int>(text.layout.shape[1]), tile_height(), halo_y(), 1);
}

std::size_t ResidentRowsKernel::local_bytes() const {
  const int edges = 2 * options.sub_groups * 2 * text.layout.radius[1] * tile_width();
  return static_cast<std::size_t>(edges) * text.layout.element_bytes;
}

// Each quarter of a compute unit issues one instruction of a sub-group per cycle: operations, shuffles, choices of
// fixed cells, and per step accesses to the sub-group's edges. An exchange of tiles adds waiting time. Constants were
// measured on an H200 (docs/measurements/h200.md).
double ResidentRowsKernel::cycles() const {
  constexpr double kExchange = 2000, kEdges = 30;
  const Layout& layout = text.layout;
  const double words = layout.element_bytes == 8 ? 2 : 1, lines = static_cast<double>(layout.radius[1]);
  const double per_row =
      vector() * static_cast<double>(text.operations()) * words + 2 * words + 2.0 * layout.radius[2] * words;
  const double used = options.per_unit * options.sub_groups >= 8 ? 0.77 : 0.6;  // two sub-groups hide latencies
  const double step = (options.rows * per_row + kEdges * lines) * pieces(options.sub_groups, 4) / used;
  return options.per_unit * step + kExchange / options.depth;
}

std::string ResidentRowsKernel::refusal(const Limits& limits) const {
  const Layout& layout = text.layout;
  if (layout.coefficients > 0) return "needs an update without coefficients per cell";
  if (layout.fields != 1) return fmt::format("needs an update of one field, got {}", layout.fields);
  if (layout.dimensions != 2) return fmt::format("needs two dimensions, got {}", layout.dimensions);
  for (std::size_t axis = 1; axis < 3; ++axis) {
    if (layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed) return "needs fixed borders";
  }
  if (layout.radius[1] < 1 || 2 * layout.radius[1] > options.rows)
    return fmt::format("needs neighbours along y within 1 to {} rows, got {}", options.rows / 2, layout.radius[1]);
  if (layout.radius[2] > vector())
    return fmt::format("needs neighbours along x within {} cells, got {}", vector(), layout.radius[2]);
  if (layout.shape[2] % static_cast<std::size_t>(vector()) != 0)
    return fmt::format("needs rows of a multiple of {} cells, got {}", vector(), layout.shape[2]);
  if (tiles_x() == 0 || tiles_y() == 0)
    return fmt::format("needs at least {} x {} cells and tiles larger than their halos, got {} x {}", tile_height(),
                       tile_width(), layout.shape[1], layout.shape[2]);
  if (work_items() > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", work_items(), limits.work_group);
  if (groups() > limits.compute_units * static_cast<std::size_t>(options.per_unit))
    return fmt::format("needs {} work-groups at the same time, the device runs {}", groups(),
                       limits.compute_units * static_cast<std::size_t>(options.per_unit));
  return {};
}

KernelSource ResidentRowsKernel::source() const {
  const auto word = [](auto value) { return std::to_string(value); };
  return {
      .name = "stencil resident rows",
      .text = fmt::format("// {} steps per exchange of tiles; {} rows per sub-group\n", options.depth, options.rows) +
              RowsWriter(*this).text(),
      .defines = {{"TOGETHER", ""},
                  {"CELL", text.cell},
                  {"VECTOR", word(vector())},
                  {"ROWS", word(options.rows)},
                  {"SUB_GROUPS", word(options.sub_groups)},
                  {"GROUP_ITEMS", word(work_items())},
                  {"PER_UNIT", word(options.per_unit)},
                  {"DEPTH", word(options.depth)},
                  {"BEFORE_SENDING", results_differ_from_empty(text) ? "" : "MAIL_VALUE"},
                  {"RADIUS_Y", word(text.layout.radius[1])},
                  {"HALO_X", word(halo_x())},
                  {"HALO_Y", word(halo_y())}}};
}

Launch ResidentRowsKernel::launch() const {
  return {.groups = {groups()}, .items = {work_items()}, .local_bytes = local_bytes()};
}

std::vector<Argument> ResidentRowsKernel::scalars() const {
  const auto count = [](auto value) { return Argument(static_cast<std::int32_t>(value)); };
  return {count(place.width()), count(place.height()), count(tiles_x()),
          count(tiles_y()),     count(place.pitch),    Argument(static_cast<std::uint64_t>(place.origin))};
}

}  // namespace ridge::stencil
