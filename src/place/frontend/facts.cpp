// Facts about a function: changes, values before a statement, counting loops (iterator, start, test and step of for
// loops, and of while and do loops whose last statement counts), lambdas and the user's claims.
#include <algorithm>

#include "place/frontend/facts.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// True if a continue would skip the last statement of the body.
bool continues(const Stmt* s) {
  if (s == nullptr || isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, LambdaExpr>(s)) return false;
  return isa<ContinueStmt>(s) || std::any_of(s->child_begin(), s->child_end(), continues);
}

// The innermost block that directly contains a statement.
const CompoundStmt* block_of(const Stmt* in, const Stmt* s) {
  if (in == nullptr) return nullptr;
  if (const auto* block = dyn_cast<CompoundStmt>(in))
    if (std::find(block->body_begin(), block->body_end(), s) != block->body_end()) return block;
  for (const Stmt* child : in->children())
    if (const CompoundStmt* found = block_of(child, s)) return found;
  return nullptr;
}

// True for expressions of literals and variables only: the value is constant until one of them changes.
bool plain(const Stmt* s, std::set<const ValueDecl*>& names) {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
    names.insert(ref->getDecl());
    return !ref->getDecl()->getType()->isReferenceType();
  }
  if (!isa<IntegerLiteral, ParenExpr, ImplicitCastExpr, BinaryOperator, UnaryOperator>(s)) return false;
  if (const auto* u = dyn_cast<UnaryOperator>(s);
      u != nullptr && (u->isIncrementDecrementOp() || u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf))
    return false;
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return plain(c, names); });
}

// for (int y = a, r = 0; y < n; ++y, ++r): the test names the iterator, the others count along.
bool several_counters(const DeclStmt* d, const ForStmt* f, Counting& into) {
  std::map<const ValueDecl*, const Expr*> stepped;
  for (const Expr* step : parts_of(f->getInc())) {
    std::set<const ValueDecl*> changed;
    find_changes(step, changed);
    if (changed.size() != 1 || !stepped.emplace(*changed.begin(), step).second) return false;
  }
  std::set<const ValueDecl*> tested;
  visit(f->getCond(), [&](const Stmt* x) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(x)) tested.insert(ref->getDecl());
  });
  for (const Decl* one : d->decls()) {
    const auto* var = dyn_cast<VarDecl>(one);
    if (var == nullptr || !var->hasInit() || stepped.count(var) == 0) return false;
    if (tested.count(var) > 0 && into.var == nullptr) {
      into.var = var;
      into.start = var->getInit();
      into.step = stepped[var];
      into.declared_in_header = true;
    } else {
      if (tested.count(var) > 0) return false;
      into.others.push_back(var);
      into.other_steps.push_back(stepped[var]);
    }
  }
  return into.var != nullptr && stepped.size() == into.others.size() + 1;
}

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

// True if threads wait for each other in the statement or in a function that it calls.
bool waits(const Source& file, const Stmt* s, std::set<const FunctionDecl*>& seen) {
  bool found = synchronizes(file.original(s->getSourceRange()));
  visit(s, [&](const Stmt* x) {
    const auto* call = dyn_cast<CallExpr>(x);
    const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
    if (!found && callee != nullptr && callee->hasBody(callee) && seen.insert(callee).second)
      found = waits(file, callee->getBody(), seen);
  });
  return found;
}

}  // namespace

// True if its value may change through another name.
bool Facts::reachable(const ValueDecl* decl) const {
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr || var->getType()->isReferenceType()) return true;
  if (var->getType().isConstQualified()) return false;
  return var->hasGlobalStorage() || escaped.count(var) > 0;
}

// Value assigned to the variable before the statement in the same block, if it still holds when the statement begins.
const Expr* Facts::value_before(const Stmt* s, const VarDecl* var) const {
  const CompoundStmt* block = block_of(function->getBody(), s);
  if (block == nullptr || in_function || captured.count(var) > 0 || reachable(var)) return nullptr;
  const auto at = std::find(block->body_begin(), block->body_end(), s);
  std::set<const ValueDecl*> later;
  for (auto i = std::make_reverse_iterator(at); i != std::make_reverse_iterator(block->body_begin()); ++i) {
    const Expr* value = nullptr;
    if (isa<SwitchCase, LabelStmt>(*i)) return nullptr;  // another path leads here
    if (const auto* d = dyn_cast<DeclStmt>(*i)) {
      for (const Decl* decl : d->decls())
        if (decl == var) value = var->getInit();
    } else if (const auto* b = dyn_cast<BinaryOperator>(*i);
               b != nullptr && b->getOpcode() == BO_Assign && referred(b->getLHS()) == var) {
      value = b->getRHS();
    }
    if (value != nullptr) {
      std::set<const ValueDecl*> names;
      if (!plain(value, names)) return nullptr;
      find_changes(*i, later);
      later.erase(var);
      for (const ValueDecl* name : names)
        if (name == var || later.count(name) > 0 || reachable(name)) return nullptr;
      return value;
    }
    find_changes(*i, later);
    if (later.count(var) > 0) return nullptr;
  }
  return nullptr;
}

bool Facts::counting(const Stmt* s, Counting& into, std::string& why) const {
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    into.test = f->getCond();
    into.step = f->getInc();
    into.body = f->getBody();
    if (f->getInit() == nullptr || f->getCond() == nullptr || f->getInc() == nullptr ||
        f->getConditionVariable() != nullptr)
      return why = "its header needs a start, a test and a step", false;
    if (const auto* d = dyn_cast<DeclStmt>(f->getInit()); d != nullptr && d->isSingleDecl()) {
      into.var = dyn_cast<VarDecl>(d->getSingleDecl());
      if (into.var != nullptr) into.start = into.var->getInit();
      into.declared_in_header = true;
    } else if (d != nullptr) {
      if (!several_counters(d, f, into)) return why = "each variable of its header needs a start and a step", false;
    } else if (const auto* b = dyn_cast<BinaryOperator>(f->getInit()); b != nullptr && b->getOpcode() == BO_Assign) {
      into.var = dyn_cast_or_null<VarDecl>(referred(b->getLHS()));
      into.start = b->getRHS();
    }
    if (into.var == nullptr || into.start == nullptr) return why = "its header must start exactly one variable", false;
    return true;
  }
  const auto* w = dyn_cast<WhileStmt>(s);
  const auto* d = dyn_cast<DoStmt>(s);
  if (w != nullptr && w->getConditionVariable() != nullptr)
    return why = "no counter: its last statement does not step a variable", false;
  into.test = w != nullptr ? w->getCond() : d->getCond();
  into.body = w != nullptr ? w->getBody() : d->getBody();
  const auto* block = dyn_cast<CompoundStmt>(into.body);
  const auto* last = block != nullptr && !block->body_empty() ? dyn_cast<Expr>(block->body_back()) : nullptr;
  if (last == nullptr) return why = "no counter: its last statement does not step a variable", false;
  const Expr* moved = nullptr;
  if (const auto* u = dyn_cast<UnaryOperator>(last->IgnoreParens()); u != nullptr && u->isIncrementDecrementOp())
    moved = u->getSubExpr();
  else if (const auto* b = dyn_cast<BinaryOperator>(last->IgnoreParens()); b != nullptr && b->isAssignmentOp())
    moved = b->getLHS();
  into.var = moved != nullptr ? dyn_cast_or_null<VarDecl>(referred(moved)) : nullptr;
  if (into.var == nullptr) return why = "no counter: its last statement does not step a variable", false;
  if (continues(into.body)) return why = "continue skips its last statement, which steps the counter", false;
  into.start = value_before(s, into.var);
  if (into.start == nullptr)
    return why =
               "the value with which " + into.var->getNameAsString() + " starts is not set before it in the same block",
           false;
  into.step = last;
  into.last = last;
  return true;
}

// Numbers the loops and finds variables that change, escape or are captured. Returns true if the function jumps.
bool Facts::find(const FunctionDecl* decl, Function& result) {
  const Stmt* body = decl->getBody();
  changed.clear();
  captured.clear();
  escaped.clear();
  find_escapes(body, escaped);
  find_changes(body, changed);
  int number = 0;
  bool jumps = false;
  visit(body, [&](const Stmt* s) {
    if (is_loop(s)) loop_ids[s] = "l" + std::to_string(++number);
    if (const auto* written = dyn_cast<LambdaExpr>(s))
      for (const auto& capture : written->captures())
        if (capture.capturesVariable() && capture.getCaptureKind() == LCK_ByRef)
          captured.insert(capture.getCapturedVar());
    jumps |= isa<GotoStmt, IndirectGotoStmt>(s);
    result.says_its_name |= isa<PredefinedExpr>(s);
    if (const auto* c = dyn_cast<CallExpr>(s); c != nullptr && c->getDirectCallee() != nullptr) {
      const std::string name = c->getDirectCallee()->getNameAsString();
      jumps |= name == "setjmp" || name == "longjmp" || name == "_setjmp" || name == "__sigsetjmp";
    }
  });
  return jumps;
}

// The constant that the last assignment before the nest gave to the variable: int m; m = 1; for (...).
std::optional<long> Facts::constant_before(const VarDecl* var, const Stmt* nest) const {
  if (isa<ParmVarDecl>(var) || var->hasGlobalStorage() || nest == nullptr || in_function) return {};
  const auto number = dialect(var->getType());
  if (!number || number->bytes < 4) return {};
  std::vector<const Stmt*> all{nest};  // then the statements around the nest, which must not change it
  for (auto frame = around.rbegin(); frame != around.rend(); ++frame) all.push_back(frame->s);
  for (const Stmt* s : all) {
    std::set<const ValueDecl*> here;
    find_changes(s, here);
    if (here.count(var) > 0) return {};
    Expr::EvalResult known;
    if (const Expr* value = value_before(s, var)) {
      if (value->isValueDependent() || !value->EvaluateAsInt(known, ast_)) return {};
      const auto n = known.Val.getInt().getExtValue();
      return std::abs(n) <= 0x7fffffff ? std::optional<long>(n) : std::nullopt;
    }
  }
  return {};
}

const LambdaExpr* Facts::lambda(const CallExpr* e) const {
  const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
  if (call == nullptr || call->getOperator() != OO_Call || call->getNumArgs() == 0 || in_function) return nullptr;
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
  if (method == nullptr || !method->getParent()->isLambda() || !method->hasBody()) return nullptr;
  if (const LambdaExpr* here = written_in(call->getArg(0))) return here;
  const auto* var = dyn_cast_or_null<VarDecl>(referred(call->getArg(0)));
  if (var == nullptr || !var->hasInit() || var->getType()->isReferenceType() || changed.count(var) > 0) return nullptr;
  return written_in(var->getInit());
}

bool Facts::fixed(const ValueDecl* decl) const { return changed.count(decl) == 0 && !in_function; }

bool Facts::fixed_operands(const Stmt* s, const std::set<const ValueDecl*>& within) const {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && isa<VarDecl>(ref->getDecl())) {
    const auto* var = cast<VarDecl>(ref->getDecl());
    const bool number = dialect(var->getType().getNonReferenceType()).has_value();
    if (var->getType()->isReferenceType() && number && !var->getType()->getPointeeType().isConstQualified())
      return false;
    if ((number || var->getType()->isPointerType()) && (within.count(var) > 0 || in_function)) return false;
    if (!number && !isa<ParmVarDecl>(var) && var->getType()->isReferenceType()) return false;
    if (!number && within.count(var) > 0) return false;  // a vector that is resized or swapped
  }
  if (isa<CallExpr>(s) && !isa<CXXMemberCallExpr>(s) && !isa<CXXOperatorCallExpr>(s)) return false;
  if (const auto* cast = dyn_cast<CastExpr>(s); cast != nullptr && cast->getCastKind() == CK_LValueToRValue) {
    const Expr* what = cast->getSubExpr()->IgnoreParens();  // an element, which may have been written in between
    if (isa<ArraySubscriptExpr, CXXOperatorCallExpr>(what) ||
        (isa<UnaryOperator>(what) && llvm::cast<UnaryOperator>(what)->getOpcode() == UO_Deref))
      return false;
  }
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return fixed_operands(c, within); });
}

// True if no variable in the initial value of `var` changes between its declaration and the end of the nest: neither in
// the statements after it nor in loops around the nest that begin after it.
bool Facts::as_declared(const VarDecl* var) const {
  if (fixed_operands(var->getInit(), changed)) return true;
  for (const Frame& frame : around) {
    const auto* block = dyn_cast<CompoundStmt>(frame.s);
    if (block == nullptr) continue;
    bool found = false;
    std::set<const ValueDecl*> since;
    std::size_t i = 0;
    for (const Stmt* s : block->body()) {
      if (i++ >= frame.next) break;
      if (found) find_changes(s, since);
      const auto* d = dyn_cast<DeclStmt>(s);
      found |= d != nullptr && std::find(d->decl_begin(), d->decl_end(), var) != d->decl_end();
    }
    if (found) return fixed_operands(var->getInit(), since);
  }
  return false;
}

// True if nothing it reads can be changed through another name: its value is still that of its position in the source.
bool Facts::settled(const Stmt* s) const {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s))
    if (const auto* var = dyn_cast<VarDecl>(ref->getDecl()))
      return !reachable(var) || var->getType().getNonReferenceType()->isArrayType();
  if (const auto* member = dyn_cast<MemberExpr>(s); member != nullptr && member->isArrow()) return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return settled(c); });
}

// The user's claim that the iterations of a loop are independent: an attribute, or a pragma of Ridgeline, OpenMP or
// OpenACC. Ignored if threads wait for each other inside the loop.
std::optional<Claim> Facts::claimed(const Stmt* s, const Span& whole) {
  if (const auto known = claims_.find(s); known != claims_.end()) return known->second;
  if (!whole.known) return {};
  auto made = claim_before(main_text_, whole.begin);
  std::set<const FunctionDecl*> seen;
  if (made && waits(*this, s, seen)) made.reset();
  claims_[s] = made;
  for (int k = 1; made && k < made->loops; ++k) {  // collapse(2)
    const Stmt* inner = body_of(s);
    for (const auto* block = dyn_cast_or_null<CompoundStmt>(inner); block != nullptr && block->size() == 1;
         block = dyn_cast<CompoundStmt>(inner))
      inner = block->body_front();
    if (inner == nullptr || !is_loop(inner)) break;
    claims_[s = inner] = made;
  }
  return made;
}

}  // namespace ridge::place::frontend
