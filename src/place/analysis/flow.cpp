// Finds pairs of accesses that conflict, and reads that get no value from a write of the nest.
#include "place/analysis/flow.hpp"

#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>

#include <algorithm>

namespace ridge::place::analysis {
namespace {

std::string instance_of(const isl::map& m) { return isl_map_get_tuple_name(m.get(), isl_dim_in); }

bool same_elements(const isl::map& a, const isl::map& b) {
  const isl::space one = isl::manage(isl_map_get_space(a.get())), two = isl::manage(isl_map_get_space(b.get()));
  return isl_space_tuple_is_equal(one.get(), isl_dim_out, two.get(), isl_dim_out) == isl_bool_true;
}

}  // namespace

ExecutionOrder::ExecutionOrder(const isl::union_map& schedule) {
  schedule.foreach_map([&](const isl::map& m) { schedule_.emplace(instance_of(m), m); });
}

const isl::map& ExecutionOrder::before(const std::string& first, const std::string& second, int depth) {
  const std::tuple key{first, second, depth};
  if (const auto at = before_.find(key); at != before_.end()) return at->second;
  isl::map m = isl::manage(isl_map_lex_lt_map(schedule_.at(first).copy(), schedule_.at(second).copy()));
  for (int d = 0; d < depth; ++d) m = isl::manage(isl_map_equate(m.release(), isl_dim_in, d, isl_dim_out, d));
  return before_.emplace(key, m).first->second;
}

bool set_before(const Instance& write, const isl::map& writes, const Instance& read, const isl::map& reads) {
  const std::size_t shared = write.loops.size();
  if (shared > read.loops.size() || !std::equal(write.loops.begin(), write.loops.end(), read.loops.begin()))
    return false;
  for (std::size_t k = 0; k < 2 * shared; ++k)
    if (write.order[k] != read.order[k]) return false;
  if (std::stol(write.order[2 * shared]) >= std::stol(read.order[2 * shared])) return false;
  isl::map used = isl::manage(isl_map_project_out(reads.copy(), isl_dim_in, static_cast<unsigned>(shared),
                                                  static_cast<unsigned>(read.loops.size() - shared)));
  used = isl::manage(isl_map_set_tuple_name(used.release(), isl_dim_in, write.name.c_str()));
  return used.is_subset(writes);
}

const isl::map& Meeting::carried(const Relations& r, int loop, bool reversed) {
  const auto [at, fresh] = carried_.try_emplace({loop, reversed});
  if (!fresh) return at->second;
  const Loop& l = r.nest->loops[loop];
  isl::map m = pairs;
  if (!r.inside(*first, loop) || !r.inside(*second, loop)) {
    at->second = isl::manage(isl_map_empty(isl_map_get_space(m.get())));
    return at->second;
  }
  for (int d = 0; d < l.depth; ++d) m = isl::manage(isl_map_equate(m.release(), isl_dim_in, d, isl_dim_out, d));
  const auto order = (l.step < 0) == reversed ? isl_map_order_lt : isl_map_order_gt;
  at->second = isl::manage(order(m.release(), isl_dim_in, l.depth, isl_dim_out, l.depth));
  return at->second;
}

bool Meeting::carried(const Relations& r, int loop) {
  return !carried(r, loop, false).is_empty() || (a != b && !carried(r, loop, true).is_empty());
}

std::vector<Meeting> meetings(const Relations& r, int variable) {
  struct Use {
    const Instance* instance;
    const Relation* relation;
  };
  std::vector<Use> uses;
  for (const Instance& i : r.instances)
    for (const Relation& x : i.relations)
      if (x.access->variable == variable) uses.push_back({&i, &x});
  std::vector<Meeting> all;
  for (std::size_t k = 0; k < uses.size(); ++k)
    for (std::size_t n = 0; n < uses.size(); ++n) {
      const Use &one = uses[k], &two = uses[n];
      if (!one.relation->write || (two.relation->write && n < k) ||
          !same_elements(one.relation->map, two.relation->map))
        continue;
      Meeting m(*one.instance, *one.relation, *two.instance, *two.relation);
      if (!m.pairs.is_empty()) all.push_back(std::move(m));
    }
  return all;
}

bool written_before(const std::vector<isl::map>& reads, const std::vector<isl::map>& writes, int depth,
                    ExecutionOrder& order) {
  return std::all_of(reads.begin(), reads.end(), [&](const isl::map& read) {
    if (read.is_empty() || !order.executes(instance_of(read))) return true;
    // With one element per instance the instance stands for the element, which saves dimensions.
    const bool one = isl_map_is_single_valued(read.get()) == isl_bool_true;
    const isl::map instance = one ? read : isl::manage(isl_map_domain_map(read.copy())),
                   element = one ? read : isl::manage(isl_map_range_map(read.copy()));
    isl::set open = element.domain();  // reads without a write before them
    for (const isl::map& write : writes) {
      if (!order.executes(instance_of(write)) || !same_elements(read, write)) continue;
      isl::map later = order.before(instance_of(write), instance_of(read), depth).reverse();
      if (!one) later = instance.apply_range(later);
      const isl::map sources = element.apply_range(write.reverse()).intersect(later);
      if (sources.is_empty()) continue;
      open = open.subtract(sources.domain());
      if (open.is_empty()) return true;
    }
    return false;
  });
}

}  // namespace ridge::place::analysis
