// Kernel text of row_march: the march over the rows and the kernels around it.
#include "stencil/device/row_march/row_march_kernel.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"
#include "stencil/device/row_march/row_march_writer.hpp"

namespace ridge::stencil {

std::string RowMarchWriter::text() {
  const char* kind = kernel_.part ? "FUNCTION" : "KERNEL WORK_GROUP_RESIDENT(LANES * SUB_GROUPS, 1, 1, RESIDENT)";
  const char* place = kernel_.part ? "LOCAL REAL* const part_block, int group, int piece," : "";
  const char* group = kernel_.part ? "group" : "(int)GROUP_ID(0)";
  const char* piece = kernel_.part ? "piece" : "(int)GROUP_ID(1)";
  codegen::Text text;
  text.raw(growth());
  text.raw("\n" + ridge::detail::fill_kernel_text(kernel_.frame ? "stencil/strip_frame" : "stencil/strip_interior",
                                                  {{"kind", kind},
                                                   {"place", place},
                                                   {"group", group},
                                                   {"piece", piece},
                                                   {"weights", numbers(", REAL ")},
                                                   {"locals", locals()},
                                                   {"marches", marches()}}));
  return text.str();
}

std::string RowMarchWriter::numbers(const std::string& before) const {
  std::string text;
  for (const Weight& weight : kernel_.weights.list) {
    if (!is_unit(weight)) text += before + weight.name;
  }
  if (restores_rows()) {
    for (int step = 1; step < kernel_.options.depth; ++step) text += fmt::format("{}growth_{}", before, step);
  }
  return text;
}

int RowMarchWriter::local_reals() const {
  const RowMarchOptions& options = kernel_.options;
  const int row = options.sub_groups * options.lanes * options.cells;
  return (options.ring ? options.prefetch * row : 0) + (staged() ? row : 0);
}

bool RowMarchWriter::restores_rows() const {
  return kernel_.frame && radius_y_ > 0 && has_border(kernel_.borders, 0, Border::fixed);
}

std::string RowMarchWriter::locals() const {
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

std::string RowMarchWriter::growth() const {
  if (!restores_rows()) return {};
  std::string text = "#define GROWTH(s) (";
  for (int step = 1; step + 1 < kernel_.options.depth; ++step) text += fmt::format("(s) == {0} ? growth_{0} : ", step);
  return text + (kernel_.options.depth > 1 ? fmt::format("growth_{})\n", kernel_.options.depth - 1) : "1)\n");
}

std::string RowMarchWriter::stage() const {
  const std::string indent = "        ", deep = indent + "  ";
  const bool near_border = near_rows_ && rows_have_borders();
  std::string text;
  if (near_border) {
    text += indent + "const int row = newest - s * RADIUS_Y;  // that arrives\n";
    text += indent + "const int special = (uint)(row - RADIUS_Y) >= (uint)(height - 2 * RADIUS_Y);\n";
    text += indent + "if (special) {\n" + before_border_row(deep) + indent + "}\n";
  }
  if (radius_x_ > 0)
    text +=
        ridge::detail::kernel_text(kernel_.options.shuffles ? "stencil/row_march_shuffles" : "stencil/row_march_edges");
  if (kernel_.frame) text += mirrored_columns();
  text += indent + "REAL done[CELLS];\n" + ordinary_row(indent);
  if (near_border) {
    const std::string after = after_border_row(deep);
    if (!after.empty()) text += indent + "if (special) {\n" + after + indent + "}\n";
  }
  text += indent + "UNROLL\n" + indent + "for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = done[c];\n";
  return text;
}

std::string RowMarchWriter::places() const {
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

std::string RowMarchWriter::empty_sums() const {
  if (radius_y_ == 0) return {};
  std::string text =
      "  REAL sum[DEPTH][2 * RADIUS_Y][CELLS];\n  UNROLL\n  for (int s = 0; s < DEPTH; ++s) {\n"
      "    UNROLL\n    for (int c = 0; c < CELLS; ++c) {\n";
  for (int j = 0; j < 2 * radius_y_; ++j) text += fmt::format("      {} = 0;\n", sum(j));
  return text + "    }\n  }\n";
}

std::string RowMarchWriter::store_ready_row(const std::string& indent) const {
  const std::string deep = indent + "  ";
  std::string text = indent + "const int ready = newest - REACH_Y;\n";
  if (kernel_.frame) {
    return text + indent + "if (stores && ready >= store_first && ready < store_end) {\n" + deep +
           "GLOBAL REAL* const to = out + origin + (long)ready * pitch + x;\n" + store("to", deep) + indent + "}\n";
  }
  // Group barriers are not placed inside conditions: PoCL on x86 miscompiles them.
  const std::string complete = "ready >= first_row && ready < end_row";
  if (staged() && !kernel_.options.shuffles)
    return text + staged_store(indent, complete + " && ") + indent + "to += pitch;\n";
  text += indent + "if (" + complete + ") {\n";
  text += staged() ? staged_store(deep, "")
                   : deep + "if (lane * CELLS >= HALO && (lane + 1) * CELLS <= stored_end) {\n" +
                         store("to", deep + "  ") + deep + "}\n";
  return text + indent + "}\n" + indent + "to += pitch;\n";
}

std::string RowMarchWriter::marches() {
  if (!rows_have_borders() || !kernel_.options.shuffles) return places() + march();
  std::string text =
      places() + "  if (side < 0 || first_row < 2 * REACH_Y || end_row > height - 2 * REACH_Y) {\n" + march();
  near_rows_ = false;
  text += "  } else {\n" + march() + "  }\n";
  near_rows_ = true;
  return text;
}

std::string RowMarchWriter::march() const {
  std::string text;
  if (!kernel_.options.ring) text += "  REAL ahead[PREFETCH][CELLS];\n";
  text +=
      "  UNROLL\n  for (int u = 0; u < PREFETCH; ++u) {\n" + load_ahead("first_row - REACH_Y + u", "    ") + "  }\n";
  text += empty_sums();
  text +=
      "  int newest = first_row - REACH_Y;  // row that is read\n  for (int i = 0; i < MARCH_ROWS; i += PREFETCH) {\n"
      "    UNROLL\n    for (int u = 0; u < PREFETCH; ++u) {\n      REAL v[CELLS + 2 * RADIUS_X];\n";
  text += kernel_.options.ring ? ring_read("      ")
                               : "      UNROLL\n      for (int c = 0; c < CELLS; ++c) v[RADIUS_X + c] = ahead[u][c];\n";
  text += "      {\n" + load_ahead("newest + PREFETCH", "        ") + "      }\n";
  text += "      UNROLL\n      for (int s = 0; s < DEPTH; ++s) {\n" + stage() + "      }\n";
  return text + store_ready_row("      ") + "      ++newest;\n    }\n  }\n";
}

std::string RowMarchWriter::border_places() const {
  std::string text = "  const int at_left = x == 0, at_right = x + CELLS == width;\n";
  if (has_border(kernel_.borders, 1, Border::periodic)) {
    text += "  const int wrapped = x < 0 ? x + width : x >= width ? x - width : x;\n";
  } else {
    text += "  const int wrapped = x;\n";
  }
  text +=
      "  const int column = wrapped < 0 ? 0 : wrapped > width - CELLS ? width - CELLS : wrapped;\n"
      "  GLOBAL const REAL* const from = in + origin + column;\n";
  if (restores_rows()) text += "  GLOBAL const REAL* const bottom = from + (long)(height - 1) * pitch;\n";
  if (!fixed_x() && !(has_border(kernel_.borders, 1, Border::mirror) && radius_x_ > 0)) {
    text = text.substr(text.find('\n') + 1);
  }
  return text;
}

std::string RowMarchWriter::border_row_address(const std::string& index, const std::string& indent) const {
  std::string text = fmt::format("{}int source = {};\n", indent, index);
  if (has_border(kernel_.borders, 0, Border::periodic)) {
    text += indent + "source = source < 0 ? source + height : source >= height ? source - height : source;\n";
  }
  text += indent + "source = source < 0 ? 0 : source >= height ? height - 1 : source;\n";
  return text;
}

std::string row_march_text(const RowMarchKernel& kernel) { return RowMarchWriter(kernel).text(); }

std::string joined_text(const RowMarchKernel& interior, const RowMarchKernel& frame) {
  const RowMarchWriter inner(interior), outer(frame);
  return "\n" +
         ridge::detail::fill_kernel_text("stencil/strip_joined",
                                         {{"weights", outer.numbers(", REAL ")},
                                          {"reals", std::to_string(std::max(inner.local_reals(), outer.local_reals()))},
                                          {"frame_weights", outer.numbers(", ")},
                                          {"interior_weights", inner.numbers(", ")}});
}

bool restores_rows(const RowMarchKernel& kernel) { return RowMarchWriter(kernel).restores_rows(); }

}  // namespace ridge::stencil
