// Loop interchange: swaps two perfectly nested loops. Trigger: the inner loop is parallel, and the outer one is
// sequential or adds to the same elements in several iterations.
#include <algorithm>

#include "place/transform/loops.hpp"

namespace ridge::place::transform {

std::vector<Proposal> interchange(const State& state) {
  std::vector<Proposal> all;
  for (std::size_t p = 0; p < state.nest.loops.size(); ++p) {
    const int outer = static_cast<int>(p), inner = only_inside(state, outer);
    if (inner < 0 || !plain(state.nest, outer) || !plain(state.nest, inner)) continue;
    const auto adds = [&](std::size_t l) { return !state.verdicts[l].array_reductions.empty(); };
    if ((state.verdicts[p].parallel && !adds(p)) || !state.verdicts[inner].parallel ||
        adds(static_cast<std::size_t>(inner)))
      continue;
    const Loop &o = state.nest.loops[p], &i = state.nest.loops[inner];
    const auto names = [](const Loop& of, const std::string& name) {
      return std::any_of(of.bounds.begin(), of.bounds.end(), [&](const Constraint& c) {
        const auto symbols = c.poly.symbols();
        return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
      });
    };
    if (names(i, o.iterator)) continue;  // triangular range: the headers depend on each other
    if (!header_is_invariant(state.nest, *find(state.nest.root, outer)) ||
        !header_is_invariant(state.nest, *find(state.nest.root, inner)))
      continue;
    Proposal made;
    made.whole = inner;
    made.what = o.id + " and " + i.id + " swapped";
    made.edits = {{o.span.begin, o.body.begin, header(state, inner) + " "},
                  {i.span.begin, i.body.begin, header(state, outer) + " "}};
    const std::size_t first = 2 * static_cast<std::size_t>(o.depth) + 1, second = first + 2;
    for (std::size_t k = 0; k < state.relations.instances.size(); ++k) {
      const auto& instance = state.relations.instances[k];
      if (!state.relations.inside(instance, inner)) continue;
      made.order[k] = instance.order;
      std::swap(made.order[k][first], made.order[k][second]);
    }
    made.loops = loops_in_order(state.nest, state.nest.root);
    const auto at = std::find(made.loops.begin(), made.loops.end(), o.id);
    std::iter_swap(at, at + 1);
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
