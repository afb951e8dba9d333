// Finds loops, their text and their bounds in a nest.
#include "place/transform/loops.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "place/text/node_text.hpp"

namespace ridge::place::transform {

const Node* find(const Node& tree, int loop) {
  if (tree.kind == NodeKind::loop && tree.loop == loop) return &tree;
  for (const Node& child : tree.children)
    if (const Node* found = find(child, loop)) return found;
  return nullptr;
}

bool contains(const Node& tree, const Node* node) {
  if (&tree == node) return true;
  return std::any_of(tree.children.begin(), tree.children.end(), [&](const Node& c) { return contains(c, node); });
}

const Node& body_block(const Node& loop) {
  const Node* at = &loop.children[0];
  while (at->kind == NodeKind::block && at->children.size() == 1 && at->children[0].kind == NodeKind::block)
    at = &at->children[0];
  return *at;
}

bool plain(const Nest& nest, int loop) {
  const Loop& l = nest.loops[loop];
  return l.counted && l.exact && l.kind == "for" && !l.host_iterator.empty() && l.span.known && l.body.known &&
         l.leaves_early == 0 && l.counters == 1;
}

std::string slice(const State& state, const Span& span) { return state.text.substr(span.begin, span.end - span.begin); }

std::string header(const State& state, int loop) {
  const Loop& l = state.nest.loops[loop];
  std::string text = state.text.substr(l.span.begin, l.body.begin - l.span.begin);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

int only_inside(const State& state, int loop) {
  const Node* at = find(state.nest.root, loop);
  if (at == nullptr) return -1;
  const Node& block = body_block(*at);
  const Node* inner = nullptr;
  if (block.kind == NodeKind::loop)
    inner = &block;
  else if (block.children.size() == 1 && block.children[0].kind == NodeKind::loop)
    inner = &block.children[0];
  if (inner == nullptr || !inner->guards.empty()) return -1;
  const Loop &outer = state.nest.loops[loop], &in = state.nest.loops[inner->loop];
  if (!outer.body.known || !in.span.known) return -1;
  const auto blank = [&](unsigned from, unsigned to) {
    for (unsigned i = from; i < to; ++i) {
      const char c = state.text[i];
      if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '{' && c != '}' && c != ';') return false;
    }
    return true;
  };
  if (in.span.begin < outer.body.begin || !blank(outer.body.begin, in.span.begin)) return -1;
  if (in.span.end < outer.body.end && !blank(in.span.end, outer.body.end)) return -1;
  return inner->loop;
}

std::optional<std::string> host_text(const Poly& poly, const Nest& nest) {
  if (!poly.affine()) return {};
  std::string text;
  for (const auto& [term, count] : poly.terms()) {
    std::string one;
    if (term.empty()) {
      one = std::to_string(std::abs(count));
    } else {
      std::string name;
      for (const Variable& v : nest.variables)
        if (v.name == term[0]) name = v.is_unsigned || v.bytes > 4 ? "(int)(" + v.host + ")" : v.host;
      for (const Loop& l : nest.loops)
        if (l.iterator == term[0]) name = l.host_iterator;
      if (name.empty()) return {};
      one = (std::abs(count) == 1 ? "" : std::to_string(std::abs(count)) + " * ") + name;
    }
    if (text.empty())
      text = (count < 0 ? "-" : "") + one;
    else
      text += (count < 0 ? " - " : " + ") + one;
  }
  return text.empty() ? "0" : text;
}

std::optional<LoopBounds> loop_bounds(const Nest& nest, int loop) {
  const Loop& l = nest.loops[loop];
  if (l.step != 1 || l.bounds.size() != 2 || l.type != "int") return {};
  LoopBounds found;
  bool low = false, high = false;
  for (const Constraint& c : l.bounds) {
    const auto at = c.poly.terms().find({l.iterator});
    if (c.equality || at == c.poly.terms().end() || !c.poly.affine()) return {};
    const Poly i = Poly::symbol(l.iterator);
    if (at->second == 1 && !low) {
      found.low = i.plus(c.poly, -1);
      low = true;
    } else if (at->second == -1 && !high) {
      found.high = c.poly.plus(i);
      high = true;
    } else {
      return {};
    }
  }
  if (!low || !high) return {};
  const auto a = host_text(found.low, nest), b = host_text(found.high, nest);
  if (!a || !b) return {};
  found.low_text = *a;
  found.high_text = *b;
  return found;
}

bool header_is_invariant(const Nest& nest, const Node& loop) {
  std::set<int> written;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.write) written.insert(a.variable);
  });
  return std::none_of(loop.accesses.begin(), loop.accesses.end(),
                      [&](const Access& a) { return written.count(a.variable) > 0; });
}

std::vector<std::string> loops_in_order(const Nest& nest, const Node& tree) {
  std::vector<std::string> all;
  if (tree.kind == NodeKind::loop) all.push_back(nest.loops[tree.loop].id);
  for (const Node& child : tree.children)
    for (const std::string& id : loops_in_order(nest, child)) all.push_back(id);
  return all;
}

std::string fresh(const State& state, std::string name) {
  while (state.text.find(name) != std::string::npos) name += "_";
  return name;
}

}  // namespace ridge::place::transform
