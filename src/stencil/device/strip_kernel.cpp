#include "stencil/device/strip_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace ridge::stencil {
namespace {

constexpr const char* kHead = R"(
KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT) void strip_march(
    GLOBAL const REAL* RESTRICT in, GLOBAL REAL* RESTRICT out, ulong origin, int width, int height, int pitch,
    int chunk_rows, int strips, int chunks, REAL keep, REAL scale@ARGUMENTS@) {
  const int lane = LOCAL_ID(0) % LANES;
  const int strip = (int)GROUP_ID(0) * SUB_GROUPS + LOCAL_ID(0) / LANES;
@EDGES@  // Chunks at the borders do more work, so they come first.
  const int turn = (int)GROUP_ID(1);
  const int chunk = turn == 0 ? chunks - 1 : turn - 1;
  const int first_row = chunk * chunk_rows;
  const int end_row = height - first_row < chunk_rows ? height : first_row + chunk_rows;
  // The last strip ends where the rows end; the others are side by side from the left.
  const int last = strip == strips - 1;
  const int x = (last ? width - USEFUL - HALO : strip * USEFUL - HALO) + lane * CELLS;
  const int stores = lane * CELLS >= HALO && (lane + 1) * CELLS <= LANES * CELLS - HALO &&
                     (last ? x >= REACH_X : x + CELLS <= width - REACH_X);
  if (@BORDER_ONLY@strip == 0 || last || first_row < REACH_Y || end_row + REACH_Y + 2 * PREFETCH > height) {
@BORDER@  } else {
@INTERIOR@  }
}
)";

constexpr const char* kShuffles = R"(          UNROLL
          for (int k = 0; k < RADIUS_X; ++k) {
            v[k] = SHUFFLE_UP(v[CELLS + k], 1);
            v[RADIUS_X + CELLS + k] = SHUFFLE_DOWN(v[RADIUS_X + k], 1);
          }
)";

constexpr const char* kLocalEdges = R"(          BARRIER();
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

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool has(const Borders& borders, std::size_t axis, Border kind) {
  return borders.low[axis] == kind || borders.high[axis] == kind;
}

// Axes of Borders are those of the grid: {y, x}.
class Writer {
 public:
  explicit Writer(const StripKernel& kernel)
      : kernel_(kernel),
        scaling_(kernel.scaling()),
        radius_x_(kernel.weights.radius[2]),
        radius_y_(kernel.weights.radius[1]) {}

  std::string text() const {
    std::string text = kHead;
    std::string arguments;
    for (const Weight& weight : kernel_.weights.list) {
      if (!is_unit(weight)) arguments += fmt::format(", REAL {}", weight.name);
    }
    if (restores_rows()) {
      for (int step = 1; step < kernel_.options.depth; ++step) arguments += fmt::format(", REAL growth_{}", step);
    }
    replace_all(text, "@ARGUMENTS@", arguments);
    const bool local = !kernel_.options.shuffles && radius_x_ > 0;
    std::string edges = local ? "  LOCAL_ARRAY(REAL, edges, LANES * 2 * RADIUS_X);\n" : "";
    if (kernel_.options.sub_groups > 1) edges += "  if (strip >= strips) return;\n";
    replace_all(text, "@EDGES@", edges);
    // PoCL loses its way among barriers in both branches; there everything is a border.
    replace_all(text, "@BORDER_ONLY@", local ? "1 || " : "");
    replace_all(text, "@BORDER@", march(true));
    replace_all(text, "@INTERIOR@", local ? "" : march(false));
    return growth() + text;
  }

  bool restores_rows() const { return radius_y_ > 0 && has(kernel_.borders, 0, Border::fixed); }

 private:
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

  bool fixed_x() const { return has(kernel_.borders, 1, Border::fixed) && radius_x_ > 0; }

  std::string frozen_cells() const {
    std::vector<std::string> parts;
    if (kernel_.borders.low[1] == Border::fixed) parts.emplace_back("(c < RADIUS_X && at_left)");
    if (kernel_.borders.high[1] == Border::fixed) parts.emplace_back("(c >= CELLS - RADIUS_X && at_right)");
    return fmt::format("{}", fmt::join(parts, " || "));
  }

  // `target` gets `value`; a cell of a fixed border keeps what it has.
  std::string assign(const std::string& target, const std::string& value, int dy, bool border) const {
    if (!border || !fixed_x() || dy < 0) return fmt::format("{} = {};\n", target, value);
    const std::string held = dy == 0 ? "keep * " + cell(0) : sum(radius_y_ - dy);
    return fmt::format("{} = frozen ? {} : {};\n", target, held, value);
  }

  std::string target(int dy) const { return dy == radius_y_ ? "done[c]" : sum(radius_y_ - 1 - dy); }

  std::string ordinary_row(bool border, const std::string& indent) const {
    std::string text = indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) {\n";
    if (border && fixed_x()) text += fmt::format("{}  const int frozen = {};\n", indent, frozen_cells());
    for (int dy = radius_y_; dy >= -radius_y_; --dy) {
      const std::string before = dy == -radius_y_ ? "" : sum(radius_y_ - dy);
      text += indent + "  " + assign(target(dy), added(before, dy), dy, border);
    }
    return text + indent + "}\n";
  }

  bool rows_have_borders() const { return radius_y_ > 0 && !has(kernel_.borders, 0, Border::periodic); }

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
        const std::string line = assign(sum(radius_y_ - 1 - dy), added(sum(radius_y_ - 1 - dy), image), 0, false);
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

  std::string store(const std::string& to, bool border, const std::string& indent) const {
    const bool vectors = !border || kernel_.aligned;
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
    if (!border || !fixed_x()) return whole;
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
      text += "          UNROLL\n          for (int k = 0; k < RADIUS_X; ++k) {\n";
      text += left ? "            if (at_left) v[k] = v[2 * RADIUS_X - 1 - k];\n"
                   : "            if (at_right) v[RADIUS_X + CELLS + k] = v[RADIUS_X + CELLS - 1 - k];\n";
      text += "          }\n";
    }
    return text;
  }

  std::string border_places() const {
    std::string text = "    const int at_left = x == 0, at_right = x + CELLS == width;\n";
    if (has(kernel_.borders, 1, Border::periodic)) {
      text += "    const int wrapped = x < 0 ? x + width : x >= width ? x - width : x;\n";
    } else {
      text += "    const int wrapped = x;\n";
    }
    text +=
        "    const int column = wrapped < 0 ? 0 : wrapped > width - CELLS ? width - CELLS : wrapped;\n"
        "    GLOBAL const REAL* const from = in + origin + column;\n";
    if (restores_rows()) text += "    GLOBAL const REAL* const bottom = from + (long)(height - 1) * pitch;\n";
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

  std::string load_ahead(bool border, const std::string& index, const std::string& indent) const {
    if (!border) return load("from", true, indent) + indent + "from += pitch;\n";
    return border_row_address(index, indent) + load("(from + (long)source * pitch)", kernel_.aligned, indent);
  }

  std::string stage(bool border) const {
    const std::string indent = "          ", deep = indent + "  ";
    const bool near_border = border && rows_have_borders();
    std::string text;
    if (near_border) {
      text += indent + "const int row = newest - s * RADIUS_Y;  // that arrives\n";
      text += indent + "const int special = (uint)(row - RADIUS_Y) >= (uint)(height - 2 * RADIUS_Y);\n";
      text += indent + "if (special) {\n" + before_border_row(deep) + indent + "}\n";
    }
    if (radius_x_ > 0) text += kernel_.options.shuffles ? kShuffles : kLocalEdges;
    if (border) text += mirrored_columns();
    text += indent + "REAL done[CELLS];\n" + ordinary_row(border, indent);
    if (near_border) {
      const std::string after = after_border_row(deep);
      if (!after.empty()) text += indent + "if (special) {\n" + after + indent + "}\n";
    }
    text += indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = done[c];\n";
    return text;
  }

  std::string march(bool border) const {
    std::string text;
    if (border) {
      text += border_places();
      text += fmt::format(
          "    const int store_first = {}, store_end = {};\n",
          kernel_.borders.low[0] == Border::fixed ? "first_row > RADIUS_Y ? first_row : RADIUS_Y" : "first_row",
          kernel_.borders.high[0] == Border::fixed ? "end_row < height - RADIUS_Y ? end_row : height - RADIUS_Y"
                                                   : "end_row");
    } else {
      text +=
          "    GLOBAL const REAL* from = in + origin + (long)(first_row - REACH_Y) * pitch + x;\n"
          "    GLOBAL REAL* to = out + origin + (long)(first_row - 2 * REACH_Y) * pitch + x;\n";
    }
    text += "    REAL ahead[@AHEAD@][CELLS];\n    UNROLL\n    for (int u = 0; u < @AHEAD@; ++u) {\n" +
            load_ahead(border, "first_row - REACH_Y + u", "      ") + "    }\n";
    if (radius_y_ > 0) {
      text +=
          "    REAL sum[DEPTH][2 * RADIUS_Y][CELLS];\n    UNROLL\n    for (int s = 0; s < DEPTH; ++s) {\n"
          "      UNROLL\n      for (int c = 0; c < CELLS; ++c) {\n";
      for (int j = 0; j < 2 * radius_y_; ++j) text += fmt::format("        {} = 0;\n", sum(j));
      text += "      }\n    }\n";
    }
    text +=
        "    int newest = first_row - REACH_Y;\n    for (int i = 0; i < MARCH_ROWS; i += @AHEAD@) {\n      UNROLL\n    "
        "  for (int u = 0; u < @AHEAD@; ++u) "
        "{\n"
        "        REAL v[CELLS + 2 * RADIUS_X];\n        UNROLL\n"
        "        for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = ahead[u][c];\n";
    text += border ? "        {\n" + load_ahead(true, "newest + @AHEAD@", "          ") + "        }\n"
                   : load_ahead(false, "", "        ");
    text += "        UNROLL\n        for (int s = 0; s < DEPTH; ++s) {\n" + stage(border) + "        }\n";
    text += "        const int ready = newest - REACH_Y;\n";
    if (border) {
      text +=
          "        if (stores && ready >= store_first && ready < store_end) {\n"
          "          GLOBAL REAL* const to = out + origin + (long)ready * pitch + x;\n" +
          store("to", true, "          ") + "        }\n";
    } else {
      text += "        if (stores && ready >= first_row && ready < end_row) {\n" + store("to", false, "          ") +
              "        }\n        to += pitch;\n";
    }
    text += "        ++newest;\n      }\n    }\n";
    replace_all(text, "@AHEAD@", border ? "BORDER_PREFETCH" : "PREFETCH");
    return text;
  }

  const StripKernel& kernel_;
  Scaling scaling_;
  int radius_x_, radius_y_;
};

}  // namespace

int StripKernel::halo() const { return (reach_x() + options.cells - 1) / options.cells * options.cells; }

int StripKernel::useful() const { return options.lanes * options.cells - 2 * halo(); }

int StripKernel::strips(std::size_t width) const {
  const auto useful_cells = static_cast<std::size_t>(useful());
  return static_cast<int>(std::max<std::size_t>(2, (width + useful_cells - 1) / useful_cells));
}

Scaling StripKernel::scaling() const { return scaling_of(weights, options.depth, real == "float" ? 38 : 308); }

std::string StripKernel::refusal(const DeviceLayout& layout) const {
  const auto width = static_cast<std::int64_t>(layout.width()), height = static_cast<std::int64_t>(layout.height());
  if (weights.radius[0] > 0) return "strips are for two dimensions";
  if (weights.radius[2] > options.cells) {
    return fmt::format("radius {} along the row exceeds the {} cells a lane", weights.radius[2], options.cells);
  }
  if (useful() < reach_x() + options.cells)
    return fmt::format("a strip of {} cells has none to spare for {} steps", options.lanes * options.cells,
                       options.depth);
  if (width < 2 * (halo() + options.cells))
    return fmt::format("rows of {} cells are shorter than the {} that two strips need", width,
                       2 * (halo() + options.cells));
  if (height < std::max(4 * weights.radius[1], reach_y())) {
    return fmt::format("{} rows are fewer than the {} that {} steps reach over", height,
                       std::max(4 * weights.radius[1], reach_y()), options.depth);
  }
  if (std::max({width, height, static_cast<std::int64_t>(layout.pitch)}) > (1 << 30))
    return "rows and cells are counted in 30 bits here";
  return {};
}

KernelSource StripKernel::source() const {
  const auto number = [](int value) { return std::to_string(value); };
  std::string text = fmt::format(
      "// {} steps of a linear stencil of {} points, radius {} down and {} along the row; {} cells a lane, {} rows "
      "ahead\n",
      options.depth, weights.list.size(), weights.radius[1], weights.radius[2], options.cells, options.prefetch);
  text += Writer(*this).text();
  return {.name = "stencil strips",
          .text = text,
          .defines = {{"REAL", real},
                      {"DEPTH", number(options.depth)},
                      {"CELLS", number(options.cells)},
                      {"PREFETCH", number(options.prefetch)},
                      {"BORDER_PREFETCH", number(options.border_prefetch)},
                      {"LANES", number(options.lanes)},
                      {"SUB_GROUPS", number(options.sub_groups)},
                      {"RESIDENT", number(options.resident)},
                      {"RADIUS_X", number(weights.radius[2])},
                      {"RADIUS_Y", number(weights.radius[1])},
                      {"REACH_X", number(reach_x())},
                      {"REACH_Y", number(reach_y())},
                      {"HALO", number(halo())},
                      {"USEFUL", number(useful())},
                      {"MARCH_ROWS", options.chunk_rows > 0 ? number(options.chunk_rows + 2 * reach_y())
                                                            : "(end_row - first_row + 2 * REACH_Y)"}}};
}

Launch StripKernel::launch(const DeviceLayout& layout, int chunk_rows) const {
  const auto groups =
      static_cast<std::uint64_t>((strips(layout.width()) + options.sub_groups - 1) / options.sub_groups);
  const auto chunks =
      (layout.height() + static_cast<std::size_t>(chunk_rows) - 1) / static_cast<std::size_t>(chunk_rows);
  return {.groups = {groups, chunks}, .items = {static_cast<std::uint64_t>(options.lanes * options.sub_groups)}};
}

std::vector<Argument> StripKernel::scalars(const DeviceLayout& layout, int chunk_rows) const {
  const Scaling scaled = scaling();
  const auto count = [](std::size_t value) { return Argument(static_cast<std::int32_t>(value)); };
  const auto value = [&](double number) {
    return real == "float" ? Argument(static_cast<float>(number)) : Argument(number);
  };
  std::vector<Argument> list{
      Argument(static_cast<std::uint64_t>(layout.origin)),
      count(layout.width()),
      count(layout.height()),
      count(layout.pitch),
      count(static_cast<std::size_t>(chunk_rows)),
      count(static_cast<std::size_t>(strips(layout.width()))),
      count((layout.height() + static_cast<std::size_t>(chunk_rows) - 1) / static_cast<std::size_t>(chunk_rows)),
      value(1 / scaled.divisor),
      value(std::pow(scaled.divisor, options.depth))};
  for (std::size_t i = 0; i < weights.list.size(); ++i) {
    if (static_cast<int>(i) != scaled.unit) list.push_back(value(weights.list[i].value / scaled.divisor));
  }
  if (Writer(*this).restores_rows()) {
    for (int step = 1; step < options.depth; ++step) list.push_back(value(std::pow(scaled.divisor, -step)));
  }
  return list;
}

int chunk_rows_for(const StripKernel& kernel, const DeviceLayout& layout, std::size_t resident, int waves) {
  const auto columns = kernel.launch(layout, static_cast<int>(layout.height())).groups[0];
  const auto chunks = std::max<std::uint64_t>(1, resident * static_cast<std::uint64_t>(waves) / columns);
  const auto rows = (layout.height() + chunks - 1) / chunks;
  return static_cast<int>(std::max<std::uint64_t>(rows, static_cast<std::uint64_t>(std::max(1, 2 * kernel.reach_y()))));
}

}  // namespace ridge::stencil
