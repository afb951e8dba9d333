// Processing of a row: sums over its neighbours, borders.
#include "stencil/device/row_march/row_march_writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

namespace ridge::stencil {

bool RowMarchWriter::is_unit(const Weight& weight) const {
  return scaling_.unit >= 0 && kernel_.weights.list[static_cast<std::size_t>(scaling_.unit)].offset == weight.offset;
}

std::string RowMarchWriter::plus(int value) {
  return value == 0 ? "" : fmt::format(" {} {}", value < 0 ? '-' : '+', std::abs(value));
}

std::string RowMarchWriter::cell(int dx) const { return fmt::format("v[c{}]", plus(radius_x_ + dx)); }

std::string RowMarchWriter::sum(int index) const { return fmt::format("sum[s][{}][c]", index); }

std::string RowMarchWriter::added(std::string start, int dy) const {
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

bool RowMarchWriter::fixed_x() const {
  return kernel_.frame && has_border(kernel_.borders, 1, Border::fixed) && radius_x_ > 0;
}

std::string RowMarchWriter::frozen_cells() const {
  std::vector<std::string> parts;
  if (kernel_.borders.low[1] == Border::fixed) parts.emplace_back("(c < RADIUS_X && at_left)");
  if (kernel_.borders.high[1] == Border::fixed) parts.emplace_back("(c >= CELLS - RADIUS_X && at_right)");
  return fmt::format("{}", fmt::join(parts, " || "));
}

std::string RowMarchWriter::assign(const std::string& target, const std::string& value, int dy) const {
  if (!fixed_x() || dy < 0) return fmt::format("{} = {};\n", target, value);
  const std::string held = dy == 0 ? "keep * " + cell(0) : sum(radius_y_ - dy);
  return fmt::format("{} = frozen ? {} : {};\n", target, held, value);
}

std::string RowMarchWriter::target(int dy) const { return dy == radius_y_ ? "done[c]" : sum(radius_y_ - 1 - dy); }

std::string RowMarchWriter::ordinary_row(const std::string& indent) const {
  std::string text = indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) {\n";
  if (fixed_x()) text += fmt::format("{}  const int frozen = {};\n", indent, frozen_cells());
  for (int dy = radius_y_; dy >= -radius_y_; --dy) {
    const std::string before = dy == -radius_y_ ? "" : sum(radius_y_ - dy);
    text += indent + "  " + assign(target(dy), added(before, dy), dy);
  }
  return text + indent + "}\n";
}

bool RowMarchWriter::rows_have_borders() const {
  return kernel_.frame && radius_y_ > 0 && !has_border(kernel_.borders, 0, Border::periodic);
}

std::string RowMarchWriter::before_border_row(const std::string& indent) const {
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

std::string RowMarchWriter::after_border_row(const std::string& indent) const {
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
  // Row k of the top also acts as row -k - 1: it reaches rows 0 to RADIUS_Y - 1 - k.
  for (int k = 0; kernel_.borders.low[0] == Border::mirror && k < radius_y_; ++k) {
    images(std::to_string(k), 2 * k + 1 - radius_y_, k, -2 * k - 1);
  }
  for (int k = 1; kernel_.borders.high[0] == Border::mirror && k <= radius_y_; ++k) {
    images(fmt::format("height - {}", k), 1 - k, radius_y_ + 1 - 2 * k, 2 * k - 1);
  }
  return text;
}

std::string RowMarchWriter::mirrored_columns() const {
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

}  // namespace ridge::stencil
