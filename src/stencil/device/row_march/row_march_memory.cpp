// Loads and stores of rows: prefetched, through local memory, as vectors.
#include "stencil/device/row_march/row_march_writer.hpp"

#include <fmt/format.h>

namespace ridge::stencil {

std::string RowMarchWriter::vector_type() const { return fmt::format("{}{}", kernel_.real, vector()); }

int RowMarchWriter::vector() const {
  const int widest = kernel_.real == "float" ? 4 : 2;
  return kernel_.options.cells % widest == 0 ? widest : kernel_.options.cells % 2 == 0 ? 2 : 1;
}

std::string RowMarchWriter::load(const std::string& from, bool vectors, const std::string& indent) const {
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

std::string RowMarchWriter::scaled(int offset) const {
  const std::string value = cell(offset);
  return scaling_.divisor == 1 ? value : "scale * " + value;
}

std::string RowMarchWriter::store(const std::string& to, const std::string& indent) const {
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
  std::string text = indent + "if (at_left || at_right) {\n" + single + indent + "} else {\n" + whole + indent + "}\n";
  return text;
}

int RowMarchWriter::vector_bytes(int n) const { return n * (kernel_.real == "float" ? 4 : 8); }

bool RowMarchWriter::staged() const { return kernel_.options.ring && kernel_.options.cells > vector(); }

std::string RowMarchWriter::next_row(const std::string& index, const std::string& indent) {
  return fmt::format("{}if ({} < height - 1) from += pitch;\n", indent, index);
}

std::string RowMarchWriter::ring_copy(const std::string& index, const std::string& indent) const {
  if (!kernel_.frame) {
    return fmt::format(
               "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  COPY_ASYNC_{2}(rows + u * LANES * CELLS "
               "+ c * "
               "LANES + lane "
               "* {1}, from + c * LANES + lane * {1});\n{0}}}\n{0}COPY_ASYNC_COMMIT();\n",
               indent, vector(), vector_bytes(vector())) +
           next_row(index, indent);
  }
  const int n = kernel_.aligned ? vector() : 1;
  return border_row_address(index, indent) + fmt::format(
                                                 "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  "
                                                 "COPY_ASYNC_{2}(rows + (u * LANES + lane) * CELLS + c, from "
                                                 "+ (long)source * pitch + c);\n{0}}}\n{0}COPY_ASYNC_COMMIT();\n",
                                                 indent, n, vector_bytes(n));
}

std::string RowMarchWriter::ring_read(const std::string& indent) const {
  const int n = vector();
  std::string text = indent + "COPY_ASYNC_WAIT(PREFETCH - 1);\n" + indent + "BETWEEN_LANES();\n";
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

std::string RowMarchWriter::staged_store(const std::string& indent, const std::string& when) const {
  const int n = vector();
  std::string text = indent + "BETWEEN_LANES();\n";
  text += fmt::format(
      "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) *(LOCAL {2}*)(staged + lane * CELLS + c) = make_{2}(", indent,
      n, vector_type());
  for (int i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + scaled(i);
  text += ");\n" + indent + "BETWEEN_LANES();\n";
  text += fmt::format(
      "{0}UNROLL\n{0}for (int c = 0; c < CELLS; c += {1}) {{\n{0}  const int place = c * LANES + lane * {1};\n{0}  "
      "if ({3}place >= HALO && "
      "place < stored_end) *(GLOBAL {2}*)(to + place) = *(LOCAL const {2}*)(staged + place);\n{0}}}\n",
      indent, n, vector_type(), when);
  return text;
}

std::string RowMarchWriter::load_ahead(const std::string& index, const std::string& indent) const {
  if (kernel_.options.ring) return ring_copy(index, indent);
  if (!kernel_.frame) return load("from", true, indent) + next_row(index, indent);
  return border_row_address(index, indent) + load("(from + (long)source * pitch)", kernel_.aligned, indent);
}

}  // namespace ridge::stencil
