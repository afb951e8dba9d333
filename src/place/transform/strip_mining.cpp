// Strip mining: runs a loop as a sequence of strips, each of which is parallel. Trigger: the loop is sequential, and
// two iterations that access the same element are far apart, as in a[i] = a[i - 1000]. The order is unchanged; that a
// strip is parallel is proved on the new text. Strips shorter than kShortest are not tried.
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/val.h>

#include <algorithm>
#include <optional>

#include "place/text/node_text.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

constexpr long kShortest = 256;

// Smallest distance between two iterations that access the same element, one of them writing; 0: unknown.
long least_distance(const State& state, int loop) {
  const analysis::Relations& r = state.relations;
  const auto& own = state.verdicts[loop].privates;
  isl::union_map pairs = isl::union_map::empty(r.context);
  for (std::size_t v = 0; v < state.nest.variables.size(); ++v) {
    if (std::find(own.begin(), own.end(), static_cast<int>(v)) != own.end()) continue;
    const isl::union_map reads = r.accesses(static_cast<int>(v), false), writes = r.accesses(static_cast<int>(v), true);
    if (!writes.is_empty()) pairs = pairs.unite(writes.apply_range(reads.unite(writes).reverse()));
  }
  long least = 0;
  bool known = true;
  pairs.foreach_map([&](isl::map m) {
    for (const isl_dim_type side : {isl_dim_in, isl_dim_out}) {
      const auto dims = static_cast<unsigned>(isl_map_dim(m.get(), side));
      if (dims == 0) return;
      m = isl::manage(isl_map_project_out(m.release(), side, 1, dims - 1));
      m = isl::manage(isl_map_reset_tuple_id(m.release(), side));
    }
    const isl::set far = isl::manage(isl_set_lower_bound_si(isl_map_deltas(m.release()), isl_dim_set, 0, 1));
    if (far.is_empty()) return;
    const isl::val value = isl::manage(isl_set_dim_min_val(far.copy(), 0));
    known = known && value.is_int();
    if (!known) return;
    const long distance = isl_val_get_num_si(value.get());
    least = least == 0 ? distance : std::min(least, distance);
  });
  return known ? least : 0;
}

// The single parameter w by which all accesses of an array differ, as in a[i] and a[i - w]; empty if there is none.
std::optional<Poly> parameter_distance(const State& state, const Loop& l) {
  std::vector<const Access*> accesses;
  const Nest& nest = state.nest;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (nest.variables[a.variable].array() && !nest.variables[a.variable].local_memory) accesses.push_back(&a);
  });
  std::optional<Poly> found;
  for (const Access* w : accesses)
    for (const Access* r : accesses) {
      if (!w->write || w->variable != r->variable) continue;
      for (const Access* a : {w, r}) {
        if (!a->exact || a->subscripts.size() != 1 || !a->subscripts[0].affine() || !a->exists.empty()) return {};
        const auto factor = a->subscripts[0].terms().find({l.iterator});
        if (factor == a->subscripts[0].terms().end() || factor->second != 1) return {};
      }
      Poly far = w->subscripts[0].plus(r->subscripts[0], -1);
      if (far.terms().empty()) continue;
      if (far.terms().size() != 1 || far.terms().begin()->first.size() != 1) return {};
      if (far.terms().begin()->second < 0) far = Poly::constant(0).plus(far, -1);
      if (far.terms().begin()->second != 1 || (found && !(*found == far))) return {};
      found = far;
    }
  return found;
}

}  // namespace

std::vector<Proposal> strip_mining(const State& state) {
  std::vector<Proposal> all;
  const Nest& nest = state.nest;
  const int loop = 0;
  if (!plain(nest, loop) || state.verdicts[loop].parallel) return all;
  const Loop& l = nest.loops[loop];
  const auto limits = loop_bounds(nest, loop);
  if (!limits || !header_is_invariant(nest, *find(nest.root, loop))) return all;
  std::string length, test;
  if (const auto parameter = parameter_distance(state, l)) {
    const auto said = host_text(*parameter, nest);
    if (!said) return all;
    length = *said;
    test = length + " >= " + std::to_string(kShortest) + " && " + length + " <= 1073741823 && ";
  } else if (const long distance = least_distance(state, loop); distance >= kShortest && distance < (1L << 30)) {
    length = std::to_string(distance);
  } else {
    return all;
  }
  const std::string i = l.host_iterator, strip = fresh(state, i + "_strip"), &low = limits->low_text,
                    &high = limits->high_text;
  // With a parameter as step the analysis cannot infer strip >= low, so the start states it.
  const std::string from = test.empty() ? strip : "(" + strip + " > " + low + " ? " + strip + " : " + low + ")";
  const std::string body = state.text.substr(l.body.begin, l.span.end - l.body.begin);
  Proposal made;
  made.what = l.id + " in strips of " + length + " iterations";
  made.edits = {{l.span.begin, l.span.end,
                 "for (int " + strip + " = " + low + "; " + strip + " <= " + high + "; " + strip + " += " + length +
                     ") {\nfor (int " + i + " = " + from + "; " + i + " <= " + high + " && " + i + " < " + strip +
                     " + " + length + "; ++" + i + ") " + body + "\n}"}};
  made.loops = loops_in_order(nest, nest.root);
  made.loops.insert(made.loops.begin(), l.id);
  made.test = test + high + " <= 1073741823";  // the end of a strip fits an int
  all.push_back(made);
  return all;
}

}  // namespace ridge::place::transform
