// Splits a function into nests that may be placed and host parts that stay unchanged.
#include <algorithm>
#include <functional>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

bool Reader::has_loop(const Stmt* s) const {
  bool found = false;
  visit(s, [&](const Stmt* x) {
    found |= is_loop(x) || (isa<CallExpr>(x) && cast<CallExpr>(x)->getDirectCallee() != nullptr);
  });
  return found;
}

// Reads a loop with its whole body; empty, with the reason in `into`, if something in it is not supported.
std::optional<Nest> Reader::nest(const Stmt* s, Part& into) {
  scope_ = std::make_unique<Scope>();
  scope_->root = s;
  scope_->tested = true;
  find_changes(s, scope_->changed);
  const auto done = [&]() { scope_.reset(); };
  try {
    scope_->nest.line = line(s);
    scope_->nest.span = statement_span(s);
    if (const auto claim = claimed(s); claim && claim->attribute)
      scope_->nest.span.begin = static_cast<unsigned>(claim->begin);
    if (!scope_->nest.span.known) refuse(s, "the loop comes from a macro or from another file");
    scope_->nest.root = statement(s);
    record_enclosing_loops();
    std::vector<std::pair<const ValueDecl*, int>> named(scope_->variables.begin(), scope_->variables.end());
    for (const auto& [host, mat] : scope_->mats) named.emplace_back(mat.decl, mat.variable);
    for (const auto& [decl, which] : named) {
      const Variable& v = scope_->nest.variables[which];
      const auto* var = dyn_cast<VarDecl>(decl);
      if (v.outlives || (var != nullptr && !v.shares && v.loops.empty() && live_after(var)))
        scope_->nest.live_after.insert(which);
      else if (v.array() && !v.local_memory) {
        // An array is needed later unless it is used only inside the nest.
        bool elsewhere = false;
        visit(function_->getBody(), [&, decl = decl](const Stmt* x) {
          if (const auto* ref = dyn_cast<DeclRefExpr>(x); ref != nullptr && ref->getDecl() == decl) {
            const Span at = span(x->getSourceRange());
            elsewhere |= !at.known || at.begin < scope_->nest.span.begin || at.begin >= scope_->nest.span.end;
          }
        });
        const unsigned made = var != nullptr ? ast_.getSourceManager().getFileOffset(var->getLocation()) : 0;
        const bool again = std::any_of(around_.begin(), around_.end(), [&](const Frame& f) {
          const Span loop = span(f.s->getSourceRange());
          return is_loop(f.s) && (!loop.known || made < loop.begin || made >= loop.end);
        });
        if (elsewhere)
          scope_->nest.live_after.insert(which);
        else if (again)
          scope_->nest.kept.insert(which);
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

// Records the bounds of counted loops around the nest as facts about their iterators.
void Reader::record_enclosing_loops() {
  for (const Frame& frame : around_) {
    if (const auto* branch = dyn_cast<IfStmt>(frame.s)) record_enclosing_branch(branch, frame.next == 0);
    const auto* f = dyn_cast<ForStmt>(frame.s);
    if (f == nullptr || f->getInit() == nullptr || f->getCond() == nullptr || f->getInc() == nullptr) continue;
    Counting count;
    std::string ignored;
    if (!counting(f, count, ignored)) continue;
    const VarDecl* var = count.var;
    if (!count.declared_in_header && (reachable(var) || captured_.count(var) > 0)) continue;
    bool up = false, down = false;  // never below or above its start
    if (const auto* u = dyn_cast<UnaryOperator>(f->getInc()->IgnoreParens())) {
      up = u->isIncrementOp() && referred(u->getSubExpr()) == var;
      down = u->isDecrementOp() && referred(u->getSubExpr()) == var;
    } else if (const auto* b = dyn_cast<BinaryOperator>(f->getInc()->IgnoreParens());
               b != nullptr && referred(b->getLHS()) == var) {
      Expr::EvalResult by, from;
      const bool known = b->isCompoundAssignmentOp() && b->getRHS()->EvaluateAsInt(by, ast_);
      const bool positive = known && by.Val.getInt().isStrictlyPositive();
      up = positive && (b->getOpcode() == BO_AddAssign ||
                        (b->getOpcode() == BO_MulAssign && count.start->EvaluateAsInt(from, ast_) &&
                         from.Val.getInt().isStrictlyPositive()));
      down = positive && b->getOpcode() == BO_SubAssign;
    }
    if (!up && !down) continue;
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
    const auto know = [&](const Constraint& c, bool surely) {
      if (surely) {
        scope_->nest.context.push_back(c);
        return;
      }
      if (!c.poly.affine()) return;
      scope_->nest.assumptions.push_back(Condition{{c}});
      scope_->nest.assumption_texts.push_back("the loop header of line " + std::to_string(line(f)) +
                                              " does not change");
    };
    std::vector<Poly> needed;
    const auto i = poly_of(var);
    if (!i) continue;
    if (const auto start = poly(count.start, needed); start && start->affine() && needed.empty() && still(count.start))
      know({up ? i->plus(*start, -1) : start->plus(*i, -1)}, settled(count.start));
    needed.clear();
    if (const auto when = condition(f->getCond(), false, needed);
        when && when->size() == 1 && needed.empty() && still(f->getCond()))
      for (const Constraint& c : (*when)[0]) know(c, settled(f->getCond()));
  }
}

// Records the condition of an enclosing if as a fact, provided that nothing in the arm changes its variables.
void Reader::record_enclosing_branch(const IfStmt* branch, bool taken) {
  const Stmt* arm = taken ? branch->getThen() : branch->getElse();
  if (branch->getCond() == nullptr || arm == nullptr || !settled(branch->getCond())) return;
  std::set<const ValueDecl*> changed;
  find_changes(arm, changed);
  find_changes(branch->getCond(), changed);
  bool still = true;
  visit(branch->getCond(), [&](const Stmt* x) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(x))
      still = still && changed.count(ref->getDecl()) == 0 && scope_->variables.count(ref->getDecl()) > 0;
    still = still && !isa<CallExpr, ArraySubscriptExpr, MemberExpr, LambdaExpr>(x);
    if (const auto* u = dyn_cast<UnaryOperator>(x)) still = still && u->getOpcode() != UO_Deref;
  });
  std::vector<Poly> needed;
  if (!still) return;
  if (const auto when = condition(branch->getCond(), !taken, needed); when && when->size() == 1 && needed.empty())
    for (const Constraint& c : (*when)[0]) scope_->nest.context.push_back(c);
}

// True if a statement only computes with local scalars and prints them: it accesses no array.
bool Reader::only_numbers(const Stmt* s) const {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    return var != nullptr && var->hasLocalStorage() && var->getType()->isArithmeticType() &&
           !var->getType().isVolatileQualified() && escaped_.count(var) == 0;
  }
  if (isa<StringLiteral, IntegerLiteral, FloatingLiteral, CharacterLiteral, CXXBoolLiteralExpr>(s)) return true;
  if (isa<UnaryExprOrTypeTraitExpr>(s)) return true;  // sizeof does not evaluate its operand
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    static const std::set<std::string> prints{"printf", "puts", "putchar", "std::printf", "std::puts", "std::putchar"};
    const FunctionDecl* callee = call->getDirectCallee();
    const auto* shifts = dyn_cast<CXXOperatorCallExpr>(call);
    const bool stream =
        shifts != nullptr && shifts->getOperator() == OO_LessLess && class_of(call->getType()) == "std::basic_ostream";
    if (!stream && (callee == nullptr || isa<CXXMethodDecl>(callee) || !callee->getDeclName().isIdentifier() ||
                    prints.count(callee->getQualifiedNameAsString()) == 0))
      return false;
    return std::all_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) {
      const ValueDecl* named = referred(a);
      return only_numbers(a) || (stream && named != nullptr && named->getQualifiedNameAsString() == "std::cout") ||
             (stream && named != nullptr && isa<FunctionDecl>(named));  // endl, flush
    });
  }
  if (const auto* u = dyn_cast<UnaryOperator>(s))
    if (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf) return false;
  if (const auto* d = dyn_cast<DeclStmt>(s))
    for (const Decl* decl : d->decls())
      if (const auto* var = dyn_cast<VarDecl>(decl);
          var == nullptr || !var->hasLocalStorage() || !var->getType()->isArithmeticType())
        return false;
  if (!isa<UnaryOperator, BinaryOperator, ConditionalOperator, ParenExpr, CastExpr, ExprWithCleanups, DeclStmt,
           CompoundStmt, IfStmt, BreakStmt, ContinueStmt, NullStmt>(s))
    return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return only_numbers(child); });
}

// True if an expression computes an address without accessing an array: of another pointer, or of new memory.
bool Reader::only_address(const Expr* e) const {
  e = e->IgnoreParens();
  if (const auto* cast = dyn_cast<CastExpr>(e))
    return cast->getType()->isPointerType() &&
           (cast->getCastKind() == CK_NullToPointer ||
            (cast->getSubExpr()->getType()->isPointerType() || cast->getCastKind() == CK_ArrayToPointerDecay)) &&
           (cast->getCastKind() == CK_NullToPointer || only_address(cast->getSubExpr()));
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    if (var == nullptr || var->getType().isVolatileQualified()) return false;
    return var->getType()->isArrayType() || (var->getType()->isPointerType() && !reachable(var));
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAdditiveOp() && b->getType()->isPointerType())
    return b->getLHS()->getType()->isPointerType() ? only_address(b->getLHS()) && only_numbers(b->getRHS())
                                                   : only_address(b->getRHS()) && only_numbers(b->getLHS());
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf)
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(u->getSubExpr()->IgnoreParens()))
      return only_address(element->getBase()) && only_numbers(element->getIdx());
  if (const auto* made = dyn_cast<CXXNewExpr>(e))
    return made->isArray() && made->getAllocatedType()->isArithmeticType() && made->getNumPlacementArgs() == 0 &&
           made->getArraySize().has_value() && only_numbers(*made->getArraySize());
  if (const auto* call = dyn_cast<CallExpr>(e); call != nullptr && call->getDirectCallee() != nullptr) {
    static const std::set<std::string> allocate{"malloc",      "calloc",      "aligned_alloc",
                                                "std::malloc", "std::calloc", "std::aligned_alloc"};
    return allocate.count(call->getDirectCallee()->getQualifiedNameAsString()) > 0 &&
           std::all_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) { return only_numbers(a); });
  }
  return false;
}

// True for statements that only set local pointers: p = q, float* t = a, p = malloc(n).
bool Reader::moves_addresses(const Stmt* s) const {
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->getOpcode() == BO_Assign) {
    const auto* to = dyn_cast_or_null<VarDecl>(referred(b->getLHS()));
    return to != nullptr && to->getType()->isPointerType() && !reachable(to) && only_address(b->getRHS());
  }
  const auto* d = dyn_cast<DeclStmt>(s);
  return d != nullptr && std::all_of(d->decl_begin(), d->decl_end(), [&](const Decl* decl) {
           const auto* var = dyn_cast<VarDecl>(decl);
           return var != nullptr && var->hasLocalStorage() && var->getType()->isPointerType() &&
                  (!var->hasInit() || only_address(var->getInit()));
         });
}

// Collects the accessed arrays, and the scalars that may overlap an array on the device.
void Reader::note_touches(const std::vector<Access>& accesses, std::map<std::string, Touch>& found,
                          bool& anything) const {
  for (const Access& a : accesses) {
    const Variable& v = scope_->nest.variables[a.variable];
    if (v.local_memory) continue;
    if (!v.home.empty()) {
      Touch& t = found[v.home + " " + v.element];
      t.data = v.home;
      t.write |= a.write && !v.array();
      t.number = v;
    }
    if (!v.array()) continue;
    if (v.storage == Storage::pointer || v.count.empty() || v.scattered) {
      anything = true;
      continue;
    }
    Touch& t = found[v.data];
    t.data = v.data;
    t.count = v.count;
    t.element = v.host_element;
    t.write |= a.write;
  }
}

// Memory that a host part accesses. If it may access anything but named objects, it counts as accessing everything.
void Reader::touched(const Stmt* s, Part& into) {
  if (only_numbers(s) || moves_addresses(s)) {
    into.pure = true;
    return;
  }
  header_touches(s, into.touches, into.anything);
  into.pure = !into.anything && into.touches.empty();
}

// Memory that a statement or a header's expression accesses.
void Reader::header_touches(const Stmt* s, std::vector<Touch>& touches, bool& anything) {
  if (s == nullptr || only_numbers(s)) return;
  scope_ = std::make_unique<Scope>();
  scope_->root = s;
  find_changes(s, scope_->changed);
  std::map<std::string, Touch> found;
  try {
    const auto* e = dyn_cast<Expr>(s);
    const Expr* bare = e != nullptr ? e->IgnoreParens() : nullptr;
    const auto* unary = dyn_cast_or_null<UnaryOperator>(bare);
    const auto* binary = dyn_cast_or_null<BinaryOperator>(bare);
    const bool changes = (unary != nullptr && unary->isIncrementDecrementOp()) ||
                         (binary != nullptr && (binary->isAssignmentOp() || binary->getOpcode() == BO_Comma));
    if (e != nullptr && dialect(e->getType()) && !changes) {
      Effects fx;
      expression(e, fx);
      note_touches(fx.accesses, found, anything);
    } else {
      const Node node = statement(s);
      const std::function<void(const Node&)> walk = [&](const Node& n) {
        note_touches(n.accesses, found, anything);
        for (const Node& child : n.children) walk(child);
      };
      walk(node);
    }
  } catch (const Refused&) {
    anything = true;
  }
  anything |= scope_->nest.asserts;  // the function may be left here
  scope_.reset();
  for (const auto& [data, touch] : found) touches.push_back(touch);
}

// A loop that stays on the host: accesses of its header, and the parts of its body.
Part Reader::open_loop(const Stmt* s) {
  Part result;
  result.kind = PartKind::loop;
  around_.push_back({s, 0});
  result.children.push_back(part(body_of(s), false));
  around_.pop_back();
  const auto add = [&](const Stmt* h) { header_touches(h, result.touches, result.anything); };
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    add(f->getInit());
    add(f->getCond());
    add(f->getInc());
  } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
    add(w->getCond());
  } else if (const auto* d = dyn_cast<DoStmt>(s)) {
    add(d->getCond());
  } else if (const auto* r = dyn_cast<CXXForRangeStmt>(s);  // advancing a reference accesses no array
             !r->getLoopVariable()->getType()->isReferenceType() &&
             class_of(r->getRangeInit()->getType()) != "std::initializer_list") {
    scope_ = std::make_unique<Scope>();
    scope_->root = s;
    std::map<std::string, Touch> found;
    try {
      Effects fx;
      const auto which = object(r->getRangeInit());
      const auto p = which ? std::optional(Place{*which, {}, {}}) : place(r->getRangeInit(), fx);
      Access a;
      a.variable = p ? p->variable : -1;
      if (p)
        note_touches({a}, found, result.anything);
      else
        result.anything = true;
    } catch (const Refused&) {
      result.anything = true;
    }
    scope_.reset();
    for (const auto& [data, touch] : found) result.touches.push_back(touch);
  }
  return result;
}

Part Reader::part(const Stmt* s, bool in_sequence) {
  Part result;
  result.line = line(s);
  result.span = statement_span(s);
  if (!result.span.known) result.expanded = expanded_span(s);
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
  if (runs_once(s)) return part(body_of(s), in_sequence);
  if (is_loop(s)) return loop_part(s, std::move(result));
  if (const auto* branch = dyn_cast<IfStmt>(s);
      branch != nullptr && !branch->hasInitStorage() && !branch->hasVarStorage() && has_loop(s))
    return branch_part(branch, std::move(result));
  if (auto call = placeable_call(s)) {
    call->line = result.line;
    call->span = result.span;
    call->expanded = result.expanded;
    call->source = result.source;
    call->in_sequence = in_sequence;
    call->declares = result.declares;
    result = *call;
  }
  if (const auto* d = dyn_cast<DeclStmt>(s); d != nullptr && makes(d, result)) return result;
  if (result.kind == PartKind::statement || result.kind == PartKind::call) {
    touched(s, result);
    if (const auto* e = dyn_cast<Expr>(s)) exchanges(e, result);
  }
  return result;
}

// A nest if the whole loop is supported, else a host loop around its parts.
Part Reader::loop_part(const Stmt* s, Part result) {
  result.kind = PartKind::loop;
  result.id = loop_ids_[s];
  result.loop_kind = isa<WhileStmt>(s) ? "while" : isa<DoStmt>(s) ? "do" : "for";
  auto found = nest(s, result);
  bool inner = false;
  visit(body_of(s), [&](const Stmt* x) { inner |= is_loop(x); });
  if (found && !found->loops[0].counted && inner) {  // inner loops may be nests, with its variables fixed
    result.why = found->loops[0].why;
    result.why_line = result.line;
    found.reset();
  }
  if (found) {
    result.kind = PartKind::nest;
    result.nest = static_cast<int>(result_->nests.size());
    result.span = found->span;
    result_->nests.push_back(std::move(*found));
    if (inner && around_.size() < 40) {   // also as a host loop, in case only inner loops can be placed
      const auto said = refusals.size();  // refusals inside a nest that is supported as a whole are dropped
      Part opened = open_loop(s);
      refusals.resize(said);
      opened.id = result.id;
      opened.loop_kind = result.loop_kind;
      opened.line = result.line;
      opened.span = result.span;
      opened.source = result.source;
      opened.in_sequence = result.in_sequence;
      result.children.push_back(std::move(opened));
    }
    return result;
  }
  Part opened = open_loop(s);
  result.children = std::move(opened.children);
  result.anything = opened.anything;
  result.touches = std::move(opened.touches);
  return result;
}

Part Reader::branch_part(const IfStmt* s, Part result) {
  result.kind = PartKind::branch;
  around_.push_back({s, 0});
  result.children.push_back(part(s->getThen(), false));
  const Expr* first = s->getCond()->IgnoreParenImpCasts();  // of a && b && c
  std::vector<const Expr*> more;
  for (const auto* both = dyn_cast<BinaryOperator>(first); both != nullptr && both->getOpcode() == BO_LAnd;
       both = dyn_cast<BinaryOperator>(first)) {
    more.push_back(both->getRHS());
    first = both->getLHS()->IgnoreParenImpCasts();
  }
  const auto* asked = dyn_cast<CallExpr>(first);
  if (const FunctionDecl* test = asked != nullptr ? asked->getDirectCallee() : nullptr;
      test != nullptr && test->getDeclName().isIdentifier() && test->getNameAsString().rfind(kGuard, 0) == 0 &&
      s->getElse() != nullptr) {
    // A transformed nest behind its guard: the guard reads addresses and numbers only, and the original loops in the
    // else branch stay on the host.
    around_.pop_back();
    for (const Expr* argument : asked->arguments())
      if (dialect(argument->getType())) header_touches(argument, result.touches, result.anything);
    for (const Expr* test_of_sizes : more) header_touches(test_of_sizes, result.touches, result.anything);
    Part before;
    before.line = line(s->getElse());
    before.span = span(s->getElse()->getSourceRange());
    before.source = source(s->getElse());
    before.anything = true;
    result.children.push_back(std::move(before));
    return result;
  }
  around_.back().next = 1;
  if (s->getElse() != nullptr) result.children.push_back(part(s->getElse(), false));
  around_.pop_back();
  header_touches(s->getCond(), result.touches, result.anything);
  return result;
}

}  // namespace ridge::place::frontend
