// Source text for any update, whatever it computes: the operations of its tape in the dialect, neighbours found through
// the border's mapping. Same operations, same order, same rounding as the reference: results are equal bit for bit.
#pragma once
#include <array>
#include <functional>
#include <string>

#include "stencil/expression.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// What is read, as an expression of the cell's type.
using ReadText = std::function<std::string(const Operation& read)>;

struct CellText {
  Tape tape;
  Layout layout;
  std::string cell;  // the type of a cell: "float", "double", "int", "uchar"

  bool integer() const { return cell == "int" || cell == "uchar"; }
  std::string compute() const { return integer() ? "int" : cell; }  // what is computed with

  // One statement an operation: const float t3 = ...; `prefix` keeps several copies apart.
  std::string statements(const std::string& indent, const std::string& prefix, const ReadText& read) const;
  std::string result(std::size_t field, const std::string& prefix) const;  // the new value, of the cell's type

  // FUNCTION int source_x(int i, int n): where a read at index i goes; for each axis that has a radius.
  std::string source_functions() const;
  // The index that is read along an axis at an offset: a name, and the statements that define all of them. Names are
  // the axis where the offset is 0.
  std::string index_statements(const std::string& indent) const;
  static std::string index_name(std::size_t axis, int offset);  // "x_m1"
  bool maps(std::size_t axis) const;                            // whether reads along the axis can leave the grid
};

// One operation in the dialect, of operands that are words.
std::string operation_text(const Operation& operation, const std::array<std::string, 3>& operands, bool integer);

CellText cell_text(const std::vector<Expression>& outputs, const Layout& layout, const std::string& cell);

}  // namespace ridge::stencil
