// Computes footprints and iteration counts with isl and prints them as C text.
#include "place/analysis/footprint.hpp"

#include <isl/aff.h>
#include <isl/ast_build.h>
#include <isl/flow.h>
#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <set>

namespace ridge::place::analysis {
namespace {

// Turns the iterators of the loops around the kernel into parameters.
isl::map lifted(const isl::map& map, const Relations& r, const Instance& i, int outer) {
  isl::map m = map;
  if (outer == 0) return m;
  const auto at = static_cast<unsigned>(isl_map_dim(m.get(), isl_dim_param));
  m = isl::manage(isl_map_move_dims(m.release(), isl_dim_param, at, isl_dim_in, 0, static_cast<unsigned>(outer)));
  for (int k = 0; k < outer; ++k)
    m = isl::manage(isl_map_set_dim_name(m.release(), isl_dim_param, at + static_cast<unsigned>(k),
                                         r.nest->loops[i.loops[k]].iterator.c_str()));
  return m;
}

isl::set lifted(const isl::set& set, const Relations& r, const Instance& i, int outer) {
  isl::set s = set;
  if (outer == 0) return s;
  const auto at = static_cast<unsigned>(isl_set_dim(s.get(), isl_dim_param));
  s = isl::manage(isl_set_move_dims(s.release(), isl_dim_param, at, isl_dim_set, 0, static_cast<unsigned>(outer)));
  for (int k = 0; k < outer; ++k)
    s = isl::manage(isl_set_set_dim_name(s.release(), isl_dim_param, at + static_cast<unsigned>(k),
                                         r.nest->loops[i.loops[k]].iterator.c_str()));
  return s;
}

std::string c_text(const Poly& p) {  // a stride as C text
  std::string text;
  for (const auto& [term, count] : p.terms()) {
    if (!text.empty()) text += " + ";
    text += std::to_string(count);
    for (const std::string& s : term) text += " * " + s;
  }
  return "(" + text + ")";
}

std::string expression(const isl::pw_aff& aff) { return isl::ast_build(aff.ctx()).expr_from(aff).to_C_str(); }

}  // namespace

std::string condition_text(const isl::set& holds) { return isl::ast_build(holds.ctx()).expr_from(holds).to_C_str(); }

std::vector<std::string> parameters_at(const Relations& relations, int loop) {
  std::vector<std::string> names = relations.nest->parameters;
  std::vector<std::string> around;
  for (int l = relations.nest->loops[loop].parent; l >= 0; l = relations.nest->loops[l].parent)
    around.insert(around.begin(), relations.nest->loops[l].iterator);
  names.insert(names.end(), around.begin(), around.end());
  return names;
}

std::vector<Footprint> footprints(const Relations& relations, int loop) {
  const Nest& nest = *relations.nest;
  const int outer = nest.loops[loop].depth;
  std::set<int> used;
  for (const Instance& i : relations.instances)
    if (relations.inside(i, loop))
      for (const Relation& x : i.relations)
        if (nest.variables[x.access->variable].array() && !nest.variables[x.access->variable].local_memory)
          used.insert(x.access->variable);
  std::vector<Footprint> result;
  for (const int variable : used) {
    const Variable& v = nest.variables[variable];
    Footprint f;
    f.variable = variable;
    isl::union_set touched = isl::union_set::empty(relations.context), surely = touched;
    isl::union_map reads = isl::union_map::empty(relations.context), writes = reads;
    bool any = false, bounded = true;
    for (const Instance& i : relations.instances) {
      if (!relations.inside(i, loop)) continue;
      for (const Relation& x : i.relations) {
        if (x.access->variable != variable) continue;
        const isl::map m = lifted(x.map, relations, i, outer);
        any = true;
        (x.write ? f.written : f.read) = true;
        f.certain = f.certain && i.exact && x.access->exact;
        bounded = bounded && x.access->exact;
        touched = touched.unite(isl::union_set(m.range()));
        if (x.must) surely = surely.unite(isl::union_set(m.range()));
        if (!x.write) reads = reads.unite(isl::union_map(x.map));
        if (x.must) writes = writes.unite(isl::union_map(x.map));
      }
    }
    if (!any) continue;
    f.enters = false;
    if (!reads.is_empty()) {
      const auto flow =
          isl::union_access_info(reads).set_must_source(writes).set_schedule_map(relations.schedule).compute_flow();
      f.enters = !flow.may_no_source().is_empty();
    }
    isl::set all = touched.is_empty() ? isl::set() : touched.as_set().coalesce();
    const auto dimensions = all.is_null() ? 0 : static_cast<unsigned>(isl_set_dim(all.get(), isl_dim_set));
    if (all.is_null()) {
      f.known = true;
      f.elements = "0";
      result.push_back(f);
      continue;
    }
    for (unsigned d = 0; d < dimensions; ++d)
      bounded = bounded && isl_set_dim_has_upper_bound(all.get(), isl_dim_set, d) == isl_bool_true &&
                isl_set_dim_has_lower_bound(all.get(), isl_dim_set, d) == isl_bool_true;
    if (!bounded) {
      f.why = "the extent of " + v.host + " is unknown";
      result.push_back(f);
      continue;
    }
    // The last element in memory order is the lexicographic maximum, because each element is indexed by the row that
    // stores it.
    isl::pw_multi_aff last = isl::manage(isl_set_lexmax_pw_multi_aff(all.copy()));
    if (isl_pw_multi_aff_n_piece(last.get()) > 12) {
      f.why = "the extent of " + v.host + " has more than 12 cases";
      result.push_back(f);
      continue;
    }
    const auto shape = relations.shapes.find(variable);
    const std::size_t rows = shape == relations.shapes.end() ? 0 : shape->second.strides.size();
    std::string text;
    for (unsigned d = 0; d < dimensions; ++d) {
      std::string stride = "1";
      if (d < rows) stride = c_text(shape->second.strides[d]);
      long inner = 1;
      for (std::size_t k = d < rows ? 0 : d - rows; k < v.inner.size(); ++k) inner *= v.inner[k];
      if (inner != 1) stride += " * " + std::to_string(inner);
      const std::string at =
          "(" + expression(isl::manage(isl_pw_multi_aff_get_pw_aff(last.get(), static_cast<int>(d)))) + ")";
      text += (text.empty() ? "" : " + ") + (stride == "1" ? at : at + " * " + stride);
    }
    const isl::set lowest = all.intersect(isl::manage(isl_set_universe(isl_set_get_space(all.get()))));
    // An element with a negative index would precede the address that is passed to the kernel.
    isl::set before = isl::manage(isl_set_upper_bound_si(lowest.copy(), isl_dim_set, 0, -1));
    if (!before.is_empty()) {
      f.why = v.host + " may be accessed before its first element";
      result.push_back(f);
      continue;
    }
    long rows_in_all = v.length;
    for (const long n : v.inner) rows_in_all /= n;
    f.within =
        v.length >= 0 && rows == 0 &&
        isl::manage(isl_set_lower_bound_si(all.copy(), isl_dim_set, 0, static_cast<int>(rows_in_all))).is_empty();
    const isl::set where = all.params().coalesce().gist(relations.known);
    f.elements = "(" + condition_text(where) + ") ? " + text + " + 1 : 0";
    f.known = true;
    if (!surely.is_empty()) {  // all elements up to the last one, within the rows
      isl::set hull = isl::manage(isl_set_apply(all.copy(), isl_map_lex_ge(isl_set_get_space(all.get()))));
      hull = isl::manage(isl_set_reset_tuple_id(hull.release()));
      isl::set box = isl::manage(isl_set_universe(isl_set_get_space(hull.get())));
      for (unsigned d = 0; d < dimensions; ++d)
        box = isl::manage(isl_set_lower_bound_si(box.release(), isl_dim_set, d, 0));
      bool plain = true;
      for (std::size_t k = 0; k < rows; ++k) plain = plain && shape->second.extents[k].affine();
      if (plain) {
        std::string names, limits = "true";
        for (unsigned d = 0; d < dimensions; ++d) names += (d > 0 ? ", x" : "x") + std::to_string(d) + "_";
        for (std::size_t k = 0; k < rows; ++k)
          limits += " and x" + std::to_string(k + 1) + "_ < " + shape->second.extents[k].text();
        for (std::size_t k = 0; k < v.inner.size(); ++k)
          limits += " and x" + std::to_string(rows + 1 + k) + "_ < " + std::to_string(v.inner[k]);
        std::string parameters;
        for (const std::string& p : parameters_at(relations, loop)) parameters += (parameters.empty() ? "" : ", ") + p;
        box =
            box.intersect(isl::set(relations.context, "[" + parameters + "] -> { [" + names + "] : " + limits + " }"));
        const isl::set written = isl::manage(isl_set_reset_tuple_id(surely.as_set().release()));
        f.covered = hull.intersect(box).intersect_params(all.params()).is_subset(written);
      }
    }
    result.push_back(f);
  }
  return result;
}

std::string iterations(const Relations& relations, int outer, int loop) {
  const Nest& nest = *relations.nest;
  const int first = nest.loops[outer].depth, depth = nest.loops[loop].depth;
  isl::union_set all = isl::union_set::empty(relations.context);
  for (const Instance& i : relations.instances) {
    if (!relations.inside(i, loop)) continue;
    isl::set d = lifted(i.domain, relations, i, first);
    const int rest = static_cast<int>(isl_set_dim(d.get(), isl_dim_set)) - (depth - first) - 1;
    d = isl::manage(isl_set_project_out(d.release(), isl_dim_set, static_cast<unsigned>(depth - first + 1),
                                        static_cast<unsigned>(rest)));
    d = isl::manage(isl_set_project_out(d.release(), isl_dim_set, 0, static_cast<unsigned>(depth - first)));
    d = isl::manage(isl_set_reset_tuple_id(d.release()));
    all = all.unite(isl::union_set(d));
  }
  if (all.is_empty()) return "0";
  const isl::set values = all.as_set().coalesce();
  if (isl_set_dim_has_upper_bound(values.get(), isl_dim_set, 0) != isl_bool_true ||
      isl_set_dim_has_lower_bound(values.get(), isl_dim_set, 0) != isl_bool_true)
    return "";
  const std::string low = expression(isl::manage(isl_set_dim_min(values.copy(), 0))),
                    high = expression(isl::manage(isl_set_dim_max(values.copy(), 0)));
  const long step = std::abs(nest.loops[loop].step);
  const std::string span = "(" + high + ") - (" + low + ")";
  return "(" + condition_text(values.params().coalesce().gist(relations.known)) + ") ? " +
         (step == 1 ? span : "(" + span + ") / " + std::to_string(step)) + " + 1 : 0";
}

}  // namespace ridge::place::analysis
