// Index-set splitting: splits a loop's range at a point; the order is unchanged, and each part may be parallel.
// Trigger: the loop is sequential, and an element is written on one side of the point and read on the other. If all
// iterations read one element, the iteration that writes it is a part of its own.
#include <algorithm>
#include <set>

#include "place/text/node_text.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {

namespace {

bool varies(const Poly& poly, const Nest& nest) {
  const auto symbols = poly.symbols();
  return std::any_of(nest.loops.begin(), nest.loops.end(), [&](const Loop& l) {
    return std::find(symbols.begin(), symbols.end(), l.iterator) != symbols.end();
  });
}

}  // namespace

std::vector<Proposal> index_set_splitting(const State& state) {
  std::vector<Proposal> all;
  const Nest& nest = state.nest;
  const int loop = 0;
  if (!plain(nest, loop) || state.verdicts[loop].parallel) return all;
  const Loop& l = nest.loops[loop];
  const auto limits = loop_bounds(nest, loop);
  if (!limits) return all;
  std::vector<std::string> points;
  std::set<std::string> alone;  // points that are a part of their own
  const auto add = [&](const std::string& point) {
    if (std::find(points.begin(), points.end(), point) == points.end() && points.size() < 6) points.push_back(point);
  };
  std::vector<const Access*> accesses;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (nest.variables[a.variable].array() && a.exact && a.subscripts.size() == 1 && a.subscripts[0].affine() &&
        a.exists.empty())
      accesses.push_back(&a);
  });
  for (const Access* w : accesses)
    for (const Access* r : accesses) {
      if (!w->write || w->variable != r->variable) continue;
      const auto factor = [&](const Access* a) {
        const auto at = a->subscripts[0].terms().find({l.iterator});
        return at == a->subscripts[0].terms().end() ? 0L : at->second;
      };
      const Poly i = Poly::symbol(l.iterator);
      const Poly wrest = w->subscripts[0].plus(i, -factor(w)), rrest = r->subscripts[0].plus(i, -factor(r));
      const Poly between = rrest.plus(wrest, -1);  // write at i + a, read at k * i + b
      const auto gap = host_text(between, nest);
      if (factor(w) != 1 || !gap || varies(between, nest)) continue;
      if (factor(r) == 0) {
        add(*gap);
        alone.insert(*gap);
      } else if (factor(r) == -1) {  // mirrored: split in the middle
        add("(" + *gap + " + 1) / 2");
      }
    }
  const std::string i = l.host_iterator;
  const std::string body = state.text.substr(l.body.begin, l.span.end - l.body.begin);
  // The iterations from `from` to before `to`.
  const auto part = [&](const std::string& from, const std::string& to) {
    const std::string& low = limits->low_text;
    return "for (int " + i + " = " +
           (from.empty() ? low : "(" + from + " > " + low + " ? " + from + " : " + low + ")") + "; " + i +
           " <= " + limits->high_text + (to.empty() ? "" : " && " + i + " < " + to) + "; ++" + i + ") " + body;
  };
  for (const std::string& point : points) {
    Proposal made;
    made.what = l.id + " split at " + i + " = " + point;
    const std::string next = alone.count(point) > 0 ? point + " + 1" : point;
    made.edits = {
        {l.span.begin, l.span.end,
         "{ " + part("", point) + "\n" + (next == point ? "" : part(point, next) + "\n") + part(next, "") + " }"}};
    const auto once = loops_in_order(nest, nest.root);
    for (int k = next == point ? 2 : 3; k > 0; --k) made.loops.insert(made.loops.end(), once.begin(), once.end());
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
