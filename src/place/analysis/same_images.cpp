// Repeats the dependence test of a nest with two images taken as one.
#include "place/analysis/same_images.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "place/analysis/footprint.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::analysis {
namespace {

// Parameters of the first image's size and row step, by the name of the second image's.
std::map<std::string, std::string> renamed(const Nest& nest, const Variable& from, const Variable& to) {
  std::map<std::string, std::string> names;
  for (const Variable& a : nest.variables)
    for (const Variable& b : nest.variables) {
      if (a.array() || b.array() || a.host.find(from.host + ".") == std::string::npos) continue;
      std::string same = a.host;
      same.replace(same.find(from.host + "."), from.host.size(), to.host);
      if (same == b.host) names[a.name] = b.name;
    }
  return names;
}

void merge(Node& node, int from, int to, const std::map<std::string, Poly>& values) {
  for (Access& a : node.accesses) {
    if (a.variable == from) a.variable = to;
    for (auto* list : {&a.subscripts, &a.not_negative})
      for (Poly& p : *list) p = p.substituted(values);
  }
  for (Node& child : node.children) merge(child, from, to, values);
}

bool agree(const Verdict& a, const Verdict& b) {
  const auto set = [](const std::vector<int>& list) { return std::set<int>(list.begin(), list.end()); };
  return b.parallel && b.copies.empty() && a.copies.empty() && set(a.privates) == set(b.privates) &&
         set(a.expanded) == set(b.expanded) && set(a.reductions) == set(b.reductions) &&
         set(a.array_reductions) == set(b.array_reductions);
}

// True if every assumption of `merged` is one of `apart` after renaming.
bool assumed_before(const Relations& merged, const Relations& apart, const std::map<std::string, std::string>& names) {
  std::set<std::string> known;
  for (const Assumption& a : apart.assumptions) {
    known.insert(condition_text(a.holds));
    known.insert(text::replaced(condition_text(a.holds), names));
  }
  return std::all_of(merged.assumptions.begin(), merged.assumptions.end(), [&](const Assumption& a) {
    return known.count(condition_text(a.holds)) > 0 ||
           std::any_of(apart.assumptions.begin(), apart.assumptions.end(),
                       [&](const Assumption& b) { return b.holds.is_subset(a.holds); });
  });
}

}  // namespace

std::vector<std::pair<int, int>> same_images(const Nest& nest, const NestAnalysis& apart, const std::vector<int>& chain,
                                             Memo& memo) {
  std::set<int> read, written;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (const Variable& v = nest.variables[static_cast<std::size_t>(a.variable)]; v.shares && v.outlives)
      (a.write ? written : read).insert(a.variable);
  });
  std::vector<std::pair<int, int>> all;
  for (const int from : read)
    for (const int to : written) {
      const Variable &a = nest.variables[static_cast<std::size_t>(from)],
                     &b = nest.variables[static_cast<std::size_t>(to)];
      if (written.count(from) > 0 || a.element != b.element || a.inner != b.inner) continue;
      const auto names = renamed(nest, a, b);
      std::map<std::string, Poly> values;
      for (const auto& [name, other] : names) values[name] = Poly::symbol(other);
      Nest merged = nest;
      merge(merged.root, from, to, values);
      merged.live_after.insert(to);
      const NestAnalysis together = memo.analyzed(merged);
      const bool parallel = std::all_of(chain.begin(), chain.end(), [&](int l) {
        return agree(apart.verdicts[static_cast<std::size_t>(l)], together.verdicts[static_cast<std::size_t>(l)]);
      });
      if (parallel && assumed_before(together.relations, apart.relations, names)) all.emplace_back(from, to);
    }
  return all;
}

}  // namespace ridge::place::analysis
