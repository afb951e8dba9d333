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

#include "place/analysis/flow.hpp"

namespace ridge::place::analysis {
namespace {

class LoopVerdicts {
 public:
  explicit LoopVerdicts(const Relations& relations)
      : r_(relations), nest_(*relations.nest), order_(relations.schedule) {}

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
  mutable ExecutionOrder order_;
  std::set<int> written_{};                                 // variables
  mutable std::map<int, std::vector<Meeting>> meetings_{};  // by variable
  mutable std::map<std::pair<int, int>, bool> exposed_{};   // by variable and loop

  isl::union_map pick(int variable, const std::function<bool(const Instance&, const Relation&)>& want) const {
    isl::union_map all = isl::union_map::empty(r_.context);
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations)
        if (r.access->variable == variable && want(i, r)) all = all.unite(isl::union_map(r.map));
    return all;
  }

  std::vector<Meeting>& meetings_of(int variable) const {
    const auto [at, fresh] = meetings_.try_emplace(variable);
    if (fresh) at->second = meetings(r_, variable);
    return at->second;
  }

  // True if different iterations of the loop use the same element; `others`: not both in accesses of a reduction.
  bool conflicts(int variable, int loop, bool others) const {
    std::vector<Meeting>& all = meetings_of(variable);
    return std::any_of(all.begin(), all.end(), [&](Meeting& m) { return !(others && m.own()) && m.carried(r_, loop); });
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

  // Pairs in different iterations of the loop and in the same iteration of all loops around it.
  isl::union_map carried(const isl::union_map& pairs, int loop) const {
    const int depth = nest_.loops[loop].depth;
    isl::union_map result = isl::union_map::empty(r_.context);
    pairs.foreach_map([&](isl::map m) {
      const auto name = [&](isl_dim_type side) { return std::string(isl_map_get_tuple_name(m.get(), side)); };
      if (!r_.inside(r_.instance(name(isl_dim_in)), loop) || !r_.inside(r_.instance(name(isl_dim_out)), loop)) return;
      for (int d = 0; d < depth; ++d) m = isl::manage(isl_map_equate(m.release(), isl_dim_in, d, isl_dim_out, d));
      const isl::map first = isl::manage(isl_map_order_lt(m.copy(), isl_dim_in, depth, isl_dim_out, depth));
      m = first.unite(isl::manage(isl_map_order_gt(m.release(), isl_dim_in, depth, isl_dim_out, depth)));
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
    std::vector<isl::map> reads, writes;
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
        (r.write ? writes : reads).push_back(r.map);
      }
    }
    return !written_before(reads, writes, depth + 1, order_);
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
    std::vector<Meeting>& all = meetings_of(variable);
    std::vector<isl::union_map> others;
    for (const Instance& i : r_.instances)
      for (const Relation& r : i.relations) {
        if (r.access->variable != variable || r.write) continue;
        isl::union_map pairs = isl::union_map::empty(r_.context);
        bool meets = false;
        for (Meeting& m : all)
          if (m.b == &r) {
            pairs = pairs.unite(isl::union_map(m.pairs.reverse()));
            meets = meets || m.carried(r_, loop);
          }
        if (!meets) {
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
  void find_set_first(const std::vector<int>& open, Verdict& v) const {
    v.last_sets_all = !open.empty() && nest_.loops[v.loop].depth == 0;
    for (const int variable : open) {
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
    std::vector<Meeting>& all = meetings_of(variable);
    return std::any_of(all.begin(), all.end(), [&](Meeting& m) { return m.b->write && m.carried(r_, loop); });
  }

  // A dependence that the loop carries: a flow dependence if there is one, and not within a reduction.
  Dependence describe(int variable, int loop) const {
    Dependence best;
    int rank = 9;
    for (Meeting& m : meetings_of(variable))
      for (const bool reversed : {false, true}) {
        const Kind kind = m.b->write ? Kind::output : reversed ? Kind::anti : Kind::flow;
        const int order = (kind == Kind::flow ? 0 : kind == Kind::anti ? 1 : 2) + (m.own() ? 3 : 0);
        if (order >= rank || m.carried(r_, loop, reversed).is_empty()) continue;
        rank = order;
        const Relation &a = reversed ? *m.b : *m.a, &b = reversed ? *m.a : *m.b;
        best.kind = kind;
        best.variable = variable;
        best.from_line = a.access->line;
        best.to_line = b.access->line;
        best.from = a.access->source;
        best.to = b.access->source;
        best.certain = m.first->exact && m.second->exact && a.access->exact && b.access->exact;
        best.example = example(m, variable, loop, reversed);
      }
    return best;
  }

  // "i = 1 writes a[i], i = 2 reads it"
  std::string example(Meeting& m, int variable, int loop, bool reversed) const {
    const auto depth = static_cast<unsigned>(nest_.loops[loop].depth),
               second = static_cast<unsigned>(m.first->loops.size()) + depth;
    isl_point* point = isl_set_sample_point(isl_map_wrap(m.carried(r_, loop, reversed).copy()));
    const auto value = [&](unsigned at) {
      isl_val* v = isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(at));
      char* s = isl_val_to_str(v);
      std::string result = s != nullptr ? s : "?";
      free(s);
      isl_val_free(v);
      return result;
    };
    const Relation &a = reversed ? *m.b : *m.a, &b = reversed ? *m.a : *m.b;
    const std::string i = nest_.loops[loop].iterator, from = a.access->source;
    const std::string text = i + " = " + value(reversed ? second : depth) + (a.write ? " writes " : " reads ") +
                             (from.empty() ? nest_.variables[variable].host : from) + ", " + i + " = " +
                             value(reversed ? depth : second) + (b.write ? " writes it" : " reads it");
    isl_point_free(point);
    return text;
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
  void waive_claimed(const Loop& l, std::vector<int>& open, Verdict& v) const {
    if (l.claim.empty() || !l.counted || l.leaves_early > 0 || v.dependences.empty()) return;
    for (const int variable : open) {
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
    std::vector<int> open;
    std::set<int> reducible;
    for (const int variable : written_) {
      if (!shared(variable, loop)) continue;
      if (!conflicts(variable, loop, false)) continue;
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
      if (!conflicts(variable, loop, true) && !used_otherwise(variable, loop) && !claimed_apart(l, var))
        reducible.insert(variable);
      else
        open.push_back(variable);
    }
    const std::set<int> covered = add_recurrences(loop, reducible, v);
    for (const int variable : reducible)
      if (covered.count(variable) == 0) open.push_back(variable);
    for (const int variable : open) {
      v.dependences.push_back(describe(variable, loop));
      v.dependences.back().variable = variable;
    }
    waive_claimed(l, open, v);
    bool copies = !v.dependences.empty() && l.counted && l.leaves_early == 0;
    for (const int variable : open) {
      const Variable& var = nest_.variables[variable];
      copies = copies && var.array() && !var.local_memory && !writes_meet(variable, loop) &&
               reads_old_values(variable, loop, v);
    }
    if (copies)
      for (const int variable : open) v.copies.push_back(variable);
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
