// Expressions: one visitor records the accesses of an expression and prints it as kernel text.
#include <clang/AST/APValue.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "place/frontend/nest_reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

struct Known {
  const char* name;
  int arguments;
  bool exact;  // identical in the last bit on all devices
};
// Functions whose kernel counterpart has the same name for float and double.
const Known kMath[] = {
    {"sqrt", 1, true},     {"fabs", 1, true},  {"floor", 1, true},  {"ceil", 1, true},   {"trunc", 1, true},
    {"round", 1, true},    {"rint", 1, true},  {"fmod", 2, true},   {"fmin", 2, true},   {"fmax", 2, true},
    {"copysign", 2, true}, {"fma", 3, true},   {"exp", 1, false},   {"exp2", 1, false},  {"expm1", 1, false},
    {"log", 1, false},     {"log2", 1, false}, {"log10", 1, false}, {"log1p", 1, false}, {"sin", 1, false},
    {"cos", 1, false},     {"tan", 1, false},  {"asin", 1, false},  {"acos", 1, false},  {"atan", 1, false},
    {"atan2", 2, false},   {"sinh", 1, false}, {"cosh", 1, false},  {"tanh", 1, false},  {"pow", 2, false},
    {"hypot", 2, false},   {"cbrt", 1, false}, {"erf", 1, false},   {"erfc", 1, false}};

bool from_system(const FunctionDecl* f, const ASTContext& ast) {
  const FunctionDecl* body = nullptr;
  return ast.getSourceManager().isInSystemHeader(f->getLocation()) || (f->getBuiltinID() != 0 && !f->hasBody(body));
}

}  // namespace

// OpenCV's rounding of a float or double to int. The functions belong to no namespace, so a user may declare others of
// these names: OpenCV's are in one of its headers.
std::optional<std::string> Expressions::opencv_rounding(const CallExpr* e, Effects& fx) {
  const FunctionDecl* callee = e->getDirectCallee();
  if (callee == nullptr || e->getNumArgs() != 1) return {};
  const SourceManager& sources = ast_.getSourceManager();
  if (sources.getFilename(sources.getExpansionLoc(callee->getLocation())).find("opencv2/") == llvm::StringRef::npos)
    return {};
  const std::string name = callee->getQualifiedNameAsString();
  const char* as = name == "cvRound" ? "rint" : name == "cvFloor" ? "floor" : name == "cvCeil" ? "ceil" : nullptr;
  const auto from = dialect(e->getArg(0)->getType());
  if (as == nullptr || !from) return {};
  const std::string text = expression(e->getArg(0), fx);
  return from->integer ? text : "(int)" + std::string(as) + "((" + from->name + ")(" + text + "))";
}

std::optional<std::string> Expressions::known_function(const CallExpr* e, Effects& fx) {
  std::string name = library_function(e->getDirectCallee());
  if (name.empty()) return {};
  if (name.rfind("__builtin_", 0) == 0) name = name.substr(10);
  const auto result = dialect(e->getType());
  if (!result) return {};
  std::vector<std::string> arguments;
  const std::string type = result->name;
  const auto read = [&](std::size_t count) {
    if (e->getNumArgs() != count) refuse(e, "this overload of " + name + " is not supported: " + source(e));
    for (const Expr* a : e->arguments()) arguments.push_back(expression(a, fx));
  };
  if (name == "min" || name == "max") {  // std::min(a, b) is b < a ? b : a, for NaN too
    if (!dialect(e->getArg(0)->getType())) return {};
    read(2);
    const std::string test = name == "min" ? "b < a" : "a < b";
    scope_.helper(name + "_" + type, "FUNCTION " + type + " " + name + "_" + type + "(" + type + " a, " + type +
                                         " b) { return " + test + " ? b : a; }\n");
    return name + "_" + type + "(" + arguments[0] + ", " + arguments[1] + ")";
  }
  if (name == "clamp") {
    read(3);
    scope_.helper("clamp_" + type, "FUNCTION " + type + " clamp_" + type + "(" + type + " v, " + type + " low, " +
                                       type + " high) { return v < low ? low : high < v ? high : v; }\n");
    return "clamp_" + type + "(" + arguments[0] + ", " + arguments[1] + ", " + arguments[2] + ")";
  }
  if (name == "abs" || name == "labs" || name == "llabs") {
    read(1);
    if (!result->integer) return "fabs((" + type + ")(" + arguments[0] + "))";
    scope_.helper("abs_" + type, "FUNCTION " + type + " abs_" + type + "(" + type + " a) { return a < 0 ? -a : a; }\n");
    return "abs_" + type + "(" + arguments[0] + ")";
  }
  if (result->integer && (name == "isnan" || name == "isinf" || name == "isfinite")) {
    const auto from = dialect(e->getArg(0)->getType());
    if (!from || from->integer) return {};
    read(1);
    const std::string x = "(" + arguments[0] + ")";
    if (name == "isnan") return "(" + x + " != " + x + ")";
    const std::string limit = from->name == "float" ? "INFINITY" : "(double)INFINITY";
    return name == "isinf" ? "(fabs" + x + " == " + limit + ")" : "(fabs" + x + " < " + limit + ")";
  }
  if (name == "lrint" || name == "lrintf" || name == "llrint" || name == "llrintf") {
    read(1);
    const auto from = dialect(e->getArg(0)->getType());
    return "(long)rint((" +
           (name.back() == 'f' ? std::string("float")
            : from->integer    ? "double"
                               : from->name) +
           ")(" + arguments[0] + "))";
  }
  if (result->integer) return {};
  if (name == "nearbyint" || name == "nearbyintf") name = "rint";
  for (const Known& known : kMath) {
    const std::string plain = known.name;
    if (name != plain && name != plain + "f") continue;
    read(static_cast<std::size_t>(known.arguments));
    scope_.nest.libm |= !known.exact;
    std::string text = plain + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)  // sqrt of a float in C is computed in double
      text += (i > 0 ? ", (" : "(") + type + ")(" + arguments[i] + ")";
    return text + ")";
  }
  return {};
}

std::string Expressions::call(const CallExpr* e, Effects& fx) {
  Expr::EvalResult constant;
  if (!e->isValueDependent() && e->EvaluateAsRValue(constant, ast_) && !constant.HasSideEffects &&
      (constant.Val.isInt() || constant.Val.isFloat()))
    return literal(constant.Val, e->getType(), e);  // std::numeric_limits<float>::max()
  if (const auto text = aggregates_.complex_part(e, fx)) return *text;
  if (const auto text = known_function(e, fx)) return *text;
  if (const auto text = opencv_rounding(e, fx)) return *text;
  if (const LambdaExpr* l = facts_.lambda(e)) return calls_.lambda_value(e, l, fx);
  if (const auto text = places_.value_named(e, fx)) return *text;
  const FunctionDecl* callee = e->getDirectCallee();
  if (callee == nullptr) refuse(e, "call through a pointer: its effects are unknown: " + source(e));
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee)) {
    if (method->isVirtual()) refuse(e, "virtual call: its effects are unknown: " + source(e));
    refuse(e, "member function calls are not supported here: " + source(e));
  }
  if (from_system(callee, ast_))
    refuse(e, "the effects of " + callee->getNameAsString() + "() are unknown: " + source(e));
  if (callee->isNoReturn()) refuse(e, "an assertion or a call that does not return may leave the loop: " + source(e));
  std::vector<const Expr*> ignored;
  if (const FunctionDecl* as = callee->hasBody() ? nullptr : models_.model(e, ignored, fx)) {
    scope_.nest.libm = true;
    return calls_.own_function(e, as, fx);
  }
  return calls_.own_function(e, callee, fx);
}

std::string Expressions::expression(const Expr* e, Effects& fx) {
  if (const auto* paren = dyn_cast<ParenExpr>(e)) return "(" + expression(paren->getSubExpr(), fx) + ")";
  if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(e)) return expression(m->getSubExpr(), fx);
  if (const auto* c = dyn_cast<ExprWithCleanups>(e)) return expression(c->getSubExpr(), fx);
  if (const auto* c = dyn_cast<ConstantExpr>(e)) return expression(c->getSubExpr(), fx);
  if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) return expression(s->getReplacement(), fx);
  if (const auto* d = dyn_cast<CXXDefaultArgExpr>(e)) return expression(d->getExpr(), fx);
  if (!dialect(e->getType()))
    refuse(e, "values of type " + type_text(e->getType()) + " are not supported: " + source(e));
  if (const auto text = literal_text(e, fx)) return *text;
  if (const auto text = models_.modelled_value(e)) return *text;
  if (const auto part = aggregates_.component(e, fx)) return part->text;
  if (const auto size = images_.size_of_part(e)) return size->text;
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
    const bool outer = scope_.may_hoist;
    scope_.may_hoist = outer && !b->isLogicalOp();
    const std::string r = expression(b->getRHS(), fx);
    scope_.may_hoist = outer;
    return l + " " + BinaryOperator::getOpcodeStr(b->getOpcode()).str() + " " + r;
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const std::string test = expression(c->getCond(), fx);
    const bool outer = std::exchange(scope_.may_hoist, false);
    const std::string yes = expression(c->getTrueExpr(), fx), no = expression(c->getFalseExpr(), fx);
    scope_.may_hoist = outer;
    const std::string type = dialect(e->getType())->name;
    return "(" + test + " ? (" + type + ")(" + yes + ") : (" + type + ")(" + no + "))";
  }
  if (isa<UnaryExprOrTypeTraitExpr>(e)) {
    Expr::EvalResult known;
    if (e->EvaluateAsRValue(known, ast_)) return literal(known.Val, e->getType(), e);
  }
  if (const int size = places_.extent(e); size >= 0) {
    fx.read(size, line(e));
    return scope_.nest.variables[size].name;
  }
  if (const ValueDecl* decl = referred(e))
    if (const auto it = scope_.iterators.find(decl); it != scope_.iterators.end()) return it->second;
  if (const auto p = places_.place(e, fx)) {
    scope_.record(*p, false, e, fx);
    return scope_.element_text(*p);
  }
  if (const auto* c = dyn_cast<CallExpr>(e)) return call(c, fx);
  if (isa<MemberExpr>(e))
    refuse(e, (of_union(e) ? "fields of unions are not supported: "
                           : "the struct of this field is not an element of a known array: ") +
                  source(e));
  refuse(e, describe(e) + " is not supported: " + source(e));
}

std::optional<std::string> Expressions::literal_text(const Expr* e, Effects& fx) {
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

std::string Expressions::cast_text(const CastExpr* e, Effects& fx) {
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
    case CK_UserDefinedConversion:
      refuse(e, "a conversion operator of a class is not supported: " + source(e));
    default:
      refuse(e, "conversion from " + type_text(sub->getType()) + " to " + type_text(e->getType()) +
                    " is not supported: " + source(e));
  }
}

// Text of a lambda's or member function's argument, or of a constant; none for other variables.
std::optional<std::string> Expressions::substituted(const DeclRefExpr* ref, Effects& fx) {
  if (const auto passed = scope_.given.find(ref->getDecl()); passed != scope_.given.end())
    return "(" + dialect(ref->getType())->name + ")(" + expression(passed->second, fx) + ")";
  if (const auto passed = scope_.bound.find(ref->getDecl()); passed != scope_.bound.end()) return passed->second.text;
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
std::optional<std::string> Expressions::unary_text(const UnaryOperator* u, Effects& fx) {
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
      if (scope_.steps.count(u) > 0) return expression(u->getSubExpr(), fx);  // emitted as a separate statement
      [[fallthrough]];
    default:
      refuse(u, "this use of " + UnaryOperator::getOpcodeStr(u->getOpcode()).str() + " is not supported: " + source(u));
  }
}

}  // namespace ridge::place::frontend
