// Loops: those with a counting header (headers.cpp) become counted loops; all others keep their text.
#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"

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

// True for a loop after #pragma ridge independent or [[ridge::independent]]; `at` then includes the attribute.
bool Reader::claimed(const Stmt* s, Span& at) const {
  const Span whole = span(s->getSourceRange());
  if (!whole.known) return false;
  const std::string attribute = "[[ridge::independent]]";
  std::size_t end = whole.begin;
  while (end > 0 && std::isspace(static_cast<unsigned char>(main_text_[end - 1])) != 0) --end;
  if (end >= attribute.size() && main_text_.compare(end - attribute.size(), attribute.size(), attribute) == 0) {
    at.begin = static_cast<unsigned>(end - attribute.size());
    return true;
  }
  const std::size_t line = end == 0 ? 0 : main_text_.rfind('\n', end - 1) + 1;  // npos + 1 is 0
  std::string words;
  for (std::size_t i = line; i < end; ++i)
    if (std::isspace(static_cast<unsigned char>(main_text_[i])) == 0)
      words += main_text_[i];
    else if (!words.empty() && words.back() != ' ')
      words += ' ';
  return words == "#pragma ridge independent" || words == "# pragma ridge independent";
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
  l.claimed = claimed(s, l.span);
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
