// Headers of counted loops: iterator, start, step and test, with the bounds of the iterator as constraints.
#include <algorithm>

#include "place/frontend/nest_reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// True if the variable is read outside the loops that it counts.
bool used_outside(const Stmt* s, const ValueDecl* var, const Stmt* own) {
  if (s == nullptr || s == own) return false;
  if (const auto* f = dyn_cast<ForStmt>(s))
    if (const auto* init = dyn_cast_or_null<BinaryOperator>(f->getInit());
        init != nullptr && init->getOpcode() == BO_Assign)
      if (const auto* ref = dyn_cast<DeclRefExpr>(init->getLHS()->IgnoreParenImpCasts());
          ref != nullptr && ref->getDecl() == var)
        return false;
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->getOpcode() == BO_Assign)
    if (const auto* ref = dyn_cast<DeclRefExpr>(b->getLHS()->IgnoreParenImpCasts());
        ref != nullptr && ref->getDecl() == var)
      return used_outside(b->getRHS(), var, own);
  if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && ref->getDecl() == var) return true;
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return used_outside(c, var, own); });
}

// True if the condition bounds the iterator in the direction of the step, and the iterator is in no quotient.
bool limits(const std::optional<Condition>& when, const std::string& iterator, long step) {
  bool closed = when && when->size() == 1;
  bool limited = false;
  if (closed)
    for (const Constraint& c : (*when)[0]) {
      const auto at = c.poly.terms().find({iterator});
      const long factor = at == c.poly.terms().end() ? 0 : at->second;
      const auto names = c.poly.symbols();
      const bool there = std::find(names.begin(), names.end(), iterator) != names.end();
      if (c.equality || (there && factor == 0)) closed = false;  // the iterator is inside a quotient
      if (factor != 0 && (factor < 0) != (step > 0)) closed = false;
      limited |= factor != 0;
    }
  return closed && limited;
}

}  // namespace

// Reads one header into a Loop. A step that returns false has stored the reason in Loop::why.
class Loops::HeaderReader {
 public:
  HeaderReader(Loops& loops, const Stmt* s, Loop& into) : r_(loops), scope_(loops.scope_), s_(s), into_(into) {}

  bool read(Node& node) {
    if (!r_.facts_.counting(s_, count_, into_.why)) return false;
    var_ = count_.var;
    if (!check_iterator()) return false;
    step_ = step_of(count_.step, var_);
    if (step_ == 0) return into_.why = "its step is not a constant", false;
    if (body_changes_iterator()) return into_.why = "its body changes the iterator " + var_->getNameAsString(), false;
    if (!check_counters()) return false;
    Effects fx;
    read_start(fx);
    const auto saved_values = scope_.values;
    const auto saved_iterators = scope_.iterators;
    name_iterator();
    if (!add_bounds() || (!count_.others.empty() && !close_counters())) {
      scope_.values = saved_values;
      scope_.iterators = saved_iterators;
      scope_.names.erase(into_.iterator);
      return false;
    }
    into_.condition = test_text(fx);
    into_.counters = 1 + static_cast<int>(count_.others.size());
    into_.counted = true;
    node.accesses = fx.accesses;
    return true;
  }

 private:
  bool fail(const std::string& why) {
    into_.why = why;
    return false;
  }

  bool check_iterator() {
    const std::string name = var_->getNameAsString();
    if (!count_.declared_in_header) {
      const auto known = scope_.variables.find(var_);
      into_.iterator_outside = known == scope_.variables.end() || scope_.nest.variables[known->second].loops.empty();
    }
    const auto number = r_.dialect(var_->getType());
    if (!number || !number->integer || number->bytes < 4 || var_->getType()->isReferenceType() ||
        var_->hasGlobalStorage())
      return fail("its iterator " + name + " is not a local integer of 32 or 64 bits");
    number_ = *number;
    if (count_.declared_in_header) return true;
    if (r_.facts_.in_function) return fail("its iterator is not declared in the header");
    if (r_.facts_.reachable(var_)) return fail("its iterator " + name + " may change through another name");
    if (used_outside(scope_.root, var_, s_) || r_.facts_.live_after(var_))
      return fail("the last value of " + name + " is used after the loop");
    return true;
  }

  // The step: ++i, i += n, i = i + n with a constant n; 0 for all others.
  long step_of(const Expr* step, const VarDecl* var) {
    if (const auto* u = dyn_cast<UnaryOperator>(step->IgnoreParens());
        u != nullptr && referred(u->getSubExpr()) == var) {
      return u->isIncrementOp() ? 1 : u->isDecrementOp() ? -1 : 0;
    }
    if (const auto* c = dyn_cast<BinaryOperator>(step->IgnoreParens()); c != nullptr && referred(c->getLHS()) == var) {
      const Expr* by = c->getRHS();
      long sign = c->getOpcode() == BO_AddAssign ? 1 : c->getOpcode() == BO_SubAssign ? -1 : 0;
      if (c->getOpcode() == BO_Assign)
        if (const auto* sum = dyn_cast<BinaryOperator>(by->IgnoreParenImpCasts());
            sum != nullptr && sum->isAdditiveOp() && referred(sum->getLHS()) == var) {
          by = sum->getRHS();
          sign = sum->getOpcode() == BO_Add ? 1 : -1;
        }
      if (sign != 0)
        if (const auto p = r_.tree_.poly(by, needed_);
            p && p->value() && *p->value() != 0 && std::abs(*p->value()) < (1 << 20))
          return sign * *p->value();
    }
    return 0;
  }

  // Further counters of the header: local integers that only the header steps, by a constant.
  bool check_counters() {
    std::set<const ValueDecl*> changed;
    if (!count_.others.empty()) {
      find_changes(count_.body, changed);
      find_changes(count_.test, changed);
    }
    for (std::size_t k = 0; k < count_.others.size(); ++k) {
      const VarDecl* other = count_.others[k];
      const std::string name = other->getNameAsString();
      const auto number = r_.dialect(other->getType());
      if (!number || !number->integer || number->bytes < 4 || number->is_unsigned || r_.facts_.reachable(other))
        return fail("its counter " + name + " is not a local signed integer of 32 or 64 bits");
      if (changed.count(other) > 0) return fail("its body changes the counter " + name);
      other_steps_.push_back(step_of(count_.other_steps[k], other));
      if (other_steps_.back() == 0) return fail("the step of " + name + " is not a constant");
    }
    return true;
  }

  // The closed form of each further counter: its start plus its step per iteration.
  bool close_counters() {
    std::vector<Poly> needed;
    const auto start = r_.tree_.poly(count_.start, needed);
    if (!start || !start->affine()) return fail("its start has no closed form, which a second counter needs");
    for (std::size_t k = 0; k < count_.others.size(); ++k) {
      const auto from = r_.tree_.poly(count_.others[k]->getInit(), needed);
      if (!from || !from->affine() || !needed.empty() || other_steps_[k] % step_ != 0)
        return fail("its counter " + count_.others[k]->getNameAsString() + " has no closed form");
      const Poly turns = Poly::symbol(into_.iterator).plus(*start, -1);
      scope_.values[count_.others[k]] = from->plus(turns, other_steps_[k] / step_);
    }
    return true;
  }

  bool body_changes_iterator() const {
    std::set<const ValueDecl*> changed;
    if (count_.last == nullptr)
      find_changes(count_.body, changed);
    else
      for (const Stmt* inside : count_.body->children())
        if (inside != count_.last) find_changes(inside, changed);
    find_changes(count_.test, changed);
    return changed.count(var_) > 0;
  }

  void read_start(Effects& fx) {
    test_ = dyn_cast<BinaryOperator>(count_.test->IgnoreParenImpCasts());
    into_.type = number_.name;
    into_.host_type = r_.type_text(var_->getType().getUnqualifiedType());
    into_.step = step_;
    into_.host_iterator = var_->getNameAsString();
    into_.start = r_.tree_.expression(count_.start, fx);
    into_.exact = r_.numbers_.bounds(count_.start, step_ > 0, starts_, needed_);
    if (into_.exact && starts_.empty()) into_.exact = false;
  }

  void name_iterator() {
    if (scope_.variables.count(var_) == 0)
      into_.iterator = r_.scope_.unique(var_->getNameAsString());
    else
      into_.iterator = scope_.nest.variables[scope_.variables[var_]].name;
    scope_.iterators[var_] = into_.iterator;
    scope_.values[var_] = Poly::symbol(into_.iterator);
  }

  bool add_bounds() {
    add_start_bounds();
    std::vector<Poly> needed;  // by the test
    const auto when = test_condition(needed);
    const bool limited = limits(when, into_.iterator, step_);
    if (limited)
      into_.bounds.insert(into_.bounds.end(), (*when)[0].begin(), (*when)[0].end());
    else if (!bound_by_comparison(needed))
      return false;
    if (!assume_no_wrap_around(needed_) || !assume_no_wrap_around(needed)) return false;
    if (!isa<DoStmt>(s_)) return true;
    // The body runs before the first test: equal to a for loop only if the test holds at the start.
    if (starts_.size() != 1 || !limited) return fail("its test may be false before the first iteration");
    return assume_first_test((*when)[0]);
  }

  void add_start_bounds() {
    for (const Poly& p : starts_) {
      const Poly i = Poly::symbol(into_.iterator);
      into_.bounds.push_back({step_ > 0 ? i.plus(p, -1) : p.plus(i, -1)});
    }
    if (std::abs(step_) <= 1) return;
    if (starts_.size() != 1 || !into_.exact) {
      into_.exact = false;
    } else {
      const Poly way = into_.bounds[0].poly;
      into_.bounds.push_back({way.plus(Poly::quotient(way, std::abs(step_)), -std::abs(step_)), true});
    }
  }

  // The test as an affine condition. i != n with a step of 1 is read as i < n.
  std::optional<Condition> test_condition(std::vector<Poly>& needed) {
    auto when = r_.numbers_.condition(count_.test, false, needed);
    if (test_ == nullptr || test_->getOpcode() != BO_NE || std::abs(step_) != 1 || number_.is_unsigned) return when;
    const bool left = referred(test_->getLHS()) == var_;
    if (!left && referred(test_->getRHS()) != var_) return when;
    const auto l = r_.tree_.poly(test_->getLHS(), needed), r = r_.tree_.poly(test_->getRHS(), needed);
    if (!l || !r || !l->affine() || !r->affine()) return when;
    Poly room = left ? r->plus(*l, -1) : l->plus(*r, -1);
    if (step_ < 0) room = Poly().plus(room, -1);
    return Condition{{{room.plus(Poly::constant(1), -1)}}};
  }

  // Bounds by a comparison of the iterator with any expression, in the direction of the step.
  bool bound_by_comparison(std::vector<Poly>& needed) {
    const bool started = into_.exact;
    into_.exact = false;
    const std::string no_bound = "its test does not compare " + var_->getNameAsString() + " with a bound";
    if (test_ == nullptr || !test_->isRelationalOp()) return fail(no_bound);
    const bool left = referred(test_->getLHS()) == var_;
    if (!left && referred(test_->getRHS()) != var_) return fail(no_bound);
    const auto op = left ? test_->getOpcode() : BinaryOperator::reverseComparisonOp(test_->getOpcode());
    if ((step_ > 0) != (op == BO_LT || op == BO_LE)) return fail("its test and its step have opposite directions");
    std::vector<Poly> ends;
    needed.clear();
    into_.exact = r_.numbers_.bounds(left ? test_->getRHS() : test_->getLHS(), step_ < 0, ends, needed) && started &&
                  needed.empty();
    const Poly i = Poly::symbol(into_.iterator);
    for (const Poly& p : ends) {
      Poly room = step_ > 0 ? p.plus(i, -1) : i.plus(p, -1);
      if (op == BO_LT || op == BO_GT) room = room.plus(Poly::constant(1), -1);
      into_.bounds.push_back({room});
    }
    return true;
  }

  bool only_parameters(const std::vector<std::string>& names) const {
    const auto& all = scope_.nest.parameters;
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& n) { return std::find(all.begin(), all.end(), n) != all.end(); });
  }

  void assume(const Poly& not_negative, const std::string& text) {
    scope_.nest.assumptions.push_back(Condition{{{not_negative}}});
    scope_.nest.assumption_texts.push_back(text);
  }

  // Conditions against wrap-around without the iterator can be tested at run time; with it, the bounds are unusable.
  bool assume_no_wrap_around(const std::vector<Poly>& needed) {
    for (const Poly& p : needed) {
      const auto names = p.symbols();
      const bool own = std::find(names.begin(), names.end(), into_.iterator) != names.end();
      if (own && number_.is_unsigned && step_ > 0) continue;  // counts upwards from a start >= 0
      if (!only_parameters(names) || r_.facts_.in_function || !p.affine()) return fail("its bounds may wrap around");
      assume(p, "no wrap-around in the loop header of line " + std::to_string(into_.line));
    }
    return true;
  }

  bool assume_first_test(const Conjunction& test) {
    for (const Constraint& c : test) {
      const Poly first = c.poly.substituted({{into_.iterator, starts_[0]}});
      if (const auto value = first.value(); value && *value >= 0) continue;
      if (first.value() || !only_parameters(first.symbols()) || !first.affine())
        return fail("its test may be false before the first iteration");
      assume(first, "the test of the do loop of line " + std::to_string(into_.line) + " holds at the start");
    }
    return true;
  }

  std::string test_text(Effects& fx) {
    const std::string text = r_.tree_.expression(count_.test, fx);
    if (test_ == nullptr || test_->getOpcode() != BO_NE) return text;
    Effects again;  // a grid-stride loop could step over the end value
    const bool up = (referred(test_->getLHS()) == var_) == (step_ > 0);
    const std::string left = r_.tree_.expression(test_->getLHS(), again);
    return left + (up ? " < " : " > ") + r_.tree_.expression(test_->getRHS(), again);
  }

  Loops& r_;
  Scope& scope_;
  const Stmt* s_;
  Loop& into_;
  Counting count_{};
  const VarDecl* var_ = nullptr;
  Dialect number_{};  // type of the iterator
  long step_ = 0;
  std::vector<long> other_steps_{};
  const BinaryOperator* test_ = nullptr;   // the comparison, if the test is one
  std::vector<Poly> starts_{}, needed_{};  // bounds by the start; conditions for start and step to hold
};

bool Loops::header(const Stmt* s, Loop& into, Node& node) { return HeaderReader(*this, s, into).read(node); }

}  // namespace ridge::place::frontend
