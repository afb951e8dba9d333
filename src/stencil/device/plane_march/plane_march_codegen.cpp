// Kernel text of plane_march; plane_march_kernel.hpp explains the method.
#include "stencil/device/plane_march/plane_march_kernel.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"

namespace ridge::stencil {
namespace {

class PlaneMarchWriter {
 public:
  explicit PlaneMarchWriter(const PlaneMarchKernel& kernel) : kernel_(kernel) {}

  std::string text() {
    std::string arguments;
    for (const Weight& weight : kernel_.weights.list) {
      if (!is_unit(weight)) arguments += fmt::format(", REAL {}", weight.name);
    }
    codegen::Text text;
    text.raw("\n" + ridge::detail::fill_kernel_text("stencil/plane_march_head", {{"weights", arguments}}));
    text.raw(places());
    text.raw(march());
    text.raw("}\n");
    return text.str();
  }

 private:
  bool is_unit(const Weight& weight) const { return kernel_.unit_centre() && weight.offset == Offset{0, 0, 0}; }
  bool low(std::size_t axis, Border kind) const { return kernel_.borders.low[axis] == kind; }
  bool high(std::size_t axis, Border kind) const { return kernel_.borders.high[axis] == kind; }
  bool any(std::size_t axis, Border kind) const { return low(axis, kind) || high(axis, kind); }
  const Weight* weight(const Offset& offset) const {
    for (const Weight& candidate : kernel_.weights.list) {
      if (candidate.offset == offset) return &candidate;
    }
    return nullptr;
  }

  std::string vector_type() const { return fmt::format("{}{}", kernel_.real, kernel_.options.cells); }

  // Source of each row of the patch: beyond the ends the border's cells, or the opposite side of the grid.
  std::string places() const {
    std::string text;
    text += low(2, Border::periodic) ? "  const int wrapped_x = x < 0 ? x + width : x >= width ? x - width : x;\n"
                                     : "  const int wrapped_x = x;\n";
    text += "  const int from_x = wrapped_x < 0 ? 0 : wrapped_x > width - CELLS ? width - CELLS : wrapped_x;\n";
    text +=
        "  uint from[ROWS];  // within a plane\n  UNROLL\n  for (int j = 0; j < ROWS; ++j) {\n    int row = y + j;\n";
    if (low(1, Border::periodic)) text += "    row = row < 0 ? row + height : row >= height ? row - height : row;\n";
    text +=
        "    row = row < 0 ? 0 : row >= height ? height - 1 : row;\n    from[j] = (uint)(row * pitch + from_x);\n  }\n";
    // Edge rows that a patch reads: its neighbours', or its own if the border is a mirror.
    text += fmt::format("  const int above = ({}LINES + (line > 0 ? line - 1 : 0)) * LANES + lane;\n",
                        low(1, Border::mirror) ? "y == 0 ? line : " : "");
    text += fmt::format("  const int below = ({}line < LINES - 1 ? line + 1 : line) * LANES + lane;\n",
                        high(1, Border::mirror) ? "y + ROWS == height ? LINES + line : " : "");
    text +=
        "  const int at_left = x == 0, at_right = x + CELLS == width, at_top = y == 0, at_bottom = y + ROWS == "
        "height;\n";
    std::vector<std::string> touches;
    if (side_columns()) touches.emplace_back("column == 0 || last_column");
    if (side_rows()) touches.emplace_back("tile_row == 0 || last_row");
    if (!touches.empty()) text += fmt::format("  const int touches = {};\n", fmt::join(touches, " || "));
    return text;
  }

  // Copies plane `index` of the march into slot u.
  std::string copy(const std::string& index, const std::string& indent) const {
    const int bytes = kernel_.real == "float" ? 4 : 8;
    const int n = kernel_.aligned ? kernel_.options.cells : 1;
    std::string text = fmt::format("{}int source = {};\n", indent, index);
    if (ends_) {
      if (low(0, Border::periodic))
        text += indent + "source = source < 0 ? source + planes : source >= planes ? source - planes : source;\n";
      text += indent + "source = source < 0 ? 0 : source >= planes ? planes - 1 : source;\n";
    }
    text += indent + "GLOBAL const REAL* const source_plane = in + origin + (ulong)source * plane_size;\n";
    text += fmt::format(
        "{0}UNROLL\n{0}for (int j = 0; j < ROWS; ++j) {{\n{0}  UNROLL\n{0}  for (int c = 0; c < CELLS; c += {1}) "
        "{{\n{0}    "
        "COPY_ASYNC_{2}(ahead + (((u * LINES + line) * ROWS + j) * LANES + lane) * CELLS + c, source_plane + from[j] + "
        "c);\n{0}  "
        "}}\n{0}}}\n{0}COPY_ASYNC_COMMIT();\n",
        indent, n, n * bytes);
    return text;
  }

  std::string vector_of(const std::string& array) const {
    std::string text = fmt::format("make_{}(", vector_type());
    for (int c = 0; c < kernel_.options.cells; ++c) text += fmt::format("{}{}[{}]", c == 0 ? "" : ", ", array, c);
    return text + ")";
  }

  std::string read_plane(const std::string& indent) const {
    std::string text = indent + "COPY_ASYNC_WAIT(PREFETCH - 1);\n";
    text += fmt::format("{0}UNROLL\n{0}for (int j = 0; j < ROWS; ++j) {{\n", indent);
    text += fmt::format(
        "{0}  const {1} part = *(LOCAL const {1}*)(ahead + (((u * LINES + line) * ROWS + j) * LANES + lane) * "
        "CELLS);\n",
        indent, vector_type());
    for (int c = 0; c < kernel_.options.cells; ++c)
      text += fmt::format("{}  v[j][{}] = part.{};\n", indent, c, "xyzw"[c]);
    return text + indent + "}\n";
  }

  std::string sides(const std::string& indent) const {
    std::string text;
    if (kernel_.options.shuffles) {
      text += indent + "  const REAL left = SHUFFLE_UP(v[j][CELLS - 1], 1), right = SHUFFLE_DOWN(v[j][0], 1);\n";
    } else {
      text += indent + "  const REAL left = sides[(LOCAL_ID(0) > 0 ? LOCAL_ID(0) - 1 : 0) * 2 * ROWS + 2 * j + 1];\n";
      text +=
          indent +
          "  const REAL right = sides[(LOCAL_ID(0) < LANES * LINES - 1 ? LOCAL_ID(0) + 1 : 0) * 2 * ROWS + 2 * j];\n";
    }
    text += indent + "  REAL west = left, east = right;\n";
    std::string mirrored;
    if (sides_ && low(2, Border::mirror)) mirrored += indent + "  west = at_left ? v[j][0] : west;\n";
    if (sides_ && high(2, Border::mirror)) mirrored += indent + "  east = at_right ? v[j][CELLS - 1] : east;\n";
    text += mirrored;
    return text;
  }

  // Partial sum of the arriving plane without the rows of other patches.
  std::string in_plane(int j) const {
    const std::string left = "(c == 0 ? west : v[j][c == 0 ? 0 : c - 1])",
                      right = "(c == CELLS - 1 ? east : v[j][c == CELLS - 1 ? c : c + 1])";
    std::string sum = "raw[s][j][c]";
    if (kernel_.even()) {
      sum += " + " + left + " + " + right;
      if (j > 0) sum += fmt::format(" + v[{}][c]", j - 1);
      if (j < kernel_.options.rows - 1) sum += fmt::format(" + v[{}][c]", j + 1);
      return sum;
    }
    const Weight *before = weight({-1, 0, 0}), *centre = weight({0, 0, 0});
    std::string start = kernel_.unit_centre() ? "v[j][c]" : centre != nullptr ? centre->name + " * v[j][c]" : "(REAL)0";
    sum = before != nullptr ? fmt::format("FMA({}, {}, {})", before->name, sum, start) : start;
    if (const Weight* west = weight({0, 0, -1})) sum = fmt::format("FMA({}, {}, {})", west->name, left, sum);
    if (const Weight* east = weight({0, 0, 1})) sum = fmt::format("FMA({}, {}, {})", east->name, right, sum);
    const Weight *upper = weight({0, -1, 0}), *lower = weight({0, 1, 0});
    if (upper != nullptr && j > 0) sum = fmt::format("FMA({}, v[{}][c], {})", upper->name, j - 1, sum);
    if (lower != nullptr && j < kernel_.options.rows - 1)
      sum = fmt::format("FMA({}, v[{}][c], {})", lower->name, j + 1, sum);
    return sum;
  }

  // Fixed cells keep the value of a plane ago, scaled like the field. Tiles are placed so that a border that affects
  // their stored cells is the first or last cell or row of a patch.
  std::string fixed_cells(const std::string& indent) const {
    std::string text;
    const auto keep = [&](const std::string& test, const std::string& row, const std::string& cell) {
      text += fmt::format("{0}if ({1}) done[{2}][{3}] = keep * raw[s][{2}][{3}];\n", indent, test, row, cell);
    };
    const PlaneMarchOptions& options = kernel_.options;
    for (int j = 0; sides_ && j < options.rows; ++j) {
      if (low(2, Border::fixed)) keep("at_left", std::to_string(j), "0");
      if (high(2, Border::fixed)) keep("at_right", std::to_string(j), "CELLS - 1");
    }
    for (int c = 0; sides_ && c < options.cells; ++c) {
      if (low(1, Border::fixed)) keep("at_top", "0", std::to_string(c));
      if (high(1, Border::fixed)) keep("at_bottom", "ROWS - 1", std::to_string(c));
    }
    std::vector<std::string> planes;
    if (low(0, Border::fixed)) planes.emplace_back("plane == 1");
    if (high(0, Border::fixed)) planes.emplace_back("plane == planes");
    if (ends_ && !planes.empty())
      text += whole_plane(indent, fmt::format("{}", fmt::join(planes, " || ")), "done[j][c] = keep * raw[s][j][c];");
    return text;
  }

  static std::string whole_plane(const std::string& indent, const std::string& test, const std::string& body) {
    return fmt::format(
        "{0}if ({1}) {{\n{0}  UNROLL\n{0}  for (int j = 0; j < ROWS; ++j) {{\n{0}    UNROLL\n{0}    for (int c = 0; "
        "c < CELLS; ++c) {2}\n{0}  }}\n{0}}}\n",
        indent, test, body);
  }

  std::string mirrored_planes(const std::string& indent) const {
    std::string text;
    if (low(0, Border::mirror)) text += whole_plane(indent, "plane == 0", "raw[s][j][c] = v[j][c];");
    if (high(0, Border::mirror)) text += whole_plane(indent, "plane == planes", "v[j][c] = raw[s][j][c];");
    return text;
  }

  std::string stage(const std::string& indent) const {
    std::string text;
    if (ends_ && !low(0, Border::periodic))
      text += indent + "const int plane = newest - s;  // that arrives\n" + mirrored_planes(indent);
    text += fmt::format("{0}*(LOCAL {1}*)(edges + ((2 * s * LINES + line) * LANES + lane) * CELLS) = {2};\n", indent,
                        vector_type(), vector_of("v[0]"));
    text += fmt::format("{0}*(LOCAL {1}*)(edges + (((2 * s + 1) * LINES + line) * LANES + lane) * CELLS) = {2};\n",
                        indent, vector_type(), vector_of("v[ROWS - 1]"));
    if (!kernel_.options.shuffles) {
      text += fmt::format(
          "{0}BARRIER();\n{0}UNROLL\n{0}for (int j = 0; j < ROWS; ++j) {{\n{0}  sides[LOCAL_ID(0) * 2 * ROWS + 2 * j] "
          "= v[j][0];\n{0}  sides[LOCAL_ID(0) * 2 * ROWS + 2 * j + 1] = v[j][CELLS - 1];\n{0}}}\n{0}BARRIER();\n",
          indent);
    }
    text += indent + "REAL done[ROWS][CELLS];\n";
    const Weight* after = weight({1, 0, 0});
    // Rows are unrolled, because each has different neighbours in its own patch.
    for (int j = 0; j < kernel_.options.rows; ++j) {
      text += fmt::format("{0}{{\n{0}  const int j = {1};\n", indent, j) + sides(indent);
      text += fmt::format("{0}  UNROLL\n{0}  for (int c = 0; c < CELLS; ++c) {{\n", indent);
      text += indent + "    done[j][c] = " +
              (kernel_.even()     ? fmt::format("FMA({}, sum[s][j][c] + v[j][c], raw[s][j][c])", after->name)
               : after != nullptr ? fmt::format("FMA({}, v[j][c], sum[s][j][c])", after->name)
                                  : "sum[s][j][c]") +
              ";\n";
      text += indent + "    sum[s][j][c] = " + in_plane(j) + ";\n" + indent + "  }\n";
      text += indent + "}\n";
    }
    text += fixed_cells(indent);
    text += fmt::format(
        "{0}UNROLL\n{0}for (int j = 0; j < ROWS; ++j) {{\n{0}  UNROLL\n{0}  for (int c = 0; c < CELLS; ++c) {{\n{0}    "
        "raw[s][j][c] = v[j][c];\n{0}    v[j][c] = done[j][c];\n{0}  }}\n{0}}}\n",
        indent);
    return text;
  }

  std::string store(const std::string& indent) const {
    const std::string deep = indent + "    ";
    std::string text = indent + "const int ready = newest - DEPTH;\n";
    text += fmt::format(
        "{0}if (stores && ready >= first_stored && ready < end_stored) {{\n{0}  GLOBAL REAL* const ready_plane = out + "
        "origin + (ulong)ready * plane_size;\n{0}  UNROLL\n{0}  for (int j = 0; j < ROWS; ++j) {{\n",
        indent);
    if (sides_ && low(1, Border::fixed)) text += deep + "if (j == 0 && at_top) continue;\n";
    if (sides_ && high(1, Border::fixed)) text += deep + "if (j == ROWS - 1 && at_bottom) continue;\n";
    text += deep + "GLOBAL REAL* const to = ready_plane + (uint)((y + j) * pitch + x);\n";
    std::string single = fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; ++c) {{\n", deep);
    std::vector<std::string> frozen;
    if (sides_ && low(2, Border::fixed)) frozen.emplace_back("(c == 0 && at_left)");
    if (sides_ && high(2, Border::fixed)) frozen.emplace_back("(c == CELLS - 1 && at_right)");
    single += frozen.empty()
                  ? deep + "  to[c] = scale * v[j][c];\n"
                  : fmt::format("{}  if (!({})) to[c] = scale * v[j][c];\n", deep, fmt::join(frozen, " || "));
    single += deep + "}\n";
    if (!kernel_.aligned) {
      text += single;
    } else {
      std::string whole = fmt::format("{}*(GLOBAL {}*)to = make_{}(", deep, vector_type(), vector_type());
      for (int c = 0; c < kernel_.options.cells; ++c) whole += fmt::format("{}scale * v[j][{}]", c == 0 ? "" : ", ", c);
      whole += ");\n";
      text += frozen.empty()
                  ? whole
                  : deep + "if (at_left || at_right) {\n" + single + deep + "} else {\n" + whole + deep + "}\n";
    }
    return text + indent + "  }\n" + indent + "}\n";
  }

  // After the barrier: contributions of rows of other patches.
  std::string add_edges(const std::string& indent) const {
    const Weight *upper = weight({0, -1, 0}), *lower = weight({0, 1, 0});
    std::string text = fmt::format("{0}UNROLL\n{0}for (int s = 0; s < DEPTH; ++s) {{\n", indent);
    for (const bool above : {true, false}) {
      const Weight* factor = above ? upper : lower;
      if (factor == nullptr) continue;
      text += fmt::format(
          "{0}  {{\n{0}    const {1} edge = *(LOCAL const {1}*)(edges + (2 * s * LINES * LANES + {2}) * "
          "CELLS);\n",
          indent, vector_type(), above ? "above" : "below");
      for (int c = 0; c < kernel_.options.cells; ++c) {
        const std::string target = fmt::format("sum[s][{}][{}]", above ? "0" : "ROWS - 1", c);
        const std::string value = fmt::format("edge.{}", "xyzw"[c]);
        text += kernel_.even() ? fmt::format("{}    {} += {};\n", indent, target, value)
                               : fmt::format("{0}    {1} = FMA({2}, {3}, {1});\n", indent, target, factor->name, value);
      }
      text += indent + "  }\n";
    }
    return text + indent + "}\n";
  }

  // Planes of one round of the march.
  std::string round(const std::string& indent) const {
    std::string text = fmt::format("{0}UNROLL\n{0}for (int u = 0; u < PREFETCH; ++u) {{\n", indent);
    const std::string deep = indent + "  ";
    text += deep + "LOCAL REAL* const edges = local_block + (u % 2) * (EDGE_REALS / 2);\n" + deep +
            "REAL v[ROWS][CELLS];\n" + read_plane(deep);
    text += deep + "{\n" + copy("newest + PREFETCH", deep + "  ") + deep + "}\n";
    text += fmt::format("{0}UNROLL\n{0}for (int s = 0; s < DEPTH; ++s) {{\n{1}{0}}}\n", deep, stage(deep + "  "));
    text += store(deep);
    return text + deep + "BARRIER();\n" + add_edges(deep) + deep + "++newest;\n" + indent + "}\n";
  }

  std::string march() {
    std::string text;
    if (!kernel_.options.shuffles)
      text += "  LOCAL REAL* const sides = ahead + PREFETCH * LINES * ROWS * LANES * CELLS;\n";
    text += fmt::format("  const int first_stored = {};\n",
                        low(0, Border::fixed) ? "first_plane > 1 ? first_plane : 1" : "first_plane");
    text += fmt::format("  const int end_stored = {};\n",
                        high(0, Border::fixed) ? "end_plane < planes - 1 ? end_plane : planes - 1" : "end_plane");
    text += "  UNROLL\n  for (int u = 0; u < PREFETCH; ++u) {\n" + copy("first_plane - DEPTH + u", "    ") + "  }\n";
    text +=
        "  REAL sum[DEPTH][ROWS][CELLS], raw[DEPTH][ROWS][CELLS];\n  UNROLL\n  for (int s = 0; s < DEPTH; ++s) {\n    "
        "UNROLL\n"
        "    for (int j = 0; j < ROWS; ++j) {\n      UNROLL\n      for (int c = 0; c < CELLS; ++c) sum[s][j][c] = "
        "raw[s][j][c] = 0;\n    }\n  }\n";
    text +=
        "  int newest = first_plane - DEPTH;  // plane that is read\n"
        "  for (int i = 0; i < MARCH_PLANES; i += PREFETCH) {\n";
    if (!kernel_.options.shuffles) return text + round("    ") + "  }\n";
    // Tests between the steps keep the compiler from interleaving them. Rounds in which no step reaches the first or
    // the last plane therefore have a text of their own, and so do those of them that are away from the sides.
    text += "    if (newest <= DEPTH || newest > planes - 2 * PREFETCH) {\n" + round("      ");
    ends_ = false;
    if (side_columns() || side_rows()) text += "    } else if (touches) {\n" + round("      ");
    sides_ = false;
    return text + "    } else {\n" + round("      ") + "    }\n  }\n";
  }

  bool side_columns() const { return kernel_.side_columns(); }
  bool side_rows() const { return kernel_.side_rows(); }

  // Borders that the text being written handles: the sides of planes, the first and the last plane.
  bool sides_ = true, ends_ = true;
  const PlaneMarchKernel& kernel_;
};

}  // namespace

std::string plane_march_text(const PlaneMarchKernel& kernel) { return PlaneMarchWriter(kernel).text(); }

}  // namespace ridge::stencil
