// Expressions: one visitor records the accesses of an expression and prints it as kernel text.
#include <clang/AST/APValue.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

std::string float_text(double value, bool single) {
  char text[64];
  std::snprintf(text, sizeof text, single ? "%.9g" : "%.17g", value);
  std::string result = text;
  if (result.find_first_of(".en") == std::string::npos) result += ".0";
  return single ? result + "f" : result;
}

}  // namespace

std::string Reader::literal(const APValue& value, QualType type, const Stmt* at) const {
  const auto number = dialect(type);
  if (!number) refuse(at, "constants of this type are not supported");
  if (value.isInt()) {
    std::string digits;
    const auto& n = value.getInt();
    if (!number->is_unsigned && n.isSigned() && n.isMinSignedValue() && number->bytes >= 4)
      return number->bytes == 8 ? "(-9223372036854775807L - 1)" : "(-2147483647 - 1)";
    llvm::SmallString<32> text;
    n.toString(text, 10);
    digits = text.str().str();
    if (number->bytes == 8) digits += number->is_unsigned ? "UL" : "L";
    if (number->bytes == 4 && number->is_unsigned) digits += "U";
    return digits[0] == '-' ? "(" + digits + ")" : digits;
  }
  if (value.isFloat()) {
    const bool single = number->name == "float";
    const auto& f = value.getFloat();
    if (f.isNaN()) return single ? "NAN" : "(double)NAN";
    if (f.isInfinity()) {
      const std::string infinity = single ? "INFINITY" : "(double)INFINITY";
      return f.isNegative() ? "(-" + infinity + ")" : infinity;
    }
    const std::string text = float_text(single ? static_cast<double>(f.convertToFloat()) : f.convertToDouble(), single);
    return text[0] == '-' ? "(" + text + ")" : text;
  }
  refuse(at, "only constants that are numbers are supported");
}

std::string Reader::expression(const Expr* e, Effects& fx) {
  if (const auto* paren = dyn_cast<ParenExpr>(e)) return "(" + expression(paren->getSubExpr(), fx) + ")";
  if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(e)) return expression(m->getSubExpr(), fx);
  if (const auto* c = dyn_cast<ExprWithCleanups>(e)) return expression(c->getSubExpr(), fx);
  if (const auto* c = dyn_cast<ConstantExpr>(e)) return expression(c->getSubExpr(), fx);
  if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) return expression(s->getReplacement(), fx);
  if (const auto* d = dyn_cast<CXXDefaultArgExpr>(e)) return expression(d->getExpr(), fx);
  if (!dialect(e->getType()))
    refuse(e, "values of type " + type_text(e->getType()) + " are not supported: " + source(e));
  if (const auto text = literal_text(e, fx)) return *text;
  if (const auto text = modelled_value(e)) return *text;
  if (const auto part = component(e, fx)) return part->text;
  if (const auto size = size_of_part(e)) return size->text;
  if (const auto* converted = dyn_cast<CastExpr>(e)) return cast_text(converted, fx);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e))
    if (const auto text = substituted(ref, fx)) return *text;
  if (const auto* u = dyn_cast<UnaryOperator>(e))
    if (const auto text = unary_text(u, fx)) return *text;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    if (b->isAssignmentOp() || b->getOpcode() == BO_Comma || b->isPtrMemOp())
      refuse(e, "assignment inside an expression is not supported: " + source(e));
    if (!dialect(b->getLHS()->getType()) || !dialect(b->getRHS()->getType()))
      refuse(e, "arithmetic on pointers or objects is not supported: " + source(e));
    const std::string l = expression(b->getLHS(), fx);
    const bool outer = scope_->may_hoist;
    scope_->may_hoist = outer && !b->isLogicalOp();
    const std::string r = expression(b->getRHS(), fx);
    scope_->may_hoist = outer;
    return l + " " + BinaryOperator::getOpcodeStr(b->getOpcode()).str() + " " + r;
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const std::string test = expression(c->getCond(), fx);
    const bool outer = std::exchange(scope_->may_hoist, false);
    const std::string yes = expression(c->getTrueExpr(), fx), no = expression(c->getFalseExpr(), fx);
    scope_->may_hoist = outer;
    const std::string type = dialect(e->getType())->name;
    return "(" + test + " ? (" + type + ")(" + yes + ") : (" + type + ")(" + no + "))";
  }
  if (isa<UnaryExprOrTypeTraitExpr>(e)) {
    Expr::EvalResult known;
    if (e->EvaluateAsRValue(known, ast_)) return literal(known.Val, e->getType(), e);
  }
  if (const int size = extent(e); size >= 0) {
    const Variable& v = scope_->nest.variables[size];
    Access a;
    a.variable = size;
    a.line = line(e);
    fx.accesses.push_back(a);
    return v.name;
  }
  if (const ValueDecl* decl = referred(e))
    if (const auto it = scope_->iterators.find(decl); it != scope_->iterators.end()) return it->second;
  if (const auto p = place(e, fx)) {
    record(*p, false, e, fx);
    return element_text(*p);
  }
  if (const auto* c = dyn_cast<CallExpr>(e)) return call(c, fx);
  if (isa<MemberExpr>(e))
    refuse(e, (of_union(e) ? "fields of unions are not supported: "
                           : "this field is not supported (structs in arrays need fields of one number type): ") +
                  source(e));
  refuse(e, describe(e) + " is not supported: " + source(e));
}

std::optional<std::string> Reader::literal_text(const Expr* e, Effects& fx) {
  if (const auto* n = dyn_cast<IntegerLiteral>(e))
    return literal(APValue(llvm::APSInt(n->getValue(), e->getType()->isUnsignedIntegerType())), e->getType(), e);
  if (const auto* f = dyn_cast<FloatingLiteral>(e)) return literal(APValue(f->getValue()), e->getType(), e);
  if (const auto* b = dyn_cast<CXXBoolLiteralExpr>(e)) return b->getValue() ? "1" : "0";
  if (const auto* c = dyn_cast<CharacterLiteral>(e)) return std::to_string(c->getValue());
  if (isa<CXXScalarValueInitExpr, ImplicitValueInitExpr>(e)) return "0";
  if (const auto* list = dyn_cast<InitListExpr>(e); list != nullptr && list->getNumInits() <= 1)
    return list->getNumInits() == 0 ? "0" : expression(list->getInit(0), fx);
  return {};
}

std::string Reader::cast_text(const CastExpr* e, Effects& fx) {
  const bool written = isa<ExplicitCastExpr>(e);
  const Expr* sub = e->getSubExpr();
  switch (e->getCastKind()) {
    case CK_IntegralToBoolean:
    case CK_FloatingToBoolean:
      return "((" + expression(sub, fx) + ") != 0)";
    case CK_LValueToRValue:
    case CK_NoOp:
    case CK_IntegralCast:
    case CK_FloatingCast:
    case CK_IntegralToFloating:
    case CK_FloatingToIntegral:
    case CK_BooleanToSignedIntegral: {
      const std::string text = expression(sub, fx);
      if (!written) return text;
      // A functional cast wraps an implicit one of the same type.
      return "(" + dialect(e->getType())->name + ")(" + text + ")";
    }
    default:
      refuse(e, "conversion from " + type_text(sub->getType()) + " to " + type_text(e->getType()) +
                    " is not supported: " + source(e));
  }
}

// Text of a lambda's or member function's argument, or of a constant; none for other variables.
std::optional<std::string> Reader::substituted(const DeclRefExpr* ref, Effects& fx) {
  if (const auto passed = scope_->given.find(ref->getDecl()); passed != scope_->given.end())
    return "(" + dialect(ref->getType())->name + ")(" + expression(passed->second, fx) + ")";
  if (const auto passed = scope_->bound.find(ref->getDecl()); passed != scope_->bound.end()) return passed->second.text;
  if (const auto* constant = dyn_cast<EnumConstantDecl>(ref->getDecl()))
    return literal(APValue(constant->getInitVal()), ast_.IntTy, ref);
  if (const auto* var = dyn_cast<VarDecl>(ref->getDecl()); var != nullptr && var->getType().isConstQualified()) {
    Expr::EvalResult known;
    if (var->hasGlobalStorage() && ref->EvaluateAsRValue(known, ast_) && !known.HasSideEffects)
      return literal(known.Val, ref->getType(), ref);
  }
  return {};
}

// None for *p, which is a place.
std::optional<std::string> Reader::unary_text(const UnaryOperator* u, Effects& fx) {
  switch (u->getOpcode()) {
    case UO_Plus:
    case UO_Minus:
    case UO_Not:
    case UO_LNot: {
      std::string text = expression(u->getSubExpr(), fx);
      const std::string sign = UnaryOperator::getOpcodeStr(u->getOpcode()).str();
      if (text[0] == sign[0]) text = "(" + text + ")";  // - -x, not --x
      return sign + text;
    }
    case UO_Deref:
      return {};
    case UO_PreInc:
    case UO_PreDec:
    case UO_PostInc:
    case UO_PostDec:
      if (scope_->steps.count(u) > 0) return expression(u->getSubExpr(), fx);  // emitted as a separate statement
      [[fallthrough]];
    default:
      refuse(u, "this use of " + UnaryOperator::getOpcodeStr(u->getOpcode()).str() + " is not supported: " + source(u));
  }
}

}  // namespace ridge::place::frontend
