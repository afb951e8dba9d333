// Range-for over arrays, vectors and spans, as a counted loop with an unnamed iterator.
#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

Node Reader::range_loop(const CXXForRangeStmt* s) {
  const VarDecl* var = s->getLoopVariable();
  const VarDecl* range = s->getRangeStmt() != nullptr ? dyn_cast<VarDecl>(s->getRangeStmt()->getSingleDecl()) : nullptr;
  const auto which = range != nullptr && range->getInit() != nullptr ? object(range->getInit()) : std::nullopt;
  Effects fx;
  std::optional<Place> p;
  if (which) {
    p = Place{*which, {}, {}};
  } else if (range != nullptr && range->getInit() != nullptr) {
    p = place(range->getInit(), fx);
  }
  if (!p || var == nullptr || isa<DecompositionDecl>(var) || !p->indices.empty())
    refuse(s, "range-for needs an array, std::vector, std::array or std::span variable");
  const Variable v = scope_->nest.variables[p->variable];
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
  l.id = loop_ids_[s];
  note_claim(s, l);
  l.iterator = unique(var->getNameAsString() + "_at");
  l.type = l.host_type = "int";
  l.start = "0";
  long length = v.length;
  for (const long inner : v.inner) length /= inner;
  Poly n = Poly::constant(length);
  if (v.length >= 0) {
    l.condition = l.iterator + " < " + std::to_string(length);
  } else {
    const int size = pseudo(v.host + ".size()", v.name + "_size", ast_.getSizeType(), s);
    scope_->nest.variables[size].home = v.home;
    scope_->nest.variables[size].home_bytes = v.home_bytes;
    if (scope_->changed.count(referred(range->getInit())) > 0) refuse(s, "the length of " + v.host + " may change");
    n = Poly::symbol(symbol(size));
    l.condition = l.iterator + " < (int)" + scope_->nest.variables[size].name;
    Access a;
    a.variable = size;
    node.accesses.push_back(a);
  }
  const Poly i = Poly::symbol(l.iterator);
  l.bounds = {{i}, {n.plus(i, -1).plus(Poly::constant(1), -1)}};
  l.counted = l.exact = true;
  const std::string name = l.iterator;
  node.loop = begin_loop(l);
  p->indices.push_back({i, name});
  Node body;
  if (var->getType()->isReferenceType()) {
    scope_->references[var] = *p;
  } else {
    Node first;
    first.kind = NodeKind::statement;
    first.line = node.line;
    first.source = node.source;
    first.declaration = true;
    Effects read;
    record(*p, false, s->getRangeInit(), read);
    const int local = declare_local(var);
    first.text = scope_->nest.variables[local].element + " " + scope_->nest.variables[local].name + " = " +
                 element_text(*p) + ";";
    Access a;
    a.variable = local;
    a.write = true;
    a.line = node.line;
    read.accesses.push_back(a);
    first.accesses = read.accesses;
    body.children.push_back(first);
  }
  body.children.push_back(statement(s->getBody()));
  node.children.push_back(body);
  end_loop();
  return node;
}

}  // namespace ridge::place::frontend
