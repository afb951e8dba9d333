// Finds loops with a small constant number of iterations.
#include "place/text/unrolling.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace ridge::place::text {

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
