// Statements: assignments, declarations, branches, jumps. Everything else is refused.
#include <algorithm>
#include <functional>
#include <utility>

#include "place/frontend/nest_reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

// A statement, after the statements that its expressions need (loops of modelled library functions).
Node Statements::statement(const Stmt* s) {
  auto outer = std::exchange(scope_.before, {});
  const bool hoists = std::exchange(scope_.may_hoist, false);
  Node node = single_statement(s);
  std::swap(scope_.before, outer);
  scope_.may_hoist = hoists;
  if (outer.empty()) return node;
  Node both;
  both.line = node.line;
  both.children = std::move(outer);
  both.children.push_back(std::move(node));
  return both;
}

namespace {

// True for the call by which a failed assertion ends the program.
bool ends_program(const Expr* e) {
  const auto* call = dyn_cast<CallExpr>(e->IgnoreParenCasts()->IgnoreImplicit());
  const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
  static const std::set<std::string> names{"cv::error", "__assert_fail", "__assert", "abort", "std::abort"};
  return callee != nullptr && callee->getDeclName().isIdentifier() &&
         names.count(callee->getQualifiedNameAsString()) > 0;
}

}  // namespace

// CV_Assert(c) and assert(c) only read their condition, unless they end the program.
std::optional<Node> Statements::assertion(const Stmt* s, Node node) {
  const auto* e = dyn_cast<Expr>(s);
  if (e == nullptr) return {};
  const auto* choice = dyn_cast<ConditionalOperator>(e->IgnoreParens());
  const bool ends = ends_program(e);
  if (!ends && (choice == nullptr || !ends_program(choice->getFalseExpr()))) return {};
  scope_.nest.asserts = true;
  if (ends) return node;
  Effects fx;
  tree_.expression(choice->getCond(), fx);
  node.kind = NodeKind::statement;
  node.source = source(s);
  node.accesses = fx.accesses;
  return node;
}

Node Statements::single_statement(const Stmt* s) {
  Node node;
  node.line = line(s);
  node.guards = scope_.guards();
  if (const auto* inner = dyn_cast<CompoundStmt>(s)) return block(inner, std::move(node));
  if (isa<NullStmt>(s) || loops_.counts(s)) return node;
  if (runs_once(s)) return statement(body_of(s));
  if (is_loop(s)) return loops_.loop(s);
  if (const auto* d = dyn_cast<DeclStmt>(s)) {
    declaration(d, node);
    return node;
  }
  if (const auto* chosen = dyn_cast<IfStmt>(s)) return branch(chosen, std::move(node));
  if (auto check = assertion(s, node)) return std::move(*check);
  node.kind = NodeKind::statement;
  node.source = source(s);
  if (isa<BreakStmt>(s) || isa<ContinueStmt>(s)) return jump(s, std::move(node));
  if (const auto* r = dyn_cast<ReturnStmt>(s)) {
    if (!facts_.in_function) refuse(s, "return inside the loop");
    Effects fx;
    node.text = r->getRetValue() != nullptr ? "return " + tree_.expression(r->getRetValue(), fx) + ";" : "return;";
    node.accesses = fx.accesses;
    return node;
  }
  if (const auto* e = dyn_cast<Expr>(s)) return expression_statement(e, node);
  const char* what = isa<GotoStmt>(s) || isa<LabelStmt>(s) ? "goto"
                     : isa<SwitchStmt>(s)                  ? "switch"
                     : isa<GCCAsmStmt>(s)                  ? "inline assembly"
                     : isa<CXXTryStmt>(s)                  ? "try"
                                                           : nullptr;
  refuse(s, (what != nullptr ? std::string(what) : describe(s)) + " is not supported");
}

Node Statements::block(const CompoundStmt* s, Node node) {
  const Stmt* around = std::exchange(scope_.block, s);
  for (const Stmt* child : s->body()) {
    if (const auto* d = dyn_cast<DeclStmt>(child)) {
      const std::size_t from = node.children.size();
      declaration(d, node);
      for (std::size_t k = from; k < node.children.size(); ++k) node.children[k].span = statement_span(child);
      continue;
    }
    Node inner = statement(child);
    remember(s, child);
    inner.span = statement_span(child);
    if (isa<CompoundStmt>(child)) inner.text = "{";
    node.children.push_back(std::move(inner));
  }
  scope_.block = around;
  return node;
}

Node Statements::branch(const IfStmt* s, Node node) {
  if (s->hasInitStorage() || s->hasVarStorage() || s->isConsteval())
    refuse(s, "a declaration inside if () is not supported");
  if (s->isConstexpr()) {
    Expr::EvalResult known;
    if (!s->getCond()->EvaluateAsRValue(known, ast_))
      refuse(s, "if constexpr with an unknown condition is not supported");
    const Stmt* taken = known.Val.getInt().getBoolValue() ? s->getThen() : s->getElse();
    return taken != nullptr ? statement(taken) : node;
  }
  scope_.own.clear();
  node.reduction = reduction(s);
  node.kind = NodeKind::branch;
  node.source = source(s);
  Effects fx;
  scope_.may_hoist = true;
  node.text = tree_.expression(s->getCond(), fx);
  scope_.may_hoist = false;
  std::vector<Poly> needed;
  node.when = numbers_.condition(s->getCond(), false, needed);
  if (node.when && needed.empty()) node.otherwise = numbers_.condition(s->getCond(), true, needed);
  if (!needed.empty() || !node.otherwise) node.when = node.otherwise = std::nullopt;
  node.accesses = fx.accesses;
  const auto own = scope_.own;  // for an extreme kept by if (e < x) x = e
  const bool extreme = node.reduction.combine != Combine::none;
  const auto read = [&](const Stmt* arm) {
    scope_.own = extreme ? own : std::set<const Expr*>{};
    Node wrapper;
    Node inner = statement(arm);
    wrapper.line = inner.line;
    wrapper.children.push_back(std::move(inner));
    return wrapper;
  };
  const auto before = scope_.skips;
  node.children.push_back(read(s->getThen()));
  const auto after = scope_.skips;
  scope_.skips = before;
  if (s->getElse() != nullptr) node.children.push_back(read(s->getElse()));
  for (std::size_t i = 0; i < after.size(); ++i)
    scope_.skips[i].insert(scope_.skips[i].end(), after[i].begin() + static_cast<long>(before[i].size()),
                           after[i].end());
  scope_.own.clear();
  return node;
}

Node Statements::jump(const Stmt* s, Node node) {
  if (scope_.open.empty()) refuse(s, "break or continue outside the loops of the nest");
  scope_.nest.jumps.push_back({static_cast<int>(scope_.open.size())});
  scope_.skips.back().push_back(static_cast<int>(scope_.nest.jumps.size()) - 1);
  if (isa<BreakStmt>(s)) {
    Loop& left = scope_.nest.loops[scope_.open.back()];
    if (left.leaves_early == 0) left.leaves_early = node.line;
  }
  node.text = isa<BreakStmt>(s) ? "break;" : "continue;";
  return node;
}

// `node` has the line, source and guards of the statement.
Node Statements::expression_statement(const Expr* e, const Node& node) {
  if (const auto* outer = dyn_cast<BinaryOperator>(e->IgnoreParens());
      outer != nullptr && outer->getOpcode() == BO_Assign) {
    const auto* inner = dyn_cast<BinaryOperator>(outer->getRHS()->IgnoreParenImpCasts());  // x = y = e
    if (inner != nullptr && inner->isAssignmentOp()) return chained_assignment(e, outer, inner, node);
  }
  if (const VarDecl* moved = moved_pointer(e))
    return pointer_assignment(cast<BinaryOperator>(e->IgnoreParens()), moved, node);
  if (const UnaryOperator* step = step_inside(e)) {  // a[k++] = e: two statements
    scope_.steps.insert(step);
    Node both;
    both.line = node.line;
    const auto add = [&](const Stmt* one) { both.children.push_back(statement(one)); };
    if (step->isPrefix()) add(step);
    add(e);
    if (step->isPostfix()) add(step);
    return both;
  }
  const auto saved = scope_.own;
  scope_.may_hoist = true;
  Node result = assignment(e);
  scope_.may_hoist = false;
  scope_.own = saved;
  result.line = node.line;
  result.source = node.source;
  result.guards = node.guards;
  return result;
}

// x = y = e as two statements.
Node Statements::chained_assignment(const Expr* e, const BinaryOperator* outer, const BinaryOperator* inner,
                                    const Node& node) {
  Node both;
  both.line = node.line;
  both.children.push_back(statement(inner));
  Node& last = both.children.emplace_back();
  last.kind = NodeKind::statement;
  last.line = node.line;
  last.source = node.source;
  last.guards = node.guards;
  Effects fx;
  last.text = tree_.expression(inner->getLHS(), fx);
  const auto p = places_.place(outer->getLHS(), fx);
  if (!p) refuse(e, "an assignment to this is not supported: " + source(e));
  scope_.record(*p, true, outer->getLHS(), fx);
  last.target = scope_.element_text(*p);
  last.operation = "=";
  last.accesses = fx.accesses;
  return both;
}

namespace {

// True if the statement sets the variable itself; of a pointer: not only what it points to.
bool sets(const Stmt* where, const ValueDecl* decl) {
  std::set<const ValueDecl*> changed;
  find_changes(where, changed);
  if (changed.count(decl) == 0 || !decl->getType()->isPointerType()) return changed.count(decl) > 0;
  bool found = false;
  visit(where, [&](const Stmt* x) {
    const auto* read = dyn_cast<CastExpr>(x);
    if (isa<ParenExpr>(x) || (read != nullptr && read->getCastKind() == CK_LValueToRValue)) return;
    for (const Stmt* child : x->children())
      if (const auto* e = dyn_cast_or_null<Expr>(child); e != nullptr && referred(e) == decl)
        found |= !isa<CastExpr>(child) || cast<CastExpr>(child)->getCastKind() != CK_LValueToRValue;
  });
  return found;
}

int times_named(const Stmt* where, const ValueDecl* decl) {
  int count = 0;
  visit(where, [&](const Stmt* x) {
    const auto* ref = dyn_cast<DeclRefExpr>(x);
    count += ref != nullptr && ref->getDecl() == decl ? 1 : 0;
  });
  return count;
}

// True if the whole nest uses the variable only in statements of the block after `s`, which do not change it.
bool used_only_after(const Stmt* s, const CompoundStmt* block, const Stmt* nest, const ValueDecl* decl) {
  int behind = 0;
  bool reached = false;
  bool changes = false;
  for (const Stmt* child : block->body()) {
    if (reached) {
      behind += times_named(child, decl);
      changes |= sets(child, decl);
    }
    reached |= child == s;
  }
  return reached && !changes && times_named(nest, decl) == behind + 1;
}

}  // namespace

// The local pointer that e sets, as in p = &a[i], if only later statements of the same block use it.
const VarDecl* Statements::moved_pointer(const Expr* e) const {
  const auto* b = dyn_cast<BinaryOperator>(e->IgnoreParens());
  if (b == nullptr || b->getOpcode() != BO_Assign || facts_.in_function || scope_.inlined > 0 || scope_.lambdas > 0 ||
      scope_.open.empty() || scope_.block == nullptr)
    return nullptr;
  const auto* var = dyn_cast_or_null<VarDecl>(referred(b->getLHS()));
  if (var == nullptr || !var->getType()->isPointerType() || !var->hasLocalStorage() || isa<ParmVarDecl>(var) ||
      facts_.captured.count(var) > 0 || facts_.reachable(var))
    return nullptr;
  return used_only_after(e, dyn_cast<CompoundStmt>(scope_.block), scope_.root, var) ? var : nullptr;
}

// p = &a[i]: the number p holds the offset from the first element.
Node Statements::pointer_assignment(const BinaryOperator* e, const VarDecl* var, Node node) {
  const std::string name = var->getNameAsString();
  Effects fx;
  auto p = places_.pointer(e->getRHS(), fx);
  const auto known = [](const Index& i) { return i.value.has_value(); };
  if (!p || p->indices.empty() || !std::all_of(p->indices.begin(), p->indices.end() - 1, known))
    refuse(e, "the pointer " + name + " changes in the loop: it must point to one known array element");
  const int which = scope_.declare_moved(var, false);
  const std::string offset = scope_.nest.variables[which].name;
  fx.set(which, node.line, "");
  node.kind = NodeKind::statement;
  node.target = offset;
  node.operation = "=";
  node.text = p->indices.back().text;
  node.accesses = fx.accesses;
  p->indices.back().text = offset;
  scope_.pointers[var] = *p;
  scope_.moved[var] = which;
  return node;
}

// Records the value of j after j = i + 1 until the end of the block, if nothing else in the nest changes j and j is
// used only after the assignment in this block.
void Statements::remember(const CompoundStmt* block, const Stmt* s) {
  const auto* b = dyn_cast<BinaryOperator>(s);
  if (b == nullptr || b->getOpcode() != BO_Assign || facts_.in_function || scope_.open.empty()) return;
  const auto* var = dyn_cast_or_null<VarDecl>(referred(b->getLHS()));
  if (var == nullptr || !var->hasLocalStorage() || isa<ParmVarDecl>(var) || facts_.captured.count(var) > 0 ||
      facts_.reachable(var) || scope_.iterators.count(var) > 0)
    return;
  const auto number = dialect(var->getType());
  if (!number || !number->integer || number->bytes < 4) return;
  if (times_named(b->getRHS(), var) > 0 || !used_only_after(s, block, scope_.root, var)) return;
  std::vector<Poly> needed;
  const bool outer = std::exchange(scope_.may_be_remainder, true);
  if (auto p = numbers_.in_type(tree_.poly(b->getRHS(), needed), var->getType(), needed)) {
    scope_.values[var] = *p;
    if (!needed.empty()) scope_.conditions[var] = needed;
  }
  scope_.may_be_remainder = outer;
}

// Finds k++ inside a statement, if the statement uses k only there and always evaluates it.
const UnaryOperator* Statements::step_inside(const Expr* e) const {
  const UnaryOperator* found = nullptr;
  const std::function<void(const Stmt*)> look = [&](const Stmt* s) {
    if (s == nullptr || found != nullptr || isa<LambdaExpr, AbstractConditionalOperator>(s)) return;
    if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->isLogicalOp()) return;
    if (const auto* u = dyn_cast<UnaryOperator>(s);
        u != nullptr && u != e && u->isIncrementDecrementOp() && scope_.steps.count(u) == 0 &&
        referred(u->getSubExpr()) != nullptr && u->getType()->isIntegerType())
      found = u;
    for (const Stmt* child : s->children()) look(child);
  };
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAssignmentOp()) look(e);
  const auto* var = found != nullptr ? dyn_cast<VarDecl>(referred(found->getSubExpr())) : nullptr;
  if (var == nullptr || !var->hasLocalStorage() || var->getType()->isReferenceType() || facts_.captured.count(var) > 0)
    return nullptr;  // may have other names
  int times = 0;
  visit(e, [&](const Stmt* s) {
    const auto* ref = dyn_cast<DeclRefExpr>(s);
    times += ref != nullptr && ref->getDecl() == var;
  });
  return times == 1 ? found : nullptr;
}

// Reads x = e, x op= e, ++x, or a call as a statement.
Node Statements::assignment(const Expr* e) {
  Node node;
  node.kind = NodeKind::statement;
  e = e->IgnoreParens();
  if (const auto* c = dyn_cast<ExprWithCleanups>(e)) e = c->getSubExpr()->IgnoreParens();
  Effects fx;
  const auto target = [&](const Expr* to) {
    auto p = places_.place(to, fx);
    if (!p)
      refuse(e, (of_union(to) ? "a field of a union" : "an assignment to this") + (" is not supported: " + source(e)));
    const Variable& v = scope_.nest.variables[p->variable];
    if (v.host != v.name && v.bytes > 0 && v.constant && !v.array())
      refuse(e, "an assignment to " + v.host + " is not supported");
    return *p;
  };
  const auto* written = dyn_cast<CallExpr>(e);
  const FunctionDecl* callee = written != nullptr ? written->getDirectCallee() : nullptr;
  if (callee != nullptr && callee->getQualifiedNameAsString() == "ridge_models::needs") {
    models_.require(written->getArg(0));
    return node;
  }
  if (written != nullptr)
    if (auto loops = models_.modelled(e)) return *loops;
  if (const FunctionDecl* body = nullptr;
      callee != nullptr && !isa<CXXMethodDecl>(callee) && calls_.reads_in_place(callee) && !facts_.in_function &&
      callee->hasBody(body) && ast_.getSourceManager().isInMainFile(body->getLocation()))
    return calls_.inlined(e, body, {written->arg_begin(), written->arg_end()}, nullptr);
  if (aggregates_.assign_aggregate(e, node, fx)) {
    node.accesses = fx.accesses;
    scope_.own.clear();
    return node;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAssignmentOp()) {
    if (const ValueDecl* moved = referred(b->getLHS()); moved != nullptr && b->getLHS()->getType()->isPointerType())
      refuse(e, "the pointer " + moved->getNameAsString() +
                    " changes in the loop: it must point to one known array element");
    if (scope_.own.empty()) node.reduction = reduction(e);
    std::string right = tree_.expression(b->getRHS(), fx);
    const Place p = target(b->getLHS());
    if (b->isCompoundAssignmentOp()) scope_.record(p, false, b->getLHS(), fx);
    scope_.record(p, true, b->getLHS(), fx);
    node.target = scope_.element_text(p);
    node.operation = BinaryOperator::getOpcodeStr(b->getOpcode()).str();
    if (scope_.nest.variables[p.variable].integer && b->getLHS()->getType()->isBooleanType()) {
      if (b->isCompoundAssignmentOp()) {  // x ^= 2 is x = (x ^ 2) != 0
        right = node.target + " " + node.operation.substr(0, node.operation.size() - 1) + " (" + right + ")";
        node.operation = "=";
      }
      right = "(" + right + ") != 0";
    }
    node.text = right;
  } else if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->isIncrementDecrementOp()) {
    if (scope_.own.empty()) node.reduction = reduction(e);
    const Place p = target(u->getSubExpr());
    scope_.record(p, false, u->getSubExpr(), fx);
    scope_.record(p, true, u->getSubExpr(), fx);
    node.target = scope_.element_text(p);
    node.operation = u->isIncrementOp() ? "+=" : "-=";
    node.text = "1";
  } else if (const auto* c = dyn_cast<CallExpr>(e); c != nullptr && facts_.lambda(c) != nullptr) {
    return calls_.lambda_statement(c, facts_.lambda(c));
  } else if (c != nullptr && c->getDirectCallee() != nullptr && c->getNumArgs() == 2 &&
             c->getDirectCallee()->getQualifiedNameAsString() == "std::swap" && dialect(c->getArg(0)->getType())) {
    const Place first = target(c->getArg(0)), second = target(c->getArg(1));
    for (const bool write : {false, true}) {
      scope_.record(first, write, c->getArg(0), fx);
      scope_.record(second, write, c->getArg(1), fx);
    }
    const std::string x = scope_.element_text(first), y = scope_.element_text(second), held = scope_.unique("held");
    node.text = "{ " + dialect(c->getArg(0)->getType())->name + " " + held + " = " + x + "; " + x + " = " + y + "; " +
                y + " = " + held + "; }";
  } else if (c != nullptr && !isa<CXXMemberCallExpr>(c) && !isa<CXXOperatorCallExpr>(c)) {
    node.text = expressions_.call(c, fx) + ";";
  } else if (const auto* cast = dyn_cast<CastExpr>(e); cast != nullptr && cast->getCastKind() == CK_ToVoid) {
    // (void)unused
  } else {
    refuse(e, describe(e) + " is not supported: " + source(e));
  }
  node.accesses = fx.accesses;
  scope_.own.clear();
  return node;
}

// A static constant with constant initializers is the same as a constant of each iteration.
bool Statements::constant_numbers(const VarDecl* var) const {
  return ast_.getBaseElementType(var->getType())->isArithmeticType() && var->getType().isConstant(ast_) &&
         var->hasInit() && var->getInit()->isConstantInitializer(ast_, false);
}

// The values of an array's initializer in the order of memory, with the zeros that rows leave out.
void Statements::list_values(const InitListExpr* list, QualType type, Effects& fx, std::vector<std::string>& all) {
  const auto* array = ast_.getAsConstantArrayType(type);
  const std::uint64_t count = array == nullptr ? 0 : array->getSize().getZExtValue();
  if (count == 0 || count > 4096 || all.size() > 4096)
    refuse(list, "this initializer is not supported: " + source(list));
  const QualType element = array->getElementType();
  for (std::uint64_t k = 0; k < count; ++k) {
    const Expr* value = k < list->getNumInits() ? list->getInit(static_cast<unsigned>(k)) : nullptr;
    const auto* row = dyn_cast_or_null<InitListExpr>(value);
    if (row != nullptr && element->isConstantArrayType())
      list_values(row, element, fx, all);
    else if (row != nullptr)
      refuse(list, "this initializer is not supported: " + source(list));
    else if (value == nullptr || isa<ImplicitValueInitExpr>(value))
      all.resize(all.size() + static_cast<std::size_t>(std::max<std::uint64_t>(
                                  1, ast_.getTypeSize(element) / ast_.getTypeSize(ast_.getBaseElementType(element)))),
                 "0");
    else
      all.push_back(tree_.expression(value, fx));
  }
}

void Statements::declaration(const DeclStmt* s, Node& block) {
  for (const Decl* decl : s->decls()) {
    if (isa<TypedefNameDecl>(decl) || isa<StaticAssertDecl>(decl)) continue;
    const auto* var = dyn_cast<VarDecl>(decl);
    if (isa<DecompositionDecl>(decl)) refuse(s, "structured bindings are not supported: " + source(s));
    if (var == nullptr) refuse(s, "this declaration is not supported: " + source(s));
    if (var->isStaticLocal() && !constant_numbers(var))
      refuse(s, "a static variable keeps its value for the next iteration: " + source(s));
    const QualType type = var->getType();
    if (type.getNonReferenceType().isVolatileQualified()) refuse(s, var->getNameAsString() + " is volatile");
    if (const CXXRecordDecl* record = type->getAsCXXRecordDecl(); record != nullptr && record->isLambda()) continue;
    scope_.may_hoist = true;
    if (!type->isReferenceType() && !leaf_types(type).empty()) {
      aggregates_.declare_aggregate(s, var, block);
      scope_.may_hoist = false;
      continue;
    }
    Node node = scope_.declaration_node(s);
    if (type->isPointerType())
      declare_pointer(s, var, node);
    else if (type->isReferenceType())
      declare_reference(s, var, node);
    else if (!dialect(type))
      declare_array(s, var, node);
    else
      declare_number(var, node);
    scope_.may_hoist = false;
    for (Node& earlier : std::exchange(scope_.before, {})) block.children.push_back(std::move(earlier));
    block.children.push_back(node);
  }
}

void Statements::declare_pointer(const DeclStmt* s, const VarDecl* var, Node& node) {
  Effects fx;
  if (!var->hasInit() && !facts_.in_function && scope_.inlined == 0 && scope_.lambdas == 0) {  // set by an assignment
    node.text = "long " + scope_.nest.variables[scope_.declare_moved(var, true)].name + ";";
    return;
  }
  if (!var->hasInit() || (scope_.changed.count(var) > 0 && sets(scope_.root, var)))
    refuse(s, "the pointer " + var->getNameAsString() + " changes: it must point to one known array element");
  const auto p = places_.pointer(var->getInit(), fx);
  places_.refuse_changing_subscripts(var->getInit(), var->getNameAsString(), scope_.block);
  if (!p) refuse(s, "the pointer " + var->getNameAsString() + " does not point to a known array element");
  scope_.pointers[var] = *p;
  node.accesses = fx.accesses;
}

void Statements::declare_reference(const DeclStmt* s, const VarDecl* var, Node& node) {
  Effects fx;
  const Expr* init = var->getInit();
  if (const auto* m = dyn_cast_or_null<MaterializeTemporaryExpr>(init)) init = nullptr, (void)m;
  const auto p = init != nullptr ? places_.place(init, fx) : std::nullopt;
  if (init != nullptr) places_.refuse_changing_subscripts(init, var->getNameAsString(), scope_.block);
  if (!p) refuse(s, "the reference " + var->getNameAsString() + " does not refer to a known variable or array element");
  scope_.references[var] = *p;
  node.accesses = fx.accesses;
}

// A small array in registers or private memory.
void Statements::declare_array(const DeclStmt* s, const VarDecl* var, Node& node) {
  Effects fx;
  const Expr* init = var->getInit();
  const int which = scope_.declare_local(var);
  const Variable& v = scope_.nest.variables[which];
  node.text = v.element + " " + v.name + "[" + std::to_string(v.length) + "]";
  const Expr* bare = init != nullptr ? init->IgnoreImplicit() : nullptr;
  if (const auto* list = dyn_cast_or_null<InitListExpr>(bare)) {
    std::vector<std::string> values;
    if (var->getType()->isConstantArrayType()) {
      list_values(list, var->getType(), fx, values);
    } else {  // std::array
      while (list->getNumInits() == 1 && isa<InitListExpr>(list->getInit(0)))
        list = cast<InitListExpr>(list->getInit(0));
      for (const Expr* value : list->inits()) {
        if (isa<InitListExpr>(value)) refuse(s, "this initializer is not supported: " + source(s));
        values.push_back(tree_.expression(value, fx));
      }
    }
    while (values.size() > 1 && values.back() == "0") values.pop_back();
    std::string joined;
    for (const std::string& value : values) joined += (joined.empty() ? "" : ", ") + value;
    node.text += " = {" + (joined.empty() ? "0" : joined) + "}";
    fx.set(which, node.line, "");
    fx.accesses.back().exact = fx.accesses.back().must = false;
  } else if (bare != nullptr && !(isa<CXXConstructExpr>(bare) && cast<CXXConstructExpr>(bare)->getNumArgs() == 0)) {
    refuse(s, "this initializer is not supported: " + source(s));
  }
  node.text += ";";
  node.accesses = fx.accesses;
}

void Statements::declare_number(const VarDecl* var, Node& node) {
  Effects fx;
  const Expr* init = var->getInit();
  std::string text;
  if (init != nullptr) text = tree_.expression(init, fx);
  const int which = scope_.declare_local(var);
  const Variable& v = scope_.nest.variables[which];
  node.text = v.element + " " + v.name + (init != nullptr ? " = " + text : "") + ";";
  if (init != nullptr) {
    fx.set(which, node.line, v.host);
    if (v.integer && scope_.changed.count(var) == 0) {
      std::vector<Poly> needed;
      const bool outer = std::exchange(scope_.may_be_remainder, true);
      if (const auto p = tree_.poly(init, needed); p) {
        scope_.values[var] = *p;
        if (!needed.empty()) scope_.conditions[var] = needed;
      }
      scope_.may_be_remainder = outer;
    }
  }
  node.accesses = fx.accesses;
}

}  // namespace ridge::place::frontend
