// Kernel text of tiles that stay in registers.
#include "stencil/device/resident_tiles/resident_tiles_kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/resident.hpp"

namespace ridge::stencil {
namespace {

using Cell = std::array<int, 3>;  // z, y, x

constexpr std::array<char, 3> kUpper{'Z', 'Y', 'X'};

int wrapped(int index, int count) { return (index % count + count) % count; }

// Geometry of a work-item's patch and of the region in local memory.
class Patch {
 public:
  explicit Patch(const ResidentKernel& kernel) : kernel_(kernel), layout_(kernel.text.layout) {
    for (int z = 0; z < size(0); ++z) {
      for (int y = 0; y < size(1); ++y) {
        for (int x = 0; x < size(2); ++x) cells_.push_back({z, y, x});
      }
    }
  }
  int size(std::size_t axis) const { return kernel_.options.patch[axis]; }
  const std::vector<Cell>& cells() const { return cells_; }
  bool inside(const Cell& cell) const {
    return std::all_of(cell.begin(), cell.end(), [&, axis = std::size_t{0}](int at) mutable {
      const bool in = at >= 0 && at < size(axis);
      ++axis;
      return in;
    });
  }
  bool mirror(std::size_t axis) const {
    return layout_.radius[axis] > 0 && (layout_.low[axis] == Border::mirror || layout_.high[axis] == Border::mirror);
  }
  int margin(std::size_t axis) const { return mirror(axis) ? layout_.radius[axis] : 0; }
  int room(std::size_t axis) const { return kernel_.region(axis) + 2 * margin(axis); }

  // Row pitch in elements. Lanes of a warp that belong to different rows should use different banks.
  int pitch() const {
    const int row = room(2), lanes = kernel_.options.items[2];
    int best = row, fewest = 1 << 20;
    for (int pitch = row; pitch < row + 32; ++pitch) {
      std::array<int, 32> uses{};
      for (int lane = 0; lane < 32; ++lane) {
        const int x = lane % lanes, y = lane / lanes % kernel_.options.items[1],
                  z = lane / lanes / kernel_.options.items[1];
        ++uses[static_cast<std::size_t>((x * size(2) + (y * size(1) + z * size(0) * room(1)) * pitch) % 32)];
      }
      const int most = *std::max_element(uses.begin(), uses.end());
      if (most < fewest) best = pitch, fewest = most;
    }
    return best;
  }
  // Elements before the first cell, also after the last: work-items at the sides read there and do not use it.
  int pad() const { return layout_.radius[0] * room(1) * pitch() + layout_.radius[1] * pitch() + layout_.radius[2]; }
  int elements() const { return room(0) * room(1) * pitch() + 2 * pad(); }
  int corner() const { return pad() + (margin(0) * room(1) + margin(1)) * pitch() + margin(2); }
  int offset(const Cell& cell) const { return (cell[0] * room(1) + cell[1]) * pitch() + cell[2]; }

  // Cells of the patch that other patches read.
  std::set<Cell> edges(std::size_t field) const {
    std::set<Cell> found;
    for (const Operation& read : kernel_.text.tape.operations) {
      if (!is_read(read) || read.field != field) continue;
      for (const Cell& cell : cells_) {
        const Cell from{cell[0] + read.offset[0], cell[1] + read.offset[1], cell[2] + read.offset[2]};
        if (!inside(from))
          found.insert({wrapped(from[0], size(0)), wrapped(from[1], size(1)), wrapped(from[2], size(2))});
      }
    }
    return found;
  }

 private:
  const ResidentKernel& kernel_;
  const Layout& layout_;
  std::vector<Cell> cells_{};
};

std::string cell_name(char kind, std::size_t field, const Cell& cell) {
  return fmt::format("{}{}_{}_{}_{}", kind, field, signed_word(cell[0]), signed_word(cell[1]), signed_word(cell[2]));
}

class ResidentWriter {
 public:
  explicit ResidentWriter(const ResidentKernel& kernel)
      : kernel_(kernel), layout_(kernel.text.layout), patch_(kernel) {}

  // Replaces the words in capitals of resident_tiles.cl by generated statements.
  std::string text() const {
    std::string code = ridge::detail::kernel_text("stencil/resident_tiles");
    replace_mark(code, "BORDERS", borders());
    replace_mark(code, "PATCH", declarations());
    replace_mark(code, "LOAD_PATCH", transfers(false));
    replace_mark(code, "STORE_EDGES", edges('u'));
    replace_mark(code, "UPDATE", updates('u', 'v'));
    replace_mark(code, "STORE_EDGES", edges('v'));
    replace_mark(code, "UPDATE", updates('v', 'u'));
    replace_mark(code, "ASSIGN", assigned());
    replace_mark(code, "STORE_PATCH", transfers(true));
    return code;
  }

 private:
  // Positions in a patch of cells that may keep their value. Regions start at the low side of the grid or end at the
  // high side if they reach it; a region larger than the grid starts at its low side.
  std::set<int> kept(std::size_t axis) const {
    const auto side = static_cast<int>(layout_.shape[axis]);
    const int below = static_cast<int>(layout_.begin[axis]), above = side - static_cast<int>(layout_.end[axis]);
    const int end = std::min(kernel_.region(axis), side);
    std::set<int> found;
    for (int cell = 0; cell < below; ++cell) found.insert(cell % patch_.size(axis));
    for (int cell = end - above; cell < end; ++cell) found.insert(cell % patch_.size(axis));
    return found;
  }

  // Region's first cell, wrapping, cells that keep their value, and sides where cells are mirrored.
  std::string borders() const {
    std::string code;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const char low = kAxisNames[axis], up = kUpper[axis];
      const bool wraps = layout_.low[axis] == Border::periodic && layout_.radius[axis] > 0;
      code +=
          wraps ? fmt::format("  const int first_{0} = core_{0} - HALO_{1};\n", low, up)
                : fmt::format("  const int first_{0} = at_least(0, at_most(core_{0} - HALO_{1}, {2} - REGION_{1}));\n",
                              low, up, kSide[axis]);
      code += fmt::format("  const int wraps_{} = {};\n", low, wraps ? 1 : 0);
      code += fmt::format("  const int {0} = first_{0} + item_{0} * PATCH_{1};\n", low, up);
      for (const int i : kept_[axis]) {
        code += fmt::format("  const int keep_{0}{1} = {0} + {1} < {2} || {0} + {1} >= {3} - {4};\n", low, i,
                            layout_.begin[axis], kSide[axis], layout_.shape[axis] - layout_.end[axis]);
      }
      if (patch_.mirror(axis)) {
        code += fmt::format(
            "  const int low_{0} = first_{0} == 0 && item_{0} == 0, high_{0} = first_{0} + REGION_{1} == {2} && "
            "item_{0} == "
            "ITEMS_{1} - 1;\n",
            low, up, kSide[axis]);
      }
    }
    return code;
  }

  std::string declarations() const {
    std::string code;
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      for (const Cell& cell : patch_.cells())
        code += fmt::format("  CELL {}, {};\n", cell_name('u', f, cell), cell_name('v', f, cell));
    }
    return code;
  }

  std::string near(std::size_t field, const Cell& cell) const {
    return fmt::format("here[{}]", static_cast<int>(field) * patch_.elements() + patch_.offset(cell));
  }

  std::string transfers(bool store) const {
    std::string code;
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      for (const Cell& cell : patch_.cells()) {
        const std::string name = cell_name('u', f, cell), place = near(f, cell);
        code += fmt::format("    {} = {};\n", store ? place : name, store ? name : place);
      }
    }
    return code;
  }

  // `from` and `to` are the letters of the old and the new values, which alternate: no value is copied.
  std::string edges(char from) const {
    std::string code;
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      const std::set<Cell> edges = patch_.edges(f);
      for (const Cell& cell : edges) code += fmt::format("      {} = {};\n", near(f, cell), cell_name(from, f, cell));
      if (!edges.empty()) code += images(f, from);
    }
    return code;
  }

  std::string assigned() const {
    std::string code;
    for (std::size_t f = 0; f < layout_.fields; ++f) {
      for (const Cell& cell : patch_.cells())
        code += fmt::format("        {} = {};\n", cell_name('u', f, cell), cell_name('v', f, cell));
    }
    return code;
  }

  // Mirror images of cells at the sides of the grid: for every set of sides that one read can cross at once.
  std::string images(std::size_t field, char from) const {
    std::string code;
    for (int which = 1; which < 27; ++which) {
      const Cell side{which / 9, which / 3 % 3, which % 3};  // 0: none, 1: low, 2: high
      std::string test;
      bool exists = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (side[axis] == 0) continue;
        exists &= patch_.mirror(axis) && (side[axis] == 1 ? layout_.low : layout_.high)[axis] == Border::mirror;
        test += fmt::format("{}{}_{}", test.empty() ? "" : " && ", side[axis] == 1 ? "low" : "high", kAxisNames[axis]);
      }
      const auto& operations = kernel_.text.tape.operations;
      exists &= std::any_of(operations.begin(), operations.end(), [&](const Operation& read) {
        if (!is_read(read) || read.field != field) return false;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          if (side[axis] != 0 && read.offset[axis] == 0) return false;
        }
        return true;
      });
      if (exists) code += fmt::format("      if ({}) {{\n{}      }}\n", test, image(field, side, from));
    }
    return code;
  }
  std::string image(std::size_t field, const Cell& side, char from) const {
    std::string code;
    for (const Cell& cell : patch_.cells()) {
      Cell at = cell;
      bool near_side = true;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const int size = patch_.size(axis), radius = layout_.radius[axis];
        if (side[axis] == 1) at[axis] = -1 - cell[axis], near_side &= cell[axis] < radius;
        if (side[axis] == 2) at[axis] = 2 * size - 1 - cell[axis], near_side &= size - cell[axis] <= radius;
      }
      if (near_side) code += fmt::format("        {} = {};\n", near(field, at), cell_name(from, field, cell));
    }
    return code;
  }

  // Computes the patch slab by slab, because registers limit its size: neighbours are loaded before the first slab that
  // reads them. Cells that may be fixed are selected by one condition per axis, which stays in a predicate register.
  std::string updates(char old_letter, char new_letter) const {
    std::string code, statements;
    std::set<std::string> loaded;
    const std::size_t slow = patch_.size(0) > 1 ? 0 : 1;
    for (std::size_t i = 0; i < patch_.cells().size(); ++i) {
      const Cell& cell = patch_.cells()[i];
      const std::string prefix = fmt::format("t{}_", i);
      statements += kernel_.text.statements("      ", prefix, [&](const Operation& read) {
        const Cell from{cell[0] + read.offset[0], cell[1] + read.offset[1], cell[2] + read.offset[2]};
        const bool own = patch_.inside(from);
        std::string name = cell_name(own ? old_letter : 'h', read.field, from);
        if (!own && loaded.insert(name).second)
          code += fmt::format("      const CELL {} = {};\n", name, near(read.field, from));
        return name;
      });
      for (std::size_t f = 0; f < layout_.fields; ++f) {
        const std::string fresh = cell_name(new_letter, f, cell), old = cell_name(old_letter, f, cell);
        statements += fmt::format("      {} = {};\n", fresh, kernel_.text.result(f, prefix));
        for (std::size_t axis = 0; axis < 3; ++axis) {
          if (kept_[axis].contains(cell[axis]))
            statements +=
                fmt::format("      {0} = keep_{1}{2} ? {3} : {0};\n", fresh, kAxisNames[axis], cell[axis], old);
        }
      }
      const bool last = i + 1 == patch_.cells().size() || patch_.cells()[i + 1][slow] != cell[slow];
      if (!last) continue;
      code += statements;
      statements.clear();
    }
    return code;
  }

  const ResidentKernel& kernel_;
  const Layout& layout_;
  const Patch patch_;
  const std::array<std::set<int>, 3> kept_{kept(0), kept(1), kept(2)};
};

// Cells of a box with sides reduced or extended by `by` halos.
int box(const ResidentKernel& kernel, int by) {
  int cells = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) cells *= std::max(0, kernel.core(axis) + 2 * by * kernel.halo(axis));
  return cells;
}
int ring(const ResidentKernel& kernel) { return box(kernel, 1) - box(kernel, 0); }
int shell(const ResidentKernel& kernel) { return box(kernel, 0) - box(kernel, -1); }

// Entries per work-item of the lists.
int ring_rounds(const ResidentKernel& kernel) { return std::max(1, pieces(ring(kernel), kernel.work_items())); }
int shell_rounds(const ResidentKernel& kernel) { return std::max(1, pieces(shell(kernel), kernel.work_items())); }

std::size_t table_bytes(const ResidentKernel& kernel) {
  const int rounds = ring_rounds(kernel) + shell_rounds(kernel);
  const int entries = kernel.region(0) * kernel.region(1) + kernel.region(2) + 2 + 2 * rounds * kernel.work_items();
  return 4 * static_cast<std::size_t>(entries);
}

}  // namespace

int ResidentKernel::core(std::size_t axis) const {
  return pieces(static_cast<int>(text.layout.shape[axis]), options.tiles[axis]);
}

std::size_t ResidentKernel::groups() const {
  return static_cast<std::size_t>(options.tiles[0] * options.tiles[1] * options.tiles[2]);
}

bool ResidentKernel::exchanges() const { return ring(*this) > 0; }

std::size_t ResidentKernel::launches() const {
  return (place.planes() + text.layout.shape[0] - 1) / text.layout.shape[0];
}

std::size_t ResidentKernel::local_bytes() const {
  const std::size_t grids = static_cast<std::size_t>(options.buffers * Patch(*this).elements()) * text.layout.fields;
  const std::size_t element = text.layout.element_bytes;
  return (grids + (table_bytes(*this) + element - 1) / element) * element;
}

// A compute unit issues 128 operations and 32 accesses to local memory per cycle, and loses more than half of the
// cycles. Its groups compute while one of them waits for its neighbours. Constants from an H200
// (docs/measurements/h200.md). Edges are counted as those of a star.
double ResidentKernel::cycles() const {
  constexpr double kExchange = 2500, kEntry = 100, kBarrier = 100, kUsed = 0.7;
  const double items = pieces(work_items(), 32) * 32.0, words = text.layout.element_bytes == 8 ? 2 : 1;
  const double cells = options.patch[0] * options.patch[1] * options.patch[2];
  const auto fields = static_cast<double>(text.layout.fields);
  double accesses = 0;
  for (std::size_t axis = 0; axis < 3; ++axis)
    accesses += 4.0 * text.layout.radius[axis] * cells / options.patch[axis] * fields;
  const double issue = cells * static_cast<double>(text.operations()) * words + accesses;
  const double step = items * std::max(issue / 128, accesses * words / 32) / kUsed + kBarrier * (3 - options.buffers);
  const double moved = (ring_rounds(*this) + shell_rounds(*this)) * fields;
  if (!exchanges()) return options.per_unit * (step + items * cells / 16 / options.depth);
  const double block = options.depth * step + moved * (kEntry + items / 10) + items * cells / 16;
  return std::max(options.per_unit * block, block + kExchange) / options.depth;
}

std::string ResidentKernel::refusal(const Limits& limits) const {
  const Layout& layout = text.layout;
  if (layout.coefficients > 0) return "needs an update without coefficients per cell";
  if (static_cast<std::size_t>(work_items()) > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", work_items(), limits.work_group);
  if (local_bytes() > limits.local_memory)
    return fmt::format("needs {} of local memory, {} are available",
                       base::human_bytes(static_cast<double>(local_bytes())),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto side = static_cast<int>(layout.shape[axis]);
    if (core(axis) + 2 * halo(axis) > region(axis))
      return fmt::format("needs {} cells along {}, a tile holds {}", core(axis) + 2 * halo(axis), kAxisNames[axis],
                         region(axis));
    if (side / options.tiles[axis] < std::max(1, halo(axis)))
      return fmt::format("needs tiles of at least {} cells along {}, got {}", halo(axis), kAxisNames[axis],
                         side / options.tiles[axis]);
    if (Patch(*this).mirror(axis) && (side < region(axis) || options.patch[axis] < layout.radius[axis]))
      return fmt::format("needs at least {} cells along the mirrored axis {}, got {}", region(axis), kAxisNames[axis],
                         side);
  }
  return {};
}

KernelSource ResidentKernel::source() const {
  const Patch patch(*this);
  const auto word = [](auto value) { return std::to_string(value); };
  KernelSource source{
      .name = "stencil resident tiles",
      .text = fmt::format("// {} steps per exchange of tiles; patches of {} x {} x {} cells in registers\n",
                          options.depth, options.patch[0], options.patch[1], options.patch[2]) +
              ResidentWriter(*this).text(),
      .defines = {{"TOGETHER", ""},
                  {"CELL", text.cell},
                  {"FIELDS", word(text.layout.fields)},
                  {"WORDS", word(text.layout.element_bytes / 4)},
                  {"DEPTH", word(options.depth)},
                  {"GROUP_ITEMS", word(work_items())},
                  {"PER_UNIT", word(options.per_unit)},
                  {"BUFFERS", word(options.buffers)},
                  {"ROOM", word(patch.elements())},
                  {"PITCH", word(patch.pitch())},
                  {"CORNER", word(patch.corner())},
                  {"MORE_ROWS", word(2 * patch.margin(1))},
                  {"RING_ROUNDS", word(ring_rounds(*this))},
                  {"SHELL_ROUNDS", word(shell_rounds(*this))},
                  {"BLOCK", word(local_bytes() / text.layout.element_bytes)}}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string end = fmt::format("_{}", kUpper[axis]);
    source.defines.emplace_back("PATCH" + end, word(options.patch[axis]));
    source.defines.emplace_back("ITEMS" + end, word(options.items[axis]));
    source.defines.emplace_back("REGION" + end, word(region(axis)));
    source.defines.emplace_back("HALO" + end, word(halo(axis)));
  }
  return source;
}

ResidentKernel::Part ResidentKernel::part(std::size_t index) const {
  const auto count = [](auto value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto offset = [](std::size_t value) { return Argument(static_cast<std::uint64_t>(value)); };
  const std::size_t first = index * text.layout.shape[0],
                    planes = std::min(text.layout.shape[0], place.planes() - first);
  const int tiles = launches() == 1 ? options.tiles[0] : pieces(static_cast<int>(planes), core(0));
  return {.launch = Launch{.groups = {static_cast<std::uint64_t>(tiles * options.tiles[1] * options.tiles[2])},
                           .items = {static_cast<std::uint64_t>(work_items())},
                           .local_bytes = local_bytes()},
          .scalars = {count(place.width()), count(place.height()), count(planes), count(options.tiles[2]),
                      count(options.tiles[1]), count(tiles), count(place.pitch),
                      offset(place.origin + first * place.plane()), offset(place.field)}};
}

}  // namespace ridge::stencil
