// Loop fission: splits a loop into two with one part of the body each. Trigger: the loop is sequential and has several
// statements. Private scalars computed from data the nest does not write are recomputed in the second loop.
#include <algorithm>
#include <set>

#include "place/text/node_text.hpp"
#include "place/transform/fission.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {

std::vector<Proposal> fission(const State& state) { return split(state, false); }

std::vector<Proposal> split(const State& state, bool expand) {
  std::vector<Proposal> all;
  const Nest& nest = state.nest;
  const int loop = 0;
  if (!plain(nest, loop) || state.verdicts[loop].parallel) return all;
  const Node& node = *find(nest.root, loop);
  const Loop& l = nest.loops[loop];
  const Node& block = body_block(node);
  if (block.kind != NodeKind::block || block.children.size() < 2 || state.text[l.body.begin] != '{') return all;
  if (!header_is_invariant(nest, node) || !nest.jumps.empty()) return all;
  for (const Node& child : block.children)
    if (!child.span.known) return all;
  std::set<int> written;  // variables that the nest writes
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.write) written.insert(a.variable);
  });
  const auto touches = [&](std::size_t from, std::size_t to, int variable) {
    bool found = false;
    for (std::size_t k = from; k < to; ++k)
      text::visit_accesses(block.children[k], [&](const Access& a) { found |= a.variable == variable; });
    return found;
  };
  for (std::size_t cut = 1; cut < block.children.size(); ++cut) {
    if (block.children[cut - 1].span.begin == block.children[cut].span.begin)
      continue;  // two variables in one declaration
    const auto works = [&](std::size_t from, std::size_t to) {
      return std::any_of(block.children.begin() + static_cast<long>(from),
                         block.children.begin() + static_cast<long>(to), [](const Node& n) { return !n.declaration; });
    };
    if ((!expand && !works(0, cut)) || !works(cut, block.children.size())) continue;
    std::set<std::size_t> repeated;
    std::vector<int> kept;  // scalars of the first part that the second needs: one array element per iteration
    bool possible = true;
    for (std::size_t v = 0; v < nest.variables.size() && possible; ++v) {
      const Variable& x = nest.variables[v];
      const int which = static_cast<int>(v);
      if (std::find(x.loops.begin(), x.loops.end(), loop) == x.loops.end()) continue;
      if (!touches(0, cut, which) || !touches(cut, block.children.size(), which)) continue;
      if (expand) {
        bool declared = false;  // directly in the body, so that it is in scope at the end of the part
        for (std::size_t k = 0; k < cut; ++k)
          declared |= block.children[k].declaration && !block.children[k].text.empty() &&
                      std::any_of(block.children[k].accesses.begin(), block.children[k].accesses.end(),
                                  [&](const Access& a) { return a.write && a.variable == which; });
        possible = declared && !x.array() && x.storage == Storage::scalar;
        kept.push_back(which);
        continue;
      }
      for (std::size_t k = 0; k < block.children.size(); ++k) {
        const Node& child = block.children[k];
        bool writes = false;
        text::visit_accesses(child, [&](const Access& a) { writes |= a.write && a.variable == which; });
        if (!writes) continue;
        possible = possible && child.declaration && k < cut && !x.array();
        for (const Access& a : child.accesses) {
          const Variable& from = nest.variables[a.variable];
          const bool mine = std::find(from.loops.begin(), from.loops.end(), loop) != from.loops.end();
          possible = possible && (a.write || (!mine && written.count(a.variable) == 0));
        }
        repeated.insert(k);
      }
    }
    // References and pointers declared in the first part are not variables of the nest; their uses in the second part
    // cannot be found.
    for (std::size_t k = 0; k < cut; ++k)
      possible = possible && !(block.children[k].declaration && block.children[k].text.empty());
    if (!possible || (expand && kept.empty())) continue;
    std::string arrays, keep, again, said;
    if (expand) {
      const auto limits = loop_bounds(nest, loop);
      if (!limits) return all;
      const std::string at = "[" + l.host_iterator + " - (" + limits->low_text + ")]";
      for (const int which : kept) {
        const Variable& x = nest.variables[which];
        const std::string each = fresh(state, x.host + "_each");
        arrays += "std::vector<" + x.host_element + "> " + each + "(" + limits->high_text + " >= " + limits->low_text +
                  " ? " + limits->high_text + " - (" + limits->low_text + ") + 1 : 0); ";
        keep += " " + each + at + " = " + x.host + ";";
        again += " " + x.host_element + " " + x.host + " = " + each + at + ";";
        said += (said.empty() ? "" : ", ") + x.host;
      }
    }
    Proposal made;
    made.what = l.id + " split before line " + std::to_string(block.children[cut].line) +
                (expand ? ", with an array for " + said : "");
    const auto part = [&](std::size_t from, std::size_t to) {
      std::string text = header(state, loop) + " {" + (from > 0 ? again : "");
      std::set<unsigned> done;
      for (std::size_t k = 0; k < to; ++k) {
        const Span& span = block.children[k].span;
        if ((k >= from || repeated.count(k) > 0) && done.insert(span.begin).second) text += " " + slice(state, span);
      }
      return text + (from == 0 ? keep : "") + " }";
    };
    made.edits = {
        {l.span.begin, l.span.end, "{ " + arrays + part(0, cut) + "\n" + part(cut, block.children.size()) + " }"}};
    const std::size_t at = 2 * static_cast<std::size_t>(l.depth) + 1;
    for (std::size_t k = 0; k < state.relations.instances.size(); ++k) {
      const auto& instance = state.relations.instances[k];
      std::size_t group = 0;
      for (std::size_t c = cut; c < block.children.size(); ++c)
        if (contains(block.children[c], instance.node)) group = 1;
      made.order[k] = instance.order;
      made.order[k].insert(made.order[k].begin() + static_cast<long>(at), std::to_string(group));
    }
    for (const bool second : {false, true}) {
      made.loops.push_back(l.id);
      for (std::size_t k = second ? cut : 0; k < (second ? block.children.size() : cut); ++k)
        for (const std::string& id : loops_in_order(nest, block.children[k])) made.loops.push_back(id);
    }
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
