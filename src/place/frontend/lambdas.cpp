// Calls of lambdas whose body is known: read as if the body were written at the call.
#include <algorithm>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const LambdaExpr* written_in(const Expr* e) {
  while (e != nullptr) {
    e = e->IgnoreParens()->IgnoreImplicit();
    if (const auto* l = dyn_cast<LambdaExpr>(e)) return l;
    const auto* made = dyn_cast<CXXConstructExpr>(e);  // moved or copied into its variable
    if (made == nullptr || made->getNumArgs() != 1) return nullptr;
    e = made->getArg(0);
  }
  return nullptr;
}

}  // namespace

const LambdaExpr* Reader::lambda(const CallExpr* e) const {
  const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
  if (call == nullptr || call->getOperator() != OO_Call || call->getNumArgs() == 0 || scope_->in_function)
    return nullptr;
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
  if (method == nullptr || !method->getParent()->isLambda() || !method->hasBody()) return nullptr;
  if (const LambdaExpr* here = written_in(call->getArg(0))) return here;
  const auto* var = dyn_cast_or_null<VarDecl>(referred(call->getArg(0)));
  if (var == nullptr || !var->hasInit() || var->getType()->isReferenceType() || changed_in_function_.count(var) > 0)
    return nullptr;
  return written_in(var->getInit());
}

// Refuses lambdas whose captured copies may differ from the current values of the variables.
void Reader::refuse_stale_captures(const CallExpr* e, const LambdaExpr* l) const {
  if (scope_->lambdas > 6) refuse(e, "lambda calls nested more than 7 deep are not supported");
  if (l->isMutable()) refuse(e, "a mutable lambda is not supported: " + source(e));
  for (const auto& capture : l->captures()) {
    if (!capture.capturesVariable()) refuse(e, "a lambda that captures this is not supported: " + source(e));
    const auto* var = dyn_cast<VarDecl>(capture.getCapturedVar());
    if (var == nullptr) refuse(e, "a lambda that captures a structured binding is not supported: " + source(e));
    const std::string name = var->getNameAsString();
    if (var->isInitCapture()) refuse(e, "the init-capture " + name + " of a lambda is not supported: " + source(e));
    if (capture.getCaptureKind() == LCK_ByRef) continue;
    if (!dialect(var->getType()) && !var->getType()->isPointerType() && !is_view(var->getType()->getAsCXXRecordDecl()))
      refuse(e, "a lambda that captures a copy of " + name + " is not supported: " + source(e));
    if (changed_in_function_.count(var) > 0 || escaped_.count(var) > 0)
      refuse(e, "a lambda that captures a copy of " + name + ", which changes, is not supported: " + source(e));
  }
}

// Binds a parameter to its argument. Arrays become another name for the argument; returns true if the parameter is a
// number.
bool Reader::pass(const ParmVarDecl* formal, const Expr* actual, Effects& fx) {
  const QualType type = formal->getType();
  if (type->isPointerType()) {
    const auto p = pointer(actual, fx);
    refuse_changing_subscripts(actual, formal->getNameAsString());
    if (!p || scope_->changed.count(formal) > 0)
      refuse(actual, "the argument " + source(actual) + " does not point to a known array element");
    scope_->pointers[formal] = *p;
    return false;
  }
  if (!dialect(type.getNonReferenceType())) {
    const auto which = type->isReferenceType() ? object(actual) : std::nullopt;
    if (!which) refuse(actual, "the argument " + source(actual) + " is not supported");
    scope_->references[formal] = Place{*which, {}, {}};
    return false;
  }
  if (type->isReferenceType() && !type->getPointeeType().isConstQualified()) {
    const auto p = place(actual, fx);
    refuse_changing_subscripts(actual, formal->getNameAsString());
    if (!p) refuse(actual, "the argument " + source(actual) + " is not a known variable or array element");
    scope_->references[formal] = *p;
    return false;
  }
  if (type->isReferenceType()) {  // const float& x: another name, unless it is bound to a temporary
    const Expr* bare = actual->IgnoreParens();
    while (const auto* cast = dyn_cast<ImplicitCastExpr>(bare)) {
      if (cast->getCastKind() != CK_NoOp) break;
      bare = cast->getSubExpr()->IgnoreParens();
    }
    if (bare->isGLValue() && !isa<MaterializeTemporaryExpr>(bare)) {
      const ValueDecl* named = referred(bare);
      const bool number = extent(bare) >= 0 ||
                          (named != nullptr && (scope_->iterators.count(named) > 0 || scope_->values.count(named) > 0));
      if (number) return true;
      const auto p = place(bare, fx);
      refuse_changing_subscripts(bare, formal->getNameAsString());
      if (!p) refuse(actual, "the argument " + source(actual) + " is not a known variable or array element");
      scope_->references[formal] = *p;
      return false;
    }
  }
  return true;
}

// f(i, x); with any body: declarations of its parameters, then its statements.
Node Reader::lambda_statement(const CallExpr* e, const LambdaExpr* l) {
  refuse_stale_captures(e, l);
  const auto* method = cast<CXXMethodDecl>(e->getDirectCallee());
  Node block;
  block.line = line(e);
  for (unsigned i = 0; i < method->getNumParams(); ++i) {
    const ParmVarDecl* formal = method->getParamDecl(i);
    Node node;
    node.kind = NodeKind::statement;
    node.line = block.line;
    node.source = source(e);
    node.declaration = true;
    node.guards = guards();
    Effects fx;
    if (pass(formal, e->getArg(i + 1), fx)) {
      const std::string value = expression(e->getArg(i + 1), fx);
      std::vector<Poly> needed;
      const auto known = poly(e->getArg(i + 1), needed);
      const bool number = dialect(formal->getType().getNonReferenceType())->integer;
      const int which = declare_local(formal);
      const Variable& v = scope_->nest.variables[which];
      node.text = v.element + " " + v.name + " = " + value + ";";
      Access a;
      a.variable = which;
      a.write = true;
      a.line = node.line;
      a.source = v.host;
      fx.accesses.push_back(a);
      scope_->values.erase(formal);
      if (known && needed.empty() && number && scope_->changed.count(formal) == 0) scope_->values[formal] = *known;
    }
    node.accesses = fx.accesses;
    block.children.push_back(node);
  }
  ++scope_->lambdas;
  const auto* body = cast<CompoundStmt>(method->getBody());
  Node inside;
  for (const Stmt* s : body->body()) {
    const auto* r = dyn_cast<ReturnStmt>(s);
    if (r != nullptr && s == body->body_back() && r->getRetValue() == nullptr) continue;
    if (const auto* d = dyn_cast<DeclStmt>(s))
      declaration(d, inside);
    else
      inside.children.push_back(statement(s));
  }
  --scope_->lambdas;
  block.children.push_back(std::move(inside));
  block.text = "{";
  Node wrapper;  // a nested scope
  wrapper.children.push_back(std::move(block));
  return wrapper;
}

// x = f(i) with a single return as body.
std::string Reader::lambda_value(const CallExpr* e, const LambdaExpr* l, Effects& fx) {
  refuse_stale_captures(e, l);
  const auto* method = cast<CXXMethodDecl>(e->getDirectCallee());
  const auto* body = cast<CompoundStmt>(method->getBody());
  const auto* result = body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  if (result == nullptr || result->getRetValue() == nullptr)
    refuse(e, "inside an expression, the body of a lambda must be a single return: " + source(e));
  const auto number = dialect(method->getReturnType());
  if (!number) refuse(e, "a lambda that returns " + type_text(method->getReturnType()) + " is not supported");
  const auto given = scope_->given;
  const auto references = scope_->references;
  const auto pointers = scope_->pointers;
  for (unsigned i = 0; i < method->getNumParams(); ++i) {
    const ParmVarDecl* formal = method->getParamDecl(i);
    if (pass(formal, e->getArg(i + 1), fx)) {
      if (given.count(formal) > 0) refuse(e, "a lambda inside its own argument is not supported: " + source(e));
      scope_->given[formal] = e->getArg(i + 1);
    }
  }
  ++scope_->lambdas;
  const std::string text = expression(result->getRetValue(), fx);
  --scope_->lambdas;
  scope_->given = given;
  scope_->references = references;
  scope_->pointers = pointers;
  if (text.size() > 16384) refuse(e, "the expression exceeds 16384 characters after inlining its lambdas");
  return "(" + number->name + ")(" + text + ")";
}

}  // namespace ridge::place::frontend
