// Legality test for all transformations: pairs of instances that access the same element, at least one writing, must
// keep their order.
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>

#include "place/text/words.hpp"
#include "place/transform/transformation.hpp"

namespace ridge::place::transform {
namespace {

using analysis::Instance;
using analysis::Relation;

using text::joined;

isl::union_map schedule(const State& state, const Proposal& proposal) {
  const analysis::Relations& r = state.relations;
  std::size_t longest = 0;
  std::vector<std::vector<std::string>> orders;
  for (std::size_t i = 0; i < r.instances.size(); ++i) {
    const auto at = proposal.order.find(i);
    orders.push_back(at == proposal.order.end() ? r.instances[i].order : at->second);
    longest = std::max(longest, orders.back().size());
  }
  isl::union_map all = isl::union_map::empty(r.context);
  const std::string prefix = "[" + joined(state.nest.parameters) + "] -> { ";
  for (std::size_t i = 0; i < r.instances.size(); ++i) {
    const Instance& instance = r.instances[i];
    std::vector<std::string> iterators;
    for (const int l : instance.loops) iterators.push_back(state.nest.loops[l].iterator);
    orders[i].resize(longest, "0");
    all = all.unite(isl::union_map(
        isl::map(r.context, prefix + instance.name + "[" + joined(iterators) + "] -> [" + joined(orders[i]) + "] }")));
  }
  return all;
}

// Restricts pairs of a variable private to the loop to pairs within one iteration.
isl::union_map within(const State& state, const isl::union_map& pairs, int loop) {
  const int depth = state.nest.loops[loop].depth;
  isl::union_map result = isl::union_map::empty(state.relations.context);
  pairs.foreach_map([&](isl::map m) {
    const Instance& a = state.relations.instance(isl_map_get_tuple_name(m.get(), isl_dim_in));
    const Instance& b = state.relations.instance(isl_map_get_tuple_name(m.get(), isl_dim_out));
    if (state.relations.inside(a, loop) && state.relations.inside(b, loop))
      for (int d = 0; d <= depth; ++d) m = isl::manage(isl_map_equate(m.release(), isl_dim_in, d, isl_dim_out, d));
    result = result.unite(isl::union_map(m));
  });
  return result;
}

}  // namespace

Legality::Legality(const State& state) : state_(state), order_(state.relations.schedule) {}

// Only of instances that access the same element: comparing all with all takes longer than the rest.
const isl::union_map& Legality::pairs(int variable) {
  const auto found = pairs_.find(variable);
  if (found != pairs_.end()) return found->second;
  isl::union_map reads = isl::union_map::empty(state_.relations.context), writes = reads;
  for (const Instance& i : state_.relations.instances)
    for (const Relation& x : i.relations)
      if (x.access->variable == variable)
        (x.write ? writes : reads) = (x.write ? writes : reads).unite(isl::union_map(x.map));
  const isl::union_map meet = writes.apply_range(reads.unite(writes).reverse());
  isl::union_map ordered = isl::union_map::empty(state_.relations.context);
  meet.unite(meet.reverse()).foreach_map([&](const isl::map& m) {
    const std::string first = isl_map_get_tuple_name(m.get(), isl_dim_in),
                      second = isl_map_get_tuple_name(m.get(), isl_dim_out);
    if (order_.executes(first) && order_.executes(second))
      ordered = ordered.unite(isl::union_map(m.intersect(order_.before(first, second))));
  });
  return pairs_.emplace(variable, ordered).first->second;
}

isl::union_map Legality::all_pairs() {
  isl::union_map all = isl::union_map::empty(state_.relations.context);
  for (int v = 0; v < static_cast<int>(state_.nest.variables.size()); ++v) all = all.unite(pairs(v));
  return all;
}

std::string Legality::broken_by(const Proposal& proposal) {
  if (!proposal.reorders()) return "";
  const analysis::Relations& r = state_.relations;
  const isl::union_map after = proposal.schedule ? *proposal.schedule : schedule(state_, proposal);
  // Compares the execution times of each pair, without the instances, which is cheaper than ordering all instances.
  const auto reversed = [&](const isl::map& m) {
    bool found = false;
    isl::union_map(m).apply_domain(after).apply_range(after).foreach_map([&](const isl::map& times) {
      const isl::map not_before = isl::manage(isl_map_lex_ge(isl_space_range(isl_map_get_space(times.get()))));
      found = found || !times.intersect(not_before).is_empty();
    });
    return found;
  };
  for (int v = 0; v < static_cast<int>(state_.nest.variables.size()); ++v) {
    if (pairs(v).is_empty()) continue;
    const auto& own = state_.verdicts[proposal.whole < 0 ? 0 : proposal.whole].privates;
    const bool is_private = proposal.whole >= 0 && std::find(own.begin(), own.end(), v) != own.end();
    std::string where;
    (is_private ? within(state_, pairs(v), proposal.whole) : pairs(v)).foreach_map([&](const isl::map& m) {
      if (where.empty() && reversed(m))
        where = "line " + std::to_string(r.instance(isl_map_get_tuple_name(m.get(), isl_dim_in)).node->line) +
                " to line " + std::to_string(r.instance(isl_map_get_tuple_name(m.get(), isl_dim_out)).node->line);
    });
    if (!where.empty())
      return "a dependence on " + state_.nest.variables[v].host + ", " + where + ", would be reversed";
  }
  return "";
}

}  // namespace ridge::place::transform
