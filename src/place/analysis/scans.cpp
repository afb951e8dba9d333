// Finds a loop's iterator in the subscripts of its accesses.
#include "place/analysis/scans.hpp"

#include <algorithm>

#include "place/analysis/delinearize.hpp"

namespace ridge::place::analysis {

void find_scans(const Node& node, const Loop& loop, const Nest& nest, const Relations& relations,
                std::set<std::string>& scans) {
  for (const Access& a : node.accesses) {
    const Variable& v = nest.variables[a.variable];
    if (!v.array() || !a.exact || a.subscripts.empty()) continue;
    const auto shape = relations.shapes.find(a.variable);
    std::vector<Poly> all = a.subscripts;
    if (shape != relations.shapes.end())
      if (auto parts = take_apart(a.subscripts[0], shape->second)) {
        parts->insert(parts->end(), a.subscripts.begin() + 1, a.subscripts.end());
        all = std::move(*parts);
      }
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto names = all[k].symbols();
      if (std::find(names.begin(), names.end(), loop.iterator) != names.end())
        scans.insert(v.host + " " + std::to_string(k));
    }
  }
  for (const Node& child : node.children) find_scans(child, loop, nest, relations, scans);
}

}  // namespace ridge::place::analysis
