// Loops: those with a counting header (headers.cpp) become counted loops; all others keep their text.
#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

int Reader::begin_loop(Loop made) {
  made.parent = scope_->open.empty() ? -1 : scope_->open.back();
  made.depth = static_cast<int>(scope_->open.size());
  scope_->nest.loops.push_back(std::move(made));
  const int at = static_cast<int>(scope_->nest.loops.size()) - 1;
  scope_->open.push_back(at);
  scope_->skips.emplace_back();
  const Loop& l = scope_->nest.loops[at];
  if (scope_->in_function) {
    scope_->exists.push_back(l.iterator);
    scope_->where.insert(scope_->where.end(), l.bounds.begin(), l.bounds.end());
  }
  return at;
}

void Reader::end_loop() {
  if (scope_->in_function) {
    const Loop& l = scope_->nest.loops[scope_->open.back()];
    scope_->exists.pop_back();
    scope_->where.resize(scope_->where.size() - l.bounds.size());
  }
  scope_->open.pop_back();
  scope_->skips.pop_back();
}

// True if threads wait for each other in the statement or in a function that it calls.
bool Reader::waits(const Stmt* s, std::set<const FunctionDecl*>& seen) const {
  bool found = synchronizes(original(s->getSourceRange()));
  visit(s, [&](const Stmt* x) {
    const auto* call = dyn_cast<CallExpr>(x);
    const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
    if (!found && callee != nullptr && callee->hasBody(callee) && seen.insert(callee).second)
      found = waits(callee->getBody(), seen);
  });
  return found;
}

// The user's claim that the iterations of a loop are independent: an attribute, or a pragma of Ridgeline, OpenMP or
// OpenACC. Not believed if threads wait for each other inside the loop.
std::optional<Claim> Reader::claimed(const Stmt* s) {
  if (const auto known = claims_.find(s); known != claims_.end()) return known->second;
  const Span whole = span(s->getSourceRange());
  if (!whole.known) return {};
  auto made = claim_before(main_text_, whole.begin);
  std::set<const FunctionDecl*> seen;
  if (made && waits(s, seen)) made.reset();
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

void Reader::note_claim(const Stmt* s, Loop& into) {
  const auto claim = claimed(s);
  if (!claim) return;
  into.claim = claim->text;
  into.claim_except.assign(claim->except.begin(), claim->except.end());
  into.claim_private.assign(claim->privates.begin(), claim->privates.end());
  into.claim_at = static_cast<unsigned>(claim->begin);
  if (claim->attribute) into.span.begin = into.claim_at;
}

Node Reader::loop(const Stmt* s) {
  if (scope_->open.size() >= 8) refuse(s, "loops nested more than 8 deep are not supported");
  if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) return range_loop(range);
  Node node;
  node.kind = NodeKind::loop;
  node.line = line(s);
  node.source = source(s);
  node.guards = guards();
  Loop l;
  l.line = node.line;
  l.source = node.source;
  l.span = statement_span(s);
  note_claim(s, l);
  if (scope_->inlined == 0) l.id = loop_ids_[s];  // loops of called functions have no number here
  l.kind = isa<ForStmt>(s) ? "for" : isa<WhileStmt>(s) ? "while" : "do";
  const auto saved_values = scope_->values;
  const auto saved_iterators = scope_->iterators;
  const bool counted = header(s, l, node);
  Node made;
  if (counted && unrolled(s, l, node))
    made = std::move(node);
  else
    made = counted ? counted_loop(s, std::move(l), std::move(node)) : uncounted_loop(s, std::move(l), std::move(node));
  scope_->values = saved_values;
  scope_->iterators = saved_iterators;
  return made;
}

Node Reader::counted_loop(const Stmt* s, Loop l, Node node) {
  Counting count;
  std::string ignored;
  counting(s, count, ignored);
  const Stmt* inside = count.body;
  if (count.last != nullptr) scope_->counted.insert(count.last);
  l.body = span(inside->getSourceRange());
  node.loop = begin_loop(l);
  Node wrapper;
  declare_counters(count, scope_->nest.loops[node.loop], wrapper);
  wrapper.children.push_back(statement(inside));
  node.children.push_back(std::move(wrapper));
  end_loop();
  return node;
}

// for (int y = a, r = b; ...; ++y, ++r): r is b + (y - a) at the start of each iteration.
void Reader::declare_counters(const Counting& count, const Loop& l, Node& body) {
  for (const VarDecl* other : count.others) {
    Effects fx;
    const std::string start = expression(other->getInit(), fx);
    const auto value = scope_->values.find(other);
    if (value == scope_->values.end())
      refuse(other->getInit(), "the counter " + other->getNameAsString() + " has no closed form");
    const Poly closed = value->second;
    const auto factor = closed.terms().find({l.iterator});
    const long step = factor == closed.terms().end() ? 0 : factor->second;
    const int which = declare_local(other);
    const Variable& v = scope_->nest.variables[which];
    Node node;
    node.kind = NodeKind::statement;
    node.line = l.line;
    node.declaration = true;
    node.guards = guards();
    node.text = v.element + " " + v.name + " = " + wrapped(start) + " + " +
                (step == 1 ? "" : "(" + std::to_string(step) + ") * ") + "(" + l.iterator + " - " + wrapped(l.start) +
                ");";
    Access a;
    a.variable = which;
    a.write = true;
    a.line = l.line;
    a.source = v.host;
    fx.accesses.push_back(a);
    node.accesses = fx.accesses;
    body.children.push_back(std::move(node));
    scope_->values[other] = closed;
  }
}

// A loop that keeps its test. The analysis numbers its iterations from 0 without an upper bound.
Node Reader::uncounted_loop(const Stmt* s, Loop l, Node node) {
  Node outer;  // the init statement of a for loop precedes it
  outer.line = node.line;
  const Expr* test = nullptr;
  const Stmt* inside = nullptr;
  const Expr* increment = nullptr;
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    if (f->getConditionVariable() != nullptr) refuse(s, "a declaration inside the test is not supported");
    if (f->getInit() != nullptr) outer.children.push_back(statement(f->getInit()));
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
  l.iterator = unique("iteration");
  l.bounds.push_back({Poly::symbol(l.iterator)});
  l.span = statement_span(s);
  l.body = span(inside->getSourceRange());
  node.loop = begin_loop(l);
  Node body;
  Node probe;
  probe.kind = NodeKind::statement;
  probe.line = node.line;
  Effects fx;
  const std::string condition_text = test != nullptr ? expression(test, fx) : "1";
  probe.accesses = fx.accesses;
  body.children.push_back(probe);
  body.children.push_back(statement(inside));
  const std::string step = increment != nullptr ? increments(increment, node.line, body) : "";
  Loop& made = scope_->nest.loops[node.loop];
  made.condition = condition_text;
  made.start = made.kind == "for" ? "for (; " + condition_text + "; " + step + ")" : "while (" + condition_text + ")";
  node.children.push_back(std::move(body));
  end_loop();
  outer.children.push_back(std::move(node));
  outer.text = "{";
  if (outer.children.size() == 1) return std::move(outer.children[0]);
  Node wrapper;
  wrapper.line = outer.line;
  wrapper.children.push_back(std::move(outer));
  return wrapper;
}

// Appends the accesses of a for loop's increment to its body; returns its text, parts separated by commas.
std::string Reader::increments(const Expr* increment, int at_line, Node& body) {
  std::vector<const Expr*> parts{increment->IgnoreParens()};
  while (const auto* comma = dyn_cast<BinaryOperator>(parts.front())) {
    if (comma->getOpcode() != BO_Comma) break;
    parts.front() = comma->getLHS()->IgnoreParens();
    parts.insert(parts.begin() + 1, comma->getRHS()->IgnoreParens());
  }
  std::string text;
  for (const Expr* part : parts) {
    Node one = assignment(part);
    one.line = at_line;
    text += (text.empty() ? "" : ", ") + one.target + " " + one.operation + " " + one.text;
    one.text = one.target = one.operation = "";
    body.children.push_back(one);
  }
  return text;
}

}  // namespace ridge::place::frontend
