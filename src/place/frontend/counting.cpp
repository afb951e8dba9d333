// Recognizes counting loops: iterator, start, test and step of for loops, and of while and do loops whose last
// statement counts.
#include <algorithm>

#include "place/frontend/reader.hpp"
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

}  // namespace

// Value assigned to the variable before the statement in the same block, if it still holds when the statement begins.
const Expr* Reader::value_before(const Stmt* s, const VarDecl* var) const {
  const CompoundStmt* block = block_of(function_->getBody(), s);
  if (block == nullptr || scope_->in_function || captured_.count(var) > 0 || reachable(var)) return nullptr;
  const auto at = std::find(block->body_begin(), block->body_end(), s);
  std::set<const ValueDecl*> changed;
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
      find_changes(*i, changed);
      changed.erase(var);
      for (const ValueDecl* name : names)
        if (name == var || changed.count(name) > 0 || reachable(name)) return nullptr;
      return value;
    }
    find_changes(*i, changed);
    if (changed.count(var) > 0) return nullptr;
  }
  return nullptr;
}

// for (int y = a, r = 0; y < n; ++y, ++r): the test names the iterator, the others count along.
bool Reader::several_counters(const DeclStmt* d, const ForStmt* f, Counting& into) const {
  std::vector<const Expr*> steps{f->getInc()->IgnoreParens()};
  while (const auto* comma = dyn_cast<BinaryOperator>(steps.front())) {
    if (comma->getOpcode() != BO_Comma) break;
    steps.front() = comma->getLHS()->IgnoreParens();
    steps.insert(steps.begin() + 1, comma->getRHS()->IgnoreParens());
  }
  std::map<const ValueDecl*, const Expr*> stepped;
  for (const Expr* step : steps) {
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

bool Reader::counting(const Stmt* s, Counting& into, std::string& why) const {
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

}  // namespace ridge::place::frontend
