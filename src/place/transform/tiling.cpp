// Tiling for CPU caches: runs two loops in square tiles, so that each cache line is used completely while it is cached.
// Trigger: OpenMP target, and the inner loop is contiguous in one array and strided in another (a transposition).
// Devices use work-groups instead. Legal if no dependence is reversed along either loop. Each pair of loops is tiled
// once.
#include <algorithm>

#include "place/text/node_text.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

constexpr int kSide = 32;  // two tiles of doubles are 16 KB

// Distance in elements between accesses of consecutive iterations: none, one (at most 4) or many.
enum class Stride { none, one, many };
Stride stride(const Access& a, const std::string& iterator) {
  Stride found = Stride::none;
  for (std::size_t d = 0; d < a.subscripts.size(); ++d)
    for (const auto& [term, factor] : a.subscripts[d].terms()) {
      if (std::find(term.begin(), term.end(), iterator) == term.end()) continue;
      const bool unit_stride = term.size() == 1 && std::abs(factor) <= 4 && d + 1 == a.subscripts.size();
      if (!unit_stride) return Stride::many;
      found = Stride::one;
    }
  return found;
}

bool transposes(const State& state, const Node& tree, const Loop& outer, const Loop& inner) {
  bool along = false, across = false;
  text::visit_accesses(tree, [&](const Access& a) {
    const Variable& v = state.nest.variables[a.variable];
    if (!v.array() || v.local_memory || !a.exact || a.subscripts.empty()) return;
    const Stride o = stride(a, outer.iterator), i = stride(a, inner.iterator);
    along |= i == Stride::one && o != Stride::one;
    across |= i == Stride::many && o == Stride::one;
  });
  return along && across;
}

}  // namespace

std::vector<Proposal> tiling(const State& state) {
  std::vector<Proposal> all;
  if (!state.on_host) return all;
  for (std::size_t p = 0; p < state.nest.loops.size(); ++p) {
    const int outer = static_cast<int>(p), inner = only_inside(state, outer);
    if (inner < 0 || !plain(state.nest, outer) || !plain(state.nest, inner)) continue;
    const Loop &o = state.nest.loops[p], &i = state.nest.loops[inner];
    const auto a = loop_bounds(state.nest, outer), b = loop_bounds(state.nest, inner);
    if (!a || !b) continue;
    const auto symbols =
        a->low.plus(a->high, 3).plus(b->low, 9).plus(b->high, 27).symbols();  // factors chosen so that no term cancels
    const auto is_iterator = [&](const std::string& s) {
      return std::any_of(state.nest.loops.begin(), state.nest.loops.end(),
                         [&](const Loop& l) { return l.iterator == s; });
    };
    if (std::any_of(symbols.begin(), symbols.end(), is_iterator)) continue;  // triangular, or already tiled
    const Node& tree = *find(state.nest.root, outer);
    if (!transposes(state, tree, o, i) || !header_is_invariant(state.nest, tree) ||
        !header_is_invariant(state.nest, *find(state.nest.root, inner)))
      continue;
    const std::string x = o.host_iterator, y = i.host_iterator, first = fresh(state, x + "_tile"),
                      second = fresh(state, y + "_tile"), side = std::to_string(kSide);
    const auto over = [&](const std::string& tile, const LoopBounds& e) {
      return "for (int " + tile + " = " + e.low_text + "; " + tile + " <= " + e.high_text + "; " + tile +
             " += " + side + ") ";
    };
    const auto within = [&](const std::string& name, const std::string& tile, const LoopBounds& e) {
      return "for (int " + name + " = " + tile + "; " + name + " <= " + e.high_text + " && " + name + " < " + tile +
             " + " + side + "; ++" + name + ") ";
    };
    Proposal made;
    made.what = o.id + " and " + i.id + " in tiles of " + side + " x " + side;
    made.edits = {{o.span.begin, o.body.begin, over(first, *a) + "\n" + over(second, *b) + "\n" + within(x, first, *a)},
                  {i.span.begin, i.body.begin, within(y, second, *b)}};
    made.test = a->high_text + " <= 1073741823 && " + b->high_text + " <= 1073741823";  // the end of a tile fits an int
    const std::size_t one = 2 * static_cast<std::size_t>(o.depth) + 1, two = one + 2;
    for (std::size_t k = 0; k < state.relations.instances.size(); ++k) {
      const auto& instance = state.relations.instances[k];
      if (!state.relations.inside(instance, inner)) continue;
      // Tiles start at the lower bounds of the loops.
      auto order = instance.order;
      const std::string from_x = "(" + o.iterator + " - (" + a->low.text() + "))",
                        from_y = "(" + i.iterator + " - (" + b->low.text() + "))";
      order[one] = "floor(" + from_x + " / " + side + ")";
      order[two] = "floor(" + from_y + " / " + side + ")";
      order.insert(order.begin() + static_cast<long>(two) + 1, {o.iterator, i.iterator});
      made.order[k] = order;
    }
    made.loops = loops_in_order(state.nest, state.nest.root);
    const auto at = std::find(made.loops.begin(), made.loops.end(), o.id);
    made.loops.insert(at, {o.id, i.id});
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
