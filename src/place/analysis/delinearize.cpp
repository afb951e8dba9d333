// Chooses array shapes from strides and splits linear subscripts into one per dimension.
#include "place/analysis/delinearize.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "place/text/node_text.hpp"

namespace ridge::place::analysis {
namespace {

using Symbols = std::vector<std::string>;

std::optional<Symbols> divided(Symbols from, const Symbols& by) {
  for (const std::string& s : by) {
    const auto at = std::find(from.begin(), from.end(), s);
    if (at == from.end()) return {};
    from.erase(at);
  }
  return from;
}

Poly product(const Symbols& symbols, long factor) {
  Poly p;
  p.set(symbols, factor);
  return p;
}

struct Stride {
  Symbols symbols{};
  long factor = 0;
};

}  // namespace

std::map<int, Shape> choose_shapes(const Nest& nest) {
  const std::set<std::string> parameters(nest.parameters.begin(), nest.parameters.end());
  std::map<int, std::vector<const Poly*>> subscripts;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.exact && !a.subscripts.empty()) subscripts[a.variable].push_back(&a.subscripts[0]);
  });
  std::map<int, Shape> shapes;
  for (const auto& [variable, polys] : subscripts) {
    // Products of parameters that multiply an iterator are the candidate strides, largest first.
    std::set<Symbols> found;
    for (const Poly* p : polys)
      for (const auto& [term, count] : p->terms()) {
        if (term.size() < 2) continue;
        Symbols sizes, others;
        for (const std::string& s : term) (parameters.count(s) > 0 ? sizes : others).push_back(s);
        if (others.size() == 1) found.insert(sizes);
      }
    if (found.empty()) {  // only products of two parameters: the row length is the symbol most of them share
      std::map<std::string, int> shared;
      for (const Poly* p : polys)
        for (const auto& [term, count] : p->terms())
          for (const std::string& s : term) shared[s] += term.size() == 2 ? 4 : 1;
      for (const Variable& v : nest.variables)  // prefers a size passed to the function over a loop's iterator
        if (shared.count(v.name) > 0) shared[v.name] += v.parameter ? 2 : 0;
      bool products = false;
      for (const Poly* p : polys)
        for (const auto& [term, count] : p->terms()) products |= term.size() == 2;
      if (!products) shared.clear();
      const auto most = std::max_element(shared.begin(), shared.end(),
                                         [](const auto& x, const auto& y) { return x.second < y.second; });
      if (most != shared.end()) found.insert({most->first});
    }
    std::vector<Stride> strides;
    for (const Symbols& s : found) strides.push_back({s, 0});
    std::stable_sort(strides.begin(), strides.end(),
                     [](const Stride& a, const Stride& b) { return a.symbols.size() > b.symbols.size(); });
    Shape shape;
    bool fits = !strides.empty() && strides.size() <= 4;
    // The factor of a stride is the greatest common divisor over all subscripts: 3 * w for (y * w + x) * 3 + c.
    for (const Poly* p : polys) {
      if (!fits) break;
      for (const auto& [term, count] : p->terms())
        for (Stride& s : strides)
          if (divided(term, s.symbols)) {
            s.factor = std::gcd(s.factor, count);
            break;
          }
    }
    for (std::size_t k = 0; fits && k < strides.size(); ++k) {
      if (strides[k].factor == 0) {
        fits = false;
        break;
      }
      shape.strides.push_back(product(strides[k].symbols, strides[k].factor));
      if (k + 1 == strides.size()) {
        shape.extents.push_back(product(strides[k].symbols, strides[k].factor));
      } else {
        const auto left = divided(strides[k].symbols, strides[k + 1].symbols);
        if (!left || strides[k + 1].factor == 0 || strides[k].factor % strides[k + 1].factor != 0) {
          fits = false;
        } else {
          shape.extents.push_back(product(*left, strides[k].factor / strides[k + 1].factor));
        }
      }
    }
    if (!fits) shape = {};
    // extents[k] is the extent of dimension k + 1.
    shapes[variable] = shape;
  }
  return shapes;
}

std::optional<std::vector<Poly>> take_apart(const Poly& subscript, const Shape& shape) {
  std::vector<Poly> result;
  Poly rest = subscript;
  for (const Poly& stride : shape.strides) {
    const auto& [symbols, factor] = *stride.terms().begin();
    Poly quotient, remainder;
    for (const auto& [term, count] : rest.terms()) {
      const auto left = divided(term, symbols);
      if (left && count % factor == 0)
        quotient.set(*left, count / factor);
      else
        remainder.set(term, count);
    }
    if (!quotient.affine()) return {};
    result.push_back(quotient);
    rest = remainder;
  }
  if (!rest.affine()) return {};
  result.push_back(rest);
  return result;
}

}  // namespace ridge::place::analysis
