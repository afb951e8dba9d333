// A function as the host sees it: nests that may be placed among parts that stay as they are.
#include <algorithm>
#include <functional>

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
  visit(s, [&](const Stmt* x) {
    found |= is_loop(x) || (isa<CallExpr>(x) && cast<CallExpr>(x)->getDirectCallee() != nullptr);
  });
  return found;
}

// Reads a loop with all that is in it, or refuses.
std::optional<Nest> Reader::nest(const Stmt* s, Part& into) {
  scope_ = std::make_unique<Scope>();
  scope_->root = s;
  find_changes(s, scope_->changed);
  const auto done = [&]() { scope_.reset(); };
  try {
    scope_->nest.line = line(s);
    scope_->nest.span = statement_span(s);
    if (!scope_->nest.span.known) refuse(s, "the loop is hidden in a macro or in another file");
    scope_->nest.root = statement(s);
    know_loops_around();
    for (const auto& [decl, which] : scope_->variables) {
      const Variable& v = scope_->nest.variables[which];
      const auto* var = dyn_cast<VarDecl>(decl);
      if (v.outlives || (var != nullptr && v.loops.empty() && live_after(var)))
        scope_->nest.live_after.insert(which);
      else if (v.array() && !v.local_memory) {
        // An array is needed later unless nothing outside the nest names it.
        bool elsewhere = false;
        visit(function_->getBody(), [&, decl = decl](const Stmt* x) {
          if (const auto* ref = dyn_cast<DeclRefExpr>(x); ref != nullptr && ref->getDecl() == decl) {
            const Span at = span(x->getSourceRange());
            elsewhere |= !at.known || at.begin < scope_->nest.span.begin || at.begin >= scope_->nest.span.end;
          }
        });
        if (elsewhere) scope_->nest.live_after.insert(which);
      }
    }
    for (std::size_t v = 0; v < scope_->nest.variables.size(); ++v)
      if (scope_->nest.variables[v].outlives) scope_->nest.live_after.insert(static_cast<int>(v));
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

// Iterators of counted loops around the nest lie within their bounds: a fact that proofs may use.
void Reader::know_loops_around() {
  for (const Frame& frame : around_) {
    const auto* f = dyn_cast<ForStmt>(frame.s);
    if (f == nullptr || f->getInit() == nullptr || f->getCond() == nullptr || f->getInc() == nullptr) continue;
    const auto* d = dyn_cast<DeclStmt>(f->getInit());
    const auto* var = d != nullptr && d->isSingleDecl() ? dyn_cast<VarDecl>(d->getSingleDecl()) : nullptr;
    if (var == nullptr || !var->hasInit()) continue;
    bool up = false;  // never smaller than its start
    if (const auto* u = dyn_cast<UnaryOperator>(f->getInc()->IgnoreParens())) {
      up = u->isIncrementOp() && referred(u->getSubExpr()) == var;
    } else if (const auto* b = dyn_cast<BinaryOperator>(f->getInc()->IgnoreParens());
               b != nullptr && referred(b->getLHS()) == var) {
      Expr::EvalResult by, from;
      const bool known = b->isCompoundAssignmentOp() && b->getRHS()->EvaluateAsInt(by, ast_);
      const bool positive = known && by.Val.getInt().isStrictlyPositive();
      up = positive && (b->getOpcode() == BO_AddAssign ||
                        (b->getOpcode() == BO_MulAssign && var->getInit()->EvaluateAsInt(from, ast_) &&
                         from.Val.getInt().isStrictlyPositive()));
    }
    if (!up) continue;
    if (!var->getType()->isIntegerType() || scope_->variables.count(var) == 0) continue;
    std::set<const ValueDecl*> changed;
    find_changes(f->getBody(), changed);
    if (changed.count(var) > 0) continue;
    const auto still = [&](const Stmt* e) {
      bool ok = true;
      visit(e, [&](const Stmt* x) {
        if (const auto* ref = dyn_cast<DeclRefExpr>(x)) ok = ok && changed.count(ref->getDecl()) == 0;
        ok = ok && !isa<CallExpr>(x) && !isa<ArraySubscriptExpr>(x);
      });
      return ok;
    };
    std::vector<Poly> needed;
    const auto i = poly_of(var);
    if (!i) continue;
    if (const auto start = poly(var->getInit(), needed);
        start && start->affine() && needed.empty() && still(var->getInit()))
      scope_->nest.context.push_back({i->plus(*start, -1)});
    needed.clear();
    if (const auto when = condition(f->getCond(), false, needed);
        when && when->size() == 1 && needed.empty() && still(f->getCond()))
      for (const Constraint& c : (*when)[0]) scope_->nest.context.push_back(c);
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
  if (const auto* b = dyn_cast<BinaryOperator>(inner);
      b != nullptr && b->getOpcode() == BO_Assign && referred(b->getLHS()) != nullptr)
    inner = b->getRHS()->IgnoreImplicit();
  const auto* call = dyn_cast<CallExpr>(inner);
  if (call == nullptr || isa<CXXMemberCallExpr>(call) || isa<CXXOperatorCallExpr>(call)) return {};
  const FunctionDecl* callee = call->getDirectCallee();
  const FunctionDecl* body = nullptr;
  if (callee == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee) || callee->isTemplateInstantiation())
    return {};
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
  for (const Expr* argument : call->arguments()) {  // arguments must not hide work of their own
    if (isa<CXXDefaultArgExpr>(argument)) return {};
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
      if (!harmless) return {};
    }
  }
  Part result;
  result.kind = PartKind::call;
  result.callee = callee->getNameAsString();
  result.callee_name = span(call->getCallee()->getSourceRange());
  if (!result.callee_name.known) return {};
  for (const Expr* argument : call->arguments()) {  // v.data(): who owns the memory knows how much there is
    const auto* m = dyn_cast<CXXMemberCallExpr>(argument->IgnoreImplicit());
    if (m == nullptr || m->getMethodDecl() == nullptr || m->getMethodDecl()->getNameAsString() != "data") continue;
    const CXXRecordDecl* record = m->getRecordDecl();
    if (record == nullptr || record->getQualifiedNameAsString() != "std::vector") continue;
    const std::string text = original(argument->getSourceRange());
    const auto word = text.rfind("data");
    if (word != std::string::npos) result.knows.emplace_back(text, text.substr(0, word) + "size()");
  }
  called_->insert(body);
  return result;
}

// A loop that stays on the host: its header, and the parts of its body.
Part Reader::open_loop(const Stmt* s) {
  Part result;
  result.kind = PartKind::loop;
  around_.push_back({s, 0});
  result.children.push_back(part(body_of(s), false));
  around_.pop_back();
  const auto touches_arrays = [&](const Stmt* h) {
    if (h == nullptr) return false;
    Effects fx;
    bool any = false;
    scope_ = std::make_unique<Scope>();
    find_changes(h, scope_->changed);
    try {
      const auto* e = dyn_cast<Expr>(h);
      if (e != nullptr && dialect(e->getType()) && !isa<CompoundAssignOperator>(e) &&
          !(isa<UnaryOperator>(e) && cast<UnaryOperator>(e)->isIncrementDecrementOp()) &&
          !(isa<BinaryOperator>(e) && cast<BinaryOperator>(e)->isAssignmentOp())) {
        expression(e, fx);
      } else {
        const Node node = statement(h);
        std::function<void(const Node&)> walk = [&](const Node& n) {
          fx.accesses.insert(fx.accesses.end(), n.accesses.begin(), n.accesses.end());
          for (const Node& child : n.children) walk(child);
        };
        walk(node);
      }
      for (const Access& a : fx.accesses) {
        const Variable& v = scope_->nest.variables[a.variable];
        any |= v.array() || v.storage == Storage::reference;
      }
    } catch (const Refused&) {
      any = true;
    }
    scope_.reset();
    return any;
  };
  if (const auto* f = dyn_cast<ForStmt>(s))
    result.anything = touches_arrays(f->getInit()) || touches_arrays(f->getCond()) || touches_arrays(f->getInc());
  else if (const auto* w = dyn_cast<WhileStmt>(s))
    result.anything = touches_arrays(w->getCond());
  else if (const auto* d = dyn_cast<DoStmt>(s))
    result.anything = touches_arrays(d->getCond());
  else  // a range-for: its elements may be anything, but going on to the next one touches no array
    result.anything = false;
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
    auto found = nest(s, result);
    if (found && !found->loops[0].counted) {  // what it changes stands still inside the loops in it: read those
      bool inner = false;
      visit(body_of(s), [&](const Stmt* x) { inner |= is_loop(x); });
      if (inner) {
        result.why = found->loops[0].why;
        result.why_line = result.line;
        found.reset();
      }
    }
    if (found) {
      result.kind = PartKind::nest;
      result.nest = static_cast<int>(result_->nests.size());
      result_->nests.push_back(std::move(*found));
      bool inner = false;
      visit(body_of(s), [&](const Stmt* x) { inner |= is_loop(x); });
      if (inner && around_.size() < 40) {   // the same loop opened, should only what is inside it be placed
        const auto said = refusals.size();  // what is understood as a whole has nothing to complain about in its parts
        Part opened = open_loop(s);
        refusals.resize(said);
        opened.id = result.id;
        opened.loop_kind = result.loop_kind;
        opened.line = result.line;
        opened.span = result.span;
        opened.source = result.source;
        opened.in_sequence = in_sequence;
        result.children.push_back(std::move(opened));
      }
      return result;
    }
    Part opened = open_loop(s);
    result.children = std::move(opened.children);
    result.anything = opened.anything;
    return result;
  }
  if (const auto* branch = dyn_cast<IfStmt>(s);
      branch != nullptr && !branch->hasInitStorage() && !branch->hasVarStorage() && has_loop(s)) {
    result.kind = PartKind::branch;
    around_.push_back({s, 0});
    result.children.push_back(part(branch->getThen(), false));
    const auto* asked = dyn_cast<CallExpr>(branch->getCond()->IgnoreParenImpCasts());
    if (const FunctionDecl* test = asked != nullptr ? asked->getDirectCallee() : nullptr;
        test != nullptr && test->getDeclName().isIdentifier() && test->getNameAsString().rfind(kGuard, 0) == 0 &&
        branch->getElse() != nullptr) {
      // A transformed nest behind its test: it asks for addresses only, and the loops as they were stay where they are.
      around_.pop_back();
      Part before;
      before.line = line(branch->getElse());
      before.span = span(branch->getElse()->getSourceRange());
      before.source = source(branch->getElse());
      before.anything = true;
      result.children.push_back(std::move(before));
      return result;
    }
    if (branch->getElse() != nullptr) result.children.push_back(part(branch->getElse(), false));
    around_.pop_back();
    Effects fx;
    scope_ = std::make_unique<Scope>();
    try {
      expression(branch->getCond(), fx);
      for (const Access& a : fx.accesses)
        result.anything |= scope_->nest.variables[a.variable].array() ||
                           scope_->nest.variables[a.variable].storage == Storage::reference;
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
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && d->isSingleDecl())
    if (const auto* var = dyn_cast<VarDecl>(d->getSingleDecl()); var != nullptr)
      if (const CXXRecordDecl* record = var->getType()->getAsCXXRecordDecl();
          record != nullptr && record->isLambda() && var->hasInit()) {
        const auto* written = dyn_cast<LambdaExpr>(var->getInit()->IgnoreImplicit());
        bool numbers = written != nullptr;  // a copy of an array would be taken here and now
        if (written != nullptr)
          for (const auto& capture : written->captures())
            numbers = numbers && capture.capturesVariable() && !capture.getCapturedVar()->isInitCapture() &&
                      (capture.getCaptureKind() == LCK_ByRef || capture.getCapturedVar()->getType()->isPointerType() ||
                       dialect(capture.getCapturedVar()->getType()));
        if (numbers) {
          result.pure = true;  // its body runs where it is called
          return result;
        }
      }
  if (const auto* d = dyn_cast<DeclStmt>(s)) {
    for (const Decl* decl : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(decl);
          var != nullptr && !var->getType()->isReferenceType() && !var->getType()->isPointerType()) {
        Variable v;
        v.host = var->getNameAsString();
        if (dialect(var->getType())) continue;
        const CXXRecordDecl* record = var->getType()->getAsCXXRecordDecl();
        const bool known = shape(var->getType(), v) && !v.count.empty();
        if (known && (record == nullptr || record->getQualifiedNameAsString() != "std::span"))
          result.locals.push_back({v.host, v.data, v.count, v.host_element});
        else if (var->getType().isDestructedType() != QualType::DK_none || var->getType()->isArrayType() ||
                 record != nullptr)
          result.leaves = true;
      }
    // std::vector<float> v(n): makes new memory, reads numbers only.
    bool plain = result.kind == PartKind::statement;
    for (const Decl* decl : d->decls()) {
      const auto* var = dyn_cast<VarDecl>(decl);
      const Expr* init = var != nullptr && var->hasInit() ? var->getInit()->IgnoreImplicit() : nullptr;
      const auto* made = dyn_cast_or_null<CXXConstructExpr>(init);
      Variable v;
      if (var != nullptr) v.host = var->getNameAsString();
      if (var == nullptr || dialect(var->getType()) || var->getType()->isReferenceType() || !shape(var->getType(), v) ||
          v.storage == Storage::pointer) {
        plain = false;
        continue;
      }
      if (made == nullptr) {
        plain = plain && init == nullptr;
        continue;
      }
      for (const Expr* a : made->arguments())
        plain = plain && (isa<CXXDefaultArgExpr>(a) || dialect(a->getType().getNonReferenceType()));
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
    // v.resize(n), v = w: only these vectors, and the memory of one may be exchanged for other memory.
    if (const auto* e = dyn_cast<Expr>(s); e != nullptr && result.kind == PartKind::statement && result.anything) {
      const Expr* inner = e->IgnoreImplicit();
      const auto vector_of = [&](const Expr* x, Part::Local& into) {
        const ValueDecl* decl = referred(x);
        Variable v;
        if (decl == nullptr) return false;
        v.host = decl->getNameAsString();
        const CXXRecordDecl* record = decl->getType().getNonReferenceType()->getAsCXXRecordDecl();
        if (record == nullptr || record->getQualifiedNameAsString() != "std::vector" || !shape(decl->getType(), v))
          return false;
        into = {v.host, v.data, v.count, v.host_element};
        return true;
      };
      Part::Local to, from;
      if (const auto* m = dyn_cast<CXXMemberCallExpr>(inner); m != nullptr && m->getMethodDecl() != nullptr &&
                                                              m->getMethodDecl()->getDeclName().isIdentifier() &&
                                                              vector_of(m->getImplicitObjectArgument(), to)) {
        static const std::set<std::string> own{"resize",    "assign",        "clear",   "reserve",
                                               "push_back", "shrink_to_fit", "pop_back"};
        bool numbers = own.count(m->getMethodDecl()->getNameAsString()) > 0;
        for (const Expr* a : m->arguments()) {
          numbers = numbers && (isa<CXXDefaultArgExpr>(a) || dialect(a->getType().getNonReferenceType()));
          visit(a, [&](const Stmt* x) { numbers = numbers && !isa<CallExpr>(x) && !isa<ArraySubscriptExpr>(x); });
        }
        if (numbers) {
          result.anything = false;
          result.touches.clear();
          result.moves.push_back(to);
        }
      } else if (const auto* o = dyn_cast<CXXOperatorCallExpr>(inner);
                 o != nullptr && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && vector_of(o->getArg(0), to) &&
                 vector_of(o->getArg(1), from)) {
        result.anything = false;
        result.touches.clear();
        result.touches.push_back({from.data, from.count, from.element, false});
        result.moves.push_back(to);
      }
    }
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
  result.qualified = decl->getQualifiedNameAsString();
  for (const std::string unnamed = "(anonymous namespace)::"; result.qualified.find(unnamed) != std::string::npos;)
    result.qualified.erase(result.qualified.find(unnamed), unnamed.size());
  result.line = static_cast<int>(sources.getExpansionLineNumber(decl->getLocation()));
  result.last_line = static_cast<int>(sources.getExpansionLineNumber(decl->getEndLoc()));
  result.whole = span(decl->getSourceRange());
  result.body = span(decl->getBody()->getSourceRange());
  result.name_span = span(SourceRange(decl->getLocation(), decl->getLocation()));
  result.in_main_file = sources.isInMainFile(decl->getLocation());
  result.is_static = decl->getStorageClass() == SC_Static || decl->isInAnonymousNamespace();
  for (const ParmVarDecl* p : decl->parameters()) {
    FunctionParameter made;
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
      made.kind = p->getType()->isReferenceType() && !made.constant ? FunctionParameter::Kind::reference
                  : number->integer                                 ? FunctionParameter::Kind::integer
                                                                    : FunctionParameter::Kind::real;
    } else if (shape(p->getType(), v)) {
      made.element = v.host_element;
      made.bytes = v.bytes;
      made.constant = v.constant;
      made.length = v.length;
      const bool plain = v.inner.empty();
      made.kind = !plain                                    ? FunctionParameter::Kind::other
                  : v.storage == Storage::pointer           ? FunctionParameter::Kind::pointer
                  : v.length >= 0                           ? FunctionParameter::Kind::std_array
                  : class_of(p->getType()) == "std::vector" ? FunctionParameter::Kind::vector
                  : class_of(p->getType()) == "std::span"   ? FunctionParameter::Kind::span
                                                            : FunctionParameter::Kind::other;
    } else if (class_of(p->getType()) == "cv::Mat" || class_of(p->getType()) == "cv::Mat_") {
      made.kind = FunctionParameter::Kind::mat;
      made.constant = bare.isConstQualified();
    }
    result.parameters.push_back(made);
  }
  if (decl->getNumParams() > 0)
    result.parameter_text = original(
        SourceRange(decl->getParamDecl(0)->getBeginLoc(), decl->getParamDecl(decl->getNumParams() - 1)->getEndLoc()));
  if (isa<CXXMethodDecl>(decl)) result.refused = "a member function";
  if (decl->isTemplateInstantiation() || decl->isTemplated()) result.refused = "a template";
  if (decl->isVariadic()) result.refused = "a function with any number of arguments";
  if (decl->isConstexpr()) result.refused = "a constexpr function";
  if (!result.whole.known || !result.body.known) result.refused = "its text is in a macro or in another file";
  changed_in_function_.clear();
  captured_.clear();
  find_changes(decl->getBody(), changed_in_function_);
  int number = 0;
  bool jumps = false;
  visit(decl->getBody(), [&](const Stmt* s) {
    if (is_loop(s)) loop_ids_[s] = "l" + std::to_string(++number);
    if (const auto* written = dyn_cast<LambdaExpr>(s))
      for (const auto& capture : written->captures())
        if (capture.capturesVariable() && capture.getCaptureKind() == LCK_ByRef)
          captured_.insert(capture.getCapturedVar());
    jumps |= isa<GotoStmt, IndirectGotoStmt>(s);
    if (const auto* c = dyn_cast<CallExpr>(s); c != nullptr && c->getDirectCallee() != nullptr) {
      const std::string name = c->getDirectCallee()->getNameAsString();
      jumps |= name == "setjmp" || name == "longjmp" || name == "_setjmp" || name == "__sigsetjmp";
    }
  });
  if (jumps) result.refused = "goto or setjmp: the order of its statements is not known";
  result.root = part(decl->getBody(), false);
  for (FunctionParameter& p : result.parameters)  // a Mat's elements are what its uses say
    for (const Nest& n : result.nests)
      for (const Variable& v : n.variables)
        if (p.kind == FunctionParameter::Kind::mat && v.host == p.name && v.array()) {
          p.element = v.host_element;
          p.length = v.inner.empty() ? 1 : v.inner[0];
        }
  return result;
}

}  // namespace ridge::place::frontend
