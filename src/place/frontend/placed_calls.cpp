// Calls between nests of functions that may have placed versions.
#include <algorithm>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

// The only call of a function of this file in an expression, if it returns an image: m = f(a), f(a) < limit. Such a
// function ends with all data on the host, so the rest of the expression can use them.
const CallExpr* Reader::call_inside(const Expr* e) const {
  const CallExpr* found = nullptr;
  bool others = false;
  visit(e, [&](const Stmt* s) {
    others |= isa<LambdaExpr, AbstractConditionalOperator>(s);
    if (const auto* b = dyn_cast<BinaryOperator>(s)) others |= b->isLogicalOp();
    const auto* call = dyn_cast<CallExpr>(s);
    const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
    const FunctionDecl* body = nullptr;
    if (callee == nullptr || isa<CXXMethodDecl>(callee) || !callee->hasBody(body) ||
        !ast_.getSourceManager().isInMainFile(body->getLocation()))
      return;
    others |= found != nullptr || class_of(callee->getReturnType()) != "cv::Mat" ||
              callee->getReturnType()->isReferenceType();
    found = call;
  });
  return others ? nullptr : found;
}

// True if the arguments call no functions with effects.
bool Reader::quiet_arguments(const CallExpr* call, const FunctionDecl* body) const {
  for (const Expr* argument : call->arguments()) {  // arguments must not call functions with effects
    if (isa<CXXDefaultArgExpr>(argument)) {         // the placed version has the default of the definition
      const auto at =
          static_cast<unsigned>(std::find(call->arg_begin(), call->arg_end(), argument) - call->arg_begin());
      if (!body->getParamDecl(at)->hasDefaultArg() || body->getParamDecl(at)->hasInheritedDefaultArg()) return false;
      continue;
    }
    bool hidden = false;
    visit(argument, [&](const Stmt* x) { hidden |= isa<LambdaExpr>(x) || isa<CallExpr>(x); });
    if (hidden) {
      bool harmless = true;
      visit(argument, [&](const Stmt* x) {
        if (isa<LambdaExpr>(x)) harmless = false;
        if (const auto* c = dyn_cast<CallExpr>(x)) {
          const auto* m = dyn_cast<CXXMemberCallExpr>(c);
          const std::string name =
              m != nullptr && m->getMethodDecl() != nullptr && m->getMethodDecl()->getDeclName().isIdentifier()
                  ? m->getMethodDecl()->getNameAsString()
                  : "";
          harmless = harmless && (name == "size" || name == "data");
        }
      });
      if (!harmless) return false;
    }
  }
  return true;
}

// Recognizes f(a, b); and x = f(a, b); for a function of this file.
std::optional<Part> Reader::placeable_call(const Stmt* s) {
  const Stmt* at = s;
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && d->isSingleDecl())
    if (const auto* var = dyn_cast<VarDecl>(d->getSingleDecl()); var != nullptr && var->hasInit()) at = var->getInit();
  if (const auto* r = dyn_cast<ReturnStmt>(s); r != nullptr && r->getRetValue() != nullptr) at = r->getRetValue();
  const auto* e = dyn_cast<Expr>(at);
  if (e == nullptr) return {};
  const Expr* inner = e->IgnoreImplicit()->IgnoreParens();
  if (const auto* b = dyn_cast<BinaryOperator>(inner); b != nullptr && b->getOpcode() == BO_Assign &&
                                                       referred(b->getLHS()) != nullptr &&
                                                       !reachable(referred(b->getLHS())))
    inner = b->getRHS()->IgnoreImplicit();
  const auto* call = dyn_cast<CallExpr>(inner);
  if (call != nullptr && (lift_call(call) || (e == s && lift_parallel_for(call)))) return {};  // read again
  const bool alone = call != nullptr && !isa<CXXMemberCallExpr>(call) && !isa<CXXOperatorCallExpr>(call);
  if (!alone) call = call_inside(e);
  if (call == nullptr) return {};
  const FunctionDecl* callee = call->getDirectCallee();
  const FunctionDecl* body = nullptr;
  if (callee != nullptr && callee->isTemplateInstantiation()) return template_call(call, callee), std::nullopt;
  if (callee == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee)) return {};
  if (ast_.getSourceManager().isInSystemHeader(body->getLocation()) ||
      !ast_.getSourceManager().isInMainFile(body->getLocation()))
    return {};
  const auto named = [](const DeclContext* c) {
    c = c->getRedeclContext();
    while (const auto* n = dyn_cast<NamespaceDecl>(c)) {
      if (!n->isAnonymousNamespace() && !n->isInline()) break;
      c = c->getParent()->getRedeclContext();
    }
    return c;
  };
  if (named(body->getDeclContext()) != named(function_->getDeclContext())) return {};
  if (!quiet_arguments(call, body)) return {};
  Part result;
  result.kind = PartKind::call;
  result.callee = callee->getNameAsString();
  result.arguments_touch_anything = !alone;
  result.callee_name = span(call->getCallee()->getSourceRange());
  if (!result.callee_name.known) return {};
  for (const Expr* argument : call->arguments()) {  // v.data(): the session records the size of the vector
    const auto* m = dyn_cast<CXXMemberCallExpr>(argument->IgnoreImplicit());
    if (m == nullptr || m->getMethodDecl() == nullptr || m->getMethodDecl()->getNameAsString() != "data") continue;
    const CXXRecordDecl* record = m->getRecordDecl();
    if (record == nullptr || record->getQualifiedNameAsString() != "std::vector") continue;
    const std::string text = original(argument->getSourceRange());
    const auto word = text.rfind("data");
    if (word != std::string::npos) result.knows.emplace_back(text, text.substr(0, word) + "size()");
  }
  for (unsigned i = 0; i < call->getNumArgs() && i < callee->getNumParams(); ++i) {
    const QualType type = callee->getParamDecl(i)->getType();
    if (isa<CXXDefaultArgExpr>(call->getArg(i))) continue;
    if (dialect(type))
      header_touches(call->getArg(i), result.argument_touches, result.arguments_touch_anything);
    else if (!type->isReferenceType() && !type->isPointerType())
      result.arguments_touch_anything |= referred(call->getArg(i)) == nullptr || reachable(referred(call->getArg(i)));
  }
  called_->insert(body);
  return result;
}

}  // namespace ridge::place::frontend
