// Loops: those with a counting header (headers.cpp) become counted loops; all others keep their text.
#include <llvm/Support/SaveAndRestore.h>

#include "place/frontend/nest_reader.hpp"
#include "place/frontend/walk.hpp"
#include "place/text/node_text.hpp"

namespace ridge::place::frontend {
using namespace clang;

// Unrolls a short loop whose iterator selects an image of a std::vector, because each image is an array of its own.
bool Loops::unrolled(const Stmt* s, const Loop& l, Node& node) {
  const auto* f = dyn_cast<ForStmt>(s);
  const auto* d = f != nullptr ? dyn_cast_or_null<DeclStmt>(f->getInit()) : nullptr;
  const auto* var = d != nullptr && d->isSingleDecl() ? dyn_cast<VarDecl>(d->getSingleDecl()) : nullptr;
  const long turns = var != nullptr ? text::constant_iterations(l) : 0;
  if (turns < 1 || turns > 8) return false;
  bool selects = false, jumps = false;
  visit(f->getBody(), [&](const Stmt* x) {
    jumps |= isa<BreakStmt, ContinueStmt>(x);
    const auto* call = dyn_cast<CXXOperatorCallExpr>(x);
    if (call == nullptr || call->getOperator() != OO_Subscript || !is_mat(call->getType())) return;
    visit(call->getArg(1), [&](const Stmt* y) {
      const auto* ref = dyn_cast<DeclRefExpr>(y);
      selects |= ref != nullptr && ref->getDecl() == var;
    });
  });
  std::vector<Poly> needed;
  const auto start = tree_.poly(var->getInit(), needed);
  if (!selects || jumps || !start || !start->value()) return false;
  Node all;
  all.line = node.line;
  for (long k = 0; k < turns; ++k) {
    const long at = *start->value() + k;
    scope_.values[var] = Poly::constant(at);
    scope_.iterators[var] = at < 0 ? "(" + std::to_string(at) + ")" : std::to_string(at);
    Node once;
    once.text = "{";
    once.children.push_back(tree_.statement(f->getBody()));
    all.children.push_back(std::move(once));
  }
  scope_.nest.opaque = true;
  scope_.nest.notes.push_back("line " + std::to_string(node.line) + ": the loop over " + var->getNameAsString() +
                              " is unrolled");
  node = std::move(all);
  return true;
}

void Loops::note_claim(const Stmt* s, Loop& into) {
  const auto claim = facts_.claimed(s, span(s->getSourceRange()));
  if (!claim) return;
  into.claim = claim->text;
  into.claim_except.assign(claim->except.begin(), claim->except.end());
  into.claim_private.assign(claim->privates.begin(), claim->privates.end());
  into.claim_at = static_cast<unsigned>(claim->begin);
  if (claim->attribute) into.span.begin = into.claim_at;
}

Node Loops::loop(const Stmt* s) {
  if (scope_.open.size() >= 8) refuse(s, "loops nested more than 8 deep are not supported");
  if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) return range_loop(range);
  Node node;
  node.kind = NodeKind::loop;
  node.line = line(s);
  node.source = source(s);
  node.guards = scope_.guards();
  Loop l;
  l.line = node.line;
  l.source = node.source;
  l.span = statement_span(s);
  note_claim(s, l);
  if (scope_.inlined == 0) l.id = facts_.loop_ids[s];  // loops of called functions have no number here
  l.kind = isa<ForStmt>(s) ? "for" : isa<WhileStmt>(s) ? "while" : "do";
  const llvm::SaveAndRestore values(scope_.values);
  const llvm::SaveAndRestore iterators(scope_.iterators);
  const bool counted = header(s, l, node);
  Node made;
  if (counted && unrolled(s, l, node))
    made = std::move(node);
  else
    made = counted ? counted_loop(s, std::move(l), std::move(node)) : uncounted_loop(s, std::move(l), std::move(node));
  return made;
}

Node Loops::counted_loop(const Stmt* s, Loop l, Node node) {
  Counting count;
  std::string ignored;
  facts_.counting(s, count, ignored);
  const Stmt* inside = count.body;
  if (count.last != nullptr) counted_.insert(count.last);
  l.body = span(inside->getSourceRange());
  node.loop = scope_.begin_loop(l);
  Node wrapper;
  declare_counters(count, scope_.nest.loops[node.loop], wrapper);
  wrapper.children.push_back(tree_.statement(inside));
  node.children.push_back(std::move(wrapper));
  scope_.end_loop();
  return node;
}

// for (int y = a, r = b; ...; ++y, ++r): r is b + (y - a) at the start of each iteration.
void Loops::declare_counters(const Counting& count, const Loop& l, Node& body) {
  for (const VarDecl* other : count.others) {
    Effects fx;
    const std::string start = tree_.expression(other->getInit(), fx);
    const auto value = scope_.values.find(other);
    if (value == scope_.values.end())
      refuse(other->getInit(), "the counter " + other->getNameAsString() + " has no closed form");
    const Poly closed = value->second;
    const auto factor = closed.terms().find({l.iterator});
    const long step = factor == closed.terms().end() ? 0 : factor->second;
    const int which = scope_.declare_local(other);
    const Variable& v = scope_.nest.variables[which];
    Node node;
    node.kind = NodeKind::statement;
    node.line = l.line;
    node.declaration = true;
    node.guards = scope_.guards();
    node.text = v.element + " " + v.name + " = " + wrapped(start) + " + " +
                (step == 1 ? "" : "(" + std::to_string(step) + ") * ") + "(" + l.iterator + " - " + wrapped(l.start) +
                ");";
    fx.set(which, l.line, v.host);
    node.accesses = fx.accesses;
    body.children.push_back(std::move(node));
    scope_.values[other] = closed;
  }
}

// A loop that keeps its test. The analysis numbers its iterations from 0 without an upper bound.
Node Loops::uncounted_loop(const Stmt* s, Loop l, Node node) {
  Node outer;  // the init statement of a for loop precedes it
  outer.line = node.line;
  const Expr* test = nullptr;
  const Stmt* inside = nullptr;
  const Expr* increment = nullptr;
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    if (f->getConditionVariable() != nullptr) refuse(s, "a declaration inside the test is not supported");
    if (f->getInit() != nullptr) outer.children.push_back(tree_.statement(f->getInit()));
    test = f->getCond();
    increment = f->getInc();
    inside = f->getBody();
  } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
    if (w->getConditionVariable() != nullptr) refuse(s, "a declaration inside the test is not supported");
    test = w->getCond();
    inside = w->getBody();
  } else {
    test = cast<DoStmt>(s)->getCond();
    inside = cast<DoStmt>(s)->getBody();
  }
  l.counted = l.exact = false;
  l.bounds.clear();
  l.iterator = scope_.unique("iteration");
  l.bounds.push_back({Poly::symbol(l.iterator)});
  l.span = statement_span(s);
  l.body = span(inside->getSourceRange());
  node.loop = scope_.begin_loop(l);
  Node body;
  Node probe;
  probe.kind = NodeKind::statement;
  probe.line = node.line;
  Effects fx;
  const std::string condition_text = test != nullptr ? tree_.expression(test, fx) : "1";
  probe.accesses = fx.accesses;
  body.children.push_back(probe);
  body.children.push_back(tree_.statement(inside));
  const std::string step = increment != nullptr ? increments(increment, node.line, body) : "";
  Loop& made = scope_.nest.loops[node.loop];
  made.condition = condition_text;
  made.start = made.kind == "for" ? "for (; " + condition_text + "; " + step + ")" : "while (" + condition_text + ")";
  node.children.push_back(std::move(body));
  scope_.end_loop();
  outer.children.push_back(std::move(node));
  outer.text = "{";
  if (outer.children.size() == 1) return std::move(outer.children[0]);
  Node wrapper;
  wrapper.line = outer.line;
  wrapper.children.push_back(std::move(outer));
  return wrapper;
}

// Appends the accesses of a for loop's increment to its body; returns its text, parts separated by commas.
std::string Loops::increments(const Expr* increment, int at_line, Node& body) {
  std::string text;
  for (const Expr* part : parts_of(increment)) {
    Node one = tree_.assignment(part);
    one.line = at_line;
    text += (text.empty() ? "" : ", ") + one.target + " " + one.operation + " " + one.text;
    one.text = one.target = one.operation = "";
    body.children.push_back(one);
  }
  return text;
}

Node Loops::range_loop(const CXXForRangeStmt* s) {
  const VarDecl* var = s->getLoopVariable();
  const VarDecl* range = s->getRangeStmt() != nullptr ? dyn_cast<VarDecl>(s->getRangeStmt()->getSingleDecl()) : nullptr;
  const Expr* over = range != nullptr ? range->getInit() : nullptr;
  const auto which = over != nullptr ? places_.object(over) : std::nullopt;
  Effects fx;
  auto p = which ? std::optional(Place{*which, {}, {}}) : over != nullptr ? places_.place(over, fx) : std::nullopt;
  if (var != nullptr && isa<DecompositionDecl>(var))
    refuse(s, "structured bindings are not supported: name the element");
  if (!p || var == nullptr || !p->indices.empty())
    refuse(s, "range-for needs an array, std::vector, std::array or std::span variable");
  const Variable v = scope_.nest.variables[p->variable];
  if (!v.array() || v.storage == Storage::pointer)
    refuse(s, "range-for needs an array, std::vector, std::array or std::span variable");
  if (!v.inner.empty() && !var->getType()->isReferenceType())
    refuse(s, "range-for that copies structs is not supported: loop by reference");
  Node node;
  node.kind = NodeKind::loop;
  node.line = line(s);
  node.source = source(s);
  Loop l;
  l.kind = "for";
  l.line = node.line;
  l.span = statement_span(s);
  l.body = span(s->getBody()->getSourceRange());
  l.source = node.source;
  l.id = facts_.loop_ids[s];
  note_claim(s, l);
  l.iterator = scope_.unique(var->getNameAsString() + "_at");
  l.type = l.host_type = "int";
  l.start = "0";
  long length = v.length;
  for (const long inner : v.inner) length /= inner;
  Poly n = Poly::constant(length);
  if (v.length >= 0) {
    l.condition = l.iterator + " < " + std::to_string(length);
  } else {
    const int size = scope_.pseudo(v.host + ".size()", v.name + "_size", ast_.getSizeType(), s);
    scope_.nest.variables[size].home = v.home;
    scope_.nest.variables[size].home_bytes = v.home_bytes;
    if (scope_.changed.count(referred(over)) > 0) refuse(s, "the length of " + v.host + " may change");
    n = Poly::symbol(scope_.symbol(size));
    l.condition = l.iterator + " < (int)" + scope_.nest.variables[size].name;
    node.accesses.emplace_back().variable = size;
  }
  const Poly i = Poly::symbol(l.iterator);
  l.bounds = {{i}, {n.plus(i, -1).plus(Poly::constant(1), -1)}};
  l.counted = l.exact = true;
  const std::string name = l.iterator;
  node.loop = scope_.begin_loop(l);
  p->indices.push_back({i, name});
  Node body;
  if (var->getType()->isReferenceType()) {
    scope_.references[var] = *p;
  } else {
    Node first;
    first.kind = NodeKind::statement;
    first.line = node.line;
    first.source = node.source;
    first.declaration = true;
    Effects read;
    scope_.record(*p, false, s->getRangeInit(), read);
    const int local = scope_.declare_local(var);
    first.text = scope_.nest.variables[local].element + " " + scope_.nest.variables[local].name + " = " +
                 scope_.element_text(*p) + ";";
    read.set(local, node.line, "");
    first.accesses = read.accesses;
    body.children.push_back(first);
  }
  body.children.push_back(tree_.statement(s->getBody()));
  node.children.push_back(body);
  scope_.end_loop();
  return node;
}

}  // namespace ridge::place::frontend
