// Unroll-and-jam for CPU vectors: moves inner loops outside blocks of kWidth iterations, so that the compiler can
// vectorize the blocks, and turns each private scalar into an array with one element per iteration of the block.
// Trigger: OpenMP target; iterations are independent and contiguous in memory; the inner loops are sums, which cannot
// be vectorized directly. Every sum keeps its order.
#include <algorithm>
#include <functional>
#include <optional>

#include "place/text/node_text.hpp"
#include "place/text/words.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

constexpr int kWidth = 64;

std::vector<const Node*> statements(const Node& loop) {
  const Node& block = body_block(loop);
  if (block.kind != NodeKind::block) return {&block};
  std::vector<const Node*> all;
  for (const Node& child : block.children) all.push_back(&child);
  return all;
}

bool any_loop(const Node& node) {
  return node.kind == NodeKind::loop || std::any_of(node.children.begin(), node.children.end(), any_loop);
}

// True if every array access has stride 0 or 1 in the loop, and at least one has stride 1.
bool side_by_side(const State& state, const Node& tree, const Loop& loop) {
  bool unit_stride = true, moves = false;
  text::visit_accesses(tree, [&](const Access& a) {
    const Variable& v = state.nest.variables[a.variable];
    if (!v.array()) return;
    unit_stride = unit_stride && a.exact && !v.local_memory && a.exists.empty();
    for (std::size_t d = 0; unit_stride && d < a.subscripts.size(); ++d)
      for (const auto& [term, factor] : a.subscripts[d].terms()) {
        if (std::find(term.begin(), term.end(), loop.iterator) == term.end()) continue;
        unit_stride = unit_stride && term.size() == 1 && factor == 1 && d + 1 == a.subscripts.size() &&
                      (v.inner.empty() || a.subscripts.size() == v.inner.size() + 1);
        moves = true;
      }
  });
  return unit_stride && moves;
}

class Jam {
 public:
  Jam(const State& state, const Loop& loop, const std::string& from, const std::string& last)
      : state_(state), loop_(loop), from_(from), last_(last) {}

  // Text of a loop's body: its statements in loops over the block's iterations, with the inner loops between them.
  std::optional<std::string> body(const Node& loop, const std::string& pad) {
    const auto children = statements(loop);
    const bool loops =
        std::any_of(children.begin(), children.end(), [](const Node* n) { return n->kind == NodeKind::loop; });
    std::string arrays, text, group;
    const auto close = [&] {
      const std::string& i = loop_.host_iterator;
      if (!group.empty())
        text += pad + "for (int " + i + " = " + from_ + "; " + i + " <= " + last_ + "; ++" + i + ") {\n" + group + pad +
                "}\n";
      group.clear();
    };
    Span before;
    for (const Node* child : children) {
      if (!child->guards.empty()) return {};
      if (child->kind == NodeKind::loop) {
        if (!plain(state_.nest, child->loop) || !header_is_invariant(state_.nest, *child)) return {};
        const std::string head = header(state_, child->loop);
        if (text::names(head, loop_.host_iterator)) return {};
        for (const std::string& name : expanded_)
          if (text::names(head, name)) return {};
        close();
        const auto inner = body(*child, pad + "  ");
        if (!inner) return {};
        text += pad + head + " {\n" + *inner + pad + "}\n";
        continue;
      }
      if (any_loop(*child) || child->kind == NodeKind::block) return {};
      std::string source;
      if (child->span.known) {
        if (before.known && before.begin == child->span.begin) return {};  // float x = 1, y = 2;
        before = child->span;
        source = slice(state_, child->span);
      } else {
        if (children.size() != 1) return {};
        source = slice(state_, state_.nest.loops[loop.loop].body);
        if (source.empty()) return {};
        if (source.back() != ';' && source.back() != '}') source += ";";
      }
      if (source.find("//") != std::string::npos || source.find('"') != std::string::npos) return {};
      if (child->declaration && loops && !expand(*child, source, arrays, pad)) return {};
      group += pad + "  " + source + "\n";
    }
    close();
    return arrays + text;
  }

  // Replaces each private scalar by its element for the current iteration, and each placeholder by the scalar's name.
  std::string in_lanes(std::string text) const {
    for (const std::string& name : expanded_)
      text = text::replaced(text, name, name + "[" + loop_.host_iterator + " - " + from_ + "]");
    for (std::size_t k = 0; k < expanded_.size(); ++k) {
      const std::string what = "\x01" + std::to_string(k) + "\x01";
      text.replace(text.find(what), what.size(), expanded_[k]);
    }
    return text;
  }

 private:
  const State& state_;
  const Loop& loop_;
  std::string from_, last_;
  std::vector<std::string> expanded_{};

  // Turns `float sum = 0;` into an array declaration and an assignment.
  bool expand(const Node& node, std::string& source, std::string& arrays, const std::string& pad) {
    const Variable* made = nullptr;
    for (const Access& a : node.accesses)
      if (a.write) {
        if (made != nullptr) return false;
        made = &state_.nest.variables[a.variable];
      }
    if (made == nullptr || made->array() || made->host_element.empty() || source.empty() || source.back() != ';')
      return false;
    int named = 0;
    for (const Variable& v : state_.nest.variables) named += v.host == made->host;
    const auto equal = source.find('=');
    if (named != 1 || equal == std::string::npos || source.find('{') != std::string::npos) return false;
    if (state_.text.find("." + made->host) != std::string::npos ||
        state_.text.find(">" + made->host) != std::string::npos)
      return false;  // a field has the same name
    arrays += pad + made->host_element + " \x01" + std::to_string(expanded_.size()) + "\x01[" + std::to_string(kWidth) +
              "];\n";
    expanded_.push_back(made->host);
    source = made->host + " " + source.substr(equal);
    return true;
  }
};

// Origins of the new text's loops: the block loop, then loops over a block between and inside the former inner
// loops.
std::vector<std::string> origins(const Nest& nest, const Node& block_loop, const std::string& id) {
  std::vector<std::string> ids;
  const std::function<void(const Node&)> list = [&](const Node& n) {
    if (n.kind != NodeKind::loop || &n != &block_loop) {
      if (n.kind == NodeKind::loop) ids.push_back(nest.loops[n.loop].id);
      for (const Node& child : n.children) list(child);
      return;
    }
    ids.push_back(id);
    const std::function<void(const Node&)> of_body = [&](const Node& loop) {
      bool open = false;
      for (const Node* child : statements(loop)) {
        if (child->kind == NodeKind::loop) {
          open = false;
          ids.push_back(nest.loops[child->loop].id);
          of_body(*child);
        } else if (!open) {
          open = true;
          ids.push_back(id);
        }
      }
    };
    of_body(block_loop);
  };
  list(nest.root);
  return ids;
}

}  // namespace

std::vector<Proposal> lanes(const State& state) {
  std::vector<Proposal> all;
  if (!state.on_host) return all;
  const Nest& nest = state.nest;
  for (std::size_t k = 0; k < nest.loops.size(); ++k) {
    const int which = static_cast<int>(k);
    const Loop& l = nest.loops[k];
    const analysis::Verdict& v = state.verdicts[k];
    const Node* node = find(nest.root, which);
    if (!plain(nest, which) || !v.parallel || !v.reductions.empty() || !v.expanded.empty() || node == nullptr) continue;
    const long turns = text::constant_iterations(l);
    if (turns > 0 && turns < kWidth) continue;
    const bool own = std::all_of(v.privates.begin(), v.privates.end(), [&](int p) {
      const auto& loops = nest.variables[p].loops;
      return std::find(loops.begin(), loops.end(), which) != loops.end();
    });
    const auto limits = loop_bounds(nest, which);
    if (!own || !limits || !header_is_invariant(nest, *node) || !side_by_side(state, *node, l)) continue;
    const auto symbols = limits->high.symbols();
    const auto iterates = [&](const std::string& s) {
      return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const Loop& x) { return x.iterator == s; });
    };
    if (std::any_of(symbols.begin(), symbols.end(), iterates)) continue;  // its end must be known before the nest
    bool inside = false, vectors = false;  // has inner loops; one of them can be vectorized directly
    const std::function<void(const Node&)> look = [&](const Node& n) {
      if (n.kind == NodeKind::loop && &n != node) {
        inside = true;
        const analysis::Verdict& x = state.verdicts[n.loop];
        vectors |= x.parallel && x.reductions.empty() && !any_loop(n.children[0]) &&
                   side_by_side(state, n, nest.loops[n.loop]);
      }
      for (const Node& child : n.children) look(child);
    };
    look(*node);
    if (!inside || vectors) continue;
    const std::string i = l.host_iterator, from = fresh(state, i + "_from"), last = fresh(state, i + "_last"),
                      width = std::to_string(kWidth), behind = std::to_string(kWidth - 1);
    Jam jam(state, l, from, last);
    const auto body = jam.body(*node, "  ");
    if (!body) continue;
    Proposal made;
    made.what = l.id + " in blocks of " + width + " iterations for vectors";
    made.edits = {{l.span.begin, l.span.end,
                   "for (int " + from + " = " + limits->low_text + "; " + from + " <= " + limits->high_text + "; " +
                       from + " += " + width + ") {\n  const int " + last + " = " + limits->high_text + " < " + from +
                       " + " + behind + " ? " + limits->high_text + " : " + from + " + " + behind + ";\n" +
                       jam.in_lanes(*body) + "}"}};
    made.test = limits->high_text + " <= 1073741823";  // the end of a block fits an int
    const std::size_t at = 2 * static_cast<std::size_t>(l.depth) + 1;
    for (std::size_t s = 0; s < state.relations.instances.size(); ++s) {
      const auto& instance = state.relations.instances[s];
      if (!state.relations.inside(instance, which)) continue;
      auto order = instance.order;
      order[at] = "floor((" + l.iterator + " - (" + limits->low.text() + ")) / " + width + ")";
      order.push_back(l.iterator);
      made.order[s] = order;
    }
    made.loops = origins(nest, *node, l.id);
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
