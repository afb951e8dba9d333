// Integer expressions as polynomials and conditions as constraints. Arithmetic is exact; if a type could wrap around,
// the condition that prevents it is recorded, to be proved or tested before the placed code runs.
#include <algorithm>

#include "place/frontend/values.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const Expr* bare(const Expr* e) {
  while (true) {
    e = e->IgnoreParens();
    if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(e))
      e = m->getSubExpr();
    else if (const auto* c = dyn_cast<ExprWithCleanups>(e))
      e = c->getSubExpr();
    else if (const auto* k = dyn_cast<ConstantExpr>(e))
      e = k->getSubExpr();
    else if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e))
      e = s->getReplacement();
    else
      return e;
  }
}

}  // namespace

std::optional<Poly> Numbers::poly_of(const ValueDecl* decl) {
  if (const auto it = scope_.values.find(decl); it != scope_.values.end()) return it->second;
  if (const auto it = scope_.given.find(decl); it != scope_.given.end()) {
    std::vector<Poly> needed;
    const auto p = poly(it->second, needed);
    return needed.empty() ? p : std::nullopt;
  }
  if (const auto it = scope_.bound.find(decl); it != scope_.bound.end())
    return it->second.not_negative.empty() ? it->second.value : std::nullopt;
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr || !var->getType().getNonReferenceType()->isIntegerType() || scope_.changed.count(var) > 0)
    return {};
  if (var->getType()->isReferenceType() && !isa<ParmVarDecl>(var)) return {};
  if (scope_.references.count(decl) > 0) return {};
  if (var->getType().isVolatileQualified()) return {};
  // A variable declared inside the nest without a closed form differs between iterations.
  if (const auto it = scope_.variables.find(decl); it != scope_.variables.end()) {
    const Variable& v = scope_.nest.variables[it->second];
    if (!v.loops.empty() || facts_.in_function)
      return v.parameter ? std::optional(Poly::symbol(scope_.symbol(it->second))) : std::nullopt;
  } else if (facts_.in_function && !isa<ParmVarDecl>(var)) {
    return {};
  }
  // const int height = image.rows; before the loop: use image.rows, since two names for one number would hide that they
  // are equal.
  if (!isa<ParmVarDecl>(var) && !var->hasGlobalStorage() && var->hasInit() && !var->getType()->isReferenceType() &&
      facts_.changed.count(var) == 0) {
    std::vector<Poly> needed;
    const Expr* init = bare(var->getInit());
    const Expr* inner = init->IgnoreParenImpCasts();
    Expr::EvalResult known;
    if (!init->isValueDependent() && init->EvaluateAsInt(known, ast_))  // int m = 1;
      if (auto p = poly(init, needed); p && p->value()) return p;
    if (const auto* b = dyn_cast<BinaryOperator>(inner);  // int half = n - 1;
        b != nullptr && (b->isAdditiveOp() || b->getOpcode() == BO_Mul || b->getOpcode() == BO_Shl) &&
        b->getType()->isIntegerType() && facts_.fixed_operands(inner, facts_.changed) && facts_.settled(inner))
      if (auto p = poly(init, needed); p && needed.empty() && p->affine()) return p;
    if ((isa<DeclRefExpr>(inner) || isa<CXXMemberCallExpr>(inner)) && users_method(inner) == nullptr &&
        facts_.fixed_operands(inner, facts_.changed) && (scope_.tested || facts_.settled(inner)))
      if (auto p = poly(init, needed); p && needed.empty()) {
        if (!facts_.settled(inner)) {
          const Poly now = Poly::symbol(scope_.symbol(scope_.variable(decl, init)));
          scope_.assume(
              Condition{{{now.plus(*p, -1), true}}},
              var->getNameAsString() + " still has the value set in line " + std::to_string(line(var->getLocation())));
        }
        return p;
      }
  }
  if (const auto known = facts_.constant_before(var, scope_.root)) return Poly::constant(*known);
  return Poly::symbol(scope_.symbol(scope_.variable(decl, nullptr)));
}

// The value after conversion to `type`; empty if it may not fit.
std::optional<Poly> Numbers::in_type(std::optional<Poly> p, QualType type, std::vector<Poly>& not_negative) const {
  if (!p || !p->fits()) return {};
  const auto number = dialect(type);
  if (!number || !number->integer || type->isBooleanType()) return {};
  if (const auto value = p->value()) {
    if (*value >= 0 && (number->bytes >= 4 ? *value <= 0x7fffffff : *value < 128)) return p;
    if (!number->is_unsigned && number->bytes >= 4 && *value >= -0x7fffffff && *value <= 0x7fffffff) return p;
    if (number->bytes == 8 && (*value >= 0 || !number->is_unsigned)) return p;
    return {};
  }
  if (number->bytes < 4) return {};
  if (number->is_unsigned) {
    if (!p->affine()) {
      if (number->bytes < 8) return {};
      return p;  // products of sizes: tested to be far below 2^64
    }
    if (p->terms().size() == 1 && p->terms().begin()->first.size() == 1 && p->terms().begin()->second > 0) {
      const std::string& name = p->terms().begin()->first[0];
      for (const Variable& v : scope_.nest.variables)
        if (v.name == name && v.is_unsigned) return p;
    }
    not_negative.push_back(*p);
    if (number->bytes == 4) not_negative.push_back(Poly::constant(0xffffffffL).plus(*p, -1));
  }
  return p;
}

// The value of an integer expression; remainders only if the caller can use them.
std::optional<Poly> Numbers::poly(const Expr* e, std::vector<Poly>& not_negative) {
  auto p = value(e, not_negative);
  return p && !scope_.may_be_remainder && scope_.has_remainder(*p) ? std::nullopt : p;
}

std::optional<Poly> Numbers::value(const Expr* e, std::vector<Poly>& not_negative) {
  e = bare(e);
  Expr::EvalResult known;
  if (!e->isValueDependent() && e->getType()->isIntegerType() && !e->getType()->isBooleanType() &&
      e->EvaluateAsInt(known, ast_)) {
    const auto& value = known.Val.getInt();
    if (value.getSignificantBits() > 62) return {};
    return Poly::constant(value.getExtValue());
  }
  if (const auto* converted = dyn_cast<CastExpr>(e)) return poly_of_cast(converted, not_negative);
  if (const auto part = aggregates_.known_component(e)) return part->value;
  if (const auto size = images_.size_of_part(e)) return size->value;
  if (const auto size = images_.size_when_made(e)) return size;
  if (const int size = places_.extent(e); size >= 0) return Poly::symbol(scope_.symbol(size));
  if (const ValueDecl* decl = referred(e)) {
    const auto it = scope_.bound.find(decl);
    if (const auto held = scope_.conditions.find(decl); held != scope_.conditions.end()) {
      if (!scope_.may_be_remainder) return {};  // only accesses test conditions on iterators
      not_negative.insert(not_negative.end(), held->second.begin(), held->second.end());
    }
    if (it == scope_.bound.end()) return poly_of(decl);
    not_negative.insert(not_negative.end(), it->second.not_negative.begin(), it->second.not_negative.end());
    return it->second.value;
  }
  if (users_method(e) != nullptr) {  // v.rows(), v.index(r, c)
    Effects ignored;
    std::optional<Poly> p;
    places_.look_through(e, ignored, [&](const Expr* result) { p = poly(result, not_negative); });
    return p;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e)) {
    auto p =
        u->getOpcode() == UO_Minus || u->getOpcode() == UO_Plus ? poly(u->getSubExpr(), not_negative) : std::nullopt;
    if (!p) return {};
    return in_type(u->getOpcode() == UO_Minus ? Poly().plus(*p, -1) : *p, e->getType(), not_negative);
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return poly_of_operator(b, not_negative);
  if (const auto* called = dyn_cast<CallExpr>(e)) return poly_of_call(called, not_negative);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return poly_of_conditional(c);
  return {};
}

std::optional<Poly> Numbers::poly_of_cast(const CastExpr* e, std::vector<Poly>& not_negative) {
  switch (e->getCastKind()) {
    case CK_LValueToRValue:
    case CK_NoOp:
      return poly(e->getSubExpr(), not_negative);
    case CK_IntegralCast: {
      const auto from = dialect(e->getSubExpr()->getType()), to = dialect(e->getType());
      if (!from || !to) return {};
      auto p = poly(e->getSubExpr(), not_negative);
      const bool wider = to->bytes > from->bytes && (!to->is_unsigned || from->is_unsigned);
      if (wider || (to->bytes == from->bytes && to->is_unsigned == from->is_unsigned)) return p;
      if (p && !p->affine() && to->bytes < from->bytes) return {};  // no affine test could decide whether it fits
      if (p && p->affine() && !p->value() && to->bytes >= 4 && !to->is_unsigned) {  // int(v.size())
        not_negative.push_back(Poly::constant(0x7fffffffL).plus(*p, -1));
        if (!from->is_unsigned) not_negative.push_back(Poly::constant(0x7fffffffL).plus(*p));
      }
      return in_type(p, e->getType(), not_negative);
    }
    default:
      return {};
  }
}

std::optional<Poly> Numbers::poly_of_operator(const BinaryOperator* e, std::vector<Poly>& not_negative) {
  if (!e->isAdditiveOp() && !e->isMultiplicativeOp() && !e->isShiftOp()) return {};
  const auto l = poly(e->getLHS(), not_negative), r = poly(e->getRHS(), not_negative);
  if (!l || !r) return {};
  switch (e->getOpcode()) {
    case BO_Add:
      return in_type(l->plus(*r), e->getType(), not_negative);
    case BO_Sub:
      return in_type(l->plus(*r, -1), e->getType(), not_negative);
    case BO_Mul:
      return in_type(l->times(*r), e->getType(), not_negative);
    case BO_Shl:
      if (const auto by = r->value(); by && *by >= 0 && *by < 31)
        return in_type(l->times(Poly::constant(1L << *by)), e->getType(), not_negative);
      return {};
    case BO_Shr:
    case BO_Div:
    case BO_Rem: {
      const auto by = r->value();
      if (!by && e->getOpcode() == BO_Rem) return remainder(*l, *r, e->getRHS());
      if (!by || *by <= 0 || !l->affine()) return {};
      if (e->getOpcode() == BO_Shr && *by > 30) return {};
      const long divisor = e->getOpcode() == BO_Shr ? 1L << *by : *by;
      if (e->getOpcode() != BO_Shr || e->getType()->isUnsignedIntegerType()) not_negative.push_back(*l);
      const Poly quotient = Poly::quotient(*l, divisor);
      return e->getOpcode() == BO_Rem ? l->plus(quotient, -divisor) : quotient;
    }
    default:
      return {};
  }
}

// (x + dx + n) % n with a size n: some number from 0 to n - 1, if the operands are what they usually are.
std::optional<Poly> Numbers::remainder(const Poly& of, const Poly& size, const Expr* divisor) {
  const auto names = size.symbols();
  const auto& known = scope_.nest.parameters;
  if (!scope_.may_be_remainder || facts_.in_function || !of.affine() || !size.affine() ||
      !std::all_of(names.begin(), names.end(),
                   [&](const auto& n) { return std::find(known.begin(), known.end(), n) != known.end(); }))
    return {};
  const std::string name = scope_.unique("rest");
  const Poly rest = Poly::symbol(name), last = size.plus(Poly::constant(1), -1);
  // Assumed for the whole nest, not for this access: with a divisor below 1 the range of remainders is empty, so no
  // access would be left to test the condition on.
  scope_.assume(Condition{{{last}}}, "the divisor " + source(divisor) + " is at least 1");
  scope_.remainders[name] = {{{rest}, {last.plus(rest, -1)}}, {of}};
  return rest;
}

// std::min, std::max and std::clamp.
std::optional<Poly> Numbers::poly_of_call(const CallExpr* e, std::vector<Poly>& not_negative) {
  const std::string name = extreme_called(e);
  if ((name == "min" || name == "max") && e->getNumArgs() == 2) {
    const auto l = poly(e->getArg(0), not_negative), r = poly(e->getArg(1), not_negative);
    if (l && r && l->affine() && r->affine()) return Poly::extreme(name == "max", *l, *r);
  }
  if (name == "clamp" && e->getNumArgs() == 3) {
    const auto v = poly(e->getArg(0), not_negative), low = poly(e->getArg(1), not_negative),
               high = poly(e->getArg(2), not_negative);
    if (v && low && high && v->affine() && low->affine() && high->affine())
      return Poly::extreme(false, Poly::extreme(true, *v, *low), *high);  // low <= high, else undefined
  }
  return {};
}

namespace {

// 1 if poly >= 0, else 0.
Poly not_below_zero(const Poly& poly) {
  return Poly::extreme(true, Poly::constant(0), Poly::extreme(false, Poly::constant(1), poly.plus(Poly::constant(1))));
}

}  // namespace

// a < b ? a : b as a minimum; x == 0 ? c : c - 1 as c - 1 plus the difference times 1 or 0.
std::optional<Poly> Numbers::poly_of_conditional(const ConditionalOperator* e) {
  std::vector<Poly> needed;
  const auto* test = dyn_cast<BinaryOperator>(bare(bare(e->getCond())->IgnoreParenImpCasts()));
  if (test == nullptr || !test->isComparisonOp() || !test->getLHS()->getType()->isIntegerType()) return {};
  const auto a = poly(test->getLHS(), needed), b = poly(test->getRHS(), needed), x = poly(e->getTrueExpr(), needed),
             y = poly(e->getFalseExpr(), needed);
  if (!a || !b || !x || !y || !a->affine() || !b->affine() || !needed.empty()) return {};
  if (test->isRelationalOp()) {
    const bool less = test->getOpcode() == BO_LT || test->getOpcode() == BO_LE;
    if (*x == *a && *y == *b) return Poly::extreme(!less, *a, *b);
    if (*x == *b && *y == *a) return Poly::extreme(less, *a, *b);
  }
  const bool negate = test->getOpcode() == BO_NE;
  const auto when = condition(test, negate, needed);
  if (!when || when->size() != 1 || when->front().size() != 1 || !needed.empty()) return {};
  const Constraint& c = when->front().front();
  const Poly holds =
      c.equality ? not_below_zero(c.poly).plus(not_below_zero(Poly().plus(c.poly, -1))).plus(Poly::constant(1), -1)
                 : not_below_zero(c.poly);
  const Poly &yes = negate ? *y : *x, &no = negate ? *x : *y;
  const auto chosen = yes.plus(no, -1).times(holds);
  return chosen ? std::optional(no.plus(*chosen)) : std::nullopt;
}

// Splits v >= max(a, b) into v >= a and v >= b. Parts that are not affine are omitted; returns false if any was.
bool Numbers::bounds(const Expr* e, bool lower, std::vector<Poly>& into, std::vector<Poly>& not_negative) {
  const Expr* inner = bare(bare(e)->IgnoreParenImpCasts());
  if (const auto* call = dyn_cast<CallExpr>(inner); call != nullptr && call->getNumArgs() == 2)
    if (extreme_called(call) == (lower ? "max" : "min")) {
      const bool first = bounds(call->getArg(0), lower, into, not_negative);
      const bool second = bounds(call->getArg(1), lower, into, not_negative);
      return first && second;
    }
  auto p = poly(e, not_negative);
  if (const auto* narrowed = dyn_cast<CastExpr>(bare(e)); !p && narrowed != nullptr) {  // int(h * w)
    std::vector<Poly> unused;
    p = narrowed->getCastKind() == CK_IntegralCast ? poly(narrowed->getSubExpr(), unused) : std::nullopt;
    if (p && p->affine()) return false;
  }
  if (p && p->fits() && !p->affine() && !facts_.in_function &&
      scope_.inlined == 0) {  // h * w becomes a parameter computed by the host
    const auto names = p->symbols();
    const auto& known = scope_.nest.parameters;
    const bool sizes = std::all_of(names.begin(), names.end(), [&](const std::string& n) {
      return std::find(known.begin(), known.end(), n) != known.end();
    });
    if (sizes)
      p = Poly::symbol(
          scope_.symbol(scope_.pseudo("(" + original(e->getSourceRange()) + ")", "size", e->getType(), e)));
  }
  if (!p || !p->affine()) return false;
  into.push_back(*p);
  return true;
}

std::optional<Condition> Numbers::condition(const Expr* e, bool negate, std::vector<Poly>& not_negative) {
  e = bare(bare(e)->IgnoreParenImpCasts());
  if (const auto* literal = dyn_cast<CXXBoolLiteralExpr>(e))
    return literal->getValue() != negate ? Condition{{}} : Condition{};
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_LNot)
    return condition(u->getSubExpr(), !negate, not_negative);
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (b == nullptr) return {};
  if (b->isLogicalOp()) {
    const auto l = condition(b->getLHS(), negate, not_negative), r = condition(b->getRHS(), negate, not_negative);
    if (!l || !r || l->size() * r->size() > 16 || l->size() + r->size() > 16) return {};
    return (b->getOpcode() == BO_LAnd) != negate ? both(*l, *r) : either(*l, *r);
  }
  if (!b->isComparisonOp() || !b->getLHS()->getType()->isIntegerType() || !b->getRHS()->getType()->isIntegerType())
    return {};
  const auto l = poly(b->getLHS(), not_negative), r = poly(b->getRHS(), not_negative);
  if (!l || !r || !l->affine() || !r->affine()) return {};
  const Poly more = r->plus(*l, -1), less = l->plus(*r, -1), one = Poly::constant(1);
  switch (negate ? BinaryOperator::negateComparisonOp(b->getOpcode()) : b->getOpcode()) {
    case BO_LT:
      return Condition{{{more.plus(one, -1)}}};
    case BO_LE:
      return Condition{{{more}}};
    case BO_GT:
      return Condition{{{less.plus(one, -1)}}};
    case BO_GE:
      return Condition{{{less}}};
    case BO_EQ:
      return Condition{{{less, true}}};
    case BO_NE:
      return Condition{{{more.plus(one, -1)}}, {{less.plus(one, -1)}}};
    default:
      return {};
  }
}

}  // namespace ridge::place::frontend
