// Rescheduling: runs all statements of a nest in a new order that isl's scheduler computes from the dependences: one
// sequential loop outside, parallel loops inside. It combines skewing, fission, interchange and reversal of loops that
// are not perfectly nested. Trigger: the outermost loop is sequential. A second proposal first splits a statement where
// it reads the row or column that it is about to write (i = k in the Floyd-Warshall algorithm).
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/union_map.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "place/analysis/memo.hpp"
#include "place/analysis/window.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

constexpr long kLargest = 1L << 26;  // of sizes, tested at run time: sums of iterators then fit an int
constexpr int kLargestFactor = 8;    // of an iterator in a new one
constexpr std::size_t kMostUnits = 12, kMostParts = 27;
constexpr unsigned long kSchedulerOperations = 1000000;  // of isl, per proposal

constexpr const char* kIterator = "wave";

// A part of the nest that moves as a whole: a statement, a branch, or the body of a loop that declares variables.
struct Unit {
  const Node* node = nullptr;
  Span span{};
  std::vector<int> loops{};  // around it
};

class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Options of isl's scheduler, restored at the end of the scope.
class SchedulerOptions {
 public:
  explicit SchedulerOptions(isl_ctx* context)
      : context_(context),
        coincidence_(isl_options_get_schedule_outer_coincidence(context)),
        split_(isl_options_get_schedule_split_scaled(context)),
        coefficient_(isl_options_get_schedule_max_coefficient(context)) {
    isl_options_set_schedule_outer_coincidence(context, 1);
    isl_options_set_schedule_split_scaled(context, 1);
    isl_options_set_schedule_max_coefficient(context, kLargestFactor);
  }
  SchedulerOptions(const SchedulerOptions&) = delete;
  SchedulerOptions& operator=(const SchedulerOptions&) = delete;
  ~SchedulerOptions() {
    isl_options_set_schedule_outer_coincidence(context_, coincidence_);
    isl_options_set_schedule_split_scaled(context_, split_);
    isl_options_set_schedule_max_coefficient(context_, coefficient_);
  }

 private:
  isl_ctx* context_;
  int coincidence_, split_, coefficient_;
};

class Rescheduler {
 public:
  explicit Rescheduler(const State& state) : state_(state), nest_(state.nest), relations_(state.relations) {}

  std::vector<Proposal> proposals() {
    std::vector<Proposal> all;
    std::optional<Legality> legality;
    const bool deep = std::any_of(nest_.loops.begin(), nest_.loops.end(), [](const Loop& l) { return l.depth >= 2; });
    // Loops inside the second one move with it, or on their own: the first is better for caches and vectors, the second
    // gives devices grids of two loops.
    for (const int depth : state_.on_host ? std::array{2, 8} : std::array{8, 2}) {
      if ((depth == 2 && !deep) || !applies(depth)) continue;
      if (!legality) legality.emplace(state_);
      for (const bool cut : {false, true}) {
        if (!make_parts(cut)) continue;
        try {
          const analysis::Quota quota(relations_.context, kSchedulerOperations);
          if (auto made = proposal(*legality)) {
            made->what = nest_.loops[0].id + " reordered" + (depth == 2 ? " with its inner loops kept" : "") +
                         (cut ? ", split at the row and column that it reads" : "");
            all.push_back(*made);
          }
        } catch (const Unsupported&) {     // the new loops cannot be written in the supported language
        } catch (const isl::exception&) {  // quota exceeded
        }
      }
    }
    return all;
  }

 private:
  // A unit restricted to a part of its iterations.
  struct Part {
    std::size_t unit = 0;
    std::string name{};
    isl::set domain{};
  };

  const State& state_;
  const Nest& nest_;
  const analysis::Relations& relations_;
  std::vector<Unit> units_{};
  std::vector<Part> parts_{};
  std::vector<std::string> origins_{};  // of the new loops
  int depth_ = 0;                       // loops at this depth and below move as a whole
  std::string iterator_{};              // name of the new iterators, without their number

  bool applies(int depth) {
    units_.clear();
    values_.clear();
    depth_ = depth;
    if (state_.verdicts[0].independent() || !nest_.jumps.empty() || !collect(nest_.root, {})) return false;
    if (std::any_of(nest_.loops.begin(), nest_.loops.end(),
                    [](const Loop& l) { return l.host_iterator.rfind(kIterator, 0) == 0; }))
      return false;  // already reordered
    iterator_ = fresh(state_, kIterator);
    return units_.size() <= kMostUnits && writes_are_exact() &&
           std::all_of(nest_.parameters.begin(), nest_.parameters.end(), [&](const auto& p) {
             const std::string host = parameter(p);  // evaluated where the old iterators are declared
             return !host.empty() && std::none_of(nest_.loops.begin(), nest_.loops.end(),
                                                  [&](const Loop& l) { return text::names(host, l.host_iterator); });
           });
  }

  // True if every array that the nest writes has known subscripts; otherwise all its accesses keep their order.
  bool writes_are_exact() const {
    std::set<int> written, unknown;
    text::visit_accesses(nest_.root, [&](const Access& a) {
      if (a.write && nest_.variables[a.variable].array()) written.insert(a.variable);
      if (!a.exact) unknown.insert(a.variable);
    });
    return std::none_of(written.begin(), written.end(), [&](int v) { return unknown.count(v) > 0; });
  }

  // Lists the units inside a loop; false if the loop must move as a whole.
  bool collect(const Node& node, std::vector<int> loops) {
    if (node.kind != NodeKind::loop || node.loop < 0) return false;
    const Loop& l = nest_.loops[node.loop];
    if (l.depth >= depth_ || !plain(nest_, node.loop) || l.type != "int" || !header_is_invariant(nest_, node))
      return false;
    loops.push_back(node.loop);
    const Node& block = body_block(node);
    const bool list = block.kind == NodeKind::block;
    const bool whole = list && std::any_of(block.children.begin(), block.children.end(), [](const Node& n) {
                         return n.declaration || (n.kind != NodeKind::loop && !n.span.known);
                       });
    if (whole || (list && block.children.empty())) {
      units_.push_back({&block, l.body, loops});
      return true;
    }
    for (std::size_t k = 0; k < (list ? block.children.size() : 1); ++k) {
      const Node& child = list ? block.children[k] : block;
      const std::size_t before = units_.size();
      if (child.kind == NodeKind::loop) {
        if (collect(child, loops)) continue;
        units_.resize(before);
      }
      const Span span = child.kind == NodeKind::loop ? nest_.loops[child.loop].span : list ? child.span : l.body;
      if (!span.known) return false;
      units_.push_back({&child, span, loops});
    }
    return true;
  }

  std::string prefix() const { return "[" + text::joined(nest_.parameters) + "] -> "; }

  std::string iterators(const std::vector<int>& loops) const {
    std::vector<std::string> names;
    for (const int l : loops) names.push_back(nest_.loops[l].iterator);
    return "[" + text::joined(names) + "]";
  }

  // The units with their domains; with `cut`, split at the planes where a unit reads the elements it writes.
  bool make_parts(bool cut) {
    parts_.clear();
    for (std::size_t u = 0; u < units_.size(); ++u) {
      std::string where = "true";
      for (const int l : units_[u].loops)
        for (const Constraint& c : nest_.loops[l].bounds) where += " and " + c.text();
      std::vector<std::string> pieces{where};
      if (cut)
        for (const std::string& plane : planes(units_[u])) {
          std::vector<std::string> finer;
          for (const std::string& p : pieces)
            for (const char* side : {" < 0", " = 0", " > 0"}) finer.push_back(p + " and " + plane + side);
          pieces = finer;
        }
      for (const std::string& p : pieces) {
        const std::string name = "P" + std::to_string(parts_.size());
        const isl::set domain =
            isl::set(relations_.context, prefix() + "{ " + name + iterators(units_[u].loops) + " : " + p + " }")
                .intersect_params(relations_.known);
        if (!domain.is_empty()) parts_.push_back({u, name, domain});
      }
    }
    return (!cut || parts_.size() > units_.size()) && parts_.size() <= kMostParts;
  }

  // Differences between the subscripts of an array in a unit that vary with its iterations.
  std::vector<std::string> planes(const Unit& unit) const {
    std::vector<std::pair<const Access*, std::vector<Poly>>> all;
    text::visit_accesses(*unit.node, [&](const Access& a) {
      if (!nest_.variables[a.variable].array()) return;
      if (auto at = analysis::dimensions(relations_, a)) all.emplace_back(&a, *at);
    });
    const auto known = [&](const std::string& name) {
      return std::any_of(unit.loops.begin(), unit.loops.end(), [&](int l) { return nest_.loops[l].iterator == name; });
    };
    std::set<std::string> found;
    for (const auto& [w, to] : all)
      for (const auto& [r, from] : all) {
        if (!w->write || w->variable != r->variable || to.size() != from.size()) continue;
        for (std::size_t d = 0; d < to.size(); ++d) {
          const Poly between = to[d].plus(from[d], -1);
          const auto names = between.symbols();
          if (between.affine() && names.size() == 2 && std::all_of(names.begin(), names.end(), known))
            found.insert(between.text());
        }
      }
    if (found.size() > 2) return {};
    return {found.begin(), found.end()};
  }

  // Maps the instances of a part's statements to the part's iterations.
  isl::union_map instances_of(const Part& part) const {
    isl::union_map all = isl::union_map::empty(relations_.context);
    const Unit& unit = units_[part.unit];
    for (const analysis::Instance& i : relations_.instances)
      if (contains(*unit.node, i.node))
        all =
            all.unite(isl::union_map(isl::map(relations_.context, prefix() + "{ " + i.name + iterators(i.loops) +
                                                                      " -> " + part.name + iterators(unit.loops) + " }")
                                         .intersect_domain(i.domain)
                                         .intersect_range(part.domain)));
    return all;
  }

  std::optional<Proposal> proposal(Legality& legality) {
    isl::union_set domain = isl::union_set::empty(relations_.context);
    isl::union_map unit_of = isl::union_map::empty(relations_.context);
    for (const Part& p : parts_) {
      domain = domain.unite(isl::union_set(p.domain));
      unit_of = unit_of.unite(instances_of(p));
    }
    const isl::union_map pairs = legality.all_pairs().apply_domain(unit_of).apply_range(unit_of);
    const isl::union_map needed = pairs.subtract(isl::manage(isl_union_set_identity(domain.copy()))).coalesce();
    isl::ctx context = relations_.context;
    const SchedulerOptions options(context.get());
    const isl::schedule schedule =
        isl::schedule_constraints::on_domain(domain).set_validity(needed).set_coincidence(needed).compute_schedule();
    if (!any_parallel(schedule)) return {};
    const isl::union_map map = isl::manage(isl_schedule_get_map(schedule.get())).intersect_domain(domain);
    if (!fits(map)) return {};
    Proposal made;
    made.schedule = with_inner_order(map);
    origins_.clear();
    const std::string text = node(build(schedule), "");
    made.edits = {{nest_.loops[0].span.begin, nest_.loops[0].span.end, "{\n" + text + "}"}};
    made.loops = origins_;
    for (const std::string& p : nest_.parameters)
      made.test += (made.test.empty() ? "" : " && ") + parameter(p) + " <= " + std::to_string(kLargest) + " && " +
                   parameter(p) + " >= -" + std::to_string(kLargest);
    return made;
  }

  static bool any_parallel(const isl::schedule& schedule) {
    bool found = false;
    isl_schedule_foreach_schedule_node_top_down(
        schedule.get(),
        [](isl_schedule_node* n, void* user) {
          if (isl_schedule_node_get_type(n) == isl_schedule_node_band)
            for (int k = 0; k < isl_schedule_node_band_n_member(n); ++k)
              *static_cast<bool*>(user) |= isl_schedule_node_band_member_get_coincident(n, k) == isl_bool_true;
          return isl_bool_true;
        },
        &found);
    return found;
  }

  // True if every new iterator fits an int for sizes up to kLargest.
  bool fits(const isl::union_map& map) const {
    bool all = true;
    map.range().foreach_set([&](isl::set s) {
      for (int p = 0; p < isl_set_dim(s.get(), isl_dim_param); ++p) {
        s = isl::manage(isl_set_upper_bound_si(s.release(), isl_dim_param, static_cast<unsigned>(p), kLargest));
        s = isl::manage(isl_set_lower_bound_si(s.release(), isl_dim_param, static_cast<unsigned>(p), -kLargest));
      }
      isl::set box = isl::manage(isl_set_universe(isl_set_get_space(s.get())));
      for (int d = 0; d < isl_set_dim(s.get(), isl_dim_set); ++d) {
        box = isl::manage(isl_set_upper_bound_si(box.release(), isl_dim_set, static_cast<unsigned>(d), 1 << 30));
        box = isl::manage(isl_set_lower_bound_si(box.release(), isl_dim_set, static_cast<unsigned>(d), -(1 << 30)));
      }
      all = all && s.is_subset(box);
    });
    return all;
  }

  // The schedule of all instances: that of their unit, then their order inside the unit.
  isl::union_map with_inner_order(const isl::union_map& map) const {
    isl::union_map all = isl::union_map::empty(relations_.context);
    std::size_t longest = 0;
    for (const analysis::Instance& i : relations_.instances) longest = std::max(longest, i.order.size());
    for (const Part& p : parts_)
      for (const analysis::Instance& i : relations_.instances) {
        const Unit& unit = units_[p.unit];
        if (!contains(*unit.node, i.node)) continue;
        std::vector<std::string> tail(i.order.begin() + static_cast<long>(2 * unit.loops.size()), i.order.end());
        tail.resize(longest, "0");
        const isl::map inside(relations_.context,
                              prefix() + "{ " + i.name + iterators(i.loops) + " -> [" + text::joined(tail) + "] }");
        instances_of(p).apply_range(map).foreach_map([&](const isl::map& m) {
          const std::string name = isl_map_get_tuple_name(m.get(), isl_dim_in);
          if (name == i.name)
            all = all.unite(isl::union_map(isl::manage(isl_map_flat_range_product(m.copy(), inside.copy()))));
        });
      }
    return all;
  }

  isl::ast_node build(const isl::schedule& schedule) const {
    isl::ctx shared = relations_.context;
    isl_ctx* context = shared.get();
    isl_id_list* names = isl_id_list_alloc(context, 16);
    for (int k = 0; k < 16; ++k)
      names = isl_id_list_add(names, isl_id_alloc(context, (iterator_ + std::to_string(k)).c_str(), nullptr));
    isl_ast_build* how = isl_ast_build_set_iterators(isl_ast_build_alloc(context), names);
    isl_ast_node* made = isl_ast_build_node_from_schedule(how, schedule.copy());
    isl_ast_build_free(how);
    return isl::manage(made);
  }

  // C text of a parameter; "" if the file has no name for it.
  std::string parameter(const std::string& name) const {
    for (const Variable& v : nest_.variables)
      if (v.name == name) return v.is_unsigned || v.bytes > 4 ? "(int)(" + v.host + ")" : v.host;
    return "";
  }

  std::string expression(const isl::ast_expr& e) const {
    switch (isl_ast_expr_get_type(e.get())) {
      case isl_ast_expr_int:
        return number(e);
      case isl_ast_expr_id: {
        const isl::id id = isl::manage(isl_ast_expr_id_get_id(e.get()));
        const std::string known = parameter(id.name());
        return known.empty() ? id.name() : known;
      }
      default:
        return operation(e);
    }
  }

  static std::string number(const isl::ast_expr& e) {
    const isl::val v = isl::manage(isl_ast_expr_int_get_val(e.get()));
    const long n = isl_val_get_num_si(v.get());
    return n < 0 ? "(" + std::to_string(n) + ")" : std::to_string(n);
  }

  // x / by rounded down, also for negative x: front end and compilers shift arithmetically.
  std::string quotient(const std::string& x, const isl::ast_expr& by) const {
    if (isl_ast_expr_get_type(by.get()) != isl_ast_expr_int) throw Unsupported("division by a variable");
    const long divisor = isl_val_get_num_si(isl::manage(isl_ast_expr_int_get_val(by.get())).get());
    if (divisor <= 0 || (divisor & (divisor - 1)) != 0) throw Unsupported("division");
    return "(" + x + " >> " + std::to_string(__builtin_ctzl(static_cast<unsigned long>(divisor))) + ")";
  }

  std::string operation(const isl::ast_expr& e) const {
    const auto type = isl_ast_expr_op_get_type(e.get());
    const auto argument = [&](int k) { return isl::manage(isl_ast_expr_op_get_arg(e.get(), k)); };
    const auto infix = [&](const std::string& sign) {
      return "(" + expression(argument(0)) + " " + sign + " " + expression(argument(1)) + ")";
    };
    switch (type) {
      case isl_ast_expr_op_max:
      case isl_ast_expr_op_min: {
        std::string found = expression(argument(0));
        for (int k = 1; k < isl_ast_expr_op_get_n_arg(e.get()); ++k) {
          const std::string next = expression(argument(k));
          found =
              "(" + found + (type == isl_ast_expr_op_max ? " > " : " < ") + next + " ? " + found + " : " + next + ")";
        }
        return found;
      }
      case isl_ast_expr_op_minus:
        return "(-" + expression(argument(0)) + ")";
      case isl_ast_expr_op_add:
        return infix("+");
      case isl_ast_expr_op_sub:
        return infix("-");
      case isl_ast_expr_op_mul:
        return infix("*");
      case isl_ast_expr_op_div:
      case isl_ast_expr_op_pdiv_q:
      case isl_ast_expr_op_fdiv_q:
        return quotient(expression(argument(0)), argument(1));
      case isl_ast_expr_op_and:
      case isl_ast_expr_op_and_then:
        return infix("&&");
      case isl_ast_expr_op_or:
      case isl_ast_expr_op_or_else:
        return infix("||");
      case isl_ast_expr_op_eq:
        return infix("==");
      case isl_ast_expr_op_le:
        return infix("<=");
      case isl_ast_expr_op_lt:
        return infix("<");
      case isl_ast_expr_op_ge:
        return infix(">=");
      case isl_ast_expr_op_gt:
        return infix(">");
      default:
        throw Unsupported("operation");
    }
  }

  std::string node(const isl::ast_node& n, const std::string& pad) {
    switch (isl_ast_node_get_type(n.get())) {
      case isl_ast_node_block: {
        std::string text;
        const isl::ast_node_list list = isl::manage(isl_ast_node_block_get_children(n.get()));
        for (int k = 0; k < isl_ast_node_list_n_ast_node(list.get()); ++k)
          text += node(isl::manage(isl_ast_node_list_get_ast_node(list.get(), k)), pad);
        return text;
      }
      case isl_ast_node_if: {
        const std::string test = expression(isl::manage(isl_ast_node_if_get_cond(n.get())));
        std::string text = pad + "if (" + test + ") {\n" +
                           node(isl::manage(isl_ast_node_if_get_then_node(n.get())), pad + "  ") + pad + "}";
        if (isl_ast_node_if_has_else_node(n.get()) == isl_bool_true)
          text += " else {\n" + node(isl::manage(isl_ast_node_if_get_else_node(n.get())), pad + "  ") + pad + "}";
        return text + "\n";
      }
      case isl_ast_node_for:
        return loop(n, pad);
      case isl_ast_node_user:
        return statement(n, pad);
      default:
        throw Unsupported("node");
    }
  }

  std::string loop(const isl::ast_node& n, const std::string& pad) {
    const std::string name = expression(isl::manage(isl_ast_node_for_get_iterator(n.get()))),
                      from = expression(isl::manage(isl_ast_node_for_get_init(n.get())));
    const isl::ast_node body = isl::manage(isl_ast_node_for_get_body(n.get()));
    if (isl_ast_node_for_is_degenerate(n.get()) == isl_bool_true)
      return pad + "{ const int " + name + " = " + from + ";\n" + node(body, pad + "  ") + pad + "}\n";
    const std::string test = expression(isl::manage(isl_ast_node_for_get_cond(n.get()))),
                      step = expression(isl::manage(isl_ast_node_for_get_inc(n.get())));
    const std::size_t at = origins_.size();
    origins_.emplace_back();
    const std::string text = pad + "for (int " + name + " = " + from + "; " + test.substr(1, test.size() - 2) + "; " +
                             (step == "1" ? "++" + name : name + " += " + step) + ") {\n" + node(body, pad + "  ") +
                             pad + "}\n";
    const bool innermost = origins_.size() == at + 1;
    std::set<std::string> ids;
    for (const auto& [unit, values] : values_)
      for (const auto& [loop, value] : values)
        if (text.find(value) != std::string::npos && (innermost || text::names(value, name)))
          ids.insert(nest_.loops[loop].id);
    if (ids.empty()) ids.insert(nest_.loops[0].id);
    for (const std::string& id : ids) origins_[at] += (origins_[at].empty() ? "" : ",") + id;
    return text;
  }

  std::string statement(const isl::ast_node& n, const std::string& pad) {
    const isl::ast_expr call = isl::manage(isl_ast_node_user_get_expr(n.get()));
    const isl::id id = isl::manage(isl_ast_expr_id_get_id(isl::manage(isl_ast_expr_op_get_arg(call.get(), 0)).get()));
    const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == id.name(); });
    const Unit& unit = units_[part->unit];
    std::string text = pad + "{";
    for (std::size_t k = 0; k < unit.loops.size(); ++k) {
      const std::string value = expression(isl::manage(isl_ast_expr_op_get_arg(call.get(), static_cast<int>(k) + 1)));
      const std::string set = " const int " + nest_.loops[unit.loops[k]].host_iterator + " = " + value + ";";
      values_[part->unit].insert({unit.loops[k], set});
      text += set;
    }
    std::string source = slice(state_, unit.span);
    if (source.empty() || (source.back() != ';' && source.back() != '}')) source += ";";
    for (const std::string& inner : loops_in_order(nest_, *unit.node)) origins_.push_back(inner);
    return text + "\n" + pad + "  " + source + "\n" + pad + "}\n";
  }

  std::map<std::size_t, std::set<std::pair<int, std::string>>> values_{};  // by unit: declarations of old iterators
};

}  // namespace

std::vector<Proposal> rescheduling(const State& state) { return Rescheduler(state).proposals(); }

}  // namespace ridge::place::transform
