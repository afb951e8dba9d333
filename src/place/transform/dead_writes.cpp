// Dead-write removal: deletes writes that are never read. Trigger: a value is always overwritten before it is read, and
// is not visible after the nest.
#include <isl/flow.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>
#include <map>
#include <set>

#include "place/analysis/memo.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

void add(std::map<std::string, isl::union_map>& all, const std::string& name, const isl::union_map& map) {
  const auto [at, fresh] = all.emplace(name, map);
  if (!fresh) at->second = at->second.unite(map);
}

// isl operations, about 0.3 s: removal saves little, so a nest with a longer dataflow analysis stays as written.
constexpr unsigned long kOperations = 300000;

// True for a statement whose text can be deleted.
bool deletable(const analysis::Instance& i) {
  const Node& node = *i.node;
  return node.kind == NodeKind::statement && !node.declaration && !node.target.empty() && node.span.known &&
         std::any_of(node.accesses.begin(), node.accesses.end(), [](const Access& a) { return a.write; });
}

// The accesses of one variable, and the order of execution.
struct Accesses {
  isl::union_map reads, must, may, order;

  std::set<std::string> read_statements() const {  // those of which a value is read
    std::set<std::string> names;
    const auto flow =
        isl::union_access_info(reads).set_must_source(must).set_may_source(may).set_schedule_map(order).compute_flow();
    flow.may_dependence().domain().foreach_set(
        [&](const isl::set& s) { names.insert(isl_set_get_tuple_name(s.get())); });
    return names;
  }
};

// True if the value that one instance of the statement writes to one element, for one choice of the sizes, is read: by
// the first access to the element after it. Nearly all values are read, and finding it out for one takes a fraction of
// the time that the dataflow of all takes.
bool read_at_one_element(const Accesses& all, const isl::union_map& written) {
  bool read = false;
  written.foreach_map([&](const isl::map& map) {
    const isl::set pairs = isl::manage(isl_map_wrap(map.copy()));
    for (const int least : {4, 1}) {
      isl::set sizes = pairs;
      for (unsigned d = 0; d < static_cast<unsigned>(isl_set_dim(pairs.get(), isl_dim_param)); ++d)
        sizes = isl::manage(isl_set_lower_bound_si(sizes.release(), isl_dim_param, d, least));
      if (read || sizes.is_empty()) continue;
      const isl::set one = isl::manage(isl_set_from_point(isl_set_sample_point(sizes.release())));
      const isl::set chosen = isl::manage(isl_set_params(one.copy()));
      const isl::map write = isl::manage(isl_set_unwrap(one.copy()));
      const isl::union_set element(write.range());
      const isl::set time = isl::union_set(write.domain()).apply(all.order).as_set();
      const isl::set after =
          time.apply(isl::manage(isl_map_lex_lt(isl_set_get_space(time.get())))).intersect_params(chosen);
      const auto times = [&](const isl::union_map& accesses) {
        return accesses.intersect_range(element).domain().apply(all.order).intersect(isl::union_set(after));
      };
      const isl::union_set reads = times(all.reads);
      if (reads.is_empty()) continue;
      const isl::union_set first = reads.unite(times(all.must)).as_set().lexmin();
      read = !first.intersect(reads).is_empty();
    }
  });
  return read;
}

}  // namespace

std::vector<Proposal> dead_writes(const State& state) {
  std::vector<Proposal> all;
  const analysis::Relations& r = state.relations;
  const analysis::Quota quota(r.context, kOperations);
  std::set<std::string> candidates;
  for (const analysis::Instance& i : r.instances)
    if (deletable(i)) candidates.insert(i.name);
  std::set<std::string> live;  // statements of which a value is read
  for (std::size_t v = 0; v < state.nest.variables.size(); ++v) {
    isl::union_map reads = isl::union_map::empty(r.context), must = reads, may = reads;
    std::map<std::string, isl::union_map> surely, perhaps;  // elements each statement writes, certainly and possibly
    for (const analysis::Instance& i : r.instances)
      for (const analysis::Relation& x : i.relations) {
        if (x.access->variable != static_cast<int>(v)) continue;
        const isl::union_map map(x.map);
        if (!x.write) reads = reads.unite(map);
        if (x.write) may = may.unite(map);
        if (x.must) must = must.unite(map);
        if (x.write) add(perhaps, i.name, map);
        if (x.must) add(surely, i.name, map);
      }
    if (may.is_empty()) continue;
    isl::union_map order = r.schedule;
    const bool seen_after =
        state.nest.live_after.count(static_cast<int>(v)) > 0 || state.nest.kept.count(static_cast<int>(v)) > 0;
    if (seen_after) {  // live unless other statements certainly write all of its elements
      std::size_t stay = 0;
      for (const auto& [name, written] : perhaps) {
        isl::union_set others = isl::union_set::empty(r.context);
        for (const auto& [other, map] : surely)
          if (other != name) others = others.unite(map.range());
        if (written.range().is_subset(others)) continue;
        live.insert(name);
        ++stay;
      }
      if (stay == perhaps.size()) continue;
    }
    const auto open = [&](const auto& written) {
      return candidates.count(written.first) > 0 && live.count(written.first) == 0;
    };
    if (std::none_of(perhaps.begin(), perhaps.end(), open)) continue;
    if (seen_after) {  // model later code as a read of all elements at the end of the nest
      std::size_t longest = 1;
      for (const auto& i : r.instances) longest = std::max(longest, i.order.size());
      isl::union_set elements = may.range();
      elements.foreach_set([&](const isl::set& s) {
        isl::map exit =
            isl::manage(isl_map_from_domain_and_range(isl_set_from_params(isl_set_params(s.copy())), s.copy()));
        exit = isl::manage(isl_map_set_tuple_name(exit.release(), isl_dim_in, "exit"));
        reads = reads.unite(isl::union_map(exit));
      });
      std::string last = "{ exit[] -> [1000000";
      for (std::size_t k = 1; k < longest; ++k) last += ", 0";
      order = order.unite(isl::union_map(r.context, last + "] }"));
    }
    const Accesses accesses{reads, must, may, order};
    for (const auto& written : perhaps)
      if (open(written) && read_at_one_element(accesses, written.second)) live.insert(written.first);
    if (std::any_of(perhaps.begin(), perhaps.end(), open)) live.merge(accesses.read_statements());
  }
  for (const analysis::Instance& i : r.instances) {
    const Node& node = *i.node;
    if (candidates.count(i.name) == 0 || live.count(i.name) > 0 || i.domain.is_empty()) continue;
    const bool plain_write = std::all_of(node.accesses.begin(), node.accesses.end(), [&](const Access& a) {
      return !a.write || state.nest.variables[a.variable].storage != Storage::reference;
    });
    if (!plain_write) continue;
    Proposal made;
    made.what = "line " + std::to_string(node.line) + ", " + node.source + ", is overwritten before it is read";
    made.edits = {{node.span.begin, node.span.end, ";"}};
    made.loops = loops_in_order(state.nest, state.nest.root);
    all.push_back(made);
  }
  return all;
}

}  // namespace ridge::place::transform
