// Builds the isl relations of a nest and the assumptions under which its subscripts are valid.
#include "place/analysis/relations.hpp"

#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include "place/analysis/delinearize.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::analysis {
namespace {

using text::joined;

// Flattens the tree of a nest into statement instances with their domains, orders and accesses.
class Builder {
 public:
  Builder(isl::ctx context, const Nest& nest, Parsed& parsed) : nest_(nest), parsed_(parsed) {
    out_.context = context;
    out_.nest = &nest;
    prefix_ = "[" + joined(nest.parameters) + "] -> ";
    const std::string known = prefix_ + "{ : " + conjunction_text(nest.context) + " }";
    out_.known = isl::set(context, known);
    key_ = known + "\n";
  }

  Relations build() {
    shapes_ = choose_shapes(nest_);
    text::visit_accesses(nest_.root, [&](const Access& a) {
      if (!a.exact && nest_.variables[a.variable].member) unbounded_.insert(a.variable);
    });
    walk(nest_.root, {}, {}, true, {});
    std::size_t longest = 0;
    for (const Instance& i : out_.instances) longest = std::max(longest, i.order.size());
    out_.schedule = isl::union_map::empty(out_.context);
    for (const Instance& i : out_.instances) {
      auto order = i.order;
      order.resize(longest, "0");
      const std::string text = prefix_ + "{ " + tuple(i.loops) + " -> [" + joined(order) + "] }";
      out_.schedule =
          out_.schedule.unite(isl::union_map(named(isl::map(out_.context, text), i.name).intersect_domain(i.domain)));
    }
    for (std::size_t i = 0; i < nest_.assumptions.size(); ++i) {
      std::string any;
      for (const Conjunction& c : nest_.assumptions[i]) any += (any.empty() ? "" : " or ") + conjunction_text(c);
      assume(isl::set(out_.context, prefix_ + "{ : " + any + " }"), nest_.assumption_texts[i]);
    }
    for (const auto& [variable, shape] : shapes_)
      if (!shape.strides.empty()) out_.shapes[variable] = shape;
    return std::move(out_);
  }

 private:
  const Nest& nest_;
  Relations out_{isl::ctx(nullptr)};
  Parsed& parsed_;
  std::string prefix_{};
  std::string key_{};  // of Parsed: the possible parameter values, and for `here_` also its loops and conditions
  isl::set here_{};    // domain of the current instance, named S
  std::map<int, Shape> shapes_{};
  std::set<int> unbounded_{};  // arrays inside structs with an inexact access: their footprint is not known
  std::vector<std::string> position_{"0"};  // alternates textual positions and iterators
  int count_ = 0, branches_ = 0;

  std::string tuple(const std::vector<int>& loops) const {
    std::vector<std::string> dims;
    for (const int l : loops) dims.push_back(nest_.loops[l].iterator);
    return "S[" + joined(dims) + "]";
  }

  static isl::map named(const isl::map& m, const std::string& instance) {
    return isl::manage(isl_map_set_tuple_name(m.copy(), isl_dim_in, instance.c_str()));
  }

  // The relation of the current instance with this text, from the instance to elements of the variable.
  isl::map relation_to(int variable, const std::string& instance, const std::string& text) {
    auto at = parsed_.maps.find(key_ + text);
    if (at == parsed_.maps.end())
      at = parsed_.maps.emplace(key_ + text, isl::map(out_.context, text).intersect_domain(here_)).first;
    const std::string to = "V" + std::to_string(variable);
    return isl::manage(isl_map_set_tuple_name(named(at->second, instance).release(), isl_dim_out, to.c_str()));
  }

  void assume(const isl::set& holds, const std::string& why) {
    for (const Assumption& a : out_.assumptions)
      if (a.holds.is_equal(holds)) return;
    out_.assumptions.push_back({holds, why});
  }

  void next() { position_.back() = std::to_string(std::stol(position_.back()) + 1); }

  void add(const Node& node, const std::vector<Access>& accesses, const std::vector<int>& loops,
           const std::vector<Condition>& conditions, bool exact, const std::vector<Instance::Guard>& guards) {
    Instance i;
    i.name = "S" + std::to_string(count_++);
    i.node = &node;
    i.loops = loops;
    i.bounded = exact;
    i.guards = guards;
    for (const int jump : node.guards) i.guards.push_back({-1 - jump, nest_.jumps[jump].depth});
    i.exact = exact && i.guards.empty();
    std::string where = "true";
    for (const int l : loops)
      if (!nest_.loops[l].bounds.empty()) where += " and " + conjunction_text(nest_.loops[l].bounds);
    for (const Condition& c : conditions) {
      std::string any;
      for (const Conjunction& all : c) any += (any.empty() ? "(" : " or (") + conjunction_text(all) + ")";
      where += " and (" + (any.empty() ? "false" : any) + ")";
    }
    const std::string outside = key_, text = prefix_ + "{ " + tuple(loops) + " : " + where + " }";
    key_ += text + "\n";
    auto at = parsed_.sets.find(key_);
    if (at == parsed_.sets.end())
      at = parsed_.sets.emplace(key_, isl::set(out_.context, text).intersect_params(out_.known)).first;
    here_ = at->second;
    i.domain = isl::manage(isl_set_set_tuple_name(here_.copy(), i.name.c_str()));
    i.order = position_;
    for (const Access& a : accesses) i.relations.push_back(relation(i, a));
    key_ = outside;
    out_.instances.push_back(std::move(i));
    next();
  }

  void walk(const Node& node, std::vector<int> loops, std::vector<Condition> conditions, bool exact,
            const std::vector<Instance::Guard>& guards) {
    switch (node.kind) {
      case NodeKind::statement:
        add(node, node.accesses, loops, conditions, exact, guards);
        return;
      case NodeKind::block:
        for (const Node& child : node.children) walk(child, loops, conditions, exact, guards);
        return;
      case NodeKind::branch:
        add(node, node.accesses, loops, conditions, exact, guards);
        ++branches_;
        for (std::size_t arm = 0, branch = 2 * static_cast<std::size_t>(branches_); arm < node.children.size(); ++arm) {
          const auto& when = arm == 0 ? node.when : node.otherwise;
          auto inner = conditions;
          if (when) inner.push_back(*when);
          auto deciding = guards;
          if (!when) deciding.push_back({static_cast<int>(branch + arm), static_cast<int>(loops.size())});
          walk(node.children[arm], loops, inner, exact, deciding);
        }
        return;
      case NodeKind::loop: {
        const Loop& loop = nest_.loops[node.loop];
        loops.push_back(node.loop);
        position_.push_back(loop.step < 0 ? "-" + loop.iterator : loop.iterator);
        position_.push_back("0");
        // The loop's condition is evaluated in each iteration.
        add(node, node.accesses, loops, conditions, exact && loop.exact, guards);
        walk(node.children[0], loops, conditions, exact && loop.counted && loop.exact && loop.leaves_early == 0,
             guards);
        position_.pop_back();
        position_.pop_back();
        next();
        return;
      }
    }
  }

  isl::map anywhere(const Instance& i, const Access& a, std::size_t lead, std::size_t dimensions) {
    std::vector<std::string> names;
    const Variable& v = nest_.variables[a.variable];
    for (std::size_t k = 0; k < lead; ++k) names.push_back(nest_.loops[v.loops[k]].iterator);
    for (std::size_t k = 0; k < dimensions; ++k) names.push_back("x" + std::to_string(k) + "_");
    return relation_to(a.variable, i.name, prefix_ + "{ " + tuple(i.loops) + " -> V[" + joined(names) + "] }");
  }

  // y * w + (w - 1 - x) was split into row y + 1, column -1 - x. A column that is always negative belongs to the row
  // before: add the row length.
  void borrow_rows(const Access& a, const std::string& head, const Shape& shape, std::vector<Poly>& indices) {
    for (std::size_t k = 0; k < shape.extents.size(); ++k) {
      const auto& terms = indices[k + 1].terms();
      const bool falls = std::any_of(terms.begin(), terms.end(), [](const auto& t) { return t.second < 0; });
      if (!falls || !shape.extents[k].affine()) continue;
      const Constraint within{indices[k + 1]};
      if (!isl::set(out_.context, head + " and " + within.text() + " }").intersect(here_).is_empty()) continue;
      indices[k] = indices[k].plus(Poly::constant(1), -1);
      indices[k + 1] = indices[k + 1].plus(shape.extents[k]);
      out_.mirrored.insert(a.variable);
    }
  }

  // Equations between the names of an element's indices and the subscripts; none if a coefficient overflows.
  static std::optional<std::string> equalities(const Variable& v, const std::vector<std::string>& names,
                                               const std::vector<Poly>& indices, bool wraps) {
    std::string equal;
    if (wraps) {  // row and column of the element at this linear offset
      Poly flat = indices[0];
      std::string place = names[0];
      for (std::size_t k = 0; k < v.inner.size(); ++k) {
        flat = Poly().plus(flat, v.inner[k]).plus(indices[k + 1]);
        place = "(" + place + ") * " + std::to_string(v.inner[k]) + " + " + names[k + 1];
        equal += " and 0 <= " + names[k + 1] + " < " + std::to_string(v.inner[k]);
      }
      if (!flat.fits()) return {};
      equal += " and " + place + " = " + flat.text();
    } else {
      for (std::size_t k = 0; k < indices.size(); ++k) equal += " and " + names[k] + " = " + indices[k].text();
    }
    return equal;
  }

  Relation relation(const Instance& i, const Access& a) {
    const Variable& v = nest_.variables[a.variable];
    Relation r;
    r.access = &a;
    r.write = a.write;
    r.own = a.own;
    r.must = a.must && a.write && i.exact && a.exact && a.exists.empty();
    const std::size_t lead = v.loops.size();
    const Shape& shape = shapes_[a.variable];
    const std::size_t dimensions = v.array() ? 1 + shape.strides.size() + v.inner.size() : 0;
    const auto give_up = [&](const std::string& why) {
      r.must = false;
      r.map = anywhere(i, a, lead, dimensions);
      if (!why.empty() && v.array()) out_.notes.push_back("line " + std::to_string(a.line) + ": " + why);
      return r;
    };
    if (!a.exact) {
      keep_inside(i, a);
      return give_up(a.why);
    }
    std::vector<Poly> indices = a.subscripts;
    if (v.array()) {
      const auto parts = take_apart(a.subscripts[0], shape);
      if (!parts) return give_up("subscript " + a.source + " has no affine form: any element is assumed");
      indices = *parts;
      indices.insert(indices.end(), a.subscripts.begin() + 1, a.subscripts.end());
    }
    for (const Poly& p : indices)
      if (!p.affine()) return give_up("subscript " + a.source + " is not affine: any element is assumed");
    Conjunction where;
    for (const Constraint& c : a.where)
      if (c.poly.affine()) where.push_back(c);
    const std::string exists = a.exists.empty() ? "" : "exists " + joined(a.exists) + " : ";
    const std::string head = prefix_ + "{ " + tuple(i.loops) + " : " + exists + conjunction_text(where);
    borrow_rows(a, head, shape, indices);
    const bool wraps = leaves_rows(a, head, shape, indices);
    if (wraps && !shape.strides.empty())
      return give_up("subscript " + a.source + " may leave its row: any element is assumed");
    std::vector<std::string> names, outer;
    for (std::size_t k = 0; k < lead; ++k) outer.push_back(nest_.loops[v.loops[k]].iterator);
    for (std::size_t k = 0; k < indices.size(); ++k) names.push_back("x" + std::to_string(k) + "_");
    const auto equal = equalities(v, names, indices, wraps);
    if (!equal) return give_up("subscript " + a.source + " is too large: any element is assumed");
    if (wraps) out_.mirrored.insert(a.variable);
    if (v.length > 0 && shape.strides.empty() && unbounded_.count(a.variable) > 0)
      keep_inside(a, head, inside_array(v, indices, wraps));
    outer.insert(outer.end(), names.begin(), names.end());
    r.map = relation_to(a.variable, i.name,
                        prefix_ + "{ " + tuple(i.loops) + " -> V[" + joined(outer) + "] : " + exists +
                            conjunction_text(where) + *equal + " }");
    // Conditions under which the subscripts are valid: proved here, or tested before the placed code runs.
    Conjunction needed;
    for (const Poly& p : a.not_negative) {
      if (!p.affine()) return give_up("subscript " + a.source + " may wrap around: any element is assumed");
      needed.push_back({p});
    }
    for (std::size_t k = 0; k < shape.extents.size(); ++k) {
      const Poly& extent = shape.extents[k];
      if (!extent.affine()) return give_up("the rows of " + v.host + " have no affine length: any element is assumed");
      needed.push_back({indices[k + 1]});
      needed.push_back({extent.plus(indices[k + 1], -1).plus(Poly::constant(1), -1)});
    }
    const auto [holds, always] = holding(head, needed);
    if (always) return in_rows(r, a, head, shape, indices, wraps);
    const isl::set all = isl::set(out_.context, head + " }").intersect(here_);
    if (holds.is_empty() || all.intersect_params(holds).is_empty() || isl_set_n_basic_set(holds.get()) > 8)
      return give_up("subscript " + a.source + " may leave its row: any element is assumed");
    // An assumption that holds only for sizes below 16 is useless: the subscript then counts as unknown.
    isl::set sizes = holds;
    for (unsigned d = 0; d < static_cast<unsigned>(isl_set_dim(sizes.get(), isl_dim_param)); ++d)
      sizes = isl::manage(isl_set_lower_bound_si(sizes.release(), isl_dim_param, d, 16));
    if (sizes.is_empty())
      return give_up("subscript " + a.source + " may wrap around or leave its row: any element is assumed");
    const isl::set test = holds.gist(out_.known);
    assume(test, v.host + " has subscripts within its rows (line " + std::to_string(a.line) + ")");
    r.map = r.map.intersect_params(test);
    return in_rows(r, a, head, shape, indices, wraps);
  }

  // Tests that the known subscripts of an inexact access stay within their array.
  void keep_inside(const Instance& i, const Access& a) {
    if (a.not_negative.empty()) return;
    Conjunction needed, where;
    for (const Poly& p : a.not_negative) needed.push_back({p});
    for (const Constraint& c : a.where)
      if (c.poly.affine()) where.push_back(c);
    const std::string exists = a.exists.empty() ? "" : "exists " + joined(a.exists) + " : ";
    keep_inside(a, prefix_ + "{ " + tuple(i.loops) + " : " + exists + conjunction_text(where), needed);
  }

  // Limits of an exact access to an array inside a struct: of its first subscript, or of its position in the array.
  static Conjunction inside_array(const Variable& v, const std::vector<Poly>& indices, bool wraps) {
    Poly at = indices[0];
    long last = v.length;
    for (std::size_t k = 0; k < v.inner.size(); ++k) {
      if (wraps)
        at = Poly().plus(at, v.inner[k]).plus(indices[k + 1]);
      else
        last /= v.inner[k];
    }
    return {{at}, {Poly::constant(last - 1).plus(at, -1)}};
  }

  void keep_inside(const Access& a, const std::string& head, const Conjunction& needed) {
    const auto [holds, always] = holding(head, needed);
    if (always) return;
    if (holds.is_empty())
      out_.overrun = "line " + std::to_string(a.line) + ": " + a.source + " leaves " + nest_.variables[a.variable].host;
    else
      assume(holds.gist(out_.known), nest_.variables[a.variable].host +
                                         " has its known subscripts within its length (line " + std::to_string(a.line) +
                                         ")");
  }

  // Parameter values for which the current instance's access satisfies all of `needed`.
  Parsed::Holding holding(const std::string& head, const Conjunction& needed) {
    if (needed.empty()) return {out_.known, true};
    std::string broken;
    for (const Constraint& c : needed) broken += (broken.empty() ? "" : " or ") + c.poly.text() + " < 0";
    const std::string text = head + " and (" + broken + ") }";
    if (const auto at = parsed_.holding.find(key_ + text); at != parsed_.holding.end()) return at->second;
    const isl::set bad = isl::set(out_.context, text).intersect(here_);
    Parsed::Holding made{out_.known, true};
    if (!bad.is_empty()) {
      made.sizes = isl::manage(isl_set_complement(bad.params().release())).intersect(out_.known).coalesce();
      made.always = out_.known.is_subset(made.sizes);
    }
    return parsed_.holding.emplace(key_ + text, made).first->second;
  }

  // Conditions that every subscript of constant-length rows is within its row.
  Conjunction inside_rows(const Access& a, const Shape& shape, const std::vector<Poly>& indices) const {
    Conjunction needed;
    const std::vector<long>& inner = nest_.variables[a.variable].inner;
    for (std::size_t k = 0; k < inner.size(); ++k) {
      const Poly& index = indices[1 + shape.strides.size() + k];
      if (const auto value = index.value(); value && *value >= 0 && *value < inner[k]) continue;
      needed.push_back({index});
      needed.push_back({Poly::constant(inner[k] - 1).plus(index, -1)});
    }
    return needed;
  }

  // True if a subscript may leave its row of constant length (a[i][j + 1], or f[i * 64 + j] with f = a[0]) and so
  // address another row. Multiples of the row length are moved to the preceding dimension first. A row that is left
  // only for some sizes does not count: in_rows() tests the sizes before the placed code runs.
  bool leaves_rows(const Access& a, const std::string& head, const Shape& shape, std::vector<Poly>& indices) {
    const std::vector<long>& inner = nest_.variables[a.variable].inner;
    if (inner.empty() || holding(head, inside_rows(a, shape, indices)).always) return false;
    const std::size_t first = 1 + shape.strides.size();
    for (std::size_t k = inner.size(); k-- > 0;) {
      Poly rows, rest;
      for (const auto& [term, count] : indices[first + k].terms())
        (count % inner[k] == 0 ? rows : rest).set(term, count % inner[k] == 0 ? count / inner[k] : count);
      indices[first + k] = rest;
      indices[first + k - 1] = indices[first + k - 1].plus(rows);
    }
    const auto [holds, always] = holding(head, inside_rows(a, shape, indices));
    if (always) return false;
    const bool flat = first == 1 && indices[0].value().has_value();  // a single loop over the elements of all rows
    const isl::set all = isl::set(out_.context, head + " }").intersect(here_);
    return flat || holds.is_empty() || all.intersect_params(holds).is_empty() || isl_set_n_basic_set(holds.get()) > 8;
  }

  Relation in_rows(Relation r, const Access& a, const std::string& head, const Shape& shape,
                   const std::vector<Poly>& indices, bool wraps) {
    if (wraps || nest_.variables[a.variable].inner.empty()) return r;
    const auto [holds, always] = holding(head, inside_rows(a, shape, indices));
    if (always) return r;
    const isl::set test = holds.gist(out_.known);
    assume(test,
           nest_.variables[a.variable].host + " has subscripts within its rows (line " + std::to_string(a.line) + ")");
    r.map = r.map.intersect_params(test);
    return r;
  }
};

}  // namespace

const Instance& Relations::instance(const std::string& name) const {
  return *std::find_if(instances.begin(), instances.end(), [&](const Instance& i) { return i.name == name; });
}

bool Relations::inside(const Instance& i, int loop) const {
  return std::find(i.loops.begin(), i.loops.end(), loop) != i.loops.end();
}

isl::union_map Relations::accesses(int variable, bool write) const {
  isl::union_map all = isl::union_map::empty(context);
  for (const Instance& i : instances)
    for (const Relation& r : i.relations)
      if (r.access->variable == variable && r.write == write) all = all.unite(isl::union_map(r.map));
  return all;
}

Relations relate(isl::ctx context, const Nest& nest, Parsed& parsed) { return Builder(context, nest, parsed).build(); }

}  // namespace ridge::place::analysis
