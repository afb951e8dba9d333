// Selects innermost parallel loops with unit-stride accesses.
#include "place/emit/vectors.hpp"

#include <algorithm>
#include <functional>

#include "place/text/node_text.hpp"

namespace ridge::place::emit {
namespace {

// True if every array access has stride 0 or 1 in the loop.
bool steps_by_one(const Nest& nest, const Node& tree, const std::string& iterator) {
  bool unit_stride = true;
  text::visit_accesses(tree, [&](const Access& a) {
    if (!nest.variables[a.variable].array()) return;
    unit_stride = unit_stride && a.exact;
    for (std::size_t d = 0; unit_stride && d < a.subscripts.size(); ++d)
      for (const auto& [term, factor] : a.subscripts[d].terms())
        if (std::find(term.begin(), term.end(), iterator) != term.end())
          unit_stride = unit_stride && term.size() == 1 && factor == 1 && d + 1 == a.subscripts.size();
  });
  return unit_stride;
}

}  // namespace

bool canonical(const Loop& loop) {
  const std::string& c = loop.condition;
  return loop.counters == 1 && (c.rfind(loop.iterator + " <", 0) == 0 || c.rfind(loop.iterator + " >", 0) == 0) &&
         c.find("&&") == std::string::npos && c.find("||") == std::string::npos;
}

std::vector<int> vector_loops(const Nest& nest, const std::vector<analysis::Verdict>& verdicts) {
  std::vector<int> all;
  const std::function<bool(const Node&)> visit = [&](const Node& node) {  // returns true if the tree contains a loop
    bool inside = false;
    for (const Node& child : node.children) inside |= visit(child);
    if (node.kind != NodeKind::loop) return inside;
    const Loop& l = nest.loops[node.loop];
    const analysis::Verdict& v = verdicts[node.loop];
    const bool own = std::all_of(v.privates.begin(), v.privates.end(), [&](int p) {
      const auto& loops = nest.variables[p].loops;
      return std::find(loops.begin(), loops.end(), node.loop) != loops.end();
    });
    if (!inside && own && v.parallel && v.reductions.empty() && v.expanded.empty() && l.step == 1 && l.exact &&
        l.kind == "for" && !l.iterator_outside && !l.host_iterator.empty() && l.span.known && canonical(l) &&
        steps_by_one(nest, node, l.iterator))
      all.push_back(node.loop);
    return true;
  };
  visit(nest.root);
  return all;
}

}  // namespace ridge::place::emit
