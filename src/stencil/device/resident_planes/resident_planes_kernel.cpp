// Kernel text of planes that stay in registers.
#include "stencil/device/resident_planes/resident_planes_kernel.hpp"

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

class PlanesWriter {
 public:
  explicit PlanesWriter(const ResidentPlanesKernel& kernel) : kernel_(kernel), layout_(kernel.text.layout) {}

  std::string text() const {
    std::string code = ridge::detail::kernel_text("codegen/mailbox") +
                       ridge::detail::kernel_text("stencil/vector_rows") +
                       ridge::detail::kernel_text("stencil/resident_planes");
    for (const char* letters : {"uv", "vu"}) replace_mark(code, "STEP", step(letters[0], letters[1]));
    return code;
  }

 private:
  // A side of a patch: the flag of the tile's sides, the sub-group that follows, and the first local row of each
  // sub-group that it reads.
  struct Side {
    const char *name, *flag, *inside;
    int next, own_row, read_row, count;
  };

  int rows() const { return kernel_.options.rows; }
  int planes() const { return kernel_.options.planes; }
  bool inner(int j, int i) const { return j > 0 && j < planes() - 1 && i > 0 && i < rows() - 1; }
  int number(int j, int i) const { return j * rows() + i; }

  std::vector<Side> sides() const {
    const int across = kernel_.options.across;
    return {{"top", "above", "part_y > 0", -1, 0, planes(), planes()},
            {"bottom", "below", "part_y < ACROSS - 1", 1, planes(), 0, planes()},
            {"front", "before", "part_z > 0", -across, 2 * planes(), 2 * planes() + rows(), rows()},
            {"back", "behind", "part_z < DOWN - 1", across, 2 * planes() + rows(), 2 * planes(), rows()}};
  }
  // Row k of a side: its plane and row in the own patch.
  std::pair<int, int> own(std::size_t side, int k) const {
    if (side == 0) return {k, 0};
    if (side == 1) return {k, rows() - 1};
    return {side == 2 ? 0 : planes() - 1, k};
  }
  // Offset of row k of a neighbour's side from the own patch in an image of the grid.
  std::string neighbour(std::size_t side, int k) const {
    if (side == 0) return fmt::format("{} * plane - WIDTH", k);
    if (side == 1) return fmt::format("{} * plane + {} * WIDTH", k, rows());
    if (side == 2) return fmt::format("{} * WIDTH - plane", k);
    return fmt::format("{} * plane + {} * WIDTH", planes(), k);
  }
  // Flag of a row that other work-groups need; empty: none.
  std::string sent(int j, int i) const {
    std::string flags;
    const auto add = [&](bool here, const char* flag) {
      if (here) flags += (flags.empty() ? "" : " | ") + std::string(flag);
    };
    add(i == 0, "above");
    add(i == rows() - 1, "below");
    add(j == 0, "before");
    add(j == planes() - 1, "behind");
    return flags;
  }
  template <class Use>
  void for_rows(const Use& use) const {
    for (int j = 0; j < planes(); ++j) {
      for (int i = 0; i < rows(); ++i) use(j, i);
    }
  }

  // One step from the old to the new values. Rows that need no other sub-group come first.
  std::string step(char from, char to) const {
    std::string code =
        "      GLOBAL CELL* const box = mail + ((ulong)(now & 3) * image + letter);\n      MAIL_FENCE();\n";
    for_rows([&](int j, int i) {
      if (const std::string flags = sent(j, i); !flags.empty()) {
        code += fmt::format(
            "      UNROLL for (int i = 0; i < VECTOR; ++i) {0}[{1}][i] = BEFORE_SENDING({0}[{1}][i]);\n"
            "      MAIL_SEND(box + ({2} * plane + {3} * WIDTH), {0}[{1}], {4});\n",
            from, number(j, i), j, i, flags);
      }
    });
    const std::vector<Side> all = sides();
    for (std::size_t s = 0; s < all.size(); ++s) {
      for (int k = 0; k < all[s].count; ++k) {
        const auto [j, i] = own(s, k);
        code += fmt::format("      STORE_ROW(here + {} * WIDTH, {}[{}]);\n", all[s].own_row + k, from, number(j, i));
      }
    }
    code += "      BARRIER();\n";
    std::set<std::string> loaded;
    for_rows([&](int j, int i) {
      if (inner(j, i)) code += row(j, i, from, to, loaded);
    });
    code += receive();
    for_rows([&](int j, int i) {
      if (!inner(j, i)) code += row(j, i, from, to, loaded);
    });
    code += "      if (now >= 2) {\n        GLOBAL CELL* const old = mail + ((ulong)(now + 2 & 3) * image + letter);\n";
    for_rows([&](int j, int i) {
      if (const std::string flags = sent(j, i); !flags.empty())
        code += fmt::format("        MAIL_CLEAR(old + ({} * plane + {} * WIDTH), {});\n", j, i, flags);
    });
    return code + "      }\n";
  }

  // Rows of the neighbours, from local memory or from `mail`. `missing` has a bit per side.
  std::string receive() const {
    const std::vector<Side> all = sides();
    std::string code = "      uint missing = above | below << 1 | before << 2 | behind << 3;\n";
    std::string load, check;
    for (std::size_t s = 0; s < all.size(); ++s) {
      const Side& side = all[s];
      code += fmt::format(
          "      CELL {0}[{1}][VECTOR];\n"
          "      LOCAL const CELL* const {0}_rows = here + ({2} ? {3} * SIDES * WIDTH : 0);\n",
          side.name, side.count, side.inside, side.next);
      check += "        arrived = 1;\n";
      for (int k = 0; k < side.count; ++k) {
        code += fmt::format("      LOAD_ROW({0}[{1}], {0}_rows + {2} * WIDTH);\n", side.name, k, side.read_row + k);
        load += fmt::format("        MAIL_LOAD(box + ({}), {}[{}], missing & {}u);\n", neighbour(s, k), side.name, k,
                            1 << s);
        check += fmt::format("        UNROLL for (int i = 0; i < VECTOR; ++i) arrived &= MAIL_ARRIVED({}[{}][i]);\n",
                             side.name, k);
      }
      check += fmt::format("        missing &= ~(arrived << {});\n", s);
    }
    return code + "      do {\n        uint arrived;\n" + load + check + "      } while (SUB_GROUP_ANY(missing));\n";
  }

  // Name of a row that is read, and the row as an array.
  std::pair<std::string, std::string> row_of(int j, int i, char from) const {
    if (i < 0) return {fmt::format("t{}", j), fmt::format("top[{}]", j)};
    if (i >= rows()) return {fmt::format("b{}", j), fmt::format("bottom[{}]", j)};
    if (j < 0) return {fmt::format("f{}", i), fmt::format("front[{}]", i)};
    if (j >= planes()) return {fmt::format("k{}", i), fmt::format("back[{}]", i)};
    return {fmt::format("{}{}", from, number(j, i)), fmt::format("{}[{}]", from, number(j, i))};
  }

  // The statements of a row, after the shuffles that are not yet in `loaded`.
  std::string row(int j, int i, char from, char to, std::set<std::string>& loaded) const {
    std::string shuffles, statements;
    const int vector = kernel_.vector();
    for (int e = 0; e < vector; ++e) {
      const std::string prefix = fmt::format("r{}_{}_", number(j, i), e);
      statements += kernel_.text.statements("      ", prefix, [&](const Operation& read) {
        const auto [name, array] = row_of(j + read.offset[0], i + read.offset[1], from);
        const int at = e + read.offset[2];
        if (at >= 0 && at < vector) return fmt::format("{}[{}]", array, at);
        std::string other = fmt::format("{}_{}", name, signed_word(at));
        if (loaded.insert(other).second) {
          shuffles += at < 0
                          ? fmt::format("      const CELL {} = SHUFFLE_UP({}[{}], 1);\n", other, array, at + vector)
                          : fmt::format("      const CELL {} = SHUFFLE_DOWN({}[{}], 1);\n", other, array, at - vector);
        }
        return other;
      });
      const std::string fresh = fmt::format("{}[{}][{}]", to, number(j, i), e);
      statements += fmt::format("      {} = {};\n", fresh, kernel_.text.result(0, prefix));
      for (const std::string& side : kept(j, i, e))
        statements += fmt::format("      {0} = keep_{1} ? {2}[{3}][{4}] : {0};\n", fresh, side, from, number(j, i), e);
    }
    return shuffles + statements;
  }

  // Sides of the grid at which a cell of the patch keeps its value.
  std::vector<std::string> kept(int j, int i, int e) const {
    const auto below = [&](std::size_t axis) { return static_cast<int>(layout_.begin[axis]); };
    const auto above = [&](std::size_t axis) { return static_cast<int>(layout_.shape[axis] - layout_.end[axis]); };
    std::vector<std::string> names;
    if (e < below(2)) names.emplace_back("left");
    if (e >= kernel_.vector() - above(2)) names.emplace_back("right");
    if (i < below(1)) names.emplace_back("top");
    if (i >= rows() - above(1)) names.emplace_back("bottom");
    if (j < below(0)) names.emplace_back("front");
    if (j >= planes() - above(0)) names.emplace_back("back");
    return names;
  }

  const ResidentPlanesKernel& kernel_;
  const Layout& layout_;
};

// True if every read is along one axis.
bool is_star(const Tape& tape) {
  return std::ranges::all_of(tape.operations, [](const Operation& operation) {
    if (!is_read(operation)) return true;
    return (operation.offset[0] != 0) + (operation.offset[1] != 0) + (operation.offset[2] != 0) <= 1;
  });
}

}  // namespace

std::size_t ResidentPlanesKernel::groups() const {
  return text.layout.shape[0] / static_cast<std::size_t>(options.planes * options.down) *
         (text.layout.shape[1] / static_cast<std::size_t>(options.rows * options.across));
}

std::size_t ResidentPlanesKernel::local_bytes() const {
  const int values = 2 * sub_groups() * 2 * (options.rows + options.planes) * width();
  return static_cast<std::size_t>(values) * text.layout.element_bytes;
}

// A sub-group issues one instruction per cycle and quarter of a compute unit. An exchange is waiting. Constants from
// the study on an H200 (docs/measurements/h200.md).
double ResidentPlanesKernel::cycles() const {
  constexpr double kExchange = 2000, kSides = 20, kUsed = 0.6;
  const double words = text.layout.element_bytes == 8 ? 2 : 1;
  const double per_row = vector() * static_cast<double>(text.operations()) * words + 4 * words;
  const double step = options.rows * options.planes * per_row + kSides * 2 * (options.rows + options.planes);
  return step * pieces(sub_groups(), 4) / kUsed + kExchange;
}

std::string ResidentPlanesKernel::refusal(const Limits& limits) const {
  const Layout& layout = text.layout;
  if (layout.coefficients > 0) return "needs an update without coefficients per cell";
  if (layout.fields != 1) return fmt::format("needs an update of one field, got {}", layout.fields);
  if (layout.dimensions != 3) return fmt::format("needs three dimensions, got {}", layout.dimensions);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed) return "needs fixed borders";
  }
  if (!is_star(text.tape)) return "needs neighbours along the axes only, got diagonal ones";
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (layout.radius[axis] != 1)
      return fmt::format("needs neighbours along {} at distance 1, got {}", kAxisNames[axis], layout.radius[axis]);
  }
  if (layout.radius[2] > vector())
    return fmt::format("needs neighbours along x within {} cells, got {}", vector(), layout.radius[2]);
  if (layout.shape[2] != static_cast<std::size_t>(width()))
    return fmt::format("needs rows of {} cells, got {}", width(), layout.shape[2]);
  const auto divides = [](int part, std::size_t all) { return all % static_cast<std::size_t>(part) == 0; };
  if (!divides(options.planes * options.down, layout.shape[0]) ||
      !divides(options.rows * options.across, layout.shape[1]))
    return fmt::format("needs multiples of {} planes and {} rows, got {} and {}", options.planes * options.down,
                       options.rows * options.across, layout.shape[0], layout.shape[1]);
  if (work_items() > limits.work_group)
    return fmt::format("needs work-groups of {}, the device allows {}", work_items(), limits.work_group);
  if (local_bytes() > limits.local_memory)
    return fmt::format("needs {} bytes of local memory, the device has {}", local_bytes(), limits.local_memory);
  if (groups() > limits.compute_units)
    return fmt::format("needs {} work-groups at the same time, the device runs {}", groups(), limits.compute_units);
  return {};
}

KernelSource ResidentPlanesKernel::source() const {
  const auto word = [](auto value) { return std::to_string(value); };
  return {.name = "stencil resident planes",
          .text = PlanesWriter(*this).text(),
          .defines = {{"TOGETHER", ""},
                      {"CELL", text.cell},
                      {"VECTOR", word(vector())},
                      {"ROWS", word(options.rows)},
                      {"PLANES", word(options.planes)},
                      {"ACROSS", word(options.across)},
                      {"DOWN", word(options.down)},
                      {"GROUP_ITEMS", word(work_items())},
                      {"BEFORE_SENDING", results_differ_from_empty(text) ? "" : "MAIL_VALUE"}}};
}

Launch ResidentPlanesKernel::launch() const {
  return {.groups = {groups()}, .items = {work_items()}, .local_bytes = local_bytes()};
}

std::vector<Argument> ResidentPlanesKernel::scalars() const {
  const auto count = [](auto value) { return Argument(static_cast<std::int32_t>(value)); };
  return {count(place.height()), count(place.planes()), count(place.pitch),
          Argument(static_cast<std::uint64_t>(place.origin))};
}

}  // namespace ridge::stencil
