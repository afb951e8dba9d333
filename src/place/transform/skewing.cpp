// Loop skewing: runs the diagonals of two loops one after another; iterations on a diagonal are independent. Trigger:
// both loops are sequential, with bounds that do not depend on each other.
#include <algorithm>

#include "place/transform/loops.hpp"

namespace ridge::place::transform {

std::vector<Proposal> skewing(const State& state) {
  std::vector<Proposal> all;
  for (std::size_t p = 0; p < state.nest.loops.size(); ++p) {
    const int outer = static_cast<int>(p), inner = only_inside(state, outer);
    if (inner < 0 || !plain(state.nest, outer) || !plain(state.nest, inner)) continue;
    if (state.verdicts[p].parallel || state.verdicts[inner].parallel) continue;
    const Loop &o = state.nest.loops[p], &i = state.nest.loops[inner];
    const auto a = loop_bounds(state.nest, outer), b = loop_bounds(state.nest, inner);
    if (!a || !b) continue;
    const auto symbols = b->low.plus(b->high, 3).symbols();  // factor 3, so that no term cancels
    if (std::find(symbols.begin(), symbols.end(), o.iterator) != symbols.end()) continue;
    if (!header_is_invariant(state.nest, *find(state.nest.root, outer)) ||
        !header_is_invariant(state.nest, *find(state.nest.root, inner)))
      continue;
    const std::string t = fresh(state, "wave"), x = o.host_iterator, y = i.host_iterator;
    for (const bool sum : {true, false}) {  // diagonals of x + y, or of x - y
      Proposal made;
      made.whole = inner;
      made.what =
          "the diagonals " + x + (sum ? " + " : " - ") + y + " of " + o.id + " and " + i.id + " one after another";
      const auto text = [&](const Poly& poly) { return *host_text(poly, state.nest); };
      const Poly first = sum ? a->low.plus(b->low) : a->low.plus(b->high, -1),
                 last = sum ? a->high.plus(b->high) : a->high.plus(b->low, -1);
      const std::string from = sum ? t + " - (" + b->high_text + ")" : t + " + (" + b->low_text + ")",
                        to = sum ? t + " - (" + b->low_text + ")" : t + " + (" + b->high_text + ")";
      made.edits = {{o.span.begin, o.body.begin,
                     "for (int " + t + " = " + text(first) + "; " + t + " <= " + text(last) + "; ++" + t + ") "},
                    {i.span.begin, i.body.begin,
                     "for (int " + x + " = (" + from + " > " + a->low_text + " ? " + from + " : " + a->low_text +
                         "); " + x + " <= (" + to + " < " + a->high_text + " ? " + to + " : " + a->high_text + "); ++" +
                         x + ") { const int " + y + " = " + (sum ? t + " - " + x : x + " - " + t) + "; "},
                    {i.span.end, i.span.end, " }"}};
      const std::size_t one = 2 * static_cast<std::size_t>(o.depth) + 1, two = one + 2;
      for (std::size_t k = 0; k < state.relations.instances.size(); ++k) {
        const auto& instance = state.relations.instances[k];
        if (!state.relations.inside(instance, inner)) continue;
        made.order[k] = instance.order;
        made.order[k][one] = o.iterator + (sum ? " + " : " - ") + i.iterator;
        made.order[k][two] = o.iterator;
      }
      made.loops = loops_in_order(state.nest, state.nest.root);
      all.push_back(made);
    }
  }
  return all;
}

}  // namespace ridge::place::transform
