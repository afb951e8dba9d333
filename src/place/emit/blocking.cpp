// Conditions for unroll-and-jam and the kernel text it produces.
#include "place/emit/blocking.hpp"

#include <algorithm>
#include <set>

#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

constexpr int kCopies = 4;  // per loop: 16 sums stay in registers

void replace_in(Node& node, const std::string& word, const std::string& by) {
  node.text = text::replaced(node.text, word, by);
  node.target = text::replaced(node.target, word, by);
  for (Node& child : node.children) replace_in(child, word, by);
}

// Turns the declaration of `v` into an assignment.
void undeclare(Node& node, const Variable& v) {
  const std::string with = v.element + " " + v.name;
  if (node.declaration && node.text.rfind(with, 0) == 0 && !text::letter(node.text[with.size()])) {
    node.text = node.text.substr(v.element.size() + 1);
    if (node.text == v.name + ";") node.text.clear();
  }
  for (Node& child : node.children) undeclare(child, v);
}

bool mentions(const Loop& loop, const std::set<std::string>& names) {
  for (const Constraint& c : loop.bounds)
    for (const std::string& s : c.poly.symbols())
      if (names.count(s) > 0) return true;
  return false;
}

bool jumps(const Node& node) {
  for (const char* word : {"break", "continue", "return"})
    if (node.text.find(word) != std::string::npos) return true;
  return std::any_of(node.children.begin(), node.children.end(), jumps);
}

bool has_loop(const Node& node) {
  return node.kind == NodeKind::loop || std::any_of(node.children.begin(), node.children.end(), has_loop);
}

// True if the tree consists of counted loops with fixed bounds and statements; branches may contain statements only.
bool regular(const Node& node, const Nest& nest, const std::set<std::string>& own) {
  if (node.kind == NodeKind::branch) return !has_loop(node);
  if (node.kind == NodeKind::loop) {
    const Loop& l = nest.loops[node.loop];
    if (!l.counted || !l.exact || l.kind == "do" || mentions(l, own)) return false;
    for (const std::string& name : own)
      if (text::replaced(l.start + " " + l.condition, name, "") != l.start + " " + l.condition) return false;
  }
  return std::all_of(node.children.begin(), node.children.end(), [&](const Node& c) { return regular(c, nest, own); });
}

// True if an inner loop reads an array by a subscript that uses the inner iterator but not `iterator`.
bool reads_without(const Node& node, const Nest& nest, const std::string& iterator, std::set<std::string> inner) {
  if (node.kind == NodeKind::loop) inner.insert(nest.loops[node.loop].iterator);
  for (const Access& a : node.accesses) {
    const Variable& v = nest.variables[a.variable];
    if (a.write || !a.exact || !v.array() || v.local_memory || !a.exists.empty()) continue;
    bool named = false, turns = false;
    for (const Poly& p : a.subscripts)
      for (const std::string& s : p.symbols()) {
        named |= s == iterator;
        turns |= inner.count(s) > 0;
      }
    if (turns && !named) return true;
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const Node& c) { return reads_without(c, nest, iterator, inner); });
}

// True if an inner loop writes elements: sums in memory would not stay in registers (half as fast on an H200).
bool adds_in_memory(const Node& node, const Nest& nest, bool inside) {
  inside |= node.kind == NodeKind::loop;
  const bool here = inside && std::any_of(node.accesses.begin(), node.accesses.end(), [&](const Access& a) {
                      return a.write && nest.variables[a.variable].array();
                    });
  return here || std::any_of(node.children.begin(), node.children.end(),
                             [&](const Node& c) { return adds_in_memory(c, nest, inside); });
}

struct Shape {
  std::string own{};  // const int i = i_first + ...;
  int all = 1;
};

// Kernel text with every run of statements repeated per copy, and loops around all copies.
std::string jammed(const Node& node, const std::vector<Loop>& loops, const Shape& shape, int indent) {
  const std::string pad(static_cast<std::size_t>(2 * indent), ' ');
  if (node.kind == NodeKind::loop)
    return pad + text::loop_header(loops[node.loop]) + " {\n" + jammed(node.children[0], loops, shape, indent + 1) +
           pad + "}\n";
  std::string text, run;
  const auto close = [&] {
    if (!run.empty())
      text += "UNROLL\n" + pad + "for (int copy = 0; copy < " + std::to_string(shape.all) + "; ++copy) {\n" + pad +
              "  " + shape.own + "\n" + run + pad + "}\n";
    run.clear();
  };
  const Node one{.kind = NodeKind::block, .children = {node}};
  for (const Node& child : node.kind == NodeKind::block ? node.children : one.children) {
    if (has_loop(child)) {
      close();
      text += jammed(child, loops, shape, indent);
    } else {
      run += text::node_text(child, loops, indent + 1);
    }
  }
  close();
  return text;
}

}  // namespace

bool uses_reserved_names(const Nest& nest) {
  const auto ours = [](const std::string& name) {
    if (name == "copy" || name.rfind("tile_", 0) == 0) return true;
    for (const char* end : {"_first", "_group", "_each", "_tile", "_elements", "_from", "_long"})
      if (name.find(end) != std::string::npos) return true;
    return false;
  };
  return std::any_of(nest.variables.begin(), nest.variables.end(), [&](const Variable& v) { return ours(v.name); }) ||
         std::any_of(nest.loops.begin(), nest.loops.end(), [&](const Loop& l) { return ours(l.iterator); }) ||
         std::any_of(nest.functions.begin(), nest.functions.end(),
                     [&](const std::string& f) { return text::names(f, "tile_max") || text::names(f, "tile_min"); });
}

Blocking find_blocking(const Nest& nest, const criteria::Choice& choice, const std::vector<int>& privates) {
  const auto outside = [&](int variable) {
    const std::vector<int>& around = nest.variables[variable].loops;
    return std::find(around.begin(), around.end(), choice.chain.back()) == around.end();
  };
  bool shared = std::any_of(privates.begin(), privates.end(), outside);
  text::visit_accesses(nest.root, [&](const Access& a) {
    shared |= a.write && !nest.variables[a.variable].array() && outside(a.variable);
  });
  if (shared || uses_reserved_names(nest) || choice.chain.size() != 2 || choice.reduces || !choice.copies.empty())
    return {};
  const Node* outer = text::alone(&nest.root);
  if (outer->kind != NodeKind::loop || outer->loop != choice.chain[0]) return {};
  const Node* inner = text::alone(&outer->children[0]);
  if (inner->kind != NodeKind::loop || inner->loop != choice.chain[1]) return {};
  std::set<std::string> own;
  for (const int l : choice.chain) {
    const Loop& loop = nest.loops[l];
    if (loop.step != 1 || mentions(loop, own) || loop.condition.rfind(loop.iterator + " <", 0) != 0 ||
        loop.condition.find_first_of("&|?") != std::string::npos)
      return {};
    own.insert(loop.iterator);
  }
  const Node& body = inner->children[0];
  if (!has_loop(body) || jumps(body) || !nest.jumps.empty()) return {};
  for (const Variable& v : nest.variables)
    if (!v.loops.empty() && v.loops.back() == choice.chain[1]) {
      if (v.array()) return {};
      own.insert(v.name);
    } else if (v.local_memory) {
      return {};
    }
  if (!regular(body, nest, own) || adds_in_memory(body, nest, false)) return {};
  Blocking found;
  for (const int l : choice.chain)
    found.copies.push_back(reads_without(body, nest, nest.loops[l].iterator, {}) ? kCopies : 1);
  if (found.copies[0] * found.copies[1] == 1) return {};
  return found;
}

std::string blocked_body(const Nest& nest, const Node& root, const std::vector<Loop>& loops,
                         const criteria::Choice& choice, const Blocking& blocking,
                         const std::vector<std::string>& items) {
  const Node& body = text::alone(&text::alone(&root)->children[0])->children[0];
  const std::string copies = std::to_string(blocking.copies[1]);
  const std::string which[2] = {"copy / " + copies, "copy % " + copies};
  std::string whole, guard, own;
  Shape shape;
  for (std::size_t i = 0; i < 2; ++i) {
    const Loop& l = loops[choice.chain[i]];
    const std::string first = l.iterator + "_first";
    const int in_group = std::stoi(items[static_cast<std::size_t>(l.axis)]), n = blocking.copies[i];
    const std::string last = n == 1 ? first : first + " + " + std::to_string((n - 1) * in_group);
    whole += (whole.empty() ? "" : " && ") + text::replaced(l.condition, l.iterator, last);
    guard += (guard.empty() ? "" : " && ") + l.condition;
    own += (own.empty() ? "const " + l.type + " " : ", ") + l.iterator + " = " + first +
           (n == 1 ? "" : " + " + which[i] + " * " + std::to_string(in_group));
    shape.all *= n;
  }
  if (loops[choice.chain[0]].type != loops[choice.chain[1]].type) {
    const std::string second = ", " + loops[choice.chain[1]].iterator + " = ";
    own.replace(own.find(second), second.size(), "; const " + loops[choice.chain[1]].type + second.substr(1));
  }
  shape.own = own + ";";
  Node many = body;
  std::string declared;
  for (const Variable& v : nest.variables) {
    if (v.loops.empty() || v.loops.back() != choice.chain[1]) continue;
    declared += "        " + v.element + " " + v.name + "_each[" + std::to_string(shape.all) + "];\n";
    undeclare(many, v);
    replace_in(many, v.name, v.name + "_each[copy]");
  }
  return "      if (" + whole + ") {\n" + declared + jammed(many, loops, shape, 4) +
         "      } else {\n        for (int copy = 0; copy < " + std::to_string(shape.all) + "; ++copy) {\n          " +
         shape.own + "\n          if (" + guard + ") {\n" + text::node_text(body, loops, 6) +
         "          }\n        }\n      }\n";
}

std::string blocked_text(const Nest& nest, const std::vector<Loop>& loops, const criteria::Choice& choice,
                         const Blocking& blocking, const std::vector<std::string>& items) {
  std::string text, end;
  for (std::size_t i = 0; i < 2; ++i) {
    const Loop& l = loops[choice.chain[i]];
    const std::string axis = std::to_string(l.axis), type = "(" + l.type + ")", first = l.iterator + "_first";
    const int in_group = std::stoi(items[static_cast<std::size_t>(l.axis)]), n = blocking.copies[i];
    const std::string width = std::to_string(in_group * n), pad(2 * (i + 1), ' ');
    text += pad + "for (" + l.type + " " + first + " = " + (l.start == "0" ? "" : l.start + " + ") + type +
            "(GROUP_ID(" + axis + ") * " + width + " + LOCAL_ID(" + axis + ")); " +
            text::replaced(l.condition, l.iterator, first) + "; " + first + " += " + type + "(GROUPS(" + axis + ") * " +
            width + ")) {\n";
    end = pad + "}\n" + end;
  }
  return text + blocked_body(nest, nest.root, loops, choice, blocking, items) + end;
}

}  // namespace ridge::place::emit
