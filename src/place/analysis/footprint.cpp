// Computes footprints and iteration counts with isl and prints them as C text.
#include "place/analysis/footprint.hpp"

#include <isl/aff.h>
#include <isl/ast_build.h>
#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <optional>
#include <set>

#include "place/analysis/flow.hpp"

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

namespace {

// Computes the footprint of one array inside a loop. A step that returns false has completed the footprint.
class FootprintFinder {
 public:
  FootprintFinder(const Relations& relations, int loop, int variable, ExecutionOrder& order)
      : relations_(relations), loop_(loop), v_(relations.nest->variables[variable]), order_(order) {
    f_.variable = variable;
    if (const auto shape = relations.shapes.find(variable); shape != relations.shapes.end()) shape_ = &shape->second;
    rows_ = shape_ == nullptr ? 0 : shape_->strides.size();
  }

  std::optional<Footprint> find() {
    if (!collect_accesses()) return {};
    find_flow();
    if (find_extent()) find_coverage();
    return f_;
  }

 private:
  bool collect_accesses() {
    const int outer = relations_.nest->loops[loop_].depth;
    bool any = false;
    for (const Instance& i : relations_.instances) {
      if (!relations_.inside(i, loop_)) continue;
      for (const Relation& x : i.relations) {
        if (x.access->variable != f_.variable) continue;
        const isl::map m = lifted(x.map, relations_, i, outer);
        any = true;
        (x.write ? f_.written : f_.read) = true;
        f_.certain = f_.certain && i.exact && x.access->exact;
        bounded_ = bounded_ && x.access->exact;
        touched_ = touched_.unite(isl::union_set(m.range()));
        if (x.must) surely_ = surely_.unite(isl::union_set(m.range()));
        if (x.must) sources_.emplace_back(&i, &x);
        if (!x.write) reading_.emplace_back(&i, &x);
      }
    }
    return any;
  }

  // Does the loop read elements that it has not written?
  void find_flow() {
    // A value from an earlier launch of the kernel, in another iteration of a loop around it, enters as well.
    const int outer = relations_.nest->loops[loop_].depth;
    std::vector<isl::map> reads, writes;
    for (const auto& [i, x] : sources_) writes.push_back(x->map);
    for (const auto& read : reading_)
      if (std::none_of(sources_.begin(), sources_.end(), [&](const auto& write) {
            return set_before(*write.first, write.second->map, *read.first, read.second->map);
          }))
        reads.push_back(read.second->map);
    f_.enters = !written_before(reads, writes, outer, order_);
  }

  bool unknown(const std::string& why) {
    f_.why = why;
    return false;
  }

  // The number of elements up to the last one.
  bool find_extent() {
    if (touched_.is_empty()) {
      f_.known = true;
      f_.elements = "0";
      return false;
    }
    all_ = touched_.as_set().coalesce();
    dimensions_ = static_cast<unsigned>(isl_set_dim(all_.get(), isl_dim_set));
    for (unsigned d = 0; d < dimensions_; ++d)
      bounded_ = bounded_ && isl_set_dim_has_upper_bound(all_.get(), isl_dim_set, d) == isl_bool_true &&
                 isl_set_dim_has_lower_bound(all_.get(), isl_dim_set, d) == isl_bool_true;
    if (!bounded_) return unknown("the extent of " + v_.host + " is unknown");
    // The last element in memory order is the lexicographic maximum, because each element is indexed by the row that
    // stores it.
    const isl::pw_multi_aff last = isl::manage(isl_set_lexmax_pw_multi_aff(all_.copy()));
    if (isl_pw_multi_aff_n_piece(last.get()) > 12)
      return unknown("the extent of " + v_.host + " has more than 12 cases");
    const std::string text = position(last);
    const isl::set lowest = all_.intersect(isl::manage(isl_set_universe(isl_set_get_space(all_.get()))));
    // An element with a negative index would precede the address that is passed to the kernel.
    const isl::set before = isl::manage(isl_set_upper_bound_si(lowest.copy(), isl_dim_set, 0, -1));
    if (!before.is_empty() && !find_first(before)) return false;
    long rows_in_all = v_.length;
    for (const long n : v_.inner) rows_in_all /= n;
    f_.within =
        v_.length >= 0 && rows_ == 0 &&
        isl::manage(isl_set_lower_bound_si(all_.copy(), isl_dim_set, 0, static_cast<int>(rows_in_all))).is_empty();
    const isl::set where = all_.params().coalesce().gist(relations_.known);
    f_.elements = "(" + condition_text(where) + ") ? " + (v_.mixed ? whole_structs(text) : text + " + 1") + " : 0";
    if (relations_.strip) {
      const isl::pw_multi_aff first = isl::manage(isl_set_lexmin_pw_multi_aff(all_.copy()));
      if (isl_pw_multi_aff_n_piece(first.get()) > 12)
        return unknown("the extent of " + v_.host + " has more than 12 cases");
      f_.begins = "(" + condition_text(where) + ") ? " + position(first) + " : 0";
    }
    if (!f_.first.empty()) f_.first = "(" + condition_text(where) + ") ? " + f_.first + " : 0";
    if (v_.table() && f_.certain && dimensions_ == 2)
      for (const int d : {0, 1}) {
        f_.rows.push_back(when_any(where, isl::manage(isl_set_dim_min(all_.copy(), d)), "0"));
        f_.rows.push_back(when_any(where, isl::manage(isl_set_dim_max(all_.copy(), d)), "-1"));
      }
    f_.known = true;
    return true;
  }

  // The end of the struct that holds the last element: a field may be longer than an element.
  std::string whole_structs(const std::string& last) const {
    const std::string size = std::to_string(v_.inner.back());
    return "((" + last + ") / " + size + " + 1) * " + size;
  }

  static std::string when_any(const isl::set& where, const isl::pw_aff& value, const std::string& otherwise) {
    return "(" + condition_text(where) + ") ? (" + expression(value) + ") : " + otherwise;
  }

  bool find_first(const isl::set& before) {
    const isl::set holds = before.params().complement().coalesce();
    const isl::pw_multi_aff first = isl::manage(isl_set_lexmin_pw_multi_aff(all_.copy()));
    if (isl_pw_multi_aff_n_piece(first.get()) > 12 || isl_set_n_basic_set(holds.get()) > 8)
      return unknown(v_.host + " may be accessed before its first element");
    f_.first = position(first);
    f_.always_before = holds.intersect(relations_.known).intersect(all_.params()).is_empty();
    f_.starts_inside = condition_text(holds.gist(relations_.known).coalesce());
    return true;
  }

  // C text of an element's position in the array.
  std::string position(const isl::pw_multi_aff& element) const {
    std::string text;
    for (unsigned d = 0; d < dimensions_; ++d) {
      std::string stride = "1";
      if (d < rows_) stride = c_text(shape_->strides[d]);
      long inner = 1;
      for (std::size_t k = d < rows_ ? 0 : d - rows_; k < v_.inner.size(); ++k) inner *= v_.inner[k];
      if (inner != 1) stride += " * " + std::to_string(inner);
      const std::string at =
          "(" + expression(isl::manage(isl_pw_multi_aff_get_pw_aff(element.get(), static_cast<int>(d)))) + ")";
      text += (text.empty() ? "" : " + ") + (stride == "1" ? at : at + " * " + stride);
    }
    return text;
  }

  // Are all elements up to the last one, within the rows, written for certain?
  void find_coverage() {
    if (surely_.is_empty()) return;
    isl::set hull = isl::manage(isl_set_apply(all_.copy(), isl_map_lex_ge(isl_set_get_space(all_.get()))));
    hull = isl::manage(isl_set_reset_tuple_id(hull.release()));
    isl::set box = isl::manage(isl_set_universe(isl_set_get_space(hull.get())));
    for (unsigned d = 0; d < dimensions_; ++d)
      box = isl::manage(isl_set_lower_bound_si(box.release(), isl_dim_set, d, 0));
    for (std::size_t k = 0; k < rows_; ++k)
      if (!shape_->extents[k].affine()) return;
    box = box.intersect(within_rows());
    const isl::set written = isl::manage(isl_set_reset_tuple_id(surely_.as_set().release()));
    f_.covered = hull.intersect(box).intersect_params(all_.params()).is_subset(written);
  }

  isl::set within_rows() const {
    std::string names, limits = "true";
    for (unsigned d = 0; d < dimensions_; ++d) names += (d > 0 ? ", x" : "x") + std::to_string(d) + "_";
    for (std::size_t k = 0; k < rows_; ++k)
      limits += " and x" + std::to_string(k + 1) + "_ < " + shape_->extents[k].text();
    for (std::size_t k = 0; k < v_.inner.size(); ++k)
      limits += " and x" + std::to_string(rows_ + 1 + k) + "_ < " + std::to_string(v_.inner[k]);
    std::string parameters;
    for (const std::string& p : parameters_at(relations_, loop_)) parameters += (parameters.empty() ? "" : ", ") + p;
    return isl::set(relations_.context, "[" + parameters + "] -> { [" + names + "] : " + limits + " }");
  }

  const Relations& relations_;
  int loop_;
  const Variable& v_;
  ExecutionOrder& order_;
  const Shape* shape_ = nullptr;
  std::size_t rows_ = 0;  // dimensions with a stride of their own
  Footprint f_{};
  bool bounded_ = true;
  isl::union_set touched_ = isl::union_set::empty(relations_.context), surely_ = touched_;
  std::vector<std::pair<const Instance*, const Relation*>> sources_{}, reading_{};  // certain writes; reads
  isl::set all_{};                                                                  // elements accessed
  unsigned dimensions_ = 0;
};

}  // namespace

std::vector<Footprint> footprints(const Relations& relations, int loop) {
  const Nest& nest = *relations.nest;
  std::set<int> used;
  for (const Instance& i : relations.instances)
    if (relations.inside(i, loop))
      for (const Relation& x : i.relations)
        if (nest.variables[x.access->variable].array() && !nest.variables[x.access->variable].local_memory)
          used.insert(x.access->variable);
  std::vector<Footprint> result;
  ExecutionOrder order(relations.schedule);
  for (const int variable : used)
    if (const auto found = FootprintFinder(relations, loop, variable, order).find()) result.push_back(*found);
  return result;
}

Relations strip_of(const Relations& relations, int loop) {
  Relations strip = relations;
  strip.strip = true;
  for (Instance& i : strip.instances) {
    if (!relations.inside(i, loop)) continue;
    std::string names;
    for (std::size_t k = 0; k < i.loops.size(); ++k) names += (k > 0 ? ", i" : "i") + std::to_string(k);
    const std::string at = "i" + std::to_string(relations.nest->loops[loop].depth);
    const isl::set part(relations.context, std::string("[") + kStripFrom + ", " + kStripTo + "] -> { " + i.name + "[" +
                                               names + "] : " + kStripFrom + " <= " + at + " <= " + kStripTo + " }");
    i.domain = i.domain.intersect(part);
    for (Relation& r : i.relations) r.map = r.map.intersect_domain(part);
  }
  return strip;
}

namespace {

// Iterators of a loop, over the loops between `outer` and it.
isl::set iterators_of(const Relations& relations, int outer, int loop) {
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
  return all.is_empty() ? isl::set() : all.as_set().coalesce();
}

bool bounded(const isl::set& values) {
  return isl_set_dim_has_upper_bound(values.get(), isl_dim_set, 0) == isl_bool_true &&
         isl_set_dim_has_lower_bound(values.get(), isl_dim_set, 0) == isl_bool_true;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> iterator_range(const Relations& relations, int loop) {
  const isl::set values = iterators_of(relations, loop, loop);
  if (values.is_null() || !bounded(values)) return {};
  const std::string when = "(" + condition_text(values.params().coalesce().gist(relations.known)) + ") ? ";
  return std::pair{when + "(" + expression(isl::manage(isl_set_dim_min(values.copy(), 0))) + ") : 0",
                   when + "(" + expression(isl::manage(isl_set_dim_max(values.copy(), 0))) + ") : -1"};
}

std::string iterations(const Relations& relations, int outer, int loop) {
  const isl::set values = iterators_of(relations, outer, loop);
  if (values.is_null()) return "0";
  if (!bounded(values)) return "";
  const std::string low = expression(isl::manage(isl_set_dim_min(values.copy(), 0))),
                    high = expression(isl::manage(isl_set_dim_max(values.copy(), 0)));
  const long step = std::abs(relations.nest->loops[loop].step);
  const std::string span = "(" + high + ") - (" + low + ")";
  return "(" + condition_text(values.params().coalesce().gist(relations.known)) + ") ? " +
         (step == 1 ? span : "(" + span + ") / " + std::to_string(step)) + " + 1 : 0";
}

}  // namespace ridge::place::analysis
