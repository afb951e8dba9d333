// Loops: a header with iterator, start, step and test becomes a counted loop; all other loops keep their text.
#include <algorithm>

#include "place/frontend/reader.hpp"

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

}  // namespace

int Reader::begin_loop(Loop made) {
  made.parent = scope_->open.empty() ? -1 : scope_->open.back();
  made.depth = static_cast<int>(scope_->open.size());
  scope_->nest.loops.push_back(std::move(made));
  const int at = static_cast<int>(scope_->nest.loops.size()) - 1;
  scope_->open.push_back(at);
  scope_->skips.emplace_back();
  const Loop& l = scope_->nest.loops[at];
  if (scope_->in_function) {
    scope_->exists.push_back(l.iterator);
    scope_->where.insert(scope_->where.end(), l.bounds.begin(), l.bounds.end());
  }
  return at;
}

void Reader::end_loop() {
  if (scope_->in_function) {
    const Loop& l = scope_->nest.loops[scope_->open.back()];
    scope_->exists.pop_back();
    scope_->where.resize(scope_->where.size() - l.bounds.size());
  }
  scope_->open.pop_back();
  scope_->skips.pop_back();
}

// Returns true if the loop is counted; then `into` is filled in, and `node` has the accesses of the header.
bool Reader::header(const Stmt* s, Loop& into, Node& node) {
  Counting count;
  if (!counting(s, count, into.why)) return false;
  const VarDecl* var = count.var;
  const Expr* start = count.start;
  if (!count.declared_in_header) {
    const auto known = scope_->variables.find(var);
    into.iterator_outside = known == scope_->variables.end() || scope_->nest.variables[known->second].loops.empty();
  }
  const auto number = dialect(var->getType());
  if (!number || !number->integer || number->bytes < 4 || var->getType()->isReferenceType() || var->hasGlobalStorage())
    return into.why = "its iterator " + var->getNameAsString() + " is not a local integer of 32 or 64 bits", false;
  if (!count.declared_in_header) {
    if (scope_->in_function) return into.why = "its iterator is not declared in the header", false;
    if (reachable(var))
      return into.why = "its iterator " + var->getNameAsString() + " may change through another name", false;
    if (used_outside(scope_->root, var, s) || live_after(var))
      return into.why = "the last value of " + var->getNameAsString() + " is used after the loop", false;
  }
  long step = 0;
  std::vector<Poly> needed;
  if (const auto* u = dyn_cast<UnaryOperator>(count.step->IgnoreParens());
      u != nullptr && referred(u->getSubExpr()) == var) {
    step = u->isIncrementOp() ? 1 : u->isDecrementOp() ? -1 : 0;
  } else if (const auto* c = dyn_cast<BinaryOperator>(count.step->IgnoreParens());
             c != nullptr && referred(c->getLHS()) == var) {
    const Expr* by = c->getRHS();
    long sign = c->getOpcode() == BO_AddAssign ? 1 : c->getOpcode() == BO_SubAssign ? -1 : 0;
    if (c->getOpcode() == BO_Assign)
      if (const auto* sum = dyn_cast<BinaryOperator>(by->IgnoreParenImpCasts());
          sum != nullptr && sum->isAdditiveOp() && referred(sum->getLHS()) == var) {
        by = sum->getRHS();
        sign = sum->getOpcode() == BO_Add ? 1 : -1;
      }
    if (sign != 0)
      if (const auto p = poly(by, needed); p && p->value() && *p->value() != 0 && std::abs(*p->value()) < (1 << 20))
        step = sign * *p->value();
  }
  if (step == 0) return into.why = "its step is not a constant", false;
  std::set<const ValueDecl*> changed;
  if (count.last == nullptr)
    find_changes(count.body, changed);
  else
    for (const Stmt* inside : count.body->children())
      if (inside != count.last) find_changes(inside, changed);
  find_changes(count.test, changed);
  if (changed.count(var) > 0) return into.why = "its body changes the iterator " + var->getNameAsString(), false;

  // The test must bound the iterator in the direction of the step: an affine condition, or a comparison with any
  // expression.
  const auto* test = dyn_cast<BinaryOperator>(count.test->IgnoreParenImpCasts());
  Effects fx;
  into.type = number->name;
  into.host_type = type_text(var->getType().getUnqualifiedType());
  into.step = step;
  into.host_iterator = var->getNameAsString();
  std::vector<Poly> starts;
  into.start = expression(start, fx);
  into.exact = bounds(start, step > 0, starts, needed);
  if (into.exact && starts.empty()) into.exact = false;
  const auto saved_values = scope_->values;
  const auto saved_iterators = scope_->iterators;
  if (scope_->variables.count(var) == 0)
    into.iterator = unique(var->getNameAsString());
  else
    into.iterator = scope_->nest.variables[scope_->variables[var]].name;
  scope_->iterators[var] = into.iterator;
  scope_->values[var] = Poly::symbol(into.iterator);
  const auto give_up = [&](const std::string& why) {
    scope_->values = saved_values;
    scope_->iterators = saved_iterators;
    scope_->names.erase(into.iterator);
    into.why = why;
    return false;
  };
  for (const Poly& p : starts) {
    const Poly i = Poly::symbol(into.iterator);
    into.bounds.push_back({step > 0 ? i.plus(p, -1) : p.plus(i, -1)});
  }
  if (std::abs(step) > 1) {
    if (starts.size() != 1 || !into.exact) {
      into.exact = false;
    } else {
      const Poly way = into.bounds[0].poly;
      into.bounds.push_back({way.plus(Poly::quotient(way, std::abs(step)), -std::abs(step)), true});
    }
  }
  std::vector<Poly> test_needed;
  auto when = condition(count.test, false, test_needed);
  if (test != nullptr && test->getOpcode() == BO_NE && std::abs(step) == 1 && !number->is_unsigned &&
      (referred(test->getLHS()) == var || referred(test->getRHS()) == var)) {
    const auto l = poly(test->getLHS(), test_needed), r = poly(test->getRHS(), test_needed);
    if (l && r && l->affine() && r->affine()) {
      Poly room = referred(test->getLHS()) == var ? r->plus(*l, -1) : l->plus(*r, -1);
      if (step < 0) room = Poly().plus(room, -1);
      when = Condition{{{room.plus(Poly::constant(1), -1)}}};
    }
  }
  bool closed = when && when->size() == 1;
  bool limited = false;
  if (closed)
    for (const Constraint& c : (*when)[0]) {
      const auto at = c.poly.terms().find({into.iterator});
      const long factor = at == c.poly.terms().end() ? 0 : at->second;
      const auto names = c.poly.symbols();
      const bool there = std::find(names.begin(), names.end(), into.iterator) != names.end();
      if (c.equality || (there && factor == 0)) closed = false;  // the iterator is inside a quotient
      if (factor != 0 && (factor < 0) != (step > 0)) closed = false;
      limited |= factor != 0;
    }
  if (closed && limited) {
    into.bounds.insert(into.bounds.end(), (*when)[0].begin(), (*when)[0].end());
  } else {
    const bool started = into.exact;
    into.exact = false;
    if (test == nullptr || !test->isRelationalOp())
      return give_up("its test does not compare " + var->getNameAsString() + " with a bound");
    const bool left = referred(test->getLHS()) == var;
    if (!left && referred(test->getRHS()) != var)
      return give_up("its test does not compare " + var->getNameAsString() + " with a bound");
    const auto op = left ? test->getOpcode() : BinaryOperator::reverseComparisonOp(test->getOpcode());
    if ((step > 0) != (op == BO_LT || op == BO_LE)) return give_up("its test and its step have opposite directions");
    std::vector<Poly> ends;
    test_needed.clear();
    into.exact =
        bounds(left ? test->getRHS() : test->getLHS(), step < 0, ends, test_needed) && started && test_needed.empty();
    const Poly i = Poly::symbol(into.iterator);
    for (const Poly& p : ends) {
      Poly room = step > 0 ? p.plus(i, -1) : i.plus(p, -1);
      if (op == BO_LT || op == BO_GT) room = room.plus(Poly::constant(1), -1);
      into.bounds.push_back({room});
    }
  }
  if (!test_needed.empty() || !needed.empty()) {
    // Conditions against wrap-around without the iterator can be tested at run time; with it, the bounds are unusable.
    for (const auto* list : {&needed, &test_needed})
      for (const Poly& p : *list) {
        const auto names = p.symbols();
        const bool own = std::find(names.begin(), names.end(), into.iterator) != names.end();
        const bool simple = std::all_of(names.begin(), names.end(), [&](const std::string& n) {
          const auto& all = scope_->nest.parameters;
          return std::find(all.begin(), all.end(), n) != all.end();
        });
        if (own && number->is_unsigned && step > 0) continue;  // counts upwards from a start >= 0
        if (simple && !scope_->in_function && p.affine()) {
          scope_->nest.assumptions.push_back(Condition{{{p}}});
          scope_->nest.assumption_texts.push_back("no wrap-around in the loop header of line " +
                                                  std::to_string(into.line));
        } else {
          return give_up("its bounds may wrap around");
        }
      }
  }
  if (isa<DoStmt>(s)) {  // the body runs before the first test: equal to a for loop only if the test holds at the start
    if (starts.size() != 1 || !closed || !limited) return give_up("its test may be false before the first iteration");
    for (const Constraint& c : (*when)[0]) {
      const Poly first = c.poly.substituted({{into.iterator, starts[0]}});
      const auto names = first.symbols();
      const bool simple = std::all_of(names.begin(), names.end(), [&](const std::string& n) {
        const auto& all = scope_->nest.parameters;
        return std::find(all.begin(), all.end(), n) != all.end();
      });
      if (const auto value = first.value(); value && *value >= 0) continue;
      if (first.value() || !simple || !first.affine())
        return give_up("its test may be false before the first iteration");
      scope_->nest.assumptions.push_back(Condition{{{first}}});
      scope_->nest.assumption_texts.push_back("the test of the do loop of line " + std::to_string(into.line) +
                                              " holds at the start");
    }
  }
  into.condition = expression(count.test, fx);
  if (test != nullptr && test->getOpcode() == BO_NE) {  // a grid-stride loop could step over the end value
    Effects again;
    const bool up = (referred(test->getLHS()) == var) == (step > 0);
    into.condition = expression(test->getLHS(), again) + (up ? " < " : " > ") + expression(test->getRHS(), again);
  }
  into.counted = true;
  node.accesses = fx.accesses;
  return true;
}

Node Reader::loop(const Stmt* s) {
  if (scope_->open.size() >= 8) refuse(s, "loops nested more than 8 deep are not supported");
  if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) return range_loop(range);
  Node node;
  node.kind = NodeKind::loop;
  node.line = line(s);
  node.source = source(s);
  node.guards = guards();
  Loop l;
  l.line = node.line;
  l.source = node.source;
  l.span = statement_span(s);
  l.id = loop_ids_[s];
  l.kind = isa<ForStmt>(s) ? "for" : isa<WhileStmt>(s) ? "while" : "do";
  const auto saved_values = scope_->values;
  const auto saved_iterators = scope_->iterators;
  if (header(s, l, node)) {
    Counting count;
    std::string ignored;
    counting(s, count, ignored);
    const Stmt* inside = count.body;
    if (count.last != nullptr) scope_->counted.insert(count.last);
    l.body = span(inside->getSourceRange());
    node.loop = begin_loop(l);
    Node wrapper;
    wrapper.children.push_back(statement(inside));
    node.children.push_back(std::move(wrapper));
    end_loop();
    scope_->values = saved_values;
    scope_->iterators = saved_iterators;
    return node;
  }
  // Not counted: keeps its test. The analysis numbers its iterations from 0 without an upper bound.
  Node outer;  // the init statement of a for loop precedes it
  outer.line = node.line;
  const Expr* test = nullptr;
  const Stmt* inside = nullptr;
  const Expr* increment = nullptr;
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    if (f->getConditionVariable() != nullptr) refuse(s, "a declaration inside the test is not supported");
    if (f->getInit() != nullptr) outer.children.push_back(statement(f->getInit()));
    test = f->getCond();
    increment = f->getInc();
    inside = f->getBody();
  } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
    if (w->getConditionVariable() != nullptr) refuse(s, "a declaration inside the test is not supported");
    test = w->getCond();
    inside = w->getBody();
  } else {
    test = cast<DoStmt>(s)->getCond();
    inside = cast<DoStmt>(s)->getBody();
  }
  l.counted = l.exact = false;
  l.bounds.clear();
  l.iterator = unique("iteration");
  l.bounds.push_back({Poly::symbol(l.iterator)});
  l.span = statement_span(s);
  l.body = span(inside->getSourceRange());
  node.loop = begin_loop(l);
  Node body;
  Node probe;
  probe.kind = NodeKind::statement;
  probe.line = node.line;
  Effects fx;
  const std::string condition_text = test != nullptr ? expression(test, fx) : "1";
  probe.accesses = fx.accesses;
  body.children.push_back(probe);
  body.children.push_back(statement(inside));
  std::string step;
  if (increment != nullptr) {
    std::vector<const Expr*> parts{increment->IgnoreParens()};
    while (const auto* comma = dyn_cast<BinaryOperator>(parts.front())) {
      if (comma->getOpcode() != BO_Comma) break;
      parts.front() = comma->getLHS()->IgnoreParens();
      parts.insert(parts.begin() + 1, comma->getRHS()->IgnoreParens());
    }
    for (const Expr* part : parts) {
      Node one = assignment(part);
      one.line = node.line;
      step += (step.empty() ? "" : ", ") + one.target + " " + one.operation + " " + one.text;
      one.text = one.target = one.operation = "";
      body.children.push_back(one);
    }
  }
  Loop& made = scope_->nest.loops[node.loop];
  made.condition = condition_text;
  made.start = made.kind == "for" ? "for (; " + condition_text + "; " + step + ")" : "while (" + condition_text + ")";
  node.children.push_back(std::move(body));
  end_loop();
  scope_->values = saved_values;
  scope_->iterators = saved_iterators;
  outer.children.push_back(std::move(node));
  outer.text = "{";
  Node wrapper;
  wrapper.line = outer.line;
  if (outer.children.size() == 1) {
    wrapper = std::move(outer.children[0]);
    return wrapper;
  }
  wrapper.children.push_back(std::move(outer));
  return wrapper;
}

}  // namespace ridge::place::frontend
