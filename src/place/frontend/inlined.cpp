// Calls of functions that take images: read as if the body were written at the call, with its parameters as other names
// for the arguments. Loops over a std::vector of images are unrolled.
#include <algorithm>
#include <utility>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"
#include "place/text/unrolling.hpp"

namespace ridge::place::frontend {
using namespace clang;

bool Reader::takes_image(const FunctionDecl* callee) const {
  return std::any_of(callee->param_begin(), callee->param_end(),
                     [](const ParmVarDecl* p) { return is_mat(p->getType()); });
}

// True if a parameter is a number or struct that the function changes for its caller.
bool Reader::sets_arguments(const FunctionDecl* callee) const {
  return std::any_of(callee->param_begin(), callee->param_end(), [&](const ParmVarDecl* p) {
    const QualType type = p->getType();
    return type->isLValueReferenceType() && !type->getPointeeType().isConstQualified() &&
           (dialect(type->getPointeeType()) || !leaf_types(type).empty());
  });
}

// Binds one parameter of a function whose body is read in place; a number is declared and set.
void Reader::bind_argument(const ParmVarDecl* formal, const Expr* actual, const Expr* call, Node& block) {
  Node node;
  node.kind = NodeKind::statement;
  node.line = line(call);
  node.source = source(call);
  node.declaration = true;
  node.guards = guards();
  Effects fx;
  if (const auto* unsaid = dyn_cast<CXXDefaultArgExpr>(actual)) actual = unsaid->getExpr();
  if (is_mat(formal->getType())) {
    const auto given = image(actual, fx);
    if (!given) refuse(call, "the argument " + source(actual) + " is not a known image");
    scope_->images[formal] = *given;
  } else if (const ValueDecl* named = referred(actual); formal->getType()->isReferenceType() && named != nullptr &&
                                                        !leaf_types(formal->getType()).empty() &&
                                                        (scope_->parts.count(named) > 0)) {  // another name for it
    scope_->parts[formal] = scope_->parts[named];
    const std::size_t all = scope_->parts[named].size();
    scope_->part_values[formal].assign(all, std::nullopt);
    if (!formal->getType()->getPointeeType().isConstQualified()) {
      scope_->part_values[named].assign(all, std::nullopt);
      scope_->changed.insert(named);
    }
    return;
  } else if (!leaf_types(formal->getType()).empty()) {
    const QualType type = formal->getType();
    if (type->isReferenceType() && !type->getPointeeType().isConstQualified())
      refuse(call, "the argument " + source(actual) + " may be changed by the call");
    if (type->isReferenceType() && actual->isGLValue() && !by_value(actual) && !isa<MaterializeTemporaryExpr>(actual))
      refuse(call, "the argument " + source(actual) + " may change during the call: take it by value");
    const auto values = components(actual, fx);
    if (!values) refuse(call, "the argument " + source(actual) + " is not supported");
    const std::vector<int> which = declare_parts(formal);
    const bool array = scope_->nest.variables[which[0]].array();
    std::string list;
    for (std::size_t k = 0; k < values->size(); ++k) {
      const Variable& v = scope_->nest.variables[which[array ? 0 : k]];
      list += (k > 0 ? ", " : "") + (*values)[k].text;
      if (!array) node.text += v.element + " " + v.name + " = " + (*values)[k].text + "; ";
      Access a;
      a.variable = which[array ? 0 : k];
      a.write = true;
      a.line = node.line;
      a.source = v.host;
      if (array) a.subscripts.push_back(Poly::constant(static_cast<long>(k)));
      fx.accesses.push_back(a);
    }
    const Variable& v = scope_->nest.variables[which[0]];
    if (array) node.text = v.element + " " + v.name + "[" + std::to_string(v.length) + "] = {" + list + "};";
    if (!array) scope_->part_values[formal].assign(values->size(), std::nullopt);
  } else if (pass(formal, actual, fx)) {
    const std::string value = expression(actual, fx);
    std::vector<Poly> needed;
    const auto known = poly(actual, needed);
    const bool integer = dialect(formal->getType().getNonReferenceType())->integer;
    const int which = declare_local(formal);
    const Variable& v = scope_->nest.variables[which];
    node.text = v.element + " " + v.name + " = " + value + ";";
    Access a;
    a.variable = which;
    a.write = true;
    a.line = node.line;
    a.source = v.host;
    fx.accesses.push_back(a);
    scope_->values.erase(formal);
    if (known && needed.empty() && integer && scope_->changed.count(formal) == 0) scope_->values[formal] = *known;
  }
  node.accesses = fx.accesses;
  block.children.push_back(std::move(node));
}

// The statements of a call. With `result`, the last statement must be a return, whose value is stored there; the
// statements then belong before the one that uses the value.
Node Reader::inlined(const Expr* call, const FunctionDecl* callee, const std::vector<const Expr*>& actuals,
                     std::string* result) {
  const std::string name = callee->getNameAsString();
  if (!being_read_.insert(callee).second) refuse(call, "recursive call of " + name + "(): kernels cannot recurse");
  if (scope_->inlined > 6) refuse(call, "calls nested more than 7 deep are not supported: " + source(call));
  struct Restore {  // also on an exception
    std::set<const FunctionDecl*>& reading;
    const FunctionDecl* callee;
    ~Restore() { reading.erase(callee); }
  } restore{being_read_, callee};
  find_changes(callee->getBody(), scope_->changed);
  find_changes(callee->getBody(), changed_in_function_);
  find_escapes(callee->getBody(), escaped_);
  scope_->nest.opaque = true;
  const auto bound_parts = scope_->bound_parts;
  const auto before = std::exchange(scope_->before, {});
  Node block;
  block.line = line(call);
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    if (i >= actuals.size()) refuse(call, "this call has too few arguments: " + source(call));
    bind_argument(callee->getParamDecl(i), actuals[i], call, block);
  }
  ++scope_->inlined;
  const auto* body = cast<CompoundStmt>(callee->getBody());
  Node inside;
  const Stmt* around = std::exchange(scope_->block, body);
  for (const Stmt* s : body->body()) {
    const auto* r = dyn_cast<ReturnStmt>(s);
    if (r != nullptr && s == body->body_back() && (r->getRetValue() == nullptr || result != nullptr)) {
      Effects fx;
      if (result != nullptr) *result = expression(r->getRetValue(), fx);
      Node read;
      read.kind = NodeKind::statement;
      read.line = block.line;
      read.guards = guards();
      read.accesses = fx.accesses;
      inside.children.push_back(std::move(read));
    } else if (const auto* d = dyn_cast<DeclStmt>(s)) {
      declaration(d, inside);
    } else {
      inside.children.push_back(statement(s));
    }
  }
  scope_->block = around;
  --scope_->inlined;
  scope_->bound_parts = bound_parts;
  scope_->before = before;
  if (result != nullptr && result->empty()) refuse(call, name + "() must end with a return: " + source(call));
  if (result == nullptr) block.text = "{";
  block.children.push_back(std::move(inside));
  if (result != nullptr) return block;
  Node wrapper;  // a nested scope
  wrapper.children.push_back(std::move(block));
  return wrapper;
}

// Unrolls a short loop whose iterator selects an image of a std::vector, because each image is an array of its own.
bool Reader::unrolled(const Stmt* s, const Loop& l, Node& node) {
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
  const auto start = poly(var->getInit(), needed);
  if (!selects || jumps || !start || !start->value()) return false;
  Node all;
  all.line = node.line;
  for (long k = 0; k < turns; ++k) {
    const long at = *start->value() + k;
    scope_->values[var] = Poly::constant(at);
    scope_->iterators[var] = at < 0 ? "(" + std::to_string(at) + ")" : std::to_string(at);
    Node once;
    once.text = "{";
    once.children.push_back(statement(f->getBody()));
    all.children.push_back(std::move(once));
  }
  scope_->nest.opaque = true;
  scope_->nest.notes.push_back("line " + std::to_string(node.line) + ": the loop over " + var->getNameAsString() +
                               " is unrolled");
  node = std::move(all);
  return true;
}

}  // namespace ridge::place::frontend
