// Kernel text of an update's operations and border mapping.
#include "stencil/device/cells/cell_codegen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/number.hpp"

namespace ridge::stencil {
namespace {

std::string literal(double value, const std::string& type) {
  if (type == "int") {
    if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  // Hexadecimal, so that no digits are lost.
  const std::string text = base::hexadecimal_text(value);
  return value < 0 ? fmt::format("({}{})", text, type == "float" ? "f" : "") : text + (type == "float" ? "f" : "");
}

// Integer operations wrap on overflow.
std::string wrapping(const std::string& a, char op, const std::string& b) {
  return fmt::format("(int)((uint){} {} (uint){})", a, op, b);
}

}  // namespace

std::string operation_text(const Operation& op, const std::array<std::string, 3>& v, bool integer) {
  const auto two = [&](char sign) {
    return integer && sign != '/' ? wrapping(v[0], sign, v[1]) : fmt::format("{} {} {}", v[0], sign, v[1]);
  };
  switch (op.kind) {
    case Node::Kind::add:
      return two('+');
    case Node::Kind::subtract:
      return two('-');
    case Node::Kind::multiply:
      return two('*');
    case Node::Kind::divide:
      return two('/');
    case Node::Kind::fma:
      return integer ? wrapping(wrapping(v[0], '*', v[1]), '+', v[2])
                     : fmt::format("FMA({}, {}, {})", v[0], v[1], v[2]);
    case Node::Kind::minimum:
      return fmt::format("{1} < {0} ? {1} : {0}", v[0], v[1]);
    case Node::Kind::maximum:
      return fmt::format("{0} < {1} ? {1} : {0}", v[0], v[1]);
    case Node::Kind::absolute:
      return integer ? fmt::format("{0} < 0 ? {1} : {0}", v[0], wrapping("0", '-', v[0]))
                     : fmt::format("fabs({})", v[0]);
    case Node::Kind::square_root:
      return fmt::format("sqrt({})", v[0]);
    case Node::Kind::negate:
      return integer ? wrapping("0", '-', v[0]) : fmt::format("-{}", v[0]);
    case Node::Kind::less:
      return fmt::format("{} < {}", v[0], v[1]);
    case Node::Kind::less_equal:
      return fmt::format("{} <= {}", v[0], v[1]);
    case Node::Kind::equal:
      return fmt::format("{} == {}", v[0], v[1]);
    case Node::Kind::both:
      return fmt::format("{} && {}", v[0], v[1]);
    case Node::Kind::either:
      return fmt::format("{} || {}", v[0], v[1]);
    case Node::Kind::opposite:
      return fmt::format("!{}", v[0]);
    case Node::Kind::select:
      return fmt::format("{} ? {} : {}", v[0], v[1], v[2]);
    case Node::Kind::constant:
    case Node::Kind::read:
    case Node::Kind::coefficient:
      break;
  }
  return "0";
}

std::string CellText::statements(const std::string& indent, const std::string& prefix, const ReadText& read) const {
  std::string text;
  for (std::size_t i = 0; i < tape.operations.size(); ++i) {
    const Operation& op = tape.operations[i];
    std::string value;
    if (op.kind == Node::Kind::constant) {
      value = literal(op.value, compute());
    } else if (op.kind == Node::Kind::read || op.kind == Node::Kind::coefficient) {
      value = read(op);
    } else {
      std::array<std::string, 3> operands;
      for (std::size_t k = 0; k < operand_count(op.kind); ++k) operands[k] = fmt::format("{}{}", prefix, op.from[k]);
      value = operation_text(op, operands, integer());
    }
    text += fmt::format("{}const {} {}{} = {};\n", indent, is_truth(op.kind) ? "int" : compute(), prefix, i, value);
  }
  return text;
}

std::string CellText::result(std::size_t field, const std::string& prefix) const {
  const std::string value = fmt::format("{}{}", prefix, tape.outputs[field]);
  return cell == compute() ? value : fmt::format("({}){}", cell, value);
}

std::size_t CellText::operations() const {
  return static_cast<std::size_t>(std::ranges::count_if(tape.operations, [](const Operation& operation) {
    return !is_read(operation) && operation.kind != Node::Kind::constant;
  }));
}

bool CellText::maps(std::size_t axis) const {
  return layout.radius[axis] > 0 && (layout.low[axis] != Border::fixed || layout.high[axis] != Border::fixed);
}

std::string CellText::source_functions() const {
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!maps(axis)) continue;
    const bool once = static_cast<std::size_t>(layout.radius[axis]) <= layout.shape[axis];
    std::string body;
    if (layout.low[axis] == Border::periodic) {
      body = once ? "  return i < 0 ? i + n : i >= n ? i - n : i;\n" : "  i %= n;\n  return i < 0 ? i + n : i;\n";
    } else {
      const bool low = layout.low[axis] == Border::mirror, high = layout.high[axis] == Border::mirror;
      const std::string step =
          fmt::format("{}{}", low ? "i < 0 ? -1 - i : " : "", high ? "i >= n ? 2 * n - 1 - i : i" : "i");
      body = once ? fmt::format("  return {};\n", step)
                  : fmt::format("  while (i < 0 || i >= n) i = {};\n  return i;\n", step);
    }
    text += fmt::format("FUNCTION int source_{}(int i, int n) {{\n{}}}\n", kAxisNames[axis], body);
  }
  return text;
}

std::string CellText::index_name(std::size_t axis, int offset) {
  if (offset == 0) return std::string(1, kAxisNames[axis]);
  return fmt::format("{}_{}{}", kAxisNames[axis], offset < 0 ? "m" : "", std::abs(offset));
}

std::string CellText::index_statements(const std::string& indent) const {
  constexpr std::array<const char*, 3> sides{"planes", "height", "width"};
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::set<int> offsets;
    for (const Operation& op : tape.operations) {
      if (op.kind == Node::Kind::read || op.kind == Node::Kind::coefficient) offsets.insert(op.offset[axis]);
    }
    for (const int offset : offsets) {
      if (offset == 0) continue;
      const std::string moved = fmt::format("{} {} {}", kAxisNames[axis], offset < 0 ? '-' : '+', std::abs(offset));
      text += maps(axis) ? fmt::format("{}const int {} = source_{}({}, {});\n", indent, index_name(axis, offset),
                                       kAxisNames[axis], moved, sides[axis])
                         : fmt::format("{}const int {} = {};\n", indent, index_name(axis, offset), moved);
    }
  }
  return text;
}

CellText cell_text(const std::vector<Expression>& outputs, const Layout& layout, const std::string& cell) {
  return {.tape = flatten(outputs), .layout = layout, .cell = cell};
}

}  // namespace ridge::stencil
