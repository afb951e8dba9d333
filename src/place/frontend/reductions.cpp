// Recognizes reductions by the shape of the syntax tree: recurrences whose order may change. Other accesses to the same
// variable are found by the dependence test.
#include <algorithm>

#include "place/frontend/nest_reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const Expr* stripped(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  while (const auto* m = dyn_cast<MaterializeTemporaryExpr>(e)) e = m->getSubExpr()->IgnoreParenImpCasts();
  return e;
}

// int smaller(int a, int b) { return a < b ? a : b; }
std::string written_as_extreme(const FunctionDecl* callee) {
  const FunctionDecl* body = nullptr;
  if (isa<CXXMethodDecl>(callee) || callee->getNumParams() != 2 || !callee->hasBody(body)) return "";
  const auto* block = dyn_cast_or_null<CompoundStmt>(body->getBody());
  const auto* result = block != nullptr && block->size() == 1 ? dyn_cast<ReturnStmt>(block->body_front()) : nullptr;
  if (result == nullptr || result->getRetValue() == nullptr) return "";
  const auto* c = dyn_cast<ConditionalOperator>(stripped(result->getRetValue()));
  const auto* test = c != nullptr ? dyn_cast<BinaryOperator>(stripped(c->getCond())) : nullptr;
  if (test == nullptr || !test->isRelationalOp()) return "";
  const auto bare_type = [](QualType t) { return t.getNonReferenceType().getCanonicalType().getUnqualifiedType(); };
  const QualType type = bare_type(body->getReturnType());
  if (!type->isIntegerType() || type->isBooleanType() || type->isEnumeralType()) return "";
  for (const ParmVarDecl* p : body->parameters())
    if (bare_type(p->getType()) != type || p->getType()->isRValueReferenceType()) return "";
  const auto parameter = [&](const Expr* e) -> int {
    const auto* ref = dyn_cast<DeclRefExpr>(stripped(e));
    for (int i = 0; i < 2; ++i)
      if (ref != nullptr && ref->getDecl() == body->getParamDecl(static_cast<unsigned>(i))) return i;
    return -1;
  };
  const int left = parameter(test->getLHS()), right = parameter(test->getRHS()), yes = parameter(c->getTrueExpr()),
            no = parameter(c->getFalseExpr());
  if (left < 0 || right < 0 || left == right || yes < 0 || no < 0 || yes == no) return "";
  const bool less = test->getOpcode() == BO_LT || test->getOpcode() == BO_LE;
  return (yes == left) == less ? "min" : "max";
}

}  // namespace

std::string extreme_called(const CallExpr* call) {
  const FunctionDecl* callee = call->getDirectCallee();
  if (callee == nullptr || !callee->getDeclName().isIdentifier()) return "";
  const std::string name = library_function(callee);
  return name.empty() ? written_as_extreme(callee) : call->getNumArgs() == (name == "clamp" ? 3 : 2) ? name : "";
}

bool same(const Expr* a, const Expr* b) {
  a = stripped(a);
  b = stripped(b);
  if (a->getStmtClass() != b->getStmtClass()) return false;
  if (const auto* x = dyn_cast<DeclRefExpr>(a)) return x->getDecl() == cast<DeclRefExpr>(b)->getDecl();
  if (const auto* x = dyn_cast<IntegerLiteral>(a)) return x->getValue() == cast<IntegerLiteral>(b)->getValue();
  if (const auto* x = dyn_cast<FloatingLiteral>(a))
    return x->getValue().bitwiseIsEqual(cast<FloatingLiteral>(b)->getValue());
  if (const auto* x = dyn_cast<BinaryOperator>(a)) {
    if (x->getOpcode() != cast<BinaryOperator>(b)->getOpcode() || x->isAssignmentOp()) return false;
  } else if (const auto* u = dyn_cast<UnaryOperator>(a)) {
    if (u->getOpcode() != cast<UnaryOperator>(b)->getOpcode() || u->isIncrementDecrementOp()) return false;
  } else if (const auto* m = dyn_cast<MemberExpr>(a)) {
    if (m->getMemberDecl() != cast<MemberExpr>(b)->getMemberDecl()) return false;
  } else if (const auto* c = dyn_cast<CallExpr>(a)) {
    if (c->getDirectCallee() == nullptr || c->getDirectCallee() != cast<CallExpr>(b)->getDirectCallee()) return false;
  } else if (isa<ExplicitCastExpr>(a)) {
    if (a->getType().getCanonicalType() != b->getType().getCanonicalType()) return false;
  } else if (!isa<ArraySubscriptExpr>(a)) {
    return false;
  }
  auto i = a->child_begin(), j = b->child_begin();
  for (; i != a->child_end() && j != b->child_end(); ++i, ++j) {
    const auto *x = dyn_cast_or_null<Expr>(*i), *y = dyn_cast_or_null<Expr>(*j);
    if (x == nullptr || y == nullptr || !same(x, y)) return false;
  }
  return i == a->child_end() && j == b->child_end();
}

bool mentions(const Stmt* s, const Expr* cell) {
  if (s == nullptr) return false;
  if (const auto* e = dyn_cast<Expr>(s); e != nullptr && same(e, cell)) return true;
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return mentions(c, cell); });
}

namespace {

QualType plain_type(const Expr* e) { return e->getType().getCanonicalType().getUnqualifiedType(); }

}  // namespace

// Recognizes one update as a reduction. Scope::own receives the reads and writes that belong to it.
class Statements::UpdateReader {
 public:
  explicit UpdateReader(Statements& statements) : r_(statements) {}

  Reduction read(const Stmt* s) {
    r_.scope_.own.clear();
    if (const auto* u = dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
      return found(Combine::sum, u->getSubExpr(), {u->getSubExpr()});
    if (const auto* b = dyn_cast<BinaryOperator>(s)) return assignment(b);
    const auto* branch = dyn_cast<IfStmt>(s);
    return branch != nullptr ? guarded_extreme(branch) : Reduction{};
  }

 private:
  int target(const Expr* e) {
    Effects ignored;
    const auto own = r_.scope_.own;
    const auto p = r_.places_.place(e, ignored);
    r_.scope_.own = own;
    return p ? p->variable : -1;
  }

  Reduction found(Combine combine, const Expr* cell, const std::set<const Expr*>& own) {
    result_.target = target(cell);
    if (result_.target < 0 || r_.scope_.nest.variables[result_.target].mixed) return Reduction{};
    result_.combine = combine;
    for (const Expr* e : own) r_.scope_.own.insert(stripped(e));
    return result_;
  }

  Reduction assignment(const BinaryOperator* b) {
    const Expr* cell = b->getLHS();
    const bool whole = cell->getType()->isIntegerType();
    const bool truth = cell->getType()->isBooleanType();  // bool: 1 + 1 is 1, so 1 + 1 - 1 depends on the order
    if (const auto* compound = dyn_cast<CompoundAssignOperator>(b)) {
      const auto op = b->getOpcode();
      if (truth || (op != BO_AddAssign && op != BO_SubAssign && op != BO_MulAssign)) return {};
      if (whole && !compound->getComputationResultType()->isIntegerType())
        return {};  // rounded to an integer at every step
      if (mentions(b->getRHS(), cell)) return {};
      return found(op == BO_MulAssign ? Combine::product : Combine::sum, cell, {cell});
    }
    if (b->getOpcode() != BO_Assign) return {};
    const Expr* right = stripped(b->getRHS());
    if (whole && !right->getType()->isIntegerType()) return {};
    if (const auto* sum = dyn_cast<BinaryOperator>(right)) return truth ? Reduction{} : sum_or_product(cell, sum);
    if (const auto* call = dyn_cast<CallExpr>(right); call != nullptr && call->getNumArgs() == 2)
      return called_extreme(cell, call);
    const auto* c = dyn_cast<ConditionalOperator>(right);
    return c != nullptr ? conditional_extreme(cell, c) : Reduction{};
  }

  // x = (x + a) + b, x = a + x
  Reduction sum_or_product(const Expr* cell, const BinaryOperator* sum) {
    const auto op = sum->getOpcode();
    if (op != BO_Add && op != BO_Mul && op != BO_Sub) return {};
    const Combine combine = op == BO_Mul ? Combine::product : Combine::sum;
    const Expr* at = sum;
    std::vector<const Expr*> others;
    while (const auto* step = dyn_cast<BinaryOperator>(at)) {
      const bool fits = op == BO_Mul ? step->getOpcode() == BO_Mul : step->isAdditiveOp();
      if (!fits) break;
      if (others.empty() && op != BO_Sub && same(step->getRHS(), cell) && !mentions(step->getLHS(), cell))
        return found(combine, cell, {step->getRHS(), cell});
      others.push_back(step->getRHS());
      at = stripped(step->getLHS());
    }
    if (same(at, cell) && std::none_of(others.begin(), others.end(), [&](const Expr* o) { return mentions(o, cell); }))
      return found(combine, cell, {at, cell});
    return {};
  }

  // x = std::min(x, e)
  Reduction called_extreme(const Expr* cell, const CallExpr* call) {
    const std::string name = extreme_called(call);
    const bool low = name == "min" || name == "fmin" || name == "fminf",
               high = name == "max" || name == "fmax" || name == "fmaxf";
    if ((!low && !high) || plain_type(call) != plain_type(cell)) return {};
    const bool symmetric = name[0] == 'f', whole = cell->getType()->isIntegerType();
    for (int side = 0; side < (symmetric || whole ? 2 : 1);
         ++side)  // std::min(e, x) differs from std::min(x, e) if e is NaN
      if (same(call->getArg(side), cell) && !mentions(call->getArg(1 - side), cell)) {
        result_.by_comparison = !symmetric;
        return found(low ? Combine::minimum : Combine::maximum, cell, {call->getArg(side), cell});
      }
    return {};
  }

  // x = e < x ? e : x
  Reduction conditional_extreme(const Expr* cell, const ConditionalOperator* c) {
    const auto* test = dyn_cast<BinaryOperator>(stripped(c->getCond()));
    if (test == nullptr || !test->isRelationalOp() || !same(c->getFalseExpr(), cell) ||
        plain_type(c) != plain_type(cell))
      return {};
    const Expr* value = c->getTrueExpr();
    const bool less = test->getOpcode() == BO_LT || test->getOpcode() == BO_LE;
    if (mentions(value, cell)) return {};
    if (same(test->getLHS(), value) && same(test->getRHS(), cell))
      return found(less ? Combine::minimum : Combine::maximum, cell, {c->getFalseExpr(), test->getRHS(), cell});
    if (same(test->getRHS(), value) && same(test->getLHS(), cell))
      return found(less ? Combine::maximum : Combine::minimum, cell, {c->getFalseExpr(), test->getLHS(), cell});
    return {};
  }

  // if (e < x) { x = e; where = i; }
  Reduction guarded_extreme(const IfStmt* branch) {
    if (branch->getElse() != nullptr) return {};
    const auto* test = dyn_cast<BinaryOperator>(stripped(branch->getCond()));
    if (test == nullptr || !test->isRelationalOp()) return {};
    std::vector<const Stmt*> body;
    if (const auto* block = dyn_cast<CompoundStmt>(branch->getThen()))
      body.assign(block->body_begin(), block->body_end());
    else
      body = {branch->getThen()};
    for (const bool swapped : {false, true}) {
      const Expr *value = swapped ? test->getRHS() : test->getLHS(), *best = swapped ? test->getLHS() : test->getRHS();
      if (referred(best) == nullptr || mentions(value, best)) continue;
      const QualType kept = plain_type(stripped(best));  // compared in the stored type, or both widened alike
      if (plain_type(best) != kept && plain_type(stripped(value)) != kept) continue;
      best = stripped(best);
      std::vector<const Expr*> payload;
      if (!keeps_best(body, value, best, payload)) continue;
      const auto op = test->getOpcode();
      const bool less = swapped ? (op == BO_GT || op == BO_GE) : (op == BO_LT || op == BO_LE);
      result_.strict = op == BO_LT || op == BO_GT;
      return extreme_with_payload(body, best, payload, less);
    }
    return {};
  }

  // True if the body assigns `value` to `best` once, and otherwise only variables that do not influence later updates:
  // the payload.
  bool keeps_best(const std::vector<const Stmt*>& body, const Expr* value, const Expr* best,
                  std::vector<const Expr*>& payload) const {
    bool taken = false, clean = !body.empty();
    for (const Stmt* part : body) {
      const auto* set = dyn_cast<BinaryOperator>(part);
      if (set == nullptr || set->getOpcode() != BO_Assign || referred(set->getLHS()) == nullptr) return false;
      if (same(set->getLHS(), best)) {
        clean = clean && !taken && same(set->getRHS(), value);
        taken = true;
      } else {
        clean = clean && !mentions(set->getRHS(), best);
        payload.push_back(set->getLHS());
      }
    }
    for (const Expr* p : payload)
      for (const Stmt* part : body)
        if (const auto* set = dyn_cast_or_null<BinaryOperator>(part)) clean = clean && !mentions(set->getRHS(), p);
    for (const Expr* p : payload) clean = clean && !mentions(value, p);
    return taken && clean;
  }

  Reduction extreme_with_payload(const std::vector<const Stmt*>& body, const Expr* best,
                                 const std::vector<const Expr*>& payload, bool less) {
    const auto& variables = r_.scope_.nest.variables;
    std::set<const Expr*> own{best};
    for (const Stmt* part : body) own.insert(cast<BinaryOperator>(part)->getLHS());
    for (const Expr* p : payload) {
      const int v = target(p);
      if (v < 0 || variables[v].array()) return r_.scope_.own.clear(), Reduction{};
      result_.payload.push_back(v);
    }
    const Combine combine =
        payload.empty() ? (less ? Combine::minimum : Combine::maximum) : (less ? Combine::argmin : Combine::argmax);
    Reduction result = found(combine, best, own);
    if (result.target >= 0 && variables[result.target].array()) return r_.scope_.own.clear(), Reduction{};
    return result;
  }

  Statements& r_;
  Reduction result_{};
};

Reduction Statements::reduction(const Stmt* s) { return UpdateReader(*this).read(s); }

}  // namespace ridge::place::frontend
