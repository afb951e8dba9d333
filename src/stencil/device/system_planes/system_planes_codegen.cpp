// Kernel text of system_planes.
#include "stencil/device/system_planes/system_planes_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/number.hpp"
#include "device/kernel_template.hpp"
#include "stencil/device/cells/cell_codegen.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;
using From = PlaneSums::From;

class SystemPlanesWriter {
 public:
  explicit SystemPlanesWriter(const SystemPlanesKernel& kernel)
      : kernel_(kernel), sums_(kernel.sums), begins_with_older_(kernel.begins_with_older()) {
    const auto wants = [&](const PlaneSums::Operand& operand) {
      if (operand.from == From::coefficient) points_.insert({true, operand.index});
      if (operand.from == From::field && place_in_ring(operand.index) < 0) points_.insert({false, operand.index});
    };
    for (std::size_t f = 0; f < sums_.outputs.size(); ++f) {
      if (!kernel.skipped[f]) wants(sums_.outputs[f]);
    }
    for (const auto& operation : sums_.operations) {
      for (std::size_t k = 0; k < operand_count(operation.kind); ++k) wants(operation.operands[k]);
    }
  }

  std::string text() {
    std::string places;
    for (std::size_t f = 0; f < sums_.outputs.size(); ++f) places += fmt::format(", int from_{0}, int to_{0}", f);
    return "\n" + ridge::detail::fill_kernel_text(
                      "stencil/system_planes",
                      {{"coefficients", kernel_.coefficients > 0 ? "GLOBAL const REAL* RESTRICT coefficients, " : ""},
                       {"places", places},
                       {"tile_map", kernel_.options.tiles ? ", TILE_MAP(planes_map)" : ""},
                       {"march", body()}});
  }

 private:
  int place_in_ring(std::size_t field) const {
    const auto found = std::find(sums_.neighbour_fields.begin(), sums_.neighbour_fields.end(), field);
    return found == sums_.neighbour_fields.end() ? -1 : static_cast<int>(found - sums_.neighbour_fields.begin());
  }
  std::string vector_type() const { return fmt::format("{}{}", kernel_.real, kernel_.cells()); }
  int rz() const { return sums_.radius[0]; }
  int last_stage() const { return kernel_.options.depth - 1; }
  bool keeps_between() const { return kernel_.keeps && last_stage() > 0; }
  // True if the last step covers only the cells that are written. Work-items then compute other cells in it than in the
  // steps before.
  bool narrow() const { return kernel_.options.narrow && last_stage() > 0 && stage_ == last_stage(); }
  std::string own(const char* name) const { return narrow() ? fmt::format("last_{}", name) : name; }

  std::string number(double value) const {
    const std::string text = base::hexadecimal_text(value) + (kernel_.real == "float" ? "f" : "");
    return value < 0 ? "(" + text + ")" : text;
  }

  // Copies the tile and its halo in 16-byte pieces, independent of their users.
  void prepare_copies() {
    if (kernel_.options.tiles) {
      text_ +=
          "  LOCAL ulong* const arrived = (LOCAL ulong*)(ring + ALL_SLOTS * NEIGHBOUR_FIELDS * PLANE);\n"
          "  uint parity = 0;\n  if (item == 0) {\n"
          "    for (int k = 0; k < FETCHED; ++k) COPY_BARRIER_INIT(arrived + k);\n  }\n  BARRIER();\n"
          "  const ulong plane_size = (ulong)height * pitch;\n";
      return;
    }
    text_ +=
        "  int piece_from[PIECES], piece_to[PIECES];\n  UNROLL\n  for (int k = 0; k < PIECES; ++k) {\n"
        "    const int piece = item + k * LANES * LINES;\n"
        "    const int column = piece % (WIDTH / CELLS) * CELLS;\n    const int row = piece / (WIDTH / CELLS);\n"
        "    int source = tile_y - RADIUS_Y + row;\n    source = source < 0 ? 0 : source >= height ? height - 1 : "
        "source;\n"
        "    piece_from[k] = source * pitch + tile_x - HALO_X + column;\n    piece_to[k] = row * WIDTH + column;\n  }\n"
        "  const ulong plane_size = (ulong)height * pitch;\n";
  }
  std::string copy_plane(const std::string& indent, const std::string& plane, const std::string& slot) const {
    if (kernel_.options.tiles) {
      return fmt::format(
          "{0}if (item == 0) {{\n{0}  COPY_BARRIER_EXPECT(arrived + {1}, TILE_BYTES);\n"
          "{0}  TMA_LOAD_TILE(arrived + {1}, ring + {1} * PLANE, planes_map, tile_x - HALO_X, tile_y - RADIUS_Y, "
          "{2});\n{0}}}\n",
          indent, slot, plane);
    }
    std::string text = fmt::format(
        "{0}{{\n{0}  int source = {1};\n{0}  source = source < 0 ? 0 : source >= planes ? planes - 1 : source;\n",
        indent, plane);
    for (std::size_t s = 0; s < sums_.neighbour_fields.size(); ++s) {
      text += fmt::format(
          "{0}  UNROLL\n{0}  for (int k = 0; k < PIECES; ++k) {{\n"
          "{0}    if ((k + 1) * LANES * LINES <= ALL_PIECES || item + k * LANES * LINES < ALL_PIECES)\n"
          "{0}      COPY_ASYNC_16(ring + ({1} * NEIGHBOUR_FIELDS + {2}) * PLANE + piece_to[k], in + from_{3} * field + "
          "origin + "
          "(ulong)source * plane_size + piece_from[k]);\n{0}  }}\n",
          indent, slot, s, sums_.neighbour_fields[s]);
    }
    return text + fmt::format("{0}  COPY_ASYNC_COMMIT();\n{0}}}\n", indent);
  }

  // Names carry the number of the step.
  std::string queue(std::size_t sum, int k, int row, int cell) const {
    return fmt::format("a{}_{}_{}_{}_{}", stage_, sum, k, row, cell);
  }
  std::string done(std::size_t sum, int row, int cell) const {
    return fmt::format("d{}_{}_{}_{}", stage_, sum, row, cell);
  }

  // Value of a field in the newest plane, at row `row` and column `column` of the item's patch.
  std::string near(int ring, int row, int column) {
    const int cells = kernel_.cells();
    const int block = column >= 0 ? column / cells : -((cells - 1 - column) / cells);
    const std::string name = fmt::format("n{}_{}_{}_{}", stage_, ring, signed_word(row), signed_word(block));
    if (loaded_.insert(name).second) {
      text_ +=
          fmt::format("    const {0} {1} = *(LOCAL const {0}*)(newest{5} + {2} * PLANE + ({3}) * WIDTH + ({4}));\n",
                      vector_type(), name, ring, row, block * cells, stage_);
    }
    return fmt::format("{}.{}", name, "xyzw"[column - block * cells]);
  }

  static double weight_at(const PlaneSums::Sum& sum, const Offset& offset) {
    for (const auto& term : sum) {
      if (term.offset == offset) return term.weight;
    }
    return 0;
  }

  // True if the sum reads a single field with weights that are symmetric along x and y, corners included. The sums of
  // two or four neighbours with equal weights then serve several planes.
  static bool folds(const PlaneSums::Sum& sum) {
    bool corners = false;
    for (const auto& term : sum) {
      const auto [dz, dy, dx] = term.offset;
      if (term.field != sum.front().field) return false;
      if (weight_at(sum, {dz, -dy, dx}) != term.weight || weight_at(sum, {dz, dy, -dx}) != term.weight) return false;
      corners = corners || (dy != 0 && dx != 0);
    }
    return corners;
  }

  std::string sides_along_x(int ring, int row, int dx, int cell) {
    if (dx == 0) return near(ring, row, cell);
    const std::string name = fmt::format("x{}_{}_{}_{}_{}", stage_, ring, signed_word(row), dx, cell);
    if (loaded_.insert(name).second) {
      const std::string low = near(ring, row, cell - dx), high = near(ring, row, cell + dx);
      text_ += fmt::format("    const REAL {} = {} + {};\n", name, low, high);
    }
    return name;
  }
  std::string all_sides(int ring, int row, int dy, int dx, int cell) {
    if (dy == 0) return sides_along_x(ring, row, dx, cell);
    const std::string name = fmt::format("y{}_{}_{}_{}_{}_{}", stage_, ring, row, dy, dx, cell);
    if (loaded_.insert(name).second) {
      const std::string low = sides_along_x(ring, row - dy, dx, cell), high = sides_along_x(ring, row + dy, dx, cell);
      text_ += fmt::format("    const REAL {} = {} + {};\n", name, low, high);
    }
    return name;
  }

  // `before` plus the contribution of plane dz to row j, cell c.
  std::string with_plane(const PlaneSums::Sum& sum, int dz, int j, int c, std::string before) {
    const int ring = place_in_ring(sum.front().field);
    for (int dy = 0; dy <= sums_.radius[1]; ++dy) {
      for (int dx = 0; dx <= sums_.radius[2]; ++dx) {
        const double weight = weight_at(sum, {dz, dy, dx});
        if (weight == 0) continue;
        const std::string sides = all_sides(ring, j, dy, dx, c);
        before = before.empty() ? fmt::format("{} * {}", number(weight), sides)
                                : fmt::format("FMA({}, {}, {})", number(weight), sides, before);
      }
    }
    return before.empty() ? "0" : before;
  }

  // Planes on both sides with equal contributions.
  static bool twins(const PlaneSums::Sum& sum, int dz) {
    return dz != 0 && std::all_of(sum.begin(), sum.end(), [&](const PlaneSums::Term& term) {
             const auto [z, y, x] = term.offset;
             return std::abs(z) != std::abs(dz) || weight_at(sum, {-z, y, x}) == term.weight;
           });
  }

  void scatter_folded(std::size_t index) {
    const PlaneSums::Sum& sum = sums_.sums[index];
    for (int j = 0; j < kernel_.options.rows; ++j) {
      for (int c = 0; c < kernel_.cells(); ++c) {
        const auto both = [&](int dz) { return fmt::format("b{}_{}_{}_{}_{}", stage_, index, std::abs(dz), j, c); };
        for (int dz = 1; dz <= rz(); ++dz) {
          if (!twins(sum, dz)) continue;
          const std::string value = with_plane(sum, dz, j, c, "");
          text_ += fmt::format("    const REAL {} = {};\n", both(dz), value);
        }
        for (int k = -1; k < 2 * rz(); ++k) {
          const int dz = rz() - 1 - k;
          const std::string before = k + 1 < 2 * rz() ? queue(index, k + 1, j, c) : "";
          const std::string value = !twins(sum, dz)  ? with_plane(sum, dz, j, c, before)
                                    : before.empty() ? both(dz)
                                                     : fmt::format("{} + {}", before, both(dz));
          text_ += k < 0 ? fmt::format("    REAL {} = {};\n", done(index, j, c), value)
                         : fmt::format("    {} = {};\n", queue(index, k, j, c), value);
        }
      }
    }
  }

  // Adds the new plane to all sums that read it. Terms along z come first: each sum is read before its register is
  // overwritten by the next sum of the queue, so the queue moves without copies.
  void scatter(std::size_t index) {
    const PlaneSums::Sum& sum = sums_.sums[index];
    if (folds(sum)) return scatter_folded(index);
    const auto at_centre = [&](int dz) -> const PlaneSums::Term* {
      for (const auto& term : sum) {
        if (term.offset == Offset{dz, 0, 0}) return &term;
      }
      return nullptr;
    };
    for (int j = 0; j < kernel_.options.rows; ++j) {
      for (int c = 0; c < kernel_.cells(); ++c) {
        for (int k = -1; k < 2 * rz(); ++k) {  // -1: the plane that is complete
          const int dz = rz() - 1 - k;
          const auto* term = at_centre(dz);
          const std::string before = k + 1 < 2 * rz() ? queue(index, k + 1, j, c) : "";
          std::string value = before.empty() ? "0" : before;
          if (term != nullptr) {
            const std::string v = near(place_in_ring(term->field), j, c);
            value = before.empty() ? fmt::format("{} * {}", number(term->weight), v)
                                   : fmt::format("FMA({}, {}, {})", number(term->weight), v, before);
          }
          if (before.empty() && begins_with_older_) value = with_older(value, j, c);
          text_ += k < 0 ? fmt::format("    REAL {} = {};\n", done(index, j, c), value)
                         : fmt::format("    {} = {};\n", queue(index, k, j, c), value);
        }
      }
    }
    in_plane(index);
  }

  // The older level is the first term of a sum, in the plane that starts the sum.
  std::string with_older(const std::string& value, int row, int cell) {
    const auto& operands = sums_.operations.front().operands;
    const std::string older =
        stage_ == 0 ? point_name({false, operands[1].index}, row) : own_cells(stage_ - 1, 1, 0, row);
    return fmt::format("FMA({}, {}.{}, {})", number(operands[0].constant), older, "xyzw"[cell], value);
  }

  // The other terms, row by row, so that loaded values are used soon.
  void in_plane(std::size_t index) {
    const PlaneSums::Sum& sum = sums_.sums[index];
    const int ry = sums_.radius[1];
    for (int row = -ry; row < kernel_.options.rows + ry; ++row) {
      for (int j = 0; j < kernel_.options.rows; ++j) {
        for (const auto& term : sum) {
          const bool moved_the_queue = term.offset[1] == 0 && term.offset[2] == 0 && is_first(sum, term);
          if (term.offset[1] != row - j || moved_the_queue) continue;
          const int k = rz() - 1 - term.offset[0];
          for (int c = 0; c < kernel_.cells(); ++c) {
            const std::string target = k < 0 ? done(index, j, c) : queue(index, k, j, c);
            const std::string v = near(place_in_ring(term.field), row, c + term.offset[2]);
            text_ += fmt::format("    {0} = FMA({1}, {2}, {0});\n", target, number(term.weight), v);
          }
        }
      }
    }
  }
  // Of several fields at one offset only the first moves the queue.
  static bool is_first(const PlaneSums::Sum& sum, const PlaneSums::Term& term) {
    for (const auto& other : sum) {
      if (other.offset == term.offset) return &other == &term;
    }
    return false;
  }

  std::string point_name(const std::pair<bool, std::size_t>& point, int row) const {
    return fmt::format("{}{}_{}", point.first ? "c" : "p", point.second, row);
  }
  void load_points(const std::string& plane, bool declare) {
    for (const auto& point : points_) {
      if (!declare && point.first && kernel_.equal_planes) continue;
      for (int j = 0; j < kernel_.options.rows; ++j) {
        const std::string base = point.first ? fmt::format("coefficients + {} * field", point.second)
                                             : fmt::format("in + from_{} * field", point.second);
        text_ +=
            fmt::format("{0}{1}{2} = *(GLOBAL const {3}*)({4} + origin + (ulong)({5}) * plane_size + point_at{6});\n",
                        declare ? "  " : "    ", declare ? vector_type() + " " : "", point_name(point, j),
                        vector_type(), base, plane, j);
      }
    }
  }

  // The item's own cells of the plane `age` behind the newest in the ring that step `stage` reads.
  std::string own_cells(int stage, int age, int ring, int row) {
    const std::string name = fmt::format("{}{}_{}_{}_{}", narrow() ? "ml" : "m", stage, age, ring, row);
    if (loaded_.insert(name).second) {
      const std::string slot =
          fmt::format("(slot{0} >= {1} ? slot{0} - {1} : slot{0} - {1} + {2})", stage, age, kernel_.slots(stage));
      text_ += fmt::format(
          "    const {0} {1} = *(LOCAL const {0}*)({6} + (({2} + {3}) * NEIGHBOUR_FIELDS + {4}) * PLANE + {5} * "
          "WIDTH);\n",
          vector_type(), name, first_slot(stage), slot, ring, row, own("mine"));
    }
    return name;
  }
  int first_slot(int stage) const {
    int sum = 0;
    for (int s = 0; s < stage; ++s) sum += kernel_.slots(s);
    return sum;
  }

  std::string value_of(const PlaneSums::Operand& operand, int row, int cell) {
    const char component = "xyzw"[cell];
    switch (operand.from) {
      case From::constant:
        return number(operand.constant);
      case From::sum:
        return done(operand.index, row, cell);
      case From::coefficient:
        return fmt::format("{}.{}", point_name({true, operand.index}, row), component);
      case From::operation:
        return begins_with_older_ ? done(0, row, cell) : fmt::format("o{}_{}_{}_{}", stage_, operand.index, row, cell);
      case From::field:
        break;
    }
    if (const int ring = place_in_ring(operand.index); ring >= 0)
      return fmt::format("{}.{}", own_cells(stage_, rz(), ring, row), component);
    if (stage_ == 0) return fmt::format("{}.{}", point_name({false, operand.index}, row), component);
    // The older level is what the previous step read.
    const int ring = place_in_ring(sums_.outputs[operand.index].index);
    return fmt::format("{}.{}", own_cells(stage_ - 1, 2 * rz() + 1, ring, row), component);
  }

  // Operations on the sums at the cells of row j.
  void point_operations(int j) {
    if (begins_with_older_) return;
    for (std::size_t i = 0; i < sums_.operations.size(); ++i) {
      const auto& operation = sums_.operations[i];
      for (int c = 0; c < kernel_.cells(); ++c) {
        std::array<std::string, 3> operands;
        for (std::size_t k = 0; k < operand_count(operation.kind); ++k)
          operands[k] = value_of(operation.operands[k], j, c);
        text_ += fmt::format("    const {} o{}_{}_{}_{} = {};\n", is_truth(operation.kind) ? "int" : "REAL", stage_, i,
                             j, c, operation_text({.kind = operation.kind}, operands, false));
      }
    }
  }

  std::vector<std::string> results_of(std::size_t field, int row) {
    std::vector<std::string> values;
    for (int c = 0; c < kernel_.cells(); ++c) values.push_back(value_of(sums_.outputs[field], row, c));
    return values;
  }

  // Stores a complete plane where the next step reads it after the barrier.
  void publish() {
    const int next = stage_ + 1;
    const auto made = [&](std::size_t s, int j, int c) { return fmt::format("w{}_{}_{}_{}", stage_, s, j, c); };
    for (int j = 0; j < kernel_.options.rows; ++j) {
      point_operations(j);
      for (std::size_t s = 0; s < sums_.neighbour_fields.size(); ++s) {
        const std::vector<std::string> values = results_of(sums_.neighbour_fields[s], j);
        for (int c = 0; c < kernel_.cells(); ++c)
          text_ += fmt::format("    REAL {} = {};\n", made(s, j, c), values[static_cast<std::size_t>(c)]);
      }
    }
    if (keeps_between()) keep_fixed(made);
    for (int j = 0; j < kernel_.options.rows; ++j) {
      for (std::size_t s = 0; s < sums_.neighbour_fields.size(); ++s) {
        std::vector<std::string> values;
        for (int c = 0; c < kernel_.cells(); ++c) values.push_back(made(s, j, c));
        text_ += fmt::format(
            "    *(LOCAL {0}*)(mine + (({1} + filled{2}) * NEIGHBOUR_FIELDS + {3}) * PLANE + {4} * WIDTH) = "
            "make_{0}({5});\n",
            vector_type(), first_slot(next), next, s, j, fmt::join(values, ", "));
      }
    }
  }

  // Cells on the sides keep their values.
  template <class Made>
  void keep_fixed(const Made& made) {
    text_ += fmt::format(
        "    const int done{0} = plane - RADIUS_Z - {0} * (RADIUS_Z + 1);\n"
        "    const int changes{0} = done{0} >= first && done{0} < last;\n"
        "    if (fixed_x != 0 || !(changes{0} && y >= top && y + ROWS <= bottom)) {{\n"
        "      const int old = slot{0} >= RADIUS_Z ? slot{0} - RADIUS_Z : slot{0} - RADIUS_Z + {1};\n",
        stage_, kernel_.slots(stage_));
    for (int j = 0; j < kernel_.options.rows; ++j) {
      text_ += fmt::format(
          "      const int fixed{1} = changes{0} && y + {1} >= top && y + {1} < bottom ? fixed_x : -1;\n", stage_, j);
      for (std::size_t s = 0; s < sums_.neighbour_fields.size(); ++s) {
        text_ += fmt::format(
            "      const {0} was{1}_{2} = *(LOCAL const {0}*)(mine + (({3} + old) * NEIGHBOUR_FIELDS + {1}) * PLANE + "
            "{2} * "
            "WIDTH);\n",
            vector_type(), s, j, first_slot(stage_));
        for (int c = 0; c < kernel_.cells(); ++c)
          text_ += fmt::format("      if ((fixed{0} & {1}) != 0) {2} = was{3}_{0}.{4};\n", j, 1 << c, made(s, j, c), s,
                               "xyzw"[c]);
      }
    }
    text_ += "    }\n";
  }

  void store() {
    text_ += fmt::format("    const int ready = plane - RADIUS_Z - {} * (RADIUS_Z + 1);\n", last_stage());
    for (int j = 0; j < kernel_.options.rows; ++j) {
      point_operations(j);
      std::vector<std::pair<std::size_t, std::vector<std::string>>> results;
      for (std::size_t f = 0; f < sums_.outputs.size(); ++f) {
        if (!kernel_.skipped[f]) results.emplace_back(f, results_of(f, j));
      }
      const std::string row = fmt::format("line * ROWS + {}", j);
      const std::string mine =
          narrow() ? "" : fmt::format(" && stores_x && {0} >= MARGIN_Y && {0} < TILE_Y - MARGIN_Y", row);
      text_ += fmt::format(
          "    if (ready >= first_plane && ready < end_plane{1} && {2} + {0} >= top && {2} + {0} < bottom) {{\n"
          "      GLOBAL REAL* const to = out + origin + (ulong)ready * plane_size + (ulong)({2} + {0}) * pitch + {3};\n"
          "      if ({4}) {{\n",
          j, mine, own("y"), own("x"), own("whole"));
      for (const auto& [f, values] : results)
        text_ += fmt::format("        *(GLOBAL {0}*)(to + to_{1} * field) = make_{0}({2});\n", vector_type(), f,
                             fmt::join(values, ", "));
      text_ += "      } else {\n";
      for (int c = 0; c < kernel_.cells(); ++c) {
        text_ += fmt::format("        if ({1} + {0} >= left && {1} + {0} < right) {{\n", c, own("x"));
        for (const auto& [f, values] : results)
          text_ += fmt::format("          to[to_{} * field + {}] = {};\n", f, c, values[static_cast<std::size_t>(c)]);
        text_ += "        }\n";
      }
      text_ += "      }\n    }\n";
    }
  }

  void declare_queues() {
    for (stage_ = 0; stage_ <= last_stage(); ++stage_) {
      for (std::size_t s = 0; s < sums_.sums.size(); ++s) {
        for (int k = 0; k < 2 * rz(); ++k) {
          for (int j = 0; j < kernel_.options.rows; ++j) {
            for (int c = 0; c < kernel_.cells(); ++c) text_ += fmt::format("  REAL {} = 0;\n", queue(s, k, j, c));
          }
        }
      }
    }
  }

  void declare_slots() {
    text_ += "  int plane = first_plane - DEPTH * RADIUS_Z, slot0 = 0, fill = AHEAD % " +
             std::to_string(kernel_.slots(0)) + ";\n";
    for (int s = 1; s <= last_stage(); ++s)
      text_ += fmt::format("  int slot{0} = {1}, filled{0} = 0;\n", s, kernel_.slots(s) - 1);
  }
  std::string next_slot(const std::string& name, int stage) const {
    return fmt::format("    {0} = {0} + 1 == {1} ? 0 : {0} + 1;\n", name, kernel_.slots(stage));
  }

  std::string body() {
    prepare_copies();
    declare_queues();
    if (!points_.empty()) {
      for (int j = 0; j < kernel_.options.rows; ++j) {
        text_ += fmt::format(
            "  const int row{0} = y + {0} < 0 ? 0 : y + {0} < height ? y + {0} : height - 1;\n  const ulong "
            "point_at{0} = "
            "(ulong)row{0} * pitch + x;\n",
            j);
      }
    }
    declare_slots();
    if (keeps_between()) {
      text_ += "  int fixed_x = 0;  // a bit for each of the item's cells along x\n  UNROLL\n";
      text_ += "  for (int c = 0; c < CELLS; ++c) fixed_x |= x + c >= left && x + c < right ? 0 : 1 << c;\n";
    }
    for (int k = 0; k < kernel_.options.ahead; ++k)
      text_ += copy_plane("  ", fmt::format("plane + {}", k), fmt::to_string(k));
    // Values at the cell itself are loaded for the plane whose sum ends or, with begins_with_older_, begins.
    const std::string away = begins_with_older_ ? "+ RADIUS_Z" : "- RADIUS_Z";
    if (!points_.empty())
      text_ +=
          fmt::format("  int next = plane {};\n  next = next < 0 ? 0 : next >= planes ? planes - 1 : next;\n", away);
    load_points("next", true);
    const std::string rounds = fmt::format(
        "{} + 2 * DEPTH * RADIUS_Z + {}",
        kernel_.options.march > 0 ? std::to_string(kernel_.options.march) : "end_plane - first_plane", last_stage());
    text_ += fmt::format("  for (int i = 0; i < {}; ++i) {{\n", rounds);
    // Of several steps the last one first: the steps of a round are independent, and the next tile has the time of all
    // but the first step to arrive.
    const bool late = kernel_.options.tiles && last_stage() > 0;
    const std::string wait =
        kernel_.options.tiles ? "    MBARRIER_WAIT(arrived + slot0, parity);\n" : "    COPY_ASYNC_WAIT(AHEAD - 1);\n";
    if (!late) text_ += wait;
    text_ += "    BARRIER();\n";
    // No copy may arrive after the work-group has ended.
    if (kernel_.options.tiles) text_ += fmt::format("    if (i + AHEAD < {})\n", rounds);
    text_ += copy_plane("    ", "plane + AHEAD", "fill");
    for (int k = 0; k <= last_stage(); ++k) {
      stage_ = late ? last_stage() - k : k;
      if (late && stage_ == 0) text_ += wait;
      if (narrow()) {
        text_ +=
            "    if (item < LAST_LANES * LAST_LINES) {\n"
            "    const int last_x = tile_x + MARGIN_X + item % LAST_LANES * CELLS;\n"
            "    const int last_y = tile_y + MARGIN_Y + item / LAST_LANES * ROWS;\n"
            "    const int last_whole = last_x >= left && last_x + CELLS <= right;\n"
            "    LOCAL REAL* const last_mine = ring + (MARGIN_Y + item / LAST_LANES * ROWS + RADIUS_Y) * WIDTH + "
            "HALO_X\n"
            "        + MARGIN_X + item % LAST_LANES * CELLS;\n";
      }
      text_ +=
          fmt::format("    LOCAL const REAL* const newest{0} = {2} + ({1} + slot{0}) * NEIGHBOUR_FIELDS * PLANE;\n",
                      stage_, first_slot(stage_), own("mine"));
      for (std::size_t s = 0; s < sums_.sums.size(); ++s) scatter(s);
      stage_ < last_stage() ? publish() : store();
      if (narrow()) text_ += "    }\n";
    }
    if (!points_.empty()) {
      text_ += fmt::format("    next = plane + 1 {};\n    next = next < 0 ? 0 : next >= planes ? planes - 1 : next;\n",
                           away);
      load_points("next", false);
    }
    text_ += "    ++plane;\n";
    if (kernel_.options.tiles) text_ += fmt::format("    if (slot0 + 1 == {}) parity ^= 1u;\n", kernel_.slots(0));
    text_ += next_slot("slot0", 0) + next_slot("fill", 0);
    for (int s = 1; s <= last_stage(); ++s)
      text_ += next_slot(fmt::format("slot{}", s), s) + next_slot(fmt::format("filled{}", s), s);
    return text_ + "  }\n";
  }

  const SystemPlanesKernel& kernel_;
  const PlaneSums& sums_;
  const bool begins_with_older_;
  int stage_ = 0;                                    // the step whose text is being written
  std::set<std::pair<bool, std::size_t>> points_{};  // coefficient or not, and which: read at the cell itself only
  std::set<std::string> loaded_{};
  std::string text_{};
};

}  // namespace

std::string system_planes_text(const SystemPlanesKernel& kernel) { return SystemPlanesWriter(kernel).text(); }

}  // namespace ridge::stencil
