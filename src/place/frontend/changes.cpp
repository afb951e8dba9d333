// Finds the variables that change in a statement, those whose address escapes, and those that are read later.
#include <algorithm>
#include <functional>

#include "place/frontend/facts.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

const ValueDecl* base_of(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  while (const auto* member = dyn_cast<MemberExpr>(e)) e = member->getBase()->IgnoreParenImpCasts();
  const auto* ref = dyn_cast<DeclRefExpr>(e);
  return ref != nullptr ? ref->getDecl() : nullptr;
}

bool only_looks(const CXXMemberCallExpr* call) {
  static const std::set<std::string> harmless{"size", "data",  "begin", "end",  "at", "front",
                                              "back", "empty", "rows",  "cols", "ptr"};
  const CXXMethodDecl* method = call->getMethodDecl();
  if (users_method(call) != nullptr) return method->isConst() || named_by(method) != nullptr;
  return method != nullptr &&
         (method->isConst() || (method->getDeclName().isIdentifier() && harmless.count(method->getNameAsString()) > 0));
}

// First use of a variable along a path: its old value is read, or a new one is certainly written.
enum class Use { none, read, written };

class Uses {
 public:
  explicit Uses(const VarDecl* var) : var_(var) {}

  Use of(const Stmt* s) const {
    if (s == nullptr) return Use::none;
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) return ref->getDecl() == var_ ? Use::read : Use::none;
    if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->getOpcode() == BO_Assign)
      if (const auto* to = dyn_cast<DeclRefExpr>(b->getLHS()->IgnoreParenImpCasts());
          to != nullptr && to->getDecl() == var_)
        return of(b->getRHS()) == Use::read ? Use::read : Use::written;
    if (const auto* d = dyn_cast<DeclStmt>(s)) {
      for (const Decl* decl : d->decls())
        if (const auto* var = dyn_cast<VarDecl>(decl)) {
          if (const Use use = of(var->getInit()); use != Use::none) return use;
          if (var == var_) return Use::written;
        }
      return Use::none;
    }
    if (const auto* branch = dyn_cast<IfStmt>(s)) {
      for (const Stmt* first : {branch->getInit(), static_cast<const Stmt*>(branch->getConditionVariableDeclStmt()),
                                static_cast<const Stmt*>(branch->getCond())})
        if (const Use use = of(first); use != Use::none) return use;
      const Use yes = of(branch->getThen()), no = of(branch->getElse());
      if (yes == Use::read || no == Use::read) return Use::read;
      return yes == Use::written && no == Use::written ? Use::written : Use::none;
    }
    if (const auto* loop = dyn_cast<ForStmt>(s)) {
      if (const Use use = of(loop->getInit()); use != Use::none) return use;
      if (of(loop->getConditionVariableDeclStmt()) == Use::read) return Use::read;
      if (const Use use = of(loop->getCond()); use != Use::none) return use;
      return of(loop->getBody()) == Use::read || of(loop->getInc()) == Use::read ? Use::read : Use::none;
    }
    if (isa<ReturnStmt>(s)) {
      for (const Stmt* child : s->children())
        if (of(child) == Use::read) return Use::read;
      return Use::written;  // the path ends
    }
    if (isa<GotoStmt, LabelStmt, SwitchStmt, CXXTryStmt>(s)) return Use::read;  // control flow that is not followed
    const bool sure = isa<CompoundStmt>(s) || isa<Expr>(s);
    for (const Stmt* child : s->children()) {
      const Use use = of(child);
      if (use == Use::read) return use;
      if (use == Use::written && sure && !isa<ConditionalOperator>(s) && !isa<LambdaExpr>(s)) {
        const auto* b = dyn_cast<BinaryOperator>(s);
        if (b == nullptr || !b->isLogicalOp()) return use;
      }
    }
    return Use::none;
  }

 private:
  const VarDecl* var_;
};

}  // namespace

// True if an image variable is used only through its elements and its size, so that nothing else refers to its memory:
// as an argument of functions for which the same holds, and of modelled library functions.
bool keeps_memory(const Stmt* body, const ValueDecl* image, int depth) {
  if (depth > 4 || body == nullptr) return false;
  std::set<const Stmt*> known;
  bool all = true;
  const auto know = [&](const Expr* e) {
    e = image_passed(e);
    if (const auto* part = dyn_cast<CXXOperatorCallExpr>(e);
        part != nullptr && part->getOperator() == OO_Call && is_mat(part->getArg(0)->getType()))
      e = part->getArg(0)->IgnoreParenImpCasts();
    known.insert(e);
  };
  visit(body, [&](const Stmt* s) {
    if (const auto* member = dyn_cast<MemberExpr>(s); member != nullptr && is_mat(member->getBase()->getType())) {
      static const std::set<std::string> harmless{"rows", "cols",  "step",     "at",    "ptr",   "type",    "size",
                                                  "dims", "depth", "channels", "total", "empty", "elemSize"};
      if (harmless.count(member->getMemberDecl()->getNameAsString()) > 0)
        known.insert(member->getBase()->IgnoreParenImpCasts());
    }
    const auto* call = dyn_cast<CallExpr>(s);
    std::vector<const Expr*> actuals;
    if (call != nullptr && is_modelled(call, actuals)) {
      for (const Expr* a : actuals) know(a);
    } else if (call != nullptr && !isa<CXXMemberCallExpr, CXXOperatorCallExpr>(call)) {
      const FunctionDecl* definition = nullptr;
      const FunctionDecl* callee = call->getDirectCallee();
      if (callee != nullptr && callee->hasBody(definition) &&
          definition->getASTContext().getSourceManager().isInMainFile(definition->getLocation()))
        for (unsigned i = 0; i < call->getNumArgs() && i < definition->getNumParams(); ++i)
          if (is_mat(definition->getParamDecl(i)->getType()) && referred(call->getArg(i)) == image &&
              keeps_memory(definition->getBody(), definition->getParamDecl(i), depth + 1))
            know(call->getArg(i));
    }
    if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && ref->getDecl() == image)
      all = all && known.count(s) > 0;  // a parent is visited before its children
  });
  return all;
}

void find_changes(const Stmt* s, std::set<const ValueDecl*>& into) {
  if (s == nullptr) return;
  const auto add = [&](const Expr* e) {
    while (const Expr* object = object_changed(e)) e = object;
    if (const ValueDecl* decl = base_of(e)) into.insert(decl);
  };
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) add(b->getLHS());
  if (const auto* u = dyn_cast<UnaryOperator>(s);
      u != nullptr && (u->isIncrementDecrementOp() || u->getOpcode() == UO_AddrOf))
    add(u->getSubExpr());
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    const auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
    std::vector<const Expr*> actuals;
    const bool elements = is_modelled(call, actuals);  // sizes are tested, so that only elements change
    if (operation != nullptr && operation->isAssignmentOp() && !elements) add(operation->getArg(0));
    if (const CXXMethodDecl* own = operation != nullptr ? users_method(operation) : nullptr;
        own != nullptr && !own->isConst() && named_by(own) == nullptr)
      add(operation->getArg(0));
    const unsigned first = operation != nullptr && isa_and_nonnull<CXXMethodDecl>(callee) ? 1 : 0;
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      if (first == 1 && i == 0) continue;
      const unsigned at = i - first;
      const bool known = callee != nullptr && at < callee->getNumParams();
      const QualType type = known ? callee->getParamDecl(at)->getType() : QualType();
      if (!known || (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified()) ||
          type->isRValueReferenceType()) {
        const FunctionDecl* definition = nullptr;  // a function may change the elements of an image only
        if (known && is_mat(type) &&
            (elements ||
             (callee->hasBody(definition) && keeps_memory(definition->getBody(), definition->getParamDecl(at), 0))))
          continue;
        add(call->getArg(i));
      }
    }
    if (const auto* member = dyn_cast<CXXMemberCallExpr>(call); member != nullptr && !only_looks(member) && !elements)
      add(member->getImplicitObjectArgument());
  }
  if (const auto* d = dyn_cast<DeclStmt>(s))
    for (const Decl* decl : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(decl);
          var != nullptr && var->hasInit() && var->getType()->isReferenceType() &&
          !var->getType()->getPointeeType().isConstQualified() && !var->isImplicit())
        add(var->getInit());
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(s); call != nullptr && call->getOperator() == OO_Call)
    if (const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
        method != nullptr && method->getParent()->isLambda() && method->hasBody())
      find_changes(method->getBody(), into);  // wherever the lambda was defined
  if (const auto* written = dyn_cast<LambdaExpr>(s)) {
    find_changes(written->getBody(), into);
    return;
  }
  for (const Stmt* child : s->children()) find_changes(child, into);
}

namespace {

void note_discarded(const Stmt* s, std::set<const Stmt*>& into) {
  const auto note = [&](const Stmt* one) {
    if (const auto* e = dyn_cast_or_null<Expr>(one)) into.insert(e->IgnoreParens()->IgnoreImplicit());
  };
  if (const auto* block = dyn_cast<CompoundStmt>(s)) std::for_each(block->body_begin(), block->body_end(), note);
  if (is_loop(s)) note(body_of(s));
  if (const auto* branch = dyn_cast<IfStmt>(s)) {
    note(branch->getThen());
    note(branch->getElse());
  }
}

// True for an assignment that sets the numbers of its object and keeps no reference to it, if its value is not used.
bool sets_numbers(const CXXOperatorCallExpr* e) {
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(e->getDirectCallee());
  if (method == nullptr || !e->isAssignmentOp()) return false;
  return method->isTrivial() || class_of(e->getArg(0)->getType()) == "std::complex";
}

}  // namespace

// Variables that may be changed through another name: their address or a non-const reference is taken. Reading,
// assigning, subscripting and size() do not count.
void find_escapes(const Stmt* s, std::set<const ValueDecl*>& into) {
  if (s == nullptr || isa<UnaryExprOrTypeTraitExpr>(s)) return;
  std::set<const Stmt*> harmless, discarded;  // discarded: expressions whose value nothing uses
  const auto keep = [&](const Expr* e) {
    e = e->IgnoreParenImpCasts();
    harmless.insert(e);
    while (const auto* member = dyn_cast<MemberExpr>(e)) {
      e = member->getBase()->IgnoreParenImpCasts();
      harmless.insert(e);
    }
  };
  const std::function<void(const Stmt*)> walk = [&](const Stmt* x) {
    if (x == nullptr || isa<UnaryExprOrTypeTraitExpr>(x)) return;
    note_discarded(x, discarded);
    if (const auto* written = dyn_cast<LambdaExpr>(x)) return walk(written->getBody());
    if (const auto* ref = dyn_cast<DeclRefExpr>(x)) {
      if (harmless.count(ref) == 0) into.insert(ref->getDecl());
      return;
    }
    if (const auto* c = dyn_cast<CastExpr>(x); c != nullptr && c->getCastKind() == CK_LValueToRValue)
      keep(c->getSubExpr());
    if (const auto* b = dyn_cast<BinaryOperator>(x); b != nullptr && b->isAssignmentOp()) keep(b->getLHS());
    if (const auto* u = dyn_cast<UnaryOperator>(x); u != nullptr && u->isIncrementDecrementOp()) keep(u->getSubExpr());
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(x)) keep(a->getBase());
    if (const auto* m = dyn_cast<MemberExpr>(x); m != nullptr && m->isArrow()) keep(m->getBase());
    if (const auto* range = dyn_cast<CXXForRangeStmt>(x)) keep(range->getRangeInit());
    if (const auto* made = dyn_cast<CXXConstructExpr>(x);
        made != nullptr && made->getConstructor()->isCopyOrMoveConstructor() && made->getNumArgs() > 0)
      keep(made->getArg(0));
    if (const auto* call = dyn_cast<CallExpr>(x)) {
      const CXXMethodDecl* own = users_method(call);
      const bool gives_itself =
          own != nullptr && own->getReturnType()->isReferenceType() && object_changed(call) != nullptr;
      const auto* member = dyn_cast<CXXMemberCallExpr>(call);
      const auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
      if (member != nullptr && only_looks(member) && !gives_itself) keep(member->getImplicitObjectArgument());
      if (operation != nullptr && !gives_itself && (own == nullptr || named_by(own) != nullptr || own->isConst()) &&
          (operation->getOperator() == OO_Subscript || operation->getOperator() == OO_Call ||
           operation->getOperator() == OO_Equal))
        keep(operation->getArg(0));
      if (operation != nullptr && discarded.count(call) > 0 && sets_numbers(operation)) keep(operation->getArg(0));
      const FunctionDecl* callee = call->getDirectCallee();
      const unsigned first = operation != nullptr && isa_and_nonnull<CXXMethodDecl>(callee) ? 1 : 0;
      for (unsigned i = first; callee != nullptr && i < call->getNumArgs() && i - first < callee->getNumParams(); ++i) {
        const QualType type = callee->getParamDecl(i - first)->getType();
        if (type->isLValueReferenceType() && type->getPointeeType().isConstQualified()) keep(call->getArg(i));
      }
    }
    if (const auto* d = dyn_cast<DeclStmt>(x))
      for (const Decl* decl : d->decls())
        if (const auto* var = dyn_cast<VarDecl>(decl); var != nullptr && var->hasInit()) {
          const QualType type = var->getType();
          if (type->isReferenceType() && type->getPointeeType().isConstQualified()) keep(var->getInit());
        }
    for (const Stmt* child : x->children()) walk(child);
  };
  walk(s);
}

// True if the variable's value may be read after the current part: follows the program to the end of the function,
// including further iterations of enclosing loops.
bool Facts::live_after(const VarDecl* var) const {
  if (reachable(var) || captured.count(var) > 0) return true;
  const Uses uses(var);
  bool jumps = false;  // a path skips the following statements of the enclosing loop
  for (auto frame = around.rbegin(); frame != around.rend(); ++frame) {
    if (const auto* block = dyn_cast<CompoundStmt>(frame->s)) {
      std::size_t i = 0;
      for (const Stmt* s : block->body()) {
        if (i++ < frame->next) continue;
        const Use use = uses.of(s);
        if (use == Use::read) return true;
        jumps = jumps || jumps_out(s);
        if (use == Use::written && !jumps) return false;
        if (use == Use::written) break;
      }
      continue;
    }
    if (isa<IfStmt>(frame->s)) continue;
    jumps = false;
    if (const auto* loop = dyn_cast<ForStmt>(frame->s)) {
      if (uses.of(loop->getInc()) == Use::read || uses.of(loop->getCond()) == Use::read ||
          uses.of(loop->getBody()) == Use::read)
        return true;
    } else if (uses.of(frame->s) == Use::read) {
      return true;
    }
  }
  return false;
}

}  // namespace ridge::place::frontend
