// A function as the host sees it: nests that may be placed among parts that stay as they are.
#include <algorithm>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

bool is_loop(const Stmt* s) { return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(s); }

const Stmt* body_of(const Stmt* s) {
  if (const auto* f = dyn_cast<ForStmt>(s)) return f->getBody();
  if (const auto* w = dyn_cast<WhileStmt>(s)) return w->getBody();
  if (const auto* d = dyn_cast<DoStmt>(s)) return d->getBody();
  if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) return r->getBody();
  return nullptr;
}

template <class Visit>
void visit(const Stmt* s, const Visit& see) {
  if (s == nullptr) return;
  see(s);
  for (const Stmt* child : s->children()) visit(child, see);
}

}  // namespace

bool Reader::has_loop(const Stmt* s) const {
  bool found = false;
  visit(s, [&](const Stmt* x) { found |= is_loop(x) || (isa<CallExpr>(x) && cast<CallExpr>(x)->getDirectCallee() != nullptr); });
  return found;
}

// Reads a loop with all that is in it, or refuses.
std::optional<Nest> Reader::nest(const Stmt* s, Part& into) {
  scope_ = std::make_unique<Scope>();
  scope_->root = s;
  find_changes(s, scope_->changed);
  // Iterators of loops around the nest do not change inside it.
  const auto done = [&]() { scope_.reset(); };
  try {
    scope_->nest.line = line(s);
    scope_->nest.span = statement_span(s);
    if (!scope_->nest.span.known) refuse(s, "the loop is hidden in a macro or in another file");
    scope_->nest.root = statement(s);
    for (const auto& [decl, which] : scope_->variables) {
      const Variable& v = scope_->nest.variables[which];
      const auto* var = dyn_cast<VarDecl>(decl);
      if (v.outlives || (var != nullptr && v.loops.empty() && live_after(var))) scope_->nest.live_after.insert(which);
      else if (v.array() && !v.local_memory) {
        // An array is needed later unless nothing outside the nest names it.
        bool elsewhere = false;
        visit(function_->getBody(), [&](const Stmt* x) {
          if (const auto* ref = dyn_cast<DeclRefExpr>(x); ref != nullptr && ref->getDecl() == decl) {
            const Span at = span(x->getSourceRange());
            elsewhere |= !at.known || at.begin < scope_->nest.span.begin || at.begin >= scope_->nest.span.end;
          }
        });
        if (elsewhere) scope_->nest.live_after.insert(which);
      }
    }
    Nest result = std::move(scope_->nest);
    done();
    return result;
  } catch (const Refused& refused) {
    done();
    into.why = refused.what;
    into.why_line = refused.line;
    refusals.push_back({refused.file, refused.line, refused.what});
    return {};
  }
}

// Which arrays a part of the host touches. Anything that is not certain to touch only named objects touches everything.
void Reader::touched(const Stmt* s, Part& into) {
  scope_ = std::make_unique<Scope>();
  scope_->root = s;
  find_changes(s, scope_->changed);
  std::map<std::string, Touch> found;
  try {
    Node node = statement(s);
    std::function<void(const Node&)> walk = [&](const Node& n) {
      for (const Access& a : n.accesses) {
        const Variable& v = scope_->nest.variables[a.variable];
        if (v.local_memory || (!v.array() && v.storage != Storage::reference)) continue;
        if (v.storage == Storage::pointer || v.storage == Storage::reference || v.count.empty()) {
          into.anything = true;
          continue;
        }
        Touch& t = found[v.data];
        t.data = v.data;
        t.count = v.count;
        t.element = v.host_element;
        t.write |= a.write;
      }
      for (const Node& child : n.children) walk(child);
    };
    walk(node);
  } catch (const Refused&) {
    into.anything = true;
  }
  scope_.reset();
  for (const auto& [data, touch] : found) into.touches.push_back(touch);
  into.pure = !into.anything && into.touches.empty();
}

// f(a, b); or x = f(a, b); of a function of this file.
std::optional<Part> Reader::placeable_call(const Stmt* s) {
  const Stmt* at = s;
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && d->isSingleDecl())
    if (const auto* var = dyn_cast<VarDecl>(d->getSingleDecl()); var != nullptr && var->hasInit()) at = var->getInit();
  if (const auto* r = dyn_cast<ReturnStmt>(s); r != nullptr && r->getRetValue() != nullptr) at = r->getRetValue();
  const auto* e = dyn_cast<Expr>(at);
  if (e == nullptr) return {};
  const Expr* inner = e->IgnoreImplicit()->IgnoreParens();
  if (const auto* b = dyn_cast<BinaryOperator>(inner); b != nullptr && b->getOpcode() == BO_Assign && referred(b->getLHS()) != nullptr)
    inner = b->getRHS()->IgnoreImplicit();
  const auto* call = dyn_cast<CallExpr>(inner);
  if (call == nullptr || isa<CXXMemberCallExpr>(call) || isa<CXXOperatorCallExpr>(call)) return {};
  const FunctionDecl* callee = call->getDirectCallee();
  const FunctionDecl* body = nullptr;
  if (callee == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee) || callee->isTemplateInstantiation()) return {};
  if (ast_.getSourceManager().isInSystemHeader(body->getLocation()) || !ast_.getSourceManager().isInMainFile(body->getLocation())) return {};
  if (body->getDeclContext()->getRedeclContext() != function_->getDeclContext()->getRedeclContext() &&
      !body->getDeclContext()->getRedeclContext()->isTranslationUnit()) return {};
  for (const Expr* argument : call->arguments()) {  // arguments must not hide work of their own
    bool hidden = false;
    visit(argument, [&](const Stmt* x) { hidden |= isa<LambdaExpr>(x) || isa<CallExpr>(x); });
    if (hidden) {
      bool harmless = true;
      visit(argument, [&](const Stmt* x) {
        if (isa<LambdaExpr>(x)) harmless = false;
        if (const auto* c = dyn_cast<CallExpr>(x)) {
          const auto* m = dyn_cast<CXXMemberCallExpr>(c);
          const std::string name = m != nullptr && m->getMethodDecl() != nullptr && m->getMethodDecl()->getDeclName().isIdentifier()
                                       ? m->getMethodDecl()->getNameAsString() : "";
          harmless = harmless && (name == "size" || name == "data");
        }
      });
      if (!harmless) return {};
    }
  }
  Part result;
  result.kind = PartKind::call;
  result.callee = callee->getNameAsString();
  result.callee_name = span(call->getCallee()->getSourceRange());
  if (!result.callee_name.known) return {};
  called_->insert(body);
  return result;
}

Part Reader::part(const Stmt* s, bool in_sequence) {
  Part result;
  result.line = line(s);
  result.span = statement_span(s);
  result.source = source(s);
  result.in_sequence = in_sequence;
  result.declares = isa<DeclStmt>(s);
  if (const auto* block = dyn_cast<CompoundStmt>(s)) {
    result.kind = PartKind::sequence;
    result.span = span(s->getSourceRange());
    around_.push_back({s, 0});
    for (const Stmt* child : block->body()) {
      ++around_.back().next;
      result.children.push_back(part(child, true));
    }
    around_.pop_back();
    return result;
  }
  if (is_loop(s)) {
    result.kind = PartKind::loop;
    result.id = loop_ids_[s];
    result.loop_kind = isa<WhileStmt>(s) ? "while" : isa<DoStmt>(s) ? "do" : "for";
    if (auto found = nest(s, result)) {
      result.kind = PartKind::nest;
      result.nest = static_cast<int>(result_->nests.size());
      result_->nests.push_back(std::move(*found));
      return result;
    }
    around_.push_back({s, 0});
    result.children.push_back(part(body_of(s), false));
    around_.pop_back();
    // Its header: start, test and step.
    Part head;
    if (const auto* f = dyn_cast<ForStmt>(s)) {
      for (const Stmt* h : {f->getInit(), static_cast<const Stmt*>(f->getCond()), static_cast<const Stmt*>(f->getInc())})
        if (h != nullptr) touched(h, head), result.anything |= !head.pure;
    } else if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) {
      result.anything = true;
      (void)r;
    } else {
      const Expr* test = isa<WhileStmt>(s) ? cast<WhileStmt>(s)->getCond() : cast<DoStmt>(s)->getCond();
      Effects fx;
      scope_ = std::make_unique<Scope>();
      find_changes(test, scope_->changed);
      try {
        expression(test, fx);
        for (const Access& a : fx.accesses) result.anything |= scope_->nest.variables[a.variable].array() || scope_->nest.variables[a.variable].storage == Storage::reference;
      } catch (const Refused&) {
        result.anything = true;
      }
      scope_.reset();
    }
    return result;
  }
  if (const auto* branch = dyn_cast<IfStmt>(s); branch != nullptr && !branch->hasInitStorage() && !branch->hasVarStorage() && has_loop(s)) {
    result.kind = PartKind::branch;
    around_.push_back({s, 0});
    result.children.push_back(part(branch->getThen(), false));
    if (branch->getElse() != nullptr) result.children.push_back(part(branch->getElse(), false));
    around_.pop_back();
    Effects fx;
    scope_ = std::make_unique<Scope>();
    try {
      expression(branch->getCond(), fx);
      for (const Access& a : fx.accesses) result.anything |= scope_->nest.variables[a.variable].array() || scope_->nest.variables[a.variable].storage == Storage::reference;
    } catch (const Refused&) {
      result.anything = true;
    }
    scope_.reset();
    return result;
  }
  if (auto call = placeable_call(s)) {
    call->line = result.line;
    call->span = result.span;
    call->source = result.source;
    call->in_sequence = in_sequence;
    call->declares = result.declares;
    result = *call;
  }
  if (const auto* d = dyn_cast<DeclStmt>(s)) {
    for (const Decl* decl : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(decl); var != nullptr && !var->getType()->isReferenceType() && !var->getType()->isPointerType()) {
        Variable v;
        v.host = var->getNameAsString();
        if (!dialect(var->getType()) && shape(var->getType(), v) && !v.count.empty() && var->getType()->getAsCXXRecordDecl() != nullptr
                ? v.type.find("span") == std::string::npos : v.storage == Storage::c_array)
          result.locals.push_back({v.host, v.data, v.count, v.host_element});
      }
    // std::vector<float> v(n): makes new memory, reads numbers only.
    bool plain = result.kind == PartKind::statement;
    for (const Decl* decl : d->decls()) {
      const auto* var = dyn_cast<VarDecl>(decl);
      const Expr* init = var != nullptr && var->hasInit() ? var->getInit()->IgnoreImplicit() : nullptr;
      const auto* made = dyn_cast_or_null<CXXConstructExpr>(init);
      Variable v;
      if (var != nullptr) v.host = var->getNameAsString();
      if (var == nullptr || dialect(var->getType()) || var->getType()->isReferenceType() || !shape(var->getType(), v) || v.storage == Storage::pointer) {
        plain = false;
        continue;
      }
      if (made == nullptr) {
        plain = plain && init == nullptr;
        continue;
      }
      for (const Expr* a : made->arguments()) plain = plain && (isa<CXXDefaultArgExpr>(a) || dialect(a->getType().getNonReferenceType()));
    }
    if (plain) {
      bool calls = false;
      visit(s, [&](const Stmt* x) { calls |= isa<CallExpr>(x) && !isa<CXXMemberCallExpr>(x); });
      if (!calls) {
        result.pure = true;
        return result;
      }
    }
  }
  if (result.kind == PartKind::statement || result.kind == PartKind::call) {
    touched(s, result);
    if (const auto* e = dyn_cast<Expr>(s)) {  // swap(a, b) of whole arrays exchanges addresses, not contents
      const auto* c = dyn_cast<CallExpr>(e->IgnoreImplicit());
      const FunctionDecl* callee = c != nullptr ? c->getDirectCallee() : nullptr;
      if (callee != nullptr && callee->getQualifiedNameAsString() == "std::swap" && c->getNumArgs() == 2) {
        const ValueDecl *a = referred(c->getArg(0)), *b = referred(c->getArg(1));
        const auto whole = [](const ValueDecl* d) {
          if (d == nullptr) return false;
          const QualType type = d->getType().getNonReferenceType();
          const CXXRecordDecl* record = type->getAsCXXRecordDecl();
          return type->isPointerType() || (record != nullptr && record->getQualifiedNameAsString() == "std::vector");
        };
        if (whole(a) && whole(b)) {
          result.anything = false;
          result.pure = true;
        }
      }
    }
  }
  return result;
}

Function Reader::function(const FunctionDecl* decl, std::set<const FunctionDecl*>& called) {
  Function result;
  result_ = &result;
  function_ = decl;
  called_ = &called;
  const auto& sources = ast_.getSourceManager();
  result.name = decl->getNameAsString();
  result.result = type_text(decl->getReturnType());
  result.line = static_cast<int>(sources.getExpansionLineNumber(decl->getLocation()));
  result.last_line = static_cast<int>(sources.getExpansionLineNumber(decl->getEndLoc()));
  result.whole = span(decl->getSourceRange());
  result.body = span(decl->getBody()->getSourceRange());
  result.name_span = span(SourceRange(decl->getLocation(), decl->getLocation()));
  result.in_main_file = sources.isInMainFile(decl->getLocation());
  result.is_static = decl->getStorageClass() == SC_Static || decl->isInAnonymousNamespace();
  for (const ParmVarDecl* p : decl->parameters()) {
    Parameter made;
    made.name = p->getNameAsString();
    made.type = type_text(p->getType());
    Variable v;
    v.host = made.name;
    const QualType bare = p->getType().getNonReferenceType();
    if (const auto number = dialect(bare)) {
      made.bytes = number->bytes;
      made.is_unsigned = number->is_unsigned;
      made.constant = bare.isConstQualified();
      made.element = type_text(bare.getUnqualifiedType());
      made.kind = p->getType()->isReferenceType() && !made.constant ? Parameter::Kind::reference
                  : number->integer                                 ? Parameter::Kind::integer
                                                                    : Parameter::Kind::real;
    } else if (shape(p->getType(), v)) {
      made.element = v.host_element;
      made.bytes = v.bytes;
      made.constant = v.constant;
      made.length = v.length;
      const bool plain = v.inner.empty();
      made.kind = !plain                             ? Parameter::Kind::other
                  : v.storage == Storage::pointer    ? Parameter::Kind::pointer
                  : v.length >= 0                    ? Parameter::Kind::std_array
                  : made.type.find("vector") != std::string::npos ? Parameter::Kind::vector
                                                     : Parameter::Kind::other;
    }
    result.parameters.push_back(made);
  }
  if (decl->getNumParams() > 0)
    result.parameter_text = original(SourceRange(decl->getParamDecl(0)->getBeginLoc(), decl->getParamDecl(decl->getNumParams() - 1)->getEndLoc()));
  if (isa<CXXMethodDecl>(decl)) result.refused = "a member function";
  if (decl->isTemplateInstantiation() || decl->isTemplated()) result.refused = "a template";
  if (decl->isVariadic()) result.refused = "a function with any number of arguments";
  if (decl->isConstexpr()) result.refused = "a constexpr function";
  if (!result.whole.known || !result.body.known) result.refused = "its text is in a macro or in another file";
  changed_in_function_.clear();
  find_changes(decl->getBody(), changed_in_function_);
  int number = 0;
  bool jumps = false;
  visit(decl->getBody(), [&](const Stmt* s) {
    if (is_loop(s)) loop_ids_[s] = "l" + std::to_string(++number);
    jumps |= isa<GotoStmt, IndirectGotoStmt>(s);
    if (const auto* c = dyn_cast<CallExpr>(s); c != nullptr && c->getDirectCallee() != nullptr) {
      const std::string name = c->getDirectCallee()->getNameAsString();
      jumps |= name == "setjmp" || name == "longjmp" || name == "_setjmp" || name == "__sigsetjmp";
    }
  });
  if (jumps) result.refused = "goto or setjmp: the order of its statements is not known";
  result.root = part(decl->getBody(), false);
  return result;
}

}  // namespace ridge::place::frontend
