// Computes the bounding box of a work-group's reads with isl.
#include "place/analysis/window.hpp"

#include <isl/aff.h>
#include <isl/ast_build.h>
#include <isl/fixed_box.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>

#include "place/analysis/delinearize.hpp"

namespace ridge::place::analysis {
namespace {

std::string in_c(const isl::pw_aff& aff) { return isl::ast_build(aff.ctx()).expr_from(aff).to_C_str(); }

bool affine(const Conjunction& all) {
  return std::all_of(all.begin(), all.end(), [](const Constraint& c) { return c.poly.affine(); });
}

// Bounds that define the window: if a side has several, those that move with the grid. So a window at the border of the
// array has the same size as one inside; elements outside the array are not loaded.
Conjunction around_the_item(const Loop& loop, const Nest& nest, const std::vector<int>& chain) {
  const auto moves = [&](const Constraint& c) {
    const auto symbols = c.poly.symbols();
    return std::any_of(chain.begin(), chain.end(), [&](int l) {
      return std::find(symbols.begin(), symbols.end(), nest.loops[l].iterator) != symbols.end();
    });
  };
  const auto side = [&](const Constraint& c) {
    const auto at = c.poly.terms().find({loop.iterator});
    return c.equality || at == c.poly.terms().end() ? 0 : at->second > 0 ? 1 : -1;
  };
  Conjunction kept;
  for (const Constraint& c : loop.bounds) {
    const bool another = side(c) != 0 && !moves(c) &&
                         std::any_of(loop.bounds.begin(), loop.bounds.end(),
                                     [&](const Constraint& o) { return side(o) == side(c) && moves(o); });
    if (!another) kept.push_back(c);
  }
  return kept;
}

}  // namespace

std::optional<std::vector<Poly>> dimensions(const Relations& relations, const Access& access) {
  if (!access.exact || access.subscripts.empty() || !access.exists.empty()) return {};
  if (relations.mirrored.count(access.variable) > 0) return {};
  const auto shape = relations.shapes.find(access.variable);
  auto parts = take_apart(access.subscripts[0], shape == relations.shapes.end() ? Shape{} : shape->second);
  if (!parts) return {};
  parts->insert(parts->end(), access.subscripts.begin() + 1, access.subscripts.end());
  return std::all_of(parts->begin(), parts->end(), [](const Poly& p) { return p.affine(); }) ? parts : std::nullopt;
}

std::optional<Window> window(const Relations& relations, int variable, const std::vector<int>& chain,
                             const std::vector<long>& width) {
  const Nest& nest = *relations.nest;
  std::string parameters, group;
  for (const std::string& p : nest.parameters) parameters += (parameters.empty() ? "" : ", ") + p;
  for (std::size_t k = 0; k < chain.size(); ++k) {
    const Loop& l = nest.loops[chain[k]];
    const std::string &i = l.iterator, first = i + "_group";
    parameters += (parameters.empty() ? "" : ", ") + first;
    group += (k > 0 ? " and " : "") + first + " <= " + i + " <= " + first + " + " + std::to_string(width[k] - 1);
    if (!affine(l.bounds)) return {};
    for (const Constraint& c : l.bounds)  // the group's first iteration satisfies the loop's bounds
      group += " and " + Constraint{c.poly.substituted({{i, Poly::symbol(first)}}), c.equality}.text();
  }
  isl::union_set touched = isl::union_set::empty(relations.context);
  std::size_t count = 0;
  for (const Instance& instance : relations.instances)
    for (const Relation& r : instance.relations) {
      if (r.access->variable != variable) continue;
      const auto at = dimensions(relations, *r.access);
      if (!at || r.write) return {};
      std::string iterators, elements, where = group;
      for (const int l : instance.loops) {
        const Loop& loop = nest.loops[l];
        iterators += (iterators.empty() ? "" : ", ") + loop.iterator;
        if (std::find(chain.begin(), chain.end(), l) != chain.end() || loop.bounds.empty()) continue;
        if (!affine(loop.bounds)) return {};
        where += " and " + conjunction_text(around_the_item(loop, nest, chain));
      }
      count = at->size();
      for (std::size_t d = 0; d < count; ++d) {
        elements += (d > 0 ? ", x" : "x") + std::to_string(d) + "_";
        where += " and x" + std::to_string(d) + "_ = " + (*at)[d].text();
      }
      const isl::map reads(relations.context,
                           "[" + parameters + "] -> { [" + iterators + "] -> [" + elements + "] : " + where + " }");
      touched = touched.unite(isl::union_set(reads.range()));
    }
  if (touched.is_empty()) return {};
  const isl::set all = touched.as_set().intersect_params(relations.known).coalesce();
  Window found;
  isl_fixed_box* box = isl_set_get_simple_fixed_box_hull(all.get());
  const bool fixed = isl_fixed_box_is_valid(box) == isl_bool_true;
  const isl::multi_aff offset = fixed ? isl::manage(isl_fixed_box_get_offset(box)) : isl::multi_aff();
  const isl::multi_val size = fixed ? isl::manage(isl_fixed_box_get_size(box)) : isl::multi_val();
  isl_fixed_box_free(box);
  for (std::size_t k = 0; k < count; ++k) {
    const auto d = static_cast<unsigned>(k);
    if (fixed) {
      found.low.push_back(in_c(isl::pw_aff(isl::manage(isl_multi_aff_get_at(offset.get(), static_cast<int>(k))))));
      found.fixed.push_back(
          isl_val_get_num_si(isl::manage(isl_multi_val_get_at(size.get(), static_cast<int>(k))).get()));
      found.length.push_back(std::to_string(found.fixed.back()));
      continue;
    }
    if (isl_set_dim_has_any_lower_bound(all.get(), isl_dim_set, d) != isl_bool_true ||
        isl_set_dim_has_any_upper_bound(all.get(), isl_dim_set, d) != isl_bool_true ||
        isl_set_dim_has_lower_bound(all.get(), isl_dim_set, d) != isl_bool_true ||
        isl_set_dim_has_upper_bound(all.get(), isl_dim_set, d) != isl_bool_true)
      return {};
    const isl::pw_aff low = isl::manage(isl_set_dim_min(all.copy(), static_cast<int>(k))),
                      high = isl::manage(isl_set_dim_max(all.copy(), static_cast<int>(k)));
    if (isl_pw_aff_n_piece(low.get()) > 4 || isl_pw_aff_n_piece(high.get()) > 4) return {};
    found.low.push_back(in_c(low));
    const isl::pw_aff length = high.sub(low);
    const std::string text =
        isl_pw_aff_n_piece(length.get()) > 4 ? "(" + in_c(high) + ") - (" + in_c(low) + ")" : in_c(length);
    found.length.push_back("(" + text + ") + 1");
    found.fixed.push_back(0);
  }
  for (const auto* list : {&found.low, &found.length})
    for (const std::string& text : *list)
      if (text.find("floord") != std::string::npos || text.find('%') != std::string::npos) return {};
  return found;
}

}  // namespace ridge::place::analysis
