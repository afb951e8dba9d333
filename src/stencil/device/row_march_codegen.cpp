// The text of the strip kernels. See row_march_kernel.hpp for the idea.
#include "stencil/device/row_march_codegen.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "stencil/device/words.hpp"

namespace ridge::stencil {
namespace {

constexpr const char* kInterior = R"(
@KIND@ void strip_interior(@PLACE@
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int right,
    int strips, int chunk_rows, REAL scale@ARGUMENTS@) {
  const int lane = LOCAL_ID(0) % LANES;
  const int strip = @GROUP@ * SUB_GROUPS + LOCAL_ID(0) / LANES;
@LOCALS@  const int first_row = REACH_Y + @PIECE@ * chunk_rows;
  const int end_row = height - REACH_Y - first_row < chunk_rows ? height - REACH_Y : first_row + chunk_rows;
  const int strip_x = strip * USEFUL;  // a strip reads from here and writes from HALO further on, up to:
  const int stored_end = right - strip_x < LANES * CELLS - HALO ? right - strip_x : LANES * CELLS - HALO;
@MARCH@}
)";

constexpr const char* kFrame = R"(
@KIND@ void strip_frame(@PLACE@
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int left,
    int right, int strips, int bands, int band_rows, int band_stride, int side_rows, int tasks, REAL keep, REAL scale@ARGUMENTS@) {
  const int lane = LOCAL_ID(0) % LANES;
  const int task = @GROUP@ * SUB_GROUPS + LOCAL_ID(0) / LANES;
@LOCALS@  // First bands of rows from side to side, then what is left of both sides in pieces.
  const int side = task - bands * strips;
  const int strip = side < 0 ? task % strips : side % 2 == 0 ? 0 : strips - 1;
  const int first_row = side < 0 ? task / strips * band_stride : band_rows + side / 2 * side_rows;
  const int rows_end = side < 0 ? first_row + band_rows : first_row + side_rows;
  const int rows_most = side < 0 ? height : height - band_rows;
  const int end_row = rows_end < rows_most ? rows_end : rows_most;
  // The last strip ends where the rows end; the others are side by side from the left.
  const int last = strip == strips - 1;
  const int x = (last ? width - USEFUL - HALO : strip * USEFUL - HALO) + lane * CELLS;
  // A lane that the end of the row cuts through reads whole lanes elsewhere, so it is no good, nor what it reaches.
  const int stores = lane * CELLS >= HALO && (lane + 1) * CELLS <= LANES * CELLS - HALO &&
                     (last ? x >= width % CELLS + REACH_X : x + CELLS <= width / CELLS * CELLS - REACH_X) &&
                     (side < 0 || (last ? x + CELLS > right : x < left));
@MARCH@}
)";

// Both as one launch: groups of the frame first.
constexpr const char* kJoined = R"(
KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT) void strip_joined(
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch, int left,
    int right, int strips, int bands, int band_rows, int band_stride, int side_rows, int tasks, REAL keep, REAL scale@ARGUMENTS@,
    int frame_groups, int columns, int interior_strips, int chunk_rows) {
  LOCAL_ARRAY(REAL, part_block, @LOCAL_REALS@);
  const int group = (int)GROUP_ID(0);
  if (group < frame_groups) {
    strip_frame(part_block, group, 0, in, out, origin, width, height, pitch, left, right, strips, bands, band_rows,
                band_stride, side_rows, tasks, keep, scale@VALUES@);
  } else {
    const int place = group - frame_groups;
    strip_interior(part_block, place % columns, place / columns, in, out, origin, width, height, pitch, right,
                   interior_strips, chunk_rows, scale@INTERIOR_VALUES@);
  }
}
)";

constexpr const char* kShuffles = R"(        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          v[k] = SHUFFLE_UP(v[CELLS + k], 1);
          v[RADIUS_X + CELLS + k] = SHUFFLE_DOWN(v[RADIUS_X + k], 1);
        }
)";

constexpr const char* kLocalEdges = R"(        BARRIER();
        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          edges[lane * 2 * RADIUS_X + k] = v[RADIUS_X + k];
          edges[lane * 2 * RADIUS_X + RADIUS_X + k] = v[CELLS + k];
        }
        BARRIER();
        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          v[k] = edges[(lane > 0 ? lane - 1 : 0) * 2 * RADIUS_X + RADIUS_X + k];
          v[RADIUS_X + CELLS + k] = edges[(lane < LANES - 1 ? lane + 1 : lane) * 2 * RADIUS_X + k];
        }
)";

bool has(const Borders& borders, std::size_t axis, Border kind) {
  return borders.low[axis] == kind || borders.high[axis] == kind;
}

// Axes of Borders are those of the grid: {y, x}.
class RowMarchWriter {
 public:
  explicit RowMarchWriter(const RowMarchKernel& kernel)
      : kernel_(kernel),
        scaling_(kernel.scaling()),
        radius_x_(kernel.weights.radius[2]),
        radius_y_(kernel.weights.radius[1]) {}

  std::string text() {
    std::string text = kernel_.frame ? kFrame : kInterior;
    replace_all(text, "@KIND@",
                kernel_.part ? "FUNCTION" : "KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT)");
    replace_all(text, "@PLACE@", kernel_.part ? "LOCAL REAL* const part_block, int group, int piece," : "");
    replace_all(text, "@GROUP@", kernel_.part ? "group" : "(int)GROUP_ID(0)");
    replace_all(text, "@PIECE@", kernel_.part ? "piece" : "(int)GROUP_ID(1)");
    replace_all(text, "@ARGUMENTS@", numbers(", REAL "));
    replace_all(text, "@LOCALS@", locals());
    replace_all(text, "@MARCH@", marches());
    return growth() + text;
  }

  // The weights and the growth that the kernel is given, each after `before`.
  std::string numbers(const std::string& before) const {
    std::string text;
    for (const Weight& weight : kernel_.weights.list) {
      if (!is_unit(weight)) text += before + weight.name;
    }
    if (restores_rows()) {
      for (int step = 1; step < kernel_.options.depth; ++step) text += fmt::format("{}growth_{}", before, step);
    }
    return text;
  }

  // Local memory of the kernel as a part of a joined one.
  int local_reals() const {
    const RowMarchOptions& options = kernel_.options;
    const int row = options.sub_groups * options.lanes * options.cells;
    return (options.ring ? options.prefetch * row : 0) + (staged() ? row : 0);
  }

  bool restores_rows() const { return kernel_.frame && radius_y_ > 0 && has(kernel_.borders, 0, Border::fixed); }

 private:
  std::string locals() const {
    std::string text;
    if (!kernel_.options.shuffles && radius_x_ > 0) text += "  LOCAL_ARRAY(REAL, edges, LANES * 2 * RADIUS_X);\n";
    if (kernel_.options.ring) {
      text += kernel_.part ? "  LOCAL REAL* const ring = part_block;\n"
                           : "  LOCAL_ARRAY(REAL, ring, SUB_GROUPS * PREFETCH * LANES * CELLS);\n";
      text += "  LOCAL REAL* const rows = ring + LOCAL_ID(0) / LANES * (PREFETCH * LANES * CELLS);\n";
    }
    if (staged()) {
      text += kernel_.part ? "  LOCAL REAL* const stage = part_block + SUB_GROUPS * PREFETCH * LANES * CELLS;\n"
                           : "  LOCAL_ARRAY(REAL, stage, SUB_GROUPS * LANES * CELLS);\n";
      text += "  LOCAL REAL* const staged = stage + LOCAL_ID(0) / LANES * (LANES * CELLS);\n";
    }
    if (kernel_.options.sub_groups > 1) {
      text += kernel_.frame ? "  if (task >= tasks) return;\n" : "  if (strip >= strips) return;\n";
    }
    return text;
  }

  // How much the scaled field has grown after s steps.
  std::string growth() const {
    if (!restores_rows()) return {};
    std::string text = "#define GROWTH(s) (";
    for (int step = 1; step + 1 < kernel_.options.depth; ++step)
      text += fmt::format("(s) == {0} ? growth_{0} : ", step);
    return text + (kernel_.options.depth > 1 ? fmt::format("growth_{})\n", kernel_.options.depth - 1) : "1)\n");
  }

  bool is_unit(const Weight& weight) const {
    return scaling_.unit >= 0 && kernel_.weights.list[static_cast<std::size_t>(scaling_.unit)].offset == weight.offset;
  }

  static std::string plus(int value) {
    return value == 0 ? "" : fmt::format(" {} {}", value < 0 ? '-' : '+', std::abs(value));
  }
  std::string cell(int dx) const { return fmt::format("v[c{}]", plus(radius_x_ + dx)); }
  std::string sum(int index) const { return fmt::format("sum[s][{}][c]", index); }

  // The row that has arrived, seen from the row dy before it, added to `start`.
  std::string added(std::string start, int dy) const {
    std::vector<Weight> row = kernel_.weights.at(0, dy);
    if (scaling_.late_first && dy == -1) return row.empty() ? "0" : cell(0);
    if (scaling_.late_first && dy == 0) {
      const auto unit = std::find_if(row.begin(), row.end(), [&](const Weight& weight) { return is_unit(weight); });
      start = fmt::format("FMA({}, {}, {})", kernel_.weights.list.front().name, start, cell(unit->offset[2]));
      row.erase(unit);
    }
    for (const Weight& weight : row) {
      const std::string value = cell(weight.offset[2]);
      if (start.empty()) {
        start = is_unit(weight) ? value : fmt::format("{} * {}", weight.name, value);
      } else {
        start = is_unit(weight) ? fmt::format("({} + {})", start, value)
                                : fmt::format("FMA({}, {}, {})", weight.name, value, start);
      }
    }
    return start.empty() ? "0" : start;
  }

  bool fixed_x() const { return kernel_.frame && has(kernel_.borders, 1, Border::fixed) && radius_x_ > 0; }

  std::string frozen_cells() const {
    std::vector<std::string> parts;
    if (kernel_.borders.low[1] == Border::fixed) parts.emplace_back("(c < RADIUS_X && at_left)");
    if (kernel_.borders.high[1] == Border::fixed) parts.emplace_back("(c >= CELLS - RADIUS_X && at_right)");
    return fmt::format("{}", fmt::join(parts, " || "));
  }

  // `target` gets `value`; a cell of a fixed border keeps what it has.
  std::string assign(const std::string& target, const std::string& value, int dy) const {
    if (!fixed_x() || dy < 0) return fmt::format("{} = {};\n", target, value);
    const std::string held = dy == 0 ? "keep * " + cell(0) : sum(radius_y_ - dy);
    return fmt::format("{} = frozen ? {} : {};\n", target, held, value);
  }

  std::string target(int dy) const { return dy == radius_y_ ? "done[c]" : sum(radius_y_ - 1 - dy); }

  std::string ordinary_row(const std::string& indent) const {
    std::string text = indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) {\n";
    if (fixed_x()) text += fmt::format("{}  const int frozen = {};\n", indent, frozen_cells());
    for (int dy = radius_y_; dy >= -radius_y_; --dy) {
      const std::string before = dy == -radius_y_ ? "" : sum(radius_y_ - dy);
      text += indent + "  " + assign(target(dy), added(before, dy), dy);
    }
    return text + indent + "}\n";
  }

  bool rows_have_borders() const {
    return kernel_.frame && radius_y_ > 0 && !has(kernel_.borders, 0, Border::periodic);
  }

  // Before a row near the upper or lower border is added: fixed rows get their values back, whatever was computed for
  // them; what came before the first row is forgotten; rows below the last add nothing.
  std::string before_border_row(const std::string& indent) const {
    const Border low = kernel_.borders.low[0], high = kernel_.borders.high[0];
    std::string text;
    for (int k = 0; k < radius_y_; ++k) {
      const auto restored = [&](const std::string& row, const std::string& from) {
        text += fmt::format(
            "{0}if (s > 0 && row == {1}) {{\n{0}  UNROLL\n{0}  for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = "
            "GROWTH(s) * "
            "({2})[c];\n{0}}}\n",
            indent, row, from);
      };
      if (low == Border::fixed) restored(std::to_string(k), fmt::format("from + {} * pitch", k));
      if (high == Border::fixed) restored(fmt::format("height - {}", k + 1), fmt::format("bottom - {} * pitch", k));
    }
    const std::string each = indent + "  UNROLL\n" + indent + "  for (int c = 0; c < CELLS; ++c) ";
    if (low == Border::mirror) {
      text += indent + "if (row == 0) {\n";
      if (scaling_.late_first) {
        text += each + fmt::format("{} = {};  // the image of this row\n", sum(1), cell(0));
      } else {
        for (int k = 0; k < 2 * radius_y_; ++k) text += each + sum(k) + " = 0;\n";
      }
      text += indent + "}\n";
    }
    if (high == Border::mirror) {
      if (scaling_.late_first) {
        text += indent + "if (row == height) {\n" + each +
                fmt::format("{} = {};  // the image of the row before\n", cell(0), sum(1));
      } else {
        text += indent + "if (row >= height) {\n" + each + cell(0) + " = 0;\n";
      }
      text += indent + "}\n";
    }
    return text;
  }

  // After a row near a mirror: its image is added too.
  std::string after_border_row(const std::string& indent) const {
    std::string text;
    if (scaling_.late_first) return text;
    const auto images = [&](const std::string& row, int first_dy, int last_dy, int shift) {
      std::string lines;
      for (int dy = first_dy; dy <= last_dy; ++dy) {
        const int image = dy + shift;
        if (std::abs(image) > radius_y_ || kernel_.weights.at(0, image).empty()) continue;
        const std::string line =
            fmt::format("{} = {};\n", sum(radius_y_ - 1 - dy), added(sum(radius_y_ - 1 - dy), image));
        lines += indent + "    " + (fixed_x() ? "if (!frozen) " : "") + line;
      }
      if (lines.empty()) return;
      text += fmt::format("{0}if (row == {1}) {{\n{0}  UNROLL\n{0}  for (int c = 0; c < CELLS; ++c) {{\n", indent, row);
      if (fixed_x()) text += fmt::format("{}    const int frozen = {};\n", indent, frozen_cells());
      text += lines + indent + "  }\n" + indent + "}\n";
    };
    // Row k of the top is also row -k - 1: it reaches the rows 0 to RADIUS_Y - 1 - k.
    for (int k = 0; kernel_.borders.low[0] == Border::mirror && k < radius_y_; ++k) {
      images(std::to_string(k), 2 * k + 1 - radius_y_, k, -2 * k - 1);
    }
    for (int k = 1; kernel_.borders.high[0] == Border::mirror && k <= radius_y_; ++k) {
      images(fmt::format("height - {}", k), 1 - k, radius_y_ + 1 - 2 * k, 2 * k - 1);
    }
    return text;
  }

  std::string vector_type() const { return fmt::format("{}{}", kernel_.real, vector()); }
  int vector() const {
    const int widest = kernel_.real == "float" ? 4 : 2;
    return kernel_.options.cells % widest == 0 ? widest : kernel_.options.cells % 2 == 0 ? 2 : 1;
  }

  // Reads CELLS cells at `from` into row u of `ahead`.
  std::string load(const std::string& from, bool vectors, const std::string& indent) const {
    const int n = vectors ? vector() : 1;
    if (n == 1) {
      return fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; ++c) ahead[u][c] = LOAD_CACHED({1} + c);\n", indent,
                         from);
    }
    std::string text = fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n", indent, n);
    text +=
        fmt::format("{0}  const {1} part = LOAD_CACHED((GLOBAL const {1}*)({2} + c));\n", indent, vector_type(), from);
    for (int i = 0; i < n; ++i) text += fmt::format("{}  ahead[u][c{}] = part.{};\n", indent, plus(i), "xyzw"[i]);
    return text + indent + "}\n";
  }

  std::string scaled(int offset) const {
    const std::string value = cell(offset);
    return scaling_.divisor == 1 ? value : "scale * " + value;
  }

  std::string store(const std::string& to, const std::string& indent) const {
    const bool vectors = !kernel_.frame || kernel_.aligned;
    const int n = vectors ? vector() : 1;
    std::string whole;
    if (n == 1) {
      whole = fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; ++c) {1}[c] = {2};\n", indent, to, scaled(0));
    } else {
      whole = fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) *(GLOBAL {2}*)({3} + c) = make_{2}(",
                          indent, n, vector_type(), to);
      for (int i = 0; i < n; ++i) whole += (i == 0 ? "" : ", ") + scaled(i);
      whole += ");\n";
    }
    if (!fixed_x()) return whole;
    const std::string single =
        fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; ++c) {{\n{0}  if (!({1})) {2}[c] = {3};\n{0}}}\n", indent,
                    frozen_cells(), to, scaled(0));
    if (n == 1) return single;
    std::string text =
        indent + "if (at_left || at_right) {\n" + single + indent + "} else {\n" + whole + indent + "}\n";
    return text;
  }

  std::string mirrored_columns() const {
    std::string text;
    if (radius_x_ == 0) return text;
    for (const bool left : {true, false}) {
      if ((left ? kernel_.borders.low : kernel_.borders.high)[1] != Border::mirror) continue;
      text += "        UNROLL\n        for (int k = 0; k < RADIUS_X; ++k) {\n";
      text += left ? "          if (at_left) v[k] = v[2 * RADIUS_X - 1 - k];\n"
                   : "          if (at_right) v[RADIUS_X + CELLS + k] = v[RADIUS_X + CELLS - 1 - k];\n";
      text += "        }\n";
    }
    return text;
  }

  std::string border_places() const {
    std::string text = "  const int at_left = x == 0, at_right = x + CELLS == width;\n";
    if (has(kernel_.borders, 1, Border::periodic)) {
      text += "  const int wrapped = x < 0 ? x + width : x >= width ? x - width : x;\n";
    } else {
      text += "  const int wrapped = x;\n";
    }
    text +=
        "  const int column = wrapped < 0 ? 0 : wrapped > width - CELLS ? width - CELLS : wrapped;\n"
        "  GLOBAL const REAL* const from = in + origin + column;\n";
    if (restores_rows()) text += "  GLOBAL const REAL* const bottom = from + (long)(height - 1) * pitch;\n";
    if (!fixed_x() && !(has(kernel_.borders, 1, Border::mirror) && radius_x_ > 0)) {
      text = text.substr(text.find('\n') + 1);
    }
    return text;
  }

  // The address of the row that is read for row `index` of the march.
  std::string border_row_address(const std::string& index, const std::string& indent) const {
    std::string text = fmt::format("{}int source = {};\n", indent, index);
    if (has(kernel_.borders, 0, Border::periodic)) {
      text += indent + "source = source < 0 ? source + height : source >= height ? source - height : source;\n";
    }
    text += indent + "source = source < 0 ? 0 : source >= height ? height - 1 : source;\n";
    return text;
  }

  int vector_bytes(int n) const { return n * (kernel_.real == "float" ? 4 : 8); }
  // Whether finished rows are put in order before they are stored: where a lane's cells are more than a vector, the
  // vectors that lanes store at once would not lie side by side.
  bool staged() const { return kernel_.options.ring && kernel_.options.cells > vector(); }

  // The march reads a few rows more than it needs; those below the grid are its last row again.
  static std::string next_row(const std::string& index, const std::string& indent) {
    return fmt::format("{}if ({} < height - 1) from += pitch;\n", indent, index);
  }

  // Starts the copy of a row into slot u of the ring. Away from borders lanes copy vectors that lie side by side,
  // whoever needs them; near borders each lane copies its own cells, which may come from the other end of the row.
  std::string ring_copy(const std::string& index, const std::string& indent) const {
    if (!kernel_.frame) {
      return fmt::format(
                 "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  COPY_AHEAD_{2}(rows + u * LANES * CELLS "
                 "+ c * "
                 "LANES + lane "
                 "* {1}, from + c * LANES + lane * {1});\n{0}}}\n{0}COPIES_CLOSE();\n",
                 indent, vector(), vector_bytes(vector())) +
             next_row(index, indent);
    }
    const int n = kernel_.aligned ? vector() : 1;
    return border_row_address(index, indent) + fmt::format(
                                                   "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  "
                                                   "COPY_AHEAD_{2}(rows + (u * LANES + lane) * CELLS + c, from "
                                                   "+ (long)source * pitch + c);\n{0}}}\n{0}COPIES_CLOSE();\n",
                                                   indent, n, vector_bytes(n));
  }

  std::string ring_read(const std::string& indent) const {
    const int n = vector();
    std::string text = indent + "COPIES_WAIT(PREFETCH - 1);\n" + indent + "BETWEEN_LANES();\n";
    if (n == 1) {
      text += fmt::format(
          "{0}UNROLL\n{0}for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = rows[(u * LANES + lane) * CELLS + c];\n",
          indent);
    } else {
      text += fmt::format("{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n", indent, n);
      text += fmt::format("{0}  const {1} part = *(LOCAL const {1}*)(rows + (u * LANES + lane) * CELLS + c);\n", indent,
                          vector_type());
      for (int i = 0; i < n; ++i) text += fmt::format("{}  {} = part.{};\n", indent, cell(i), "xyzw"[i]);
      text += indent + "}\n";
    }
    return text + indent + "BETWEEN_LANES();\n";
  }

  std::string staged_store(const std::string& indent, const std::string& when) const {
    const int n = vector();
    std::string text = indent + "BETWEEN_LANES();\n";
    text += fmt::format(
        "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) *(LOCAL {2}*)(staged + lane * CELLS + c) = make_{2}(",
        indent, n, vector_type());
    for (int i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + scaled(i);
    text += ");\n" + indent + "BETWEEN_LANES();\n";
    text += fmt::format(
        "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  const int place = c * LANES + lane * {1};\n{0}  "
        "if ({3}place >= HALO && "
        "place < stored_end) *(GLOBAL {2}*)(to + place) = *(LOCAL const {2}*)(staged + place);\n{0}}}\n",
        indent, n, vector_type(), when);
    return text;
  }

  std::string load_ahead(const std::string& index, const std::string& indent) const {
    if (kernel_.options.ring) return ring_copy(index, indent);
    if (!kernel_.frame) return load("from", true, indent) + next_row(index, indent);
    return border_row_address(index, indent) + load("(from + (long)source * pitch)", kernel_.aligned, indent);
  }

  std::string stage() const {
    const std::string indent = "        ", deep = indent + "  ";
    const bool near_border = near_rows_ && rows_have_borders();
    std::string text;
    if (near_border) {
      text += indent + "const int row = newest - s * RADIUS_Y;  // that arrives\n";
      text += indent + "const int special = (uint)(row - RADIUS_Y) >= (uint)(height - 2 * RADIUS_Y);\n";
      text += indent + "if (special) {\n" + before_border_row(deep) + indent + "}\n";
    }
    if (radius_x_ > 0) text += kernel_.options.shuffles ? kShuffles : kLocalEdges;
    if (kernel_.frame) text += mirrored_columns();
    text += indent + "REAL done[CELLS];\n" + ordinary_row(indent);
    if (near_border) {
      const std::string after = after_border_row(deep);
      if (!after.empty()) text += indent + "if (special) {\n" + after + indent + "}\n";
    }
    text += indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = done[c];\n";
    return text;
  }

  // Where reading and writing starts.
  std::string places() const {
    if (!kernel_.frame) {
      return fmt::format(
          "  GLOBAL const REAL* from = in + origin + (long)(first_row - REACH_Y) * pitch + strip_x{};\n"
          "  GLOBAL REAL* to = out + origin + (long)(first_row - 2 * REACH_Y) * pitch + strip_x{};\n",
          kernel_.options.ring ? "" : " + lane * CELLS", staged() ? "" : " + lane * CELLS");
    }
    const Border low = kernel_.borders.low[0], high = kernel_.borders.high[0];
    return border_places() +
           fmt::format("  const int store_first = {};\n  const int store_end = {};\n",
                       low == Border::fixed ? "first_row > RADIUS_Y ? first_row : RADIUS_Y" : "first_row",
                       high == Border::fixed ? "end_row < height - RADIUS_Y ? end_row : height - RADIUS_Y" : "end_row");
  }

  std::string empty_sums() const {
    if (radius_y_ == 0) return {};
    std::string text =
        "  REAL sum[DEPTH][2 * RADIUS_Y][CELLS];\n  UNROLL\n  for (int s = 0; s < DEPTH; ++s) {\n"
        "    UNROLL\n    for (int c = 0; c < CELLS; ++c) {\n";
    for (int j = 0; j < 2 * radius_y_; ++j) text += fmt::format("      {} = 0;\n", sum(j));
    return text + "    }\n  }\n";
  }

  std::string store_ready_row(const std::string& indent) const {
    const std::string deep = indent + "  ";
    std::string text = indent + "const int ready = newest - REACH_Y;\n";
    if (kernel_.frame) {
      return text + indent + "if (stores && ready >= store_first && ready < store_end) {\n" + deep +
             "GLOBAL REAL* const to = out + origin + (long)ready * pitch + x;\n" + store("to", deep) + indent + "}\n";
    }
    // Barriers of a whole group stay out of conditions: PoCL on x86 gets them wrong.
    const std::string complete = "ready >= first_row && ready < end_row";
    if (staged() && !kernel_.options.shuffles)
      return text + staged_store(indent, complete + " && ") + indent + "to += pitch;\n";
    text += indent + "if (" + complete + ") {\n";
    text += staged() ? staged_store(deep, "")
                     : deep + "if (lane * CELLS >= HALO && (lane + 1) * CELLS <= stored_end) {\n" +
                           store("to", deep + "  ") + deep + "}\n";
    return text + indent + "}\n" + indent + "to += pitch;\n";
  }

  // Pieces of the two sides that no upper or lower border reaches march without looking out for one.
  std::string marches() {
    if (!rows_have_borders() || !kernel_.options.shuffles) return places() + march();
    std::string text =
        places() + "  if (side < 0 || first_row < 2 * REACH_Y || end_row > height - 2 * REACH_Y) {\n" + march();
    near_rows_ = false;
    text += "  } else {\n" + march() + "  }\n";
    near_rows_ = true;
    return text;
  }

  std::string march() const {
    std::string text;
    if (!kernel_.options.ring) text += "  REAL ahead[PREFETCH][CELLS];\n";
    text +=
        "  UNROLL\n  for (int u = 0; u < PREFETCH; ++u) {\n" + load_ahead("first_row - REACH_Y + u", "    ") + "  }\n";
    text += empty_sums();
    text +=
        "  int newest = first_row - REACH_Y;  // row that is read\n  for (int i = 0; i < MARCH_ROWS; i += PREFETCH) {\n"
        "    UNROLL\n    for (int u = 0; u < PREFETCH; ++u) {\n      REAL v[CELLS + 2 * RADIUS_X];\n";
    text += kernel_.options.ring
                ? ring_read("      ")
                : "      UNROLL\n      for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = ahead[u][c];\n";
    text += "      {\n" + load_ahead("newest + PREFETCH", "        ") + "      }\n";
    text += "      UNROLL\n      for (int s = 0; s < DEPTH; ++s) {\n" + stage() + "      }\n";
    return text + store_ready_row("      ") + "      ++newest;\n    }\n  }\n";
  }

  const RowMarchKernel& kernel_;
  Scaling scaling_;
  int radius_x_, radius_y_;
  bool near_rows_ = true;  // whether the march being written may meet the upper or lower border
};

}  // namespace

std::string row_march_text(const RowMarchKernel& kernel) { return RowMarchWriter(kernel).text(); }

std::string joined_text(const RowMarchKernel& interior, const RowMarchKernel& frame) {
  std::string text = kJoined;
  const RowMarchWriter inner(interior), outer(frame);
  replace_all(text, "@ARGUMENTS@", outer.numbers(", REAL "));
  replace_all(text, "@VALUES@", outer.numbers(", "));
  replace_all(text, "@INTERIOR_VALUES@", inner.numbers(", "));
  replace_all(text, "@LOCAL_REALS@", std::to_string(std::max(inner.local_reals(), outer.local_reals())));
  return text;
}

bool restores_rows(const RowMarchKernel& kernel) { return RowMarchWriter(kernel).restores_rows(); }

}  // namespace ridge::stencil
