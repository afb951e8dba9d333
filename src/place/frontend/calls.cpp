// Calls of the user's functions: by a summary of their accesses; lambdas, and functions that take images or set their
// arguments, as if the body were written at the call, with its parameters as other names for the arguments.
#include "place/frontend/calls.hpp"

#include <llvm/ADT/ScopeExit.h>

#include <algorithm>
#include <utility>

namespace ridge::place::frontend {
using namespace clang;

// Substitutes actual for formal parameters in the accesses of the callee.
std::string Calls::own_function(const CallExpr* e, const FunctionDecl* callee, Effects& fx) {
  const FunctionDecl* body = nullptr;
  if (!callee->hasBody(body)) refuse(e, "the body of " + callee->getNameAsString() + "() is not in this file");
  const Summary& known = tree_.summary(body, e);
  for (const std::string& text : known.functions)
    if (std::find(scope_.nest.functions.begin(), scope_.nest.functions.end(), text) == scope_.nest.functions.end())
      scope_.nest.functions.push_back(text);
  scope_.nest.libm |= known.libm;
  scope_.nest.asserts |= known.asserts;
  std::map<std::string, Poly> values;
  std::vector<Place> actuals(e->getNumArgs());
  std::set<std::string> unknown;
  std::string text = known.name + "(";
  for (unsigned i = 0; i < e->getNumArgs(); ++i) {
    const Expr* argument = e->getArg(i);
    text += i > 0 ? ", " : "";
    if (known.parts[i] > 0) {
      const auto parts = tree_.components(argument, fx);
      if (!parts) refuse(e, "the argument " + source(argument) + " is not supported");
      for (std::size_t k = 0; k < parts->size(); ++k) text += (k > 0 ? ", " : "") + (*parts)[k].text;
      continue;
    }
    if (known.arrays[i] < 0) {
      text += tree_.expression(argument, fx);
      if (!known.formals[i].empty()) {
        std::vector<Poly> needed;
        const auto value = tree_.poly(argument, needed);
        if (value && needed.empty())
          values[known.formals[i]] = *value;
        else
          unknown.insert(known.formals[i]);
      }
      continue;
    }
    actuals[i] = array_argument(e, argument, known.variables[known.arrays[i]], fx);
    const Variable& actual = scope_.nest.variables[actuals[i].variable];
    const std::string& offset = actuals[i].indices[0].text;
    text += actual.name;
    if (offset == "0") continue;
    long each = 1;  // numbers per element: kernels address single numbers
    for (const long n : actual.inner) each *= n;
    text += " + " + (each == 1 ? wrapped(offset) : "(long)" + wrapped(offset) + " * " + std::to_string(each));
  }
  text += ")";
  for (std::size_t i = 0; i < known.arrays.size(); ++i)  // v.size() of a formal is v.size() of the actual
    if (known.arrays[i] >= 0) {
      const Variable& formal = known.variables[known.arrays[i]];
      if (formal.storage != Storage::object) continue;
      const Variable& actual = scope_.nest.variables[actuals[i].variable];
      if (actual.storage != Storage::object)
        refuse(e, "part of an array is passed where a whole object is needed: " + source(e));
    }
  for (const Access& a : known.accesses) {
    const auto at = std::find(known.arrays.begin(), known.arrays.end(), a.variable);
    if (at == known.arrays.end()) continue;
    fx.accesses.push_back(
        substituted_access(a, actuals[static_cast<std::size_t>(at - known.arrays.begin())], values, e));
  }
  return text;
}

// The array that is passed for `formal`, with the offset of its first element.
Place Calls::array_argument(const CallExpr* e, const Expr* argument, const Variable& formal, Effects& fx) {
  std::optional<Place> p;
  if (argument->getType()->isPointerType()) {
    p = places_.pointer(argument, fx);
  } else if (const auto which = places_.object(argument)) {
    p = Place{*which, {{Poly::constant(0), "0"}}, {}};
  }
  if (!p || p->indices.size() != 1) refuse(e, "the argument " + source(argument) + " is not a known array");
  const Variable& v = scope_.nest.variables[p->variable];
  if (v.local_memory) refuse(e, "a kernel cannot pass a local array to a function: " + source(e));
  if (formal.element != v.element || formal.inner != v.inner || formal.mixed != v.mixed)
    refuse(e, "the argument " + source(argument) + " has another element type than the parameter");
  return *p;
}

// An access of the callee in terms of the caller's variables; `values` are those of the callee's integer formals.
Access Calls::substituted_access(Access a, const Place& actual, const std::map<std::string, Poly>& values,
                                 const CallExpr* e) {
  a.variable = actual.variable;
  a.must = a.must && !a.write;
  a.line = line(e);
  a.source = source(e);
  const auto usable = [&](const Poly& p) {
    const auto names = p.symbols();
    return std::none_of(names.begin(), names.end(), [&](const std::string& n) {
      return std::find(a.exists.begin(), a.exists.end(), n) == a.exists.end() && values.count(n) == 0;
    });
  };
  if (a.exact && (!usable(a.subscripts[0]) || !actual.indices[0].value)) {
    a.exact = false;
    a.why = "the elements of " + scope_.nest.variables[a.variable].host + " that " + source(e) +
            " accesses have no closed form: any element is assumed";
  }
  // Two calls in one statement must not share iterators, nor may the callee's be confused with the caller's of the
  // same name: all names are substituted at once.
  std::map<std::string, Poly> all = values;
  std::vector<std::string> names;
  for (const std::string& n : a.exists) {
    names.push_back(scope_.unique(n));
    all[n] = Poly::symbol(names.back());
  }
  for (Poly& p : a.subscripts) p = p.substituted(all);
  if (a.exact) a.subscripts[0] = a.subscripts[0].plus(*actual.indices[0].value);
  std::vector<Poly> needed;
  for (const Poly& p : a.not_negative) {
    if (!usable(p)) a.exact = false;
    needed.push_back(p.substituted(all));
  }
  a.not_negative = needed;
  a.not_negative.insert(a.not_negative.end(), actual.not_negative.begin(), actual.not_negative.end());
  Conjunction where;
  for (const Constraint& c : a.where)
    if (usable(c.poly)) where.push_back({c.poly.substituted(all), c.equality});
  a.where = where;
  a.exists = names;
  a.exists.insert(a.exists.end(), scope_.exists.begin(), scope_.exists.end());
  a.where.insert(a.where.end(), scope_.where.begin(), scope_.where.end());
  if (!a.exact) {
    a.subscripts.clear();
    a.not_negative.clear();
  }
  scope_.quantify(a);
  return a;
}

// Refuses lambdas whose captured copies may differ from the current values of the variables.
void Calls::refuse_stale_captures(const CallExpr* e, const LambdaExpr* l) const {
  if (scope_.lambdas > 6) refuse(e, "lambda calls nested more than 7 deep are not supported");
  if (l->isMutable()) refuse(e, "a mutable lambda is not supported: " + source(e));
  for (const auto& capture : l->captures()) {
    if (!capture.capturesVariable()) refuse(e, "a lambda that captures this is not supported: " + source(e));
    const auto* var = dyn_cast<VarDecl>(capture.getCapturedVar());
    if (var == nullptr) refuse(e, "a lambda that captures a structured binding is not supported: " + source(e));
    const std::string name = var->getNameAsString();
    if (var->isInitCapture()) refuse(e, "the init-capture " + name + " of a lambda is not supported: " + source(e));
    if (capture.getCaptureKind() == LCK_ByRef) continue;
    if (!dialect(var->getType()) && !var->getType()->isPointerType() && !is_view(var->getType()->getAsCXXRecordDecl()))
      refuse(e, "a lambda that captures a copy of " + name + " is not supported: " + source(e));
    if (facts_.changed.count(var) > 0 || facts_.escaped.count(var) > 0)
      refuse(e, "a lambda that captures a copy of " + name + ", which changes, is not supported: " + source(e));
  }
}

// Binds a parameter to its argument. Arrays become another name for the argument; returns true if the parameter is a
// number.
bool Calls::pass(const ParmVarDecl* formal, const Expr* actual, Effects& fx) {
  const QualType type = formal->getType();
  if (type->isPointerType()) {
    const auto p = places_.pointer(actual, fx);
    places_.refuse_changing_subscripts(actual, formal->getNameAsString());
    if (!p || scope_.changed.count(formal) > 0)
      refuse(actual, "the argument " + source(actual) + " does not point to a known array element");
    scope_.pointers[formal] = *p;
    return false;
  }
  if (!dialect(type.getNonReferenceType())) {
    const auto which = type->isReferenceType() ? places_.object(actual) : std::nullopt;
    if (!which) refuse(actual, "the argument " + source(actual) + " is not supported");
    scope_.references[formal] = Place{*which, {}, {}};
    return false;
  }
  if (type->isReferenceType() && !type->getPointeeType().isConstQualified()) {
    const auto p = places_.place(actual, fx);
    places_.refuse_changing_subscripts(actual, formal->getNameAsString());
    if (!p) refuse(actual, "the argument " + source(actual) + " is not a known variable or array element");
    scope_.references[formal] = *p;
    return false;
  }
  if (type->isReferenceType()) {  // const float& x: another name, unless it is bound to a temporary
    const Expr* bare = actual->IgnoreParens();
    while (const auto* cast = dyn_cast<ImplicitCastExpr>(bare)) {
      if (cast->getCastKind() != CK_NoOp) break;
      bare = cast->getSubExpr()->IgnoreParens();
    }
    if (bare->isGLValue() && !isa<MaterializeTemporaryExpr>(bare)) {
      const ValueDecl* named = referred(bare);
      const bool number = places_.extent(bare) >= 0 ||
                          (named != nullptr && (scope_.iterators.count(named) > 0 || scope_.values.count(named) > 0));
      if (number) return true;
      const auto p = places_.place(bare, fx);
      places_.refuse_changing_subscripts(bare, formal->getNameAsString());
      if (!p) refuse(actual, "the argument " + source(actual) + " is not a known variable or array element");
      scope_.references[formal] = *p;
      return false;
    }
  }
  return true;
}

// A parameter that is a number, as a variable set to its argument.
void Calls::declare_value(const ParmVarDecl* formal, const Expr* actual, Node& node, Effects& fx) {
  const std::string value = tree_.expression(actual, fx);
  std::vector<Poly> needed;
  const auto known = tree_.poly(actual, needed);
  const int which = scope_.declare_local(formal);
  const Variable& v = scope_.nest.variables[which];
  node.text = v.element + " " + v.name + " = " + value + ";";
  fx.set(which, node.line, v.host);
  scope_.values.erase(formal);
  if (known && needed.empty() && v.integer && scope_.changed.count(formal) == 0) scope_.values[formal] = *known;
}

// f(i, x); with any body: declarations of its parameters, then its statements.
Node Calls::lambda_statement(const CallExpr* e, const LambdaExpr* l) {
  refuse_stale_captures(e, l);
  const auto* method = cast<CXXMethodDecl>(e->getDirectCallee());
  Node block;
  block.line = line(e);
  for (unsigned i = 0; i < method->getNumParams(); ++i) {
    const ParmVarDecl* formal = method->getParamDecl(i);
    Node node = scope_.declaration_node(e);
    Effects fx;
    if (pass(formal, e->getArg(i + 1), fx)) declare_value(formal, e->getArg(i + 1), node, fx);
    node.accesses = fx.accesses;
    block.children.push_back(node);
  }
  ++scope_.lambdas;
  const auto* body = cast<CompoundStmt>(method->getBody());
  Node inside;
  for (const Stmt* s : body->body()) {
    const auto* r = dyn_cast<ReturnStmt>(s);
    if (r != nullptr && s == body->body_back() && r->getRetValue() == nullptr) continue;
    if (const auto* d = dyn_cast<DeclStmt>(s))
      tree_.declaration(d, inside);
    else
      inside.children.push_back(tree_.statement(s));
  }
  --scope_.lambdas;
  block.children.push_back(std::move(inside));
  block.text = "{";
  Node wrapper;  // a nested scope
  wrapper.children.push_back(std::move(block));
  return wrapper;
}

// x = f(i) with a single return as body.
std::string Calls::lambda_value(const CallExpr* e, const LambdaExpr* l, Effects& fx) {
  refuse_stale_captures(e, l);
  const auto* method = cast<CXXMethodDecl>(e->getDirectCallee());
  const auto* body = cast<CompoundStmt>(method->getBody());
  const auto* result = body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  if (result == nullptr || result->getRetValue() == nullptr)
    refuse(e, "inside an expression, the body of a lambda must be a single return: " + source(e));
  const auto number = dialect(method->getReturnType());
  if (!number) refuse(e, "a lambda that returns " + type_text(method->getReturnType()) + " is not supported");
  const auto given = scope_.given;
  const auto references = scope_.references;
  const auto pointers = scope_.pointers;
  for (unsigned i = 0; i < method->getNumParams(); ++i) {
    const ParmVarDecl* formal = method->getParamDecl(i);
    if (pass(formal, e->getArg(i + 1), fx)) {
      if (given.count(formal) > 0) refuse(e, "a lambda inside its own argument is not supported: " + source(e));
      scope_.given[formal] = e->getArg(i + 1);
    }
  }
  ++scope_.lambdas;
  const std::string text = tree_.expression(result->getRetValue(), fx);
  --scope_.lambdas;
  scope_.given = given;
  scope_.references = references;
  scope_.pointers = pointers;
  if (text.size() > 16384) refuse(e, "the expression exceeds 16384 characters after inlining its lambdas");
  return "(" + number->name + ")(" + text + ")";
}

// True if a parameter is an image, or a number or struct that the function changes for its caller.
bool Calls::reads_in_place(const FunctionDecl* callee) const {
  return std::any_of(callee->param_begin(), callee->param_end(), [&](const ParmVarDecl* p) {
    const QualType type = p->getType();
    return is_mat(type) || (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified() &&
                            (dialect(type->getPointeeType()) || !leaf_types(type).empty()));
  });
}

// Binds one parameter of a function whose body is read in place; a number is declared and set.
void Calls::bind_argument(const ParmVarDecl* formal, const Expr* actual, const Expr* call, Node& block) {
  Node node = scope_.declaration_node(call);
  Effects fx;
  if (const auto* unsaid = dyn_cast<CXXDefaultArgExpr>(actual)) actual = unsaid->getExpr();
  if (is_mat(formal->getType())) {
    const auto given = images_.image(actual, fx);
    if (!given) refuse(call, "the argument " + source(actual) + " is not a known image");
    scope_.images[formal] = *given;
  } else if (const ValueDecl* named = referred(actual); formal->getType()->isReferenceType() && named != nullptr &&
                                                        !leaf_types(formal->getType()).empty() &&
                                                        (scope_.parts.count(named) > 0)) {  // another name for it
    scope_.parts[formal] = scope_.parts[named];
    const std::size_t all = scope_.parts[named].size();
    scope_.part_values[formal].assign(all, std::nullopt);
    if (!formal->getType()->getPointeeType().isConstQualified()) {
      scope_.part_values[named].assign(all, std::nullopt);
      scope_.changed.insert(named);
    }
    return;
  } else if (!leaf_types(formal->getType()).empty()) {
    const QualType type = formal->getType();
    if (type->isReferenceType() && !type->getPointeeType().isConstQualified())
      refuse(call, "the argument " + source(actual) + " may be changed by the call");
    if (type->isReferenceType() && actual->isGLValue() && !aggregates_.by_value(actual) &&
        !isa<MaterializeTemporaryExpr>(actual))
      refuse(call, "the argument " + source(actual) + " may change during the call: take it by value");
    const auto values = tree_.components(actual, fx);
    if (!values) refuse(call, "the argument " + source(actual) + " is not supported");
    const std::vector<int> which = scope_.declare_parts(formal);
    const bool array = scope_.nest.variables[which[0]].array();
    std::string list;
    for (std::size_t k = 0; k < values->size(); ++k) {
      const Variable& v = scope_.nest.variables[which[array ? 0 : k]];
      list += (k > 0 ? ", " : "") + (*values)[k].text;
      if (!array) node.text += v.element + " " + v.name + " = " + (*values)[k].text + "; ";
      fx.set(which[array ? 0 : k], node.line, v.host);
      if (array) fx.accesses.back().subscripts.push_back(Poly::constant(static_cast<long>(k)));
    }
    const Variable& v = scope_.nest.variables[which[0]];
    if (array) node.text = v.element + " " + v.name + "[" + std::to_string(v.length) + "] = {" + list + "};";
    if (!array) scope_.part_values[formal].assign(values->size(), std::nullopt);
  } else if (pass(formal, actual, fx)) {
    declare_value(formal, actual, node, fx);
  }
  node.accesses = fx.accesses;
  block.children.push_back(std::move(node));
}

// The statements of a call. With `result`, the last statement must be a return, whose value is stored there; the
// statements then belong before the one that uses the value.
Node Calls::inlined(const Expr* call, const FunctionDecl* callee, const std::vector<const Expr*>& actuals,
                    std::string* result) {
  const std::string name = callee->getNameAsString();
  if (!being_read_.insert(callee).second) refuse(call, "recursive call of " + name + "(): kernels cannot recurse");
  if (scope_.inlined > 6) refuse(call, "calls nested more than 7 deep are not supported: " + source(call));
  const auto done = llvm::make_scope_exit([&] { being_read_.erase(callee); });
  find_changes(callee->getBody(), scope_.changed);
  find_changes(callee->getBody(), facts_.changed);
  find_escapes(callee->getBody(), facts_.escaped);
  scope_.nest.opaque = true;
  const auto bound_parts = scope_.bound_parts;
  const auto before = std::exchange(scope_.before, {});
  Node block;
  block.line = line(call);
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    if (i >= actuals.size()) refuse(call, "this call has too few arguments: " + source(call));
    bind_argument(callee->getParamDecl(i), actuals[i], call, block);
  }
  ++scope_.inlined;
  const auto* body = cast<CompoundStmt>(callee->getBody());
  Node inside;
  const Stmt* around = std::exchange(scope_.block, body);
  for (const Stmt* s : body->body()) {
    const auto* r = dyn_cast<ReturnStmt>(s);
    if (r != nullptr && s == body->body_back() && (r->getRetValue() == nullptr || result != nullptr)) {
      Effects fx;
      if (result != nullptr) *result = tree_.expression(r->getRetValue(), fx);
      Node read;
      read.kind = NodeKind::statement;
      read.line = block.line;
      read.guards = scope_.guards();
      read.accesses = fx.accesses;
      inside.children.push_back(std::move(read));
    } else if (const auto* d = dyn_cast<DeclStmt>(s)) {
      tree_.declaration(d, inside);
    } else {
      inside.children.push_back(tree_.statement(s));
    }
  }
  scope_.block = around;
  --scope_.inlined;
  scope_.bound_parts = bound_parts;
  scope_.before = before;
  if (result != nullptr && result->empty()) refuse(call, name + "() must end with a return: " + source(call));
  if (result == nullptr) block.text = "{";
  block.children.push_back(std::move(inside));
  if (result != nullptr) return block;
  Node wrapper;  // a nested scope
  wrapper.children.push_back(std::move(block));
  return wrapper;
}

}  // namespace ridge::place::frontend
