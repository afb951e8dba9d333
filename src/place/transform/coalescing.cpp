// Kernel text for loops that share the third grid axis.
#include "place/transform/coalescing.hpp"

#include <algorithm>
#include <cstdlib>

namespace ridge::place::transform {
namespace {

std::string in_kernel(const Poly& poly) {
  std::string text;
  for (const auto& [term, factor] : poly.terms()) {
    std::string one = std::to_string(factor);
    for (const std::string& name : term) one = factor == 1 ? name : one + " * " + name;
    text += (text.empty() ? "" : " + ") + one;
  }
  return text.empty() ? "0" : text;
}

struct CountRange {
  Poly low{}, high{};
};

bool range(const Loop& l, CountRange& into) {
  bool low = false, high = false;
  const Poly i = Poly::symbol(l.iterator);
  for (const Constraint& c : l.bounds) {
    if (c.equality && std::abs(l.step) > 1) continue;  // stride constraint
    const auto at = c.poly.terms().find({l.iterator});
    if (c.equality || at == c.poly.terms().end() || !c.poly.affine()) return false;
    if (at->second == 1 && !low) {
      into.low = i.plus(c.poly, -1);
      low = true;
    } else if (at->second == -1 && !high) {
      into.high = c.poly.plus(i);
      high = true;
    } else {
      return false;
    }
  }
  return low && high;
}

}  // namespace

bool box(const Nest& nest, int loop) {
  const Loop& l = nest.loops[loop];
  CountRange r;
  if (!l.counted || !l.exact || !range(l, r)) return false;
  for (const Poly* end : {&r.low, &r.high})
    for (const auto& [term, factor] : end->terms())
      for (const std::string& name : term) {
        const bool number = std::any_of(nest.variables.begin(), nest.variables.end(), [&](const Variable& v) {
          return v.name == name && !v.array() && v.loops.empty();
        });
        if (!number) return false;
      }
  return true;
}

std::string coalesce(std::vector<Loop>& loops, const std::vector<int>& shared) {
  std::string name, all, lines;
  for (const int which : shared) {
    const Loop& l = loops[which];
    CountRange r;
    range(l, r);
    const std::string count = l.iterator + "_count", step = std::to_string(std::abs(l.step));
    lines += "  const long " + count + " = ((long)(" + in_kernel(r.high) + ") - (" + in_kernel(r.low) + "))" +
             (step == "1" ? "" : " / " + step) + " + 1;\n";
    name += l.iterator + "_";
    all += (all.empty() ? "" : " * ") + count;
  }
  name += "all";
  for (std::size_t k = 0; k < shared.size(); ++k) {
    Loop& l = loops[shared[k]];
    std::string behind;  // number of iterations of the loops inside it
    for (std::size_t m = k + 1; m < shared.size(); ++m)
      behind += (behind.empty() ? "" : " * ") + loops[shared[m]].iterator + "_count";
    std::string at = behind.empty() ? name : name + " / (" + behind + ")";
    if (k > 0) at = (behind.empty() ? at : "(" + at + ")") + " % " + l.iterator + "_count";
    const std::string step = std::abs(l.step) == 1 ? "" : " * " + std::to_string(std::abs(l.step));
    l.first = "const " + l.type + " " + l.iterator + " = " + l.start + (l.step > 0 ? " + " : " - ") + "(" + l.type +
              ")(" + at + ")" + step + ";";
    l.open = k > 0 ? "{"
                   : "for (long " + name + " = GLOBAL_ID(2); " + name + " < " + all + "; " + name +
                         " += GROUPS(2) * ITEMS(2))";
  }
  return lines;
}

}  // namespace ridge::place::transform
