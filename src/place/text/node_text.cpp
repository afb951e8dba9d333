// Prints loops, branches and statements in the kernel dialect.
#include "place/text/node_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>

namespace ridge::place::text {

std::string indented(const std::string& text, int indent) {
  const std::string pad(static_cast<std::size_t>(2 * indent), ' ');
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    if (end > at) result += pad + text.substr(at, end - at);
    result += '\n';
    at = end + 1;
  }
  return result;
}

std::string loop_header(const Loop& loop) {
  if (!loop.counted) return loop.start;  // while (...), unchanged
  const std::string& i = loop.iterator;
  if (loop.axis >= 0) {  // grid-stride loop: any grid covers all iterations
    const std::string axis = std::to_string(loop.axis), type = "(" + loop.type + ")";
    const std::string by = loop.step == 1 || loop.step == -1 ? "" : " * " + std::to_string(std::abs(loop.step));
    const char* sign = loop.step > 0 ? " + " : " - ";
    const std::string from = loop.start == "0" && loop.step > 0 ? "" : loop.start + sign;
    return "for (" + loop.type + " " + i + " = " + from + type + "GLOBAL_ID(" + axis + ")" + by + "; " +
           loop.condition + "; " + i + (loop.step > 0 ? " += " : " -= ") + type + "(GROUPS(" + axis + ") * ITEMS(" +
           axis + "))" + by + ")";
  }
  const std::string step = loop.step == 1    ? "++" + i
                           : loop.step == -1 ? "--" + i
                           : loop.step > 0   ? i + " += " + std::to_string(loop.step)
                                             : i + " -= " + std::to_string(-loop.step);
  return "for (" + loop.type + " " + i + " = " + loop.start + "; " + loop.condition + "; " + step + ")";
}

std::string node_text(const Node& node, const std::vector<Loop>& loops, int indent) {
  const std::string pad(static_cast<std::size_t>(2 * indent), ' ');
  std::string text;
  switch (node.kind) {
    case NodeKind::block:
      for (const Node& child : node.children) {
        if (child.kind == NodeKind::block && child.text == "{")  // a nested scope
          text += pad + "{\n" + node_text(child, loops, indent + 1) + pad + "}\n";
        else
          text += node_text(child, loops, indent);
      }
      return text;
    case NodeKind::loop: {
      const Loop& loop = loops[static_cast<std::size_t>(node.loop)];
      if (loop.kind == "do" && !loop.counted)
        return pad + "do {\n" + node_text(node.children[0], loops, indent + 1) + pad + "} while (" + loop.condition +
               ");\n";
      if (!loop.open.empty())
        return pad + loop.open + (loop.open == "{" ? "" : " {") + "\n" + pad + "  " + loop.first + "\n" +
               node_text(node.children[0], loops, indent + 1) + pad + "}\n";
      if (unrolls(node, loop)) text = pad + "UNROLL\n";
      return text + pad + loop_header(loop) + " {\n" + node_text(node.children[0], loops, indent + 1) + pad + "}\n";
    }
    case NodeKind::branch:
      text = pad + "if (" + node.text + ") {\n" + node_text(node.children[0], loops, indent + 1) + pad + "}";
      if (node.children.size() > 1) text += " else {\n" + node_text(node.children[1], loops, indent + 1) + pad + "}";
      return text + "\n";
    case NodeKind::statement:
      if (!node.target.empty()) return pad + node.target + " " + node.operation + " " + node.text + ";\n";
      return node.text.empty() ? "" : indented(node.text, indent);
  }
  return text;
}

void visit_accesses(const Node& node, const std::function<void(const Access&)>& visit) {
  for (const Access& a : node.accesses) visit(a);
  for (const Node& child : node.children) visit_accesses(child, visit);
}

const Node* alone(const Node* node) {
  while (node->kind == NodeKind::block && node->children.size() == 1) node = &node->children[0];
  return node;
}

// Finds loops with a small constant number of iterations.

long constant_iterations(const Loop& loop) {
  if (!loop.counted || !loop.exact || loop.step != 1 || loop.leaves_early > 0) return 0;
  std::optional<long> low, high;
  for (const Constraint& c : loop.bounds) {
    const auto at = c.poly.terms().find({loop.iterator});
    if (c.equality || at == c.poly.terms().end()) return 0;
    const auto rest = c.poly.plus(Poly::symbol(loop.iterator), -at->second).value();
    if (!rest) return 0;
    if (at->second == 1) low = std::max(low.value_or(-*rest), -*rest);
    if (at->second == -1) high = std::min(high.value_or(*rest), *rest);
  }
  return low && high && *high >= *low ? *high - *low + 1 : 0;
}

bool unrolls(const Node& node, const Loop& loop) {
  const std::function<bool(const Node&)> loops = [&](const Node& n) {
    return n.kind == NodeKind::loop || std::any_of(n.children.begin(), n.children.end(), loops);
  };
  const long turns = loop.axis < 0 ? constant_iterations(loop) : 0;
  return turns > 1 && turns <= kMostUnrolled && std::none_of(node.children.begin(), node.children.end(), loops);
}

}  // namespace ridge::place::text
