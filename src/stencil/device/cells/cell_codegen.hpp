// Source text for any update: the operations of its tape in the dialect, with neighbours found through the border
// mapping. Same operations, order and rounding as the reference: results are equal bit for bit.
#pragma once
#include <array>
#include <functional>
#include <string>

#include "stencil/expression.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// Expression for a read, of the cell's type.
using ReadText = std::function<std::string(const Operation& read)>;

struct CellText {
  Tape tape;
  Layout layout;
  std::string cell;  // the type of a cell: "float", "double", "int", "uchar"

  bool integer() const { return cell == "int" || cell == "uchar"; }
  std::size_t operations() const;                                   // arithmetic ones per cell
  std::string compute() const { return integer() ? "int" : cell; }  // arithmetic type

  // One statement per operation: const float t3 = ...; `prefix` distinguishes several copies.
  std::string statements(const std::string& indent, const std::string& prefix, const ReadText& read) const;
  std::string result(std::size_t field, const std::string& prefix) const;  // new value, of the cell's type

  // FUNCTION int source_x(int i, int n): the index that a read at i refers to; for each axis with a radius.
  std::string source_functions() const;
  // Index that is read along an axis at an offset: a variable name, and the statements that define all of them. The
  // name is the axis itself for offset 0.
  std::string index_statements(const std::string& indent) const;
  static std::string index_name(std::size_t axis, int offset);  // "x_m1"
  bool maps(std::size_t axis) const;                            // reads along the axis can leave the grid
};

inline bool is_read(const Operation& operation) { return operation.kind == Node::Kind::read; }

// One operation in the dialect; the operands are identifiers.
std::string operation_text(const Operation& operation, const std::array<std::string, 3>& operands, bool integer);

CellText cell_text(const std::vector<Expression>& outputs, const Layout& layout, const std::string& cell);

// Small helpers for kernel text.

constexpr std::array<char, 3> kAxisNames{'z', 'y', 'x'};
constexpr std::array<const char*, 3> kSide{"planes", "height", "width"};  // kernel parameters: cells along each axis

// A number as part of a name: m1 is -1.
inline std::string signed_word(int value) {
  return (value < 0 ? "m" : "") + std::to_string(value < 0 ? -value : value);
}

// Number of parts of a given length that cover another length.
inline int pieces(int length, int piece) { return (length + piece - 1) / piece; }

}  // namespace ridge::stencil
