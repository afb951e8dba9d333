// Dependence test: privatization, reductions and carried dependences per loop.
#include "place/analysis/verdicts.hpp"

#include <isl/flow.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

namespace ridge::place::analysis {
namespace {

struct Conflicts {
  // Pairs of instances that access the same element, at least one writing; `others` without pairs of reduction
  // accesses.
  isl::union_map all{}, others{};
};

class LoopVerdicts {
 public:
  explicit LoopVerdicts(const Relations& relations) : r_(relations), nest_(*relations.nest) {}

  std::vector<Verdict> run() {
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations)
        if (r.write) written_.insert(r.access->variable);
    std::vector<Verdict> verdicts;
    for (std::size_t l = 0; l < nest_.loops.size(); ++l)
      verdicts.push_back(verdict(static_cast<int>(l), l == 0 || verdicts[0].last_sets_all));
    return verdicts;
  }

 private:
  const Relations& r_;
  const Nest& nest_;
  std::set<int> written_{};  // variables
  mutable std::map<int, Conflicts> conflicts_{};
  mutable std::map<std::pair<int, int>, bool> exposed_{};  // by variable and loop

  isl::union_map pick(int variable, const std::function<bool(const Instance&, const Relation&)>& want) const {
    isl::union_map all = isl::union_map::empty(r_.context);
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations)
        if (r.access->variable == variable && want(i, r)) all = all.unite(isl::union_map(r.map));
    return all;
  }

  const Conflicts& conflicts(int variable) const {
    if (const auto at = conflicts_.find(variable); at != conflicts_.end()) return at->second;
    const auto own_writes = pick(variable, [](auto&, auto& r) { return r.write && r.own; });
    const auto other_writes = pick(variable, [](auto&, auto& r) { return r.write && !r.own; });
    const auto own = pick(variable, [](auto&, auto& r) { return r.own; });
    const auto other = pick(variable, [](auto&, auto& r) { return !r.own; });
    const auto meet = [](const isl::union_map& a, const isl::union_map& b) { return a.apply_range(b.reverse()); };
    Conflicts c;
    const auto one = meet(own_writes, other), two = meet(other_writes, own.unite(other));
    c.others = one.unite(two);
    c.all = own_writes.is_empty() ? c.others : c.others.unite(meet(own_writes, own));
    // Pairs in both directions.
    const bool same = own_writes.is_empty();
    c.others = c.others.unite(c.others.reverse());
    c.all = same ? c.others : c.all.unite(c.all.reverse());
    return conflicts_.emplace(variable, c).first->second;
  }

  // False if each iteration of the loop has a variable of its own, or none: no iterations conflict.
  bool shared(int variable, int loop) const {
    const std::vector<int>& own = nest_.variables[variable].loops;
    if (std::find(own.begin(), own.end(), loop) != own.end()) return false;
    return std::any_of(r_.instances.begin(), r_.instances.end(), [&](const Instance& i) {
      return r_.inside(i, loop) && std::any_of(i.relations.begin(), i.relations.end(), [&](const Relation& r) {
               return r.write && r.access->variable == variable;
             });
    });
  }

  // Pairs in different iterations of the loop and in the same iteration of all loops around it. `both` is true for
  // pairs that are given in both directions: those in execution order are then enough to know if there are any.
  isl::union_map carried(const isl::union_map& pairs, int loop, bool both = false) const {
    const int depth = nest_.loops[loop].depth;
    const bool down = nest_.loops[loop].step < 0;
    isl::union_map result = isl::union_map::empty(r_.context);
    pairs.foreach_map([&](isl::map m) {
      const auto name = [&](isl_dim_type side) { return std::string(isl_map_get_tuple_name(m.get(), side)); };
      if (!r_.inside(r_.instance(name(isl_dim_in)), loop) || !r_.inside(r_.instance(name(isl_dim_out)), loop)) return;
      for (int d = 0; d < depth; ++d) m = isl::manage(isl_map_equate(m.release(), isl_dim_in, d, isl_dim_out, d));
      isl::map first = isl::manage(isl_map_empty(isl_map_get_space(m.get())));
      if (!both || !down) first = isl::manage(isl_map_order_lt(m.copy(), isl_dim_in, depth, isl_dim_out, depth));
      if (!both || down)
        first = first.unite(isl::manage(isl_map_order_gt(m.release(), isl_dim_in, depth, isl_dim_out, depth)));
      m = first;
      if (!m.is_empty()) result = result.unite(isl::union_map(m));
    });
    return result;
  }

  // True if the iterations of all loops between `loop` and the instance are known exactly. Loops outside do not matter
  // for what happens in one iteration of `loop`.
  bool bounded_within(const Instance& i, int loop) const {
    return std::all_of(i.loops.begin(), i.loops.end(), [&](int l) {
      const Loop& x = nest_.loops[l];
      return x.depth <= nest_.loops[loop].depth || (x.counted && x.exact && x.leaves_early == 0);
    });
  }

  // Branch arms that, together with the opposite arm, certainly write a scalar without reading it: after the branch it
  // is always written.
  std::set<int> set_in_both_arms(int variable, int loop) const {
    if (nest_.variables[variable].array()) return {};
    std::map<int, const Instance*> arms;  // by arm number
    std::set<int> reading;                // branches in which the variable is read
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations) {
        if (!r_.inside(i, loop) || r.access->variable != variable) continue;
        if (!r.write)
          for (const auto& g : i.guards) reading.insert(g.number / 2);
        else if (!i.guards.empty() && i.guards.back().number > 0 && bounded_within(i, loop) && r.access->must &&
                 static_cast<int>(i.loops.size()) == i.guards.back().depth)
          arms.emplace(i.guards.back().number, &i);
      }
    const auto where = [](const Instance& i) { return isl::manage(isl_set_reset_tuple_id(i.domain.copy())); };
    std::set<int> result;
    for (const auto& [arm, one] : arms) {
      const auto other = arms.find(arm ^ 1);
      if (other == arms.end() || reading.count(arm / 2) > 0 || one->guards.size() != other->second->guards.size())
        continue;
      if (std::equal(one->guards.begin(), one->guards.end() - 1, other->second->guards.begin()) &&
          where(*one).is_equal(where(*other->second)))
        result.insert(arm);
    }
    return result;
  }

  // True if an iteration of the loop reads a value of the variable that was written before the iteration
  // (upward-exposed use).
  bool exposed(int variable, int loop) const {
    const auto [at, fresh] = exposed_.try_emplace({variable, loop}, false);
    if (fresh) at->second = reads_earlier_values(variable, loop);
    return at->second;
  }

  bool reads_earlier_values(int variable, int loop) const {
    const int depth = nest_.loops[loop].depth;
    // If the variable is used inside a single inner loop and not exposed there, it is not exposed here.
    std::set<int> inner;
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations)
        if (r.access->variable == variable && r_.inside(i, loop))
          inner.insert(static_cast<int>(i.loops.size()) > depth + 1 ? i.loops[static_cast<std::size_t>(depth) + 1]
                                                                    : -1);
    if (inner.size() == 1 && *inner.begin() >= 0 && !exposed(variable, *inner.begin())) return false;
    isl::union_map reads = isl::union_map::empty(r_.context), writes = reads;
    // A branch that guards all reads and is decided once per iteration of the loop may guard the writes as well.
    std::optional<std::vector<Instance::Guard>> shared;
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations) {
        if (!r_.inside(i, loop) || r.access->variable != variable || r.write) continue;
        std::vector<Instance::Guard> mine;
        for (const auto& g : i.guards)
          if (g.depth <= depth + 1 && (!shared || std::find(shared->begin(), shared->end(), g) != shared->end()))
            mine.push_back(g);
        shared = mine;
      }
    const std::set<int> settled = set_in_both_arms(variable, loop);
    const auto sure = [&](const Instance& i, const Relation& r) {
      if (r.must) return true;
      if (!bounded_within(i, loop) || !r.access->must || !r.access->exact || !r.access->exists.empty() || !shared)
        return false;
      if (r.map.is_empty()) return false;
      return std::all_of(i.guards.begin(), i.guards.end(), [&](const auto& g) {
        return std::find(shared->begin(), shared->end(), g) != shared->end() || settled.count(g.number) > 0;
      });
    };
    std::vector<std::pair<const Instance*, const Relation*>> sources;  // certain writes
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations)
        if (r_.inside(i, loop) && r.access->variable == variable && r.write && sure(i, r)) sources.emplace_back(&i, &r);
    for (const Instance& i : r_.instances) {
      if (!r_.inside(i, loop)) continue;
      for (const Relation& r : i.relations) {
        if (r.access->variable != variable || (r.write && !sure(i, r))) continue;
        if (!r.write && std::any_of(sources.begin(), sources.end(),
                                    [&](const auto& w) { return set_before(*w.first, w.second->map, i, r.map); }))
          continue;
        // Prepend the iterators up to this loop to the element: one private copy per iteration.
        isl::set domain = i.domain;
        isl::map prefix = isl::manage(isl_set_identity(domain.copy()));
        const int rest = static_cast<int>(i.loops.size()) - depth - 1;
        prefix = isl::manage(isl_map_project_out(prefix.release(), isl_dim_out, static_cast<unsigned>(depth + 1),
                                                 static_cast<unsigned>(rest)));
        prefix = isl::manage(isl_map_reset_tuple_id(prefix.release(), isl_dim_out));
        isl::map both = isl::manage(isl_map_flat_range_product(prefix.release(), r.map.copy()));
        both = isl::manage(isl_map_set_tuple_name(both.release(), isl_dim_out, "own"));
        (r.write ? writes : reads) = (r.write ? writes : reads).unite(isl::union_map(both));
      }
    }
    if (reads.is_empty()) return false;
    if (writes.is_empty()) return true;
    // An element that the iteration never sets: cheaper to find than the source of each read.
    if (!reads.range().is_subset(writes.range())) return true;
    const auto flow =
        isl::union_access_info(reads).set_must_source(writes).set_schedule_map(r_.schedule).compute_flow();
    return !flow.may_no_source().is_empty();
  }

  // True if a value written inside the loop is read after it, in the nest or in later code.
  bool escapes(int variable, int loop) const {
    if (nest_.live_after.count(variable) > 0) return true;
    const auto reads = pick(variable, [&](auto& i, auto& r) { return !r.write && !r_.inside(i, loop); });
    if (reads.is_empty()) return false;
    const auto must = pick(variable, [](auto&, auto& r) { return r.write && r.must; });
    const auto writes = pick(variable, [](auto&, auto& r) { return r.write; });
    auto flow = isl::union_access_info(reads)
                    .set_must_source(must)
                    .set_may_source(writes)
                    .set_schedule_map(r_.schedule)
                    .compute_flow()
                    .may_dependence();
    bool found = false;
    flow.foreach_map(
        [&](isl::map m) { found |= r_.inside(r_.instance(isl_map_get_tuple_name(m.get(), isl_dim_in)), loop); });
    return found;
  }

  // True if all conflicts of the array in the loop disappear when reads of values from before the nest get them from a
  // copy: those reads are added to `v`. Other reads must get values of their own iteration.
  bool reads_old_values(int variable, int loop, Verdict& v) const {
    const auto writes = pick(variable, [](auto&, auto& r) { return r.write; }).reverse();
    std::vector<isl::union_map> others;
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations) {
        if (r.access->variable != variable || r.write) continue;
        const isl::union_map pairs = isl::union_map(r.map).apply_range(writes);
        if (carried(pairs, loop).is_empty()) {
          others.push_back(pairs);
          continue;
        }
        if (some_follow(pairs)) return false;
        v.old_reads.push_back({variable, static_cast<std::size_t>(&i - r_.instances.data()), r.access->source});
      }
    v.some_stay =
        v.some_stay || std::any_of(others.begin(), others.end(), [&](const auto& p) { return some_follow(p); });
    return true;
  }

  // True if the first instance of some pair is executed after the second.
  bool some_follow(const isl::union_map& pairs) const {
    if (pairs.is_empty()) return false;
    bool found = false;
    pairs.apply_domain(r_.schedule).apply_range(r_.schedule).foreach_map([&](const isl::map& times) {
      const isl::map after = isl::manage(isl_map_lex_gt(isl_space_range(isl_map_get_space(times.get()))));
      found = found || !times.intersect(after).is_empty();
    });
    return found;
  }

  // True if the last iteration of an outermost loop certainly writes all elements that any iteration may write.
  bool last_writes_all(int variable, int loop) const {
    isl::union_set iterations = isl::union_set::empty(r_.context), all = iterations, sure = iterations;
    for (const Instance& i : r_.instances) {
      isl::set d =
          isl::manage(isl_set_project_out(i.domain.copy(), isl_dim_set, 1, static_cast<unsigned>(i.loops.size()) - 1));
      iterations = iterations.unite(isl::union_set(isl::manage(isl_set_reset_tuple_id(d.release()))));
    }
    const isl::set range = iterations.as_set();
    const auto ends = nest_.loops[loop].step > 0 ? isl_set_dim_has_upper_bound : isl_set_dim_has_lower_bound;
    if (ends(range.get(), isl_dim_set, 0) != isl_bool_true) return false;
    const isl::set last = nest_.loops[loop].step > 0 ? range.lexmax() : range.lexmin();
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations) {
        if (r.access->variable != variable || !r.write) continue;
        all = all.unite(isl::union_set(r.map.range()));
        if (!r.must) continue;
        isl::set there =
            isl::manage(isl_set_add_dims(last.copy(), isl_dim_set, static_cast<unsigned>(i.loops.size()) - 1));
        there = isl::manage(isl_set_set_tuple_name(there.release(), i.name.c_str()));
        sure = sure.unite(isl::union_set(r.map.intersect_domain(there).range()));
      }
    return all.is_subset(sure);
  }

  // Finds the variables of the dependences that could have a copy per iteration if they were not used after the loop.
  void find_set_first(const std::vector<std::pair<int, isl::union_map>>& open, Verdict& v) const {
    v.last_sets_all = !open.empty() && nest_.loops[v.loop].depth == 0;
    for (const auto& [variable, pairs] : open) {
      if (exposed(variable, v.loop)) {
        v.last_sets_all = false;
        if (v.loop == 0) return;
        continue;
      }
      v.set_first.push_back(variable);
      v.last_sets_all = v.last_sets_all && last_writes_all(variable, v.loop);
    }
  }

  bool writes_meet(int variable, int loop) const {
    const auto writes = pick(variable, [](auto&, auto& r) { return r.write; });
    return !carried(writes.apply_range(writes.reverse()), loop, true).is_empty();
  }

  Dependence describe(const isl::union_map& pairs, int variable, int loop) const {
    Dependence best;
    int rank = 9;
    pairs.foreach_map([&](isl::map m) {
      const Instance& from = r_.instance(isl_map_get_tuple_name(m.get(), isl_dim_in));
      const Instance& to = r_.instance(isl_map_get_tuple_name(m.get(), isl_dim_out));
      const int depth = nest_.loops[loop].depth;
      const bool down = nest_.loops[loop].step < 0;
      // Keep pairs in execution order only.
      m = isl::manage(down ? isl_map_order_gt(m.release(), isl_dim_in, depth, isl_dim_out, depth)
                           : isl_map_order_lt(m.release(), isl_dim_in, depth, isl_dim_out, depth));
      if (m.is_empty()) return;
      for (const Relation& a : from.relations)
        for (const Relation& b : to.relations) {
          if (a.access->variable != variable || b.access->variable != variable || (!a.write && !b.write)) continue;
          const Kind kind = a.write && !b.write ? Kind::flow : a.write ? Kind::output : Kind::anti;
          const int order = (kind == Kind::flow ? 0 : kind == Kind::anti ? 1 : 2) + (a.own && b.own ? 3 : 0);
          if (order >= rank) continue;
          const isl::map both = m.intersect(a.map.apply_range(b.map.reverse()));
          if (both.is_empty()) continue;
          rank = order;
          best.kind = kind;
          best.variable = variable;
          best.from_line = a.access->line;
          best.to_line = b.access->line;
          best.from = a.access->source;
          best.to = b.access->source;
          best.certain = from.exact && to.exact && a.access->exact && b.access->exact;
          const isl::set wrapped = isl::manage(isl_map_wrap(both.copy()));
          isl_point* point = isl_set_sample_point(wrapped.copy());
          const auto value = [&](unsigned at) {
            isl_val* v = isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(at));
            char* s = isl_val_to_str(v);
            std::string result = s != nullptr ? s : "?";
            free(s);
            isl_val_free(v);
            return result;
          };
          const std::string i = nest_.loops[loop].iterator;
          const std::string first = value(static_cast<unsigned>(depth)),
                            second = value(static_cast<unsigned>(from.loops.size()) + static_cast<unsigned>(depth));
          isl_point_free(point);
          const char* does = a.write ? "writes " : "reads ";
          const char* then = b.write ? " writes it" : " reads it";
          best.example = i + " = " + first + " " + does +
                         (best.from.empty() ? nest_.variables[variable].host : best.from) + ", " + i + " = " + second +
                         then;
        }
    });
    return best;
  }

  std::string text_of(const Dependence& d) const {
    return std::string(to_string(d.kind)) + " dependence on " + nest_.variables[d.variable].host + ", line " +
           std::to_string(d.from_line) + " to line " + std::to_string(d.to_line) +
           (d.example.empty() ? "" : ": " + d.example) + (d.certain ? "" : " (possibly)");
  }

  // True if iterations certainly conflict at all sizes with which the loop has two iterations.
  bool always_conflicts(int variable, int loop) const {
    const auto certain = [](const Instance& i, const Relation& r) {
      return i.exact && i.bounded && r.access->exact && r.access->must && r.access->exists.empty();
    };
    const auto writes = pick(variable, [&](auto& i, auto& r) { return r.write && certain(i, r); });
    const auto pairs = carried(writes.apply_range(pick(variable, certain).reverse()), loop);
    isl::union_set all = isl::union_set::empty(r_.context);
    for (const Instance& i : r_.instances)
      if (r_.inside(i, loop)) all = all.unite(isl::union_set(i.domain));
    const auto two = carried(isl::manage(isl_union_map_from_domain_and_range(all.copy(), all.copy())), loop);
    const auto sizes = [](const isl::union_map& m) { return isl::manage(isl_union_map_params(m.copy())); };
    return !pairs.is_empty() && sizes(two).is_subset(sizes(pairs));
  }

  // True for an array into which a loop may add only by the user's claim that no two iterations add to one element.
  // Sums of 32-bit integers need no claim.
  static bool claimed_apart(const Loop& l, const Variable& v) {
    return !l.claim.empty() && l.counted && l.leaves_early == 0 && v.array() && !(v.integer && v.bytes == 4) &&
           std::find(l.claim_except.begin(), l.claim_except.end(), v.host) == l.claim_except.end();
  }

  // Drops the dependences on arrays of a loop that the user claims to be independent. Numbers must still be private or
  // reductions, because the threads would share them; so must variables of private and reduction clauses.
  void waive_claimed(const Loop& l, std::vector<std::pair<int, isl::union_map>>& open, Verdict& v) const {
    if (l.claim.empty() || !l.counted || l.leaves_early > 0 || v.dependences.empty()) return;
    for (const auto& [variable, pairs] : open) {
      const Variable& x = nest_.variables[variable];
      if (!x.array() || std::find(l.claim_except.begin(), l.claim_except.end(), x.host) != l.claim_except.end()) return;
      if (always_conflicts(variable, v.loop)) return;
    }
    v.claim = (v.claim.empty() ? l.claim + ": " : v.claim + "; ") + text_of(v.dependences.front());
    v.dependences.clear();
    open.clear();
  }

  // True if the loop also accesses the number outside its recurrence: every thread starts with a value of its own
  // there.
  bool used_otherwise(int variable, int loop) const {
    if (nest_.variables[variable].array()) return false;
    return std::any_of(r_.instances.begin(), r_.instances.end(), [&](const Instance& i) {
      return r_.inside(i, loop) && std::any_of(i.relations.begin(), i.relations.end(), [&](const Relation& r) {
               return r.access->variable == variable && !r.own;
             });
    });
  }

  // Adds the recurrences that may be reordered, because all their statements in the loop use the same operation.
  // Returns their variables, with the payload of an argmin or argmax.
  std::set<int> add_recurrences(int loop, const std::set<int>& reducible, Verdict& v) const {
    std::set<int> covered;
    std::map<int, Reduction> recurrences;
    std::set<int> mixed;
    std::map<int, int> kept_with;  // payload -> its extreme; a payload shared by two extremes would be a race
    for (const Instance& i : r_.instances) {
      const Reduction& r = i.node->reduction;
      if (!r_.inside(i, loop) || r.combine == Combine::none) continue;
      const auto [at, fresh] = recurrences.emplace(r.target, r);
      for (const int p : r.payload)
        if (!kept_with.emplace(p, r.target).second) mixed.insert(r.target), mixed.insert(kept_with.at(p));
      if (!fresh &&
          (at->second.combine != r.combine || !r.payload.empty() || at->second.by_comparison != r.by_comparison))
        mixed.insert(r.target);
    }
    for (const int variable : reducible) {
      const auto at = recurrences.find(variable);
      if (at != recurrences.end() && mixed.count(variable) == 0) {
        bool whole = true;
        for (const int p : at->second.payload) whole = whole && (reducible.count(p) > 0) && recurrences.count(p) == 0;
        if (whole) {
          if (nest_.variables[variable].array()) v.array_reductions.push_back(variable);
          v.reductions.push_back(variable);
          v.recurrences.push_back(at->second);
          covered.insert(at->second.payload.begin(), at->second.payload.end());
          covered.insert(variable);
        }
      }
    }
    return covered;
  }

  Verdict verdict(int loop, bool set_first) const {
    Verdict v;
    v.loop = loop;
    const Loop& l = nest_.loops[loop];
    std::vector<std::pair<int, isl::union_map>> open;
    std::set<int> reducible;
    for (const int variable : written_) {
      if (!shared(variable, loop)) continue;
      const Conflicts& conflict = conflicts(variable);
      const auto all = carried(conflict.all, loop, true);
      if (all.is_empty()) continue;
      const Variable& var = nest_.variables[variable];
      const bool room = !var.array() || (var.length >= 0 && var.length * var.bytes <= 4096);
      const bool expandable = var.storage == Storage::object && !var.parameter && !var.global;
      const bool said = l.counted && l.leaves_early == 0 &&
                        std::find(l.claim_private.begin(), l.claim_private.end(),
                                  var.part_of.empty() ? var.host : var.part_of) != l.claim_private.end();
      const bool proved = nest_.live_after.count(variable) == 0 && (room || expandable) && !exposed(variable, loop);
      if ((proved || (room && said)) && !escapes(variable, loop)) {
        if (!proved) v.claim = l.claim + ": every iteration sets " + var.host + " before it reads it";
        (room ? v.privates : v.expanded).push_back(variable);
        continue;
      }
      if (carried(conflict.others, loop, true).is_empty() && !used_otherwise(variable, loop) && !claimed_apart(l, var))
        reducible.insert(variable);
      else
        open.emplace_back(variable, carried(conflict.others, loop));
    }
    const std::set<int> covered = add_recurrences(loop, reducible, v);
    for (const int variable : reducible)
      if (covered.count(variable) == 0) open.emplace_back(variable, carried(conflicts(variable).all, loop));
    for (const auto& [variable, pairs] : open) {
      Dependence d = describe(pairs, variable, loop);
      if (d.variable < 0) d = describe(carried(conflicts(variable).all, loop), variable, loop);
      d.variable = variable;
      v.dependences.push_back(d);
    }
    waive_claimed(l, open, v);
    bool copies = !v.dependences.empty() && l.counted && l.leaves_early == 0;
    for (const auto& [variable, pairs] : open) {
      const Variable& var = nest_.variables[variable];
      copies = copies && var.array() && !var.local_memory && !writes_meet(variable, loop) &&
               reads_old_values(variable, loop, v);
    }
    if (copies)
      for (const auto& [variable, pairs] : open) v.copies.push_back(variable);
    else
      v.old_reads.clear();
    if (!copies && set_first) find_set_first(open, v);
    if (!r_.overrun.empty()) {
      v.why = r_.overrun;
    } else if (!l.counted) {
      v.why = (l.kind == "for" ? "" : l.kind + " loop: ") + l.why;
    } else if (l.leaves_early > 0) {
      v.why = "it may end early: break in line " + std::to_string(l.leaves_early);
    } else if (!v.dependences.empty()) {
      v.why = text_of(v.dependences.front());
      if (!l.claim.empty()) v.why += "; the claim (" + l.claim + ") is not believed";
    } else {
      v.parallel = true;
    }
    if (!v.parallel) v.claim.clear();
    return v;
  }
};

}  // namespace

const char* to_string(Kind kind) { return kind == Kind::flow ? "flow" : kind == Kind::anti ? "anti" : "output"; }

std::vector<Verdict> loop_verdicts(const Relations& relations) { return LoopVerdicts(relations).run(); }

}  // namespace ridge::place::analysis
