// Small structs and vectors by value (cv::Vec, cv::Point, cv::Range, std::pair, the user's own): read component by
// component. A local struct becomes one variable per field, a local cv::Vec a short array.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <utility>

#include "place/frontend/values.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// The expression whose value this is: without parentheses, copies and temporaries.
const Expr* value_of(const Expr* e) {
  while (true) {
    const Expr* inner = e->IgnoreParens()->IgnoreImplicit();
    if (inner != e) {
      e = inner;
    } else if (const auto* c = dyn_cast<CXXFunctionalCastExpr>(e)) {
      e = c->getSubExpr();
    } else if (const auto* made = dyn_cast<CXXConstructExpr>(e);
               made != nullptr && made->getNumArgs() == 1 && made->getConstructor()->isCopyOrMoveConstructor()) {
      e = made->getArg(0);
    } else if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) {
      e = s->getReplacement();
    } else if (const auto* literal = dyn_cast<CompoundLiteralExpr>(e); literal != nullptr && !literal->isFileScope()) {
      e = literal->getInitializer();
    } else {
      return e;
    }
  }
}

// The returned expression, if that is the whole body.
const Expr* only_return(const FunctionDecl* f) {
  const FunctionDecl* definition = nullptr;
  if (f == nullptr || !f->hasBody(definition)) return nullptr;
  const auto* body = dyn_cast<CompoundStmt>(definition->getBody());
  const auto* result = body != nullptr && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  return result != nullptr ? result->getRetValue() : nullptr;
}

}  // namespace

// An expression as a number of the given type.
std::string Aggregates::converted(const Expr* e, QualType type, Effects& fx) {
  const std::string text = tree_.expression(e, fx), wanted = dialect(type)->name;
  const auto from = dialect(e->IgnoreParenImpCasts()->getType());
  return from && from->name == wanted ? text : "(" + wanted + ")(" + text + ")";
}

// True for a value that exists only inside the nest: a local struct, an argument, a temporary, the object of the member
// function being read.
bool Aggregates::by_value(const Expr* e) const {
  e = value_of(e);
  if (is_this(e)) return self_.has_value();
  if (const ValueDecl* decl = referred(e)) return scope_.parts.count(decl) > 0 || scope_.bound_parts.count(decl) > 0;
  return e->isPRValue() && isa<CallExpr, CXXConstructExpr, InitListExpr, ConditionalOperator>(e);
}

// True for a struct or vector that is declared before the nest.
bool Aggregates::on_host(const Expr* e) const {
  const auto* var = dyn_cast_or_null<VarDecl>(referred(value_of(e)));
  return var != nullptr && !facts_.in_function && var->hasLocalStorage() && scope_.variables.count(var) == 0 &&
         scope_.references.count(var) == 0 && var->getDeclContext() == facts_.function &&
         (!var->getType()->isReferenceType() || isa<ParmVarDecl>(var));
}

// The place of component k of a struct or vector in memory or in local variables.
std::optional<Place> Aggregates::component_place(const Expr* e, std::size_t k, Effects& fx) {
  const Expr* bare = value_of(e);
  if (const ValueDecl* decl = referred(bare))
    if (const auto known = scope_.parts.find(decl); known != scope_.parts.end()) return Place{known->second[k], {}, {}};
  auto p = bare->isGLValue() ? places_.place(bare, fx) : std::nullopt;
  if (!p) return p;
  const Variable& v = scope_.nest.variables[p->variable];
  const long offset = v.mixed ? offset_of(ast_, fields_of(bare->getType())[k]) : 0;
  const long at = v.mixed ? offset / v.bytes : static_cast<long>(k);
  p->indices.push_back({Poly::constant(at), std::to_string(at)});
  if (v.mixed) scope_.set_field(*p, leaf_types(bare->getType())[k], {offset});
  return p;
}

std::optional<std::vector<Component>> Aggregates::components(const Expr* e, Effects& fx) {
  const std::vector<QualType> types = leaf_types(e->getType());
  if (types.empty()) return {};
  e = value_of(e);
  if (is_this(e)) return self_;
  std::vector<Component> all;
  if (const ValueDecl* decl = referred(e)) {
    if (const auto passed = scope_.bound_parts.find(decl); passed != scope_.bound_parts.end()) return passed->second;
    if (const auto known = scope_.parts.find(decl); known != scope_.parts.end()) {
      for (std::size_t k = 0; k < types.size(); ++k) {
        scope_.record(Place{known->second[k], {}, {}}, false, e, fx);
        all.push_back({scope_.nest.variables[known->second[k]].name, scope_.part_values[decl][k]});
      }
      return all;
    }
  }
  if (auto numbers = host_components(e, fx)) return numbers;
  if (const auto* made = dyn_cast<CXXConstructExpr>(e)) return constructed(made, fx);
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    if (list->getNumInits() > types.size()) return {};
    for (std::size_t k = 0; k < types.size(); ++k) {
      const Expr* given = k < list->getNumInits() ? list->getInit(static_cast<unsigned>(k)) : nullptr;
      std::vector<Poly> needed;
      const auto value = given != nullptr ? tree_.poly(given, needed) : Poly::constant(0);
      all.push_back({given != nullptr ? converted(given, types[k], fx) : "0",
                     needed.empty() && types[k]->isIntegerType() ? value : std::nullopt});
    }
    return all;
  }
  if (isa<CXXScalarValueInitExpr, ImplicitValueInitExpr>(e))
    return std::vector<Component>(types.size(), Component{"0", Poly::constant(0)});
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const bool outer = std::exchange(scope_.may_hoist, false);
    const std::string test = tree_.expression(c->getCond(), fx);
    const auto yes = components(c->getTrueExpr(), fx), no = components(c->getFalseExpr(), fx);
    scope_.may_hoist = outer;
    if (!yes || !no) return {};
    for (std::size_t k = 0; k < types.size(); ++k) {
      const std::string type = "(" + dialect(types[k])->name + ")";
      all.push_back(
          {"(" + test + " ? " + type + wrapped((*yes)[k].text) + " : " + type + wrapped((*no)[k].text) + ")", {}});
    }
    return all;
  }
  const bool element = isa<CXXOperatorCallExpr, CXXMemberCallExpr>(e) && e->isGLValue();  // v[i], m.at<T>(r, c)
  if (const auto* call = dyn_cast<CallExpr>(e); call != nullptr && !element) return computed(call, fx);
  for (std::size_t k = 0; k < types.size(); ++k) {
    const auto p = component_place(e, k, fx);
    if (!p) return {};
    scope_.record(*p, false, e, fx);
    all.push_back({scope_.element_text(*p), {}});
  }
  return all;
}

// The components of a struct or vector declared before the nest, as numbers that the host passes.
std::optional<std::vector<Component>> Aggregates::host_components(const Expr* e, Effects& fx) {
  const auto* var = dyn_cast_or_null<VarDecl>(referred(e));
  if (var == nullptr || facts_.in_function || scope_.variables.count(var) > 0 || scope_.references.count(var) > 0 ||
      scope_.given.count(var) > 0 || var->hasGlobalStorage() || var->getDeclContext() != facts_.function ||
      (var->getType()->isReferenceType() && !isa<ParmVarDecl>(var)))
    return {};
  const std::string name = var->getNameAsString();
  if (scope_.changed.count(var) > 0) refuse(e, name + " changes inside the loop");
  scope_.refuse_shadowed(var, e);
  const auto types = leaf_types(var->getType());
  const auto fields = fields_of(var->getType());
  const bool array = indexed(var->getType());
  std::vector<Component> all;
  for (std::size_t k = 0; k < types.size(); ++k) {
    if (is_complex(var->getType())) {
      const char* const part = k == 0 ? "real" : "imag";
      const Path at{var, name + "." + part + "()", name + "_" + part, false, facts_.reachable(var), false, name};
      const int which = scope_.pseudo(at.host, at.name, types[k], e, at);
      fx.read(which, line(e));
      all.push_back({scope_.nest.variables[which].name, {}});
      continue;
    }
    const std::string field = array ? std::to_string(k) : public_accessor(fields[k]);
    if (field.empty() || field.back() == ')') return {};
    const Path at{
        var, name + (array ? "[" + field + "]" : "." + field), name + "_" + field, false, facts_.reachable(var), true,
        name};
    const int which = scope_.pseudo(at.host, at.name, types[k], e, at);
    fx.read(which, line(e));
    all.push_back({scope_.nest.variables[which].name,
                   types[k]->isIntegerType() ? std::optional(Poly::symbol(scope_.symbol(which))) : std::nullopt});
  }
  return all;
}

// Binds the parameters of a function to the values of its arguments, until the caller restores the scope's maps.
void Aggregates::bind(const FunctionDecl* callee, const std::vector<const Expr*>& actuals, Effects& fx) {
  auto bound = scope_.bound;
  auto bound_parts = scope_.bound_parts;
  for (unsigned i = 0; i < callee->getNumParams(); ++i) {
    const ParmVarDecl* formal = callee->getParamDecl(i);
    const Expr* actual = actuals[i];
    if (const auto* unsaid = dyn_cast<CXXDefaultArgExpr>(actual)) actual = unsaid->getExpr();
    const QualType type = formal->getType();
    if (type->isReferenceType() && !type->getPointeeType().isConstQualified() && !type->isRValueReferenceType())
      refuse(actual, "the argument " + source(actual) + " may be changed by the call");
    if (const auto number = dialect(type.getNonReferenceType())) {
      Bound b;
      b.text = "(" + number->name + ")(" + tree_.expression(actual, fx) + ")";
      b.value = tree_.poly(actual, b.not_negative);
      if (b.text.size() > 4096) refuse(actual, "the expression exceeds 4096 characters after inlining its functions");
      bound[formal] = b;
    } else if (const auto parts = components(actual, fx)) {
      bound_parts[formal] = *parts;
      for (const Component& c : *parts)
        if (c.text.size() > 4096) refuse(actual, "the expression exceeds 4096 characters after inlining its functions");
    } else {
      refuse(actual, "the argument " + source(actual) + " is not supported");
    }
  }
  scope_.bound = std::move(bound);
  scope_.bound_parts = std::move(bound_parts);
}

std::optional<std::vector<Component>> Aggregates::constructed(const CXXConstructExpr* made, Effects& fx) {
  const std::vector<QualType> types = leaf_types(made->getType());
  std::vector<const Expr*> arguments;
  for (const Expr* a : made->arguments()) arguments.push_back(a);
  std::vector<Component> all;
  if (indexed(made->getType())) {
    const bool numbers = std::all_of(arguments.begin(), arguments.end(),
                                     [&](const Expr* a) { return dialect(a->getType().getNonReferenceType()); });
    const bool fits = arguments.empty() || arguments.size() == types.size() ||
                      (class_of(made->getType()) == "cv::Scalar_" && arguments.size() < types.size());
    if (!numbers || !fits) refuse(made, "this constructor is not supported: " + source(made));
    for (std::size_t k = 0; k < types.size(); ++k)
      all.push_back({k < arguments.size() ? converted(arguments[k], types[k], fx) : "0", {}});
    return all;
  }
  if (class_of(made->getType()) == "std::pair" && arguments.size() == 2 && dialect(arguments[0]->getType()) &&
      dialect(arguments[1]->getType())) {
    for (std::size_t k = 0; k < 2; ++k) {
      std::vector<Poly> needed;
      const auto value = types[k]->isIntegerType() ? tree_.poly(arguments[k], needed) : std::nullopt;
      all.push_back({converted(arguments[k], types[k], fx), needed.empty() ? value : std::nullopt});
    }
    return all;
  }
  const FunctionDecl* definition = nullptr;
  const CXXConstructorDecl* constructor = made->getConstructor();
  if (constructor->isDefaultConstructor() && constructor->isTrivial())
    return std::vector<Component>(types.size(), Component{"0", {}});
  const auto* body = constructor->hasBody(definition) ? dyn_cast<CompoundStmt>(definition->getBody()) : nullptr;
  if (body == nullptr || !body->body_empty())
    refuse(made, "the constructor of " + class_of(made->getType()) + " does more than set its fields: " + source(made));
  const auto bound = scope_.bound;
  const auto bound_parts = scope_.bound_parts;
  bind(definition, arguments, fx);
  for (const FieldDecl* field : fields_of(made->getType())) {
    const Expr* given = nullptr;
    for (const CXXCtorInitializer* i : cast<CXXConstructorDecl>(definition)->inits())
      if (i->getMember() == field) given = i->getInit();
    if (const auto* unsaid = dyn_cast_or_null<CXXDefaultInitExpr>(given)) given = unsaid->getExpr();
    if (given == nullptr)
      refuse(made, "the constructor leaves " + field->getNameAsString() + " unset: " + source(made));
    std::vector<Poly> needed;
    const auto value = field->getType()->isIntegerType() ? tree_.poly(given, needed) : std::nullopt;
    all.push_back({converted(given, field->getType(), fx), needed.empty() ? value : std::nullopt});
  }
  scope_.bound = bound;
  scope_.bound_parts = bound_parts;
  return all;
}

// A complex number or a number as real and imaginary part; the latter is "" for a number.
std::optional<std::vector<Component>> Aggregates::complex_value(const Expr* e, QualType part, Effects& fx) {
  if (is_complex(e->getType())) return components(e, fx);
  if (!dialect(e->getType().getNonReferenceType())) return {};
  return std::vector<Component>{{converted(e, part, fx), {}}, {"", {}}};
}

// Arithmetic of std::complex, as the standard library computes it for finite numbers.
std::optional<std::vector<Component>> Aggregates::complex_result(const std::string& sign,
                                                                 const std::vector<Component>& a,
                                                                 const std::vector<Component>& b) {
  const auto join = [](const std::string& x, const std::string& by, const std::string& y) {
    return "(" + wrapped(x) + " " + by + " " + wrapped(y) + ")";
  };
  const std::string &x = a[0].text, &y = a[1].text, &u = b[0].text, &v = b[1].text;
  if (x.size() + y.size() + u.size() + v.size() > 4096) return {};
  if (sign == "+" || sign == "-") {
    const std::string imaginary = y.empty() ? (sign == "-" ? "-" + wrapped(v) : v) : v.empty() ? y : join(y, sign, v);
    return std::vector<Component>{{join(x, sign, u), {}}, {imaginary, {}}};
  }
  if (sign == "*" && (y.empty() || v.empty())) {
    const std::string& by = y.empty() ? x : u;
    const std::vector<Component>& of = y.empty() ? b : a;
    return std::vector<Component>{{join(of[0].text, "*", by), {}}, {join(of[1].text, "*", by), {}}};
  }
  if (sign == "*")
    return std::vector<Component>{{join(join(x, "*", u), "-", join(y, "*", v)), {}},
                                  {join(join(x, "*", v), "+", join(y, "*", u)), {}}};
  if (sign == "/" && v.empty()) return std::vector<Component>{{join(x, "/", u), {}}, {join(y, "/", u), {}}};
  return {};
}

// The components of a call's result: an operator of cv::Vec, or a function with a single return.
std::optional<std::vector<Component>> Aggregates::computed(const CallExpr* call, Effects& fx) {
  if (is_complex(call->getType())) return complex_computed(call, fx);
  const FunctionDecl* callee = call->getDirectCallee();
  const auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
  const std::vector<QualType> types = leaf_types(call->getType());
  if (operation == nullptr || !indexed(call->getType()) || callee == nullptr ||
      callee->getQualifiedNameAsString().rfind("cv::", 0) != 0)
    return returned(call, fx);
  const auto number = dialect(types[0]);
  if (number->bytes < 4 || (number->integer && number->is_unsigned))
    refuse(call,
           "arithmetic on vectors of " + type_text(types[0]) + " saturates, which is not supported: " + source(call));
  const std::string sign = getOperatorSpelling(operation->getOperator());
  const bool additive = sign == "+" || sign == "-";
  std::vector<Component> all;
  if (operation->getNumArgs() == 1 && sign == "-") {
    const auto of = components(operation->getArg(0), fx);
    if (!of) return {};
    for (const Component& c : *of) all.push_back({"-" + wrapped(c.text), {}});
    return all;
  }
  if (operation->getNumArgs() != 2) refuse(call, "this operator is not supported: " + source(call));
  const auto left = components(operation->getArg(0), fx), right = components(operation->getArg(1), fx);
  if (left && right && additive) {
    for (std::size_t k = 0; k < types.size(); ++k)
      all.push_back({"(" + wrapped((*left)[k].text) + " " + sign + " " + wrapped((*right)[k].text) + ")", {}});
    return all;
  }
  const bool scales = sign == "*" || (sign == "/" && left);
  if (!scales || (left.has_value() == right.has_value()) || number->integer)
    refuse(call, "this operator is not supported: " + source(call));
  const Expr* by = operation->getArg(left ? 1 : 0);
  const std::string factor = wrapped(tree_.expression(by, fx));
  if (sign == "/") {  // OpenCV multiplies by the reciprocal in some versions
    refuse(call, "division of a cv::Vec is not supported: multiply by the reciprocal: " + source(call));
  }
  for (const Component& c : left ? *left : *right)
    all.push_back({"(" + number->name + ")(" + wrapped(c.text) + " * " + factor + ")", {}});
  return all;
}

std::optional<std::vector<Component>> Aggregates::complex_computed(const CallExpr* call, Effects& fx) {
  const auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
  const FunctionDecl* callee = call->getDirectCallee();
  const std::string name = callee != nullptr ? callee->getQualifiedNameAsString() : "";
  const QualType part = leaf_types(call->getType())[0];
  if (name == "std::conj" && call->getNumArgs() == 1) {
    if (const auto of = components(call->getArg(0), fx))
      return std::vector<Component>{(*of)[0], {"-" + wrapped((*of)[1].text), {}}};
  } else if (operation == nullptr || name.rfind("std::", 0) != 0) {
    return returned(call, fx);
  } else if (operation->getNumArgs() == 1 && operation->getOperator() == OO_Minus) {
    if (const auto of = components(operation->getArg(0), fx))
      return std::vector<Component>{{"-" + wrapped((*of)[0].text), {}}, {"-" + wrapped((*of)[1].text), {}}};
  } else if (operation->getNumArgs() == 2) {
    const auto a = complex_value(operation->getArg(0), part, fx), b = complex_value(operation->getArg(1), part, fx);
    if (a && b)
      if (auto result = complex_result(getOperatorSpelling(operation->getOperator()), *a, *b)) return result;
  }
  refuse(call, "this operation on complex numbers is not supported: " + source(call));
}

// z.real(), std::imag(z), std::norm(z), std::abs(z).
std::optional<std::string> Aggregates::complex_part(const CallExpr* e, Effects& fx) {
  const FunctionDecl* callee = e->getDirectCallee();
  const auto* member = dyn_cast<CXXMemberCallExpr>(e);
  if (callee == nullptr || !callee->getDeclName().isIdentifier()) return {};
  const std::string name = callee->getNameAsString();
  const Expr* object = member != nullptr && member->getNumArgs() == 0 ? member->getImplicitObjectArgument()
                       : member == nullptr && e->getNumArgs() == 1    ? e->getArg(0)
                                                                      : nullptr;
  if (object == nullptr || !is_complex(object->getType()) ||
      callee->getQualifiedNameAsString().rfind("std::", 0) != 0 ||
      (name != "real" && name != "imag" && name != "norm" && name != "abs"))
    return {};
  const auto parts = components(object, fx);
  if (!parts) return {};
  const std::string x = wrapped((*parts)[0].text), y = wrapped((*parts)[1].text);
  if (name == "real" || name == "imag") return name == "real" ? x : y;
  if (name == "norm") return "(" + x + " * " + x + " + " + y + " * " + y + ")";
  scope_.nest.libm = true;
  return "hypot(" + x + ", " + y + ")";
}

std::vector<Component> Aggregates::returned(const CallExpr* call, Effects& fx) {
  const FunctionDecl* callee = call->getDirectCallee();
  const Expr* result = only_return(callee);
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(callee);
  if (result == nullptr || (method != nullptr && method->isVirtual()))
    refuse(call, "a function that returns a struct must consist of a single return: " + source(call));
  if (scope_.lambdas > 6) refuse(call, "calls nested more than 7 deep are not supported: " + source(call));
  const FunctionDecl* definition = nullptr;
  callee->hasBody(definition);
  std::vector<const Expr*> actuals(call->arg_begin(), call->arg_end());
  const bool member = method != nullptr && !method->isStatic();
  std::optional<std::vector<Component>> self;
  if (member) {
    const auto* written = dyn_cast<CXXMemberCallExpr>(call);
    const Expr* object = written != nullptr ? written->getImplicitObjectArgument() : call->getArg(0);
    self = components(object, fx);
    if (!self) refuse(call, "the object of this call is not a known variable: " + source(call));
    if (written == nullptr) actuals.erase(actuals.begin());
  }
  const auto bound = scope_.bound;
  const auto bound_parts = scope_.bound_parts;
  bind(definition, actuals, fx);
  const auto outer = member ? std::exchange(scope_.self, std::nullopt) : scope_.self;
  if (member) std::swap(self_, self);
  ++scope_.lambdas;
  std::optional<std::vector<Component>> all;
  if (dialect(result->getType()))
    all = std::vector<Component>{{converted(result, callee->getReturnType(), fx), {}}};
  else
    all = components(result, fx);
  --scope_.lambdas;
  if (member) std::swap(self_, self);
  scope_.self = outer;
  scope_.bound = bound;
  scope_.bound_parts = bound_parts;
  if (!all) refuse(call, "the value " + source(call) + " is not supported");
  return *all;
}

std::optional<Component> Aggregates::known_component(const Expr* e) const {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  if (member == nullptr || !isa<FieldDecl>(member->getMemberDecl())) return {};
  const Expr* base = value_of(member->getBase());
  const QualType type =
      member->isArrow() ? member->getBase()->getType()->getPointeeType() : member->getBase()->getType();
  const auto fields = fields_of(type);
  const auto at =
      static_cast<std::size_t>(std::find(fields.begin(), fields.end(), member->getMemberDecl()) - fields.begin());
  if (is_this(base)) {
    if (!self_ || at >= self_->size()) return {};
    return (*self_)[at];
  }
  const ValueDecl* decl = referred(base);
  if (decl == nullptr) return {};
  if (const auto passed = scope_.bound_parts.find(decl);
      passed != scope_.bound_parts.end() && at < passed->second.size())
    return passed->second[at];
  if (const auto known = scope_.parts.find(decl); known != scope_.parts.end() && at < known->second.size())
    return Component{scope_.nest.variables[known->second[at]].name, scope_.part_values.at(decl)[at]};
  return {};
}

// A number taken out of a value: p.x, f(p).y, (-v)[1], p.norm(). Fields of local structs are places, not values.
std::optional<Component> Aggregates::component(const Expr* e, Effects& fx) {
  const Expr* bare = e->IgnoreParenImpCasts();
  if (const auto* member = dyn_cast<MemberExpr>(bare)) {
    const Expr* base = member->getBase();
    const ValueDecl* decl = referred(value_of(base));
    if (decl != nullptr && scope_.parts.count(decl) > 0) return {};
    if (!by_value(base) || (!member->isArrow() && leaf_types(base->getType()).empty())) return {};
    const QualType type = member->isArrow() ? base->getType()->getPointeeType() : base->getType();
    const auto fields = fields_of(type);
    const auto at = std::find(fields.begin(), fields.end(), member->getMemberDecl()) - fields.begin();
    const auto all = member->isArrow() ? self_ : components(base, fx);
    if (!all || at >= static_cast<long>(all->size())) return {};
    return (*all)[static_cast<std::size_t>(at)];
  }
  const auto* call = dyn_cast<CallExpr>(bare);
  if (const auto* operation = dyn_cast_or_null<CXXOperatorCallExpr>(call);
      operation != nullptr && operation->getOperator() == OO_Subscript && operation->getNumArgs() == 2 &&
      indexed(operation->getArg(0)->getType()) && (by_value(operation->getArg(0)) || on_host(operation->getArg(0)))) {
    std::vector<Poly> needed;
    const auto at = tree_.poly(operation->getArg(1), needed);
    const auto k = at && needed.empty() ? at->value() : std::nullopt;
    const auto all = components(operation->getArg(0), fx);
    if (!k || !all || *k < 0 || *k >= static_cast<long>(all->size()))
      refuse(e, "the subscript of this vector must be a constant: " + source(e));
    return (*all)[static_cast<std::size_t>(*k)];
  }
  if (call != nullptr && dialect(call->getType()) && users_method(call) != nullptr) {
    const auto* written = dyn_cast<CXXMemberCallExpr>(call);
    const Expr* object = written != nullptr ? written->getImplicitObjectArgument() : call->getArg(0);
    if (!leaf_types(object->getType()).empty() && by_value(object)) return returned(call, fx)[0];
  }
  return {};
}

void Aggregates::declare_aggregate(const DeclStmt* s, const VarDecl* var, Node& block) {
  const std::vector<QualType> types = leaf_types(var->getType());
  Effects fx;
  std::optional<std::vector<Component>> values;
  if (var->hasInit()) {
    values = components(var->getInit(), fx);
    if (!values) refuse(s, "this initializer is not supported: " + source(s));
  }
  const std::vector<int> which = scope_.declare_parts(var);
  if (!indexed(var->getType())) scope_.part_values[var].resize(types.size());
  const bool array = indexed(var->getType());
  const bool changes = scope_.changed.count(var) > 0 || facts_.escaped.count(var) > 0;
  Node node = scope_.declaration_node(s);
  std::string list;
  std::vector<std::optional<Poly>> known;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const Variable& v = scope_.nest.variables[which[array ? 0 : k]];
    known.push_back(values && !changes && types[k]->isIntegerType() ? (*values)[k].value : std::nullopt);
    if (array)
      list += (k > 0 ? ", " : "") + (values ? (*values)[k].text : "");
    else
      node.text += (k > 0 ? " " : "") + v.element + " " + v.name + (values ? " = " + (*values)[k].text : "") + ";";
    if (!values) continue;
    fx.set(which[array ? 0 : k], node.line, v.host);
    if (array) fx.accesses.back().subscripts.push_back(Poly::constant(static_cast<long>(k)));
  }
  if (array) {
    const Variable& v = scope_.nest.variables[which[0]];
    node.text =
        v.element + " " + v.name + "[" + std::to_string(v.length) + "]" + (values ? " = {" + list + "}" : "") + ";";
  } else {
    scope_.part_values[var] = known;
  }
  node.accesses = fx.accesses;
  for (Node& earlier : std::exchange(scope_.before, {})) block.children.push_back(std::move(earlier));
  block.children.push_back(std::move(node));
}

namespace {

// True if the operator is declared in this namespace: another library or the user may declare one for its types, too.
bool declared_in(const CXXOperatorCallExpr* e, const std::string& space) {
  const FunctionDecl* callee = e->getDirectCallee();
  return callee != nullptr && callee->getQualifiedNameAsString().rfind(space + "::", 0) == 0;
}

}  // namespace

// The value that a complex number gets from =, +=, -=, *= or /=.
std::optional<std::vector<Component>> Aggregates::complex_assigned(const CXXOperatorCallExpr* e, QualType part,
                                                                   Effects& fx) {
  auto by = complex_value(e->getArg(1), part, fx);
  const std::string sign = getOperatorSpelling(e->getOperator());
  if (!by || !declared_in(e, "std")) return {};
  if (sign != "=") {
    const auto of = components(e->getArg(0), fx);
    const auto result = of ? complex_result(sign.substr(0, sign.size() - 1), *of, *by) : std::nullopt;
    if (!result) refuse(e, "this operation on complex numbers is not supported: " + source(e));
    return result;
  }
  if ((*by)[1].text.empty()) (*by)[1].text = "0";
  return by;
}

// a = b, a += b and a -= b of structs and vectors. All components are computed before the first is stored.
bool Aggregates::assign_aggregate(const Expr* e, Node& node, Effects& fx) {
  const auto* operation = dyn_cast<CXXOperatorCallExpr>(e);
  const auto* in_c = dyn_cast<BinaryOperator>(e);  // C has no operator functions
  if (in_c != nullptr ? in_c->getOpcode() != BO_Assign
                      : operation == nullptr || !operation->isAssignmentOp() || operation->getNumArgs() != 2)
    return false;
  const Expr *to = in_c != nullptr ? in_c->getLHS() : operation->getArg(0),
             *from = in_c != nullptr ? in_c->getRHS() : operation->getArg(1);
  const std::vector<QualType> types = leaf_types(to->getType());
  if (types.empty()) return false;
  const auto* method = in_c == nullptr ? dyn_cast_or_null<CXXMethodDecl>(operation->getDirectCallee()) : nullptr;
  const bool copy = in_c != nullptr || (operation->getOperator() == OO_Equal && method != nullptr &&
                                        (method->isTrivial() || copies_fields(class_of(to->getType()))));
  const bool adds =
      in_c == nullptr && (operation->getOperator() == OO_PlusEqual || operation->getOperator() == OO_MinusEqual) &&
      indexed(to->getType()) && !dialect(types[0])->integer && method == nullptr && declared_in(operation, "cv");
  const bool complex = in_c == nullptr && is_complex(to->getType());
  const auto values = complex        ? complex_assigned(operation, types[0], fx)
                      : copy || adds ? components(from, fx)
                                     : std::nullopt;
  if (!values || values->size() != types.size())
    refuse(e, "this assignment of a struct is not supported: " + source(e));
  const std::string sign = in_c != nullptr || complex ? "=" : getOperatorSpelling(operation->getOperator());
  std::string first, then;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const auto p = component_place(to, k, fx);
    if (!p) refuse(e, "an assignment to this is not supported: " + source(e));
    if (adds) scope_.record(*p, false, to, fx);
    scope_.record(*p, true, to, fx);
    const std::string held = scope_.unique("held");
    first += dialect(types[k])->name + " " + held + " = " + (*values)[k].text + "; ";
    then += scope_.element_text(*p) + " " + sign + " " + held + "; ";
  }
  node.text = "{ " + first + then + "}";
  return true;
}

}  // namespace ridge::place::frontend
