// Function calls: math functions from a table, functions of the same file by a summary of their accesses.
#include <algorithm>

#include "place/frontend/reader.hpp"
#include "place/text/node_text.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

struct Known {
  const char* name;
  int arguments;
  bool exact;  // identical in the last bit on all devices
};
// Functions whose kernel counterpart has the same name for float and double.
const Known kMath[] = {
    {"sqrt", 1, true},     {"fabs", 1, true},  {"floor", 1, true},  {"ceil", 1, true},   {"trunc", 1, true},
    {"round", 1, true},    {"rint", 1, true},  {"fmod", 2, true},   {"fmin", 2, true},   {"fmax", 2, true},
    {"copysign", 2, true}, {"fma", 3, true},   {"exp", 1, false},   {"exp2", 1, false},  {"expm1", 1, false},
    {"log", 1, false},     {"log2", 1, false}, {"log10", 1, false}, {"log1p", 1, false}, {"sin", 1, false},
    {"cos", 1, false},     {"tan", 1, false},  {"asin", 1, false},  {"acos", 1, false},  {"atan", 1, false},
    {"atan2", 2, false},   {"sinh", 1, false}, {"cosh", 1, false},  {"tanh", 1, false},  {"pow", 2, false},
    {"hypot", 2, false},   {"cbrt", 1, false}, {"erf", 1, false},   {"erfc", 1, false}};

bool from_system(const FunctionDecl* f, const ASTContext& ast) {
  return ast.getSourceManager().isInSystemHeader(f->getLocation()) || f->getBuiltinID() != 0;
}

}  // namespace

std::string Reader::helper(const std::string& name, const std::string& text) {
  if (scope_->helpers.insert(name).second) scope_->nest.functions.push_back(text);
  return name;
}

// OpenCV's rounding of a float or double to int.
std::optional<std::string> Reader::opencv_rounding(const CallExpr* e, Effects& fx) {
  const FunctionDecl* callee = e->getDirectCallee();
  if (callee == nullptr || e->getNumArgs() != 1 || ast_.getSourceManager().isInMainFile(callee->getLocation()))
    return {};
  const std::string name = callee->getQualifiedNameAsString();
  const char* as = name == "cvRound" ? "rint" : name == "cvFloor" ? "floor" : name == "cvCeil" ? "ceil" : nullptr;
  const auto from = dialect(e->getArg(0)->getType());
  if (as == nullptr || !from) return {};
  const std::string text = expression(e->getArg(0), fx);
  return from->integer ? text : "(int)" + std::string(as) + "((" + from->name + ")(" + text + "))";
}

std::optional<std::string> Reader::known_function(const CallExpr* e, Effects& fx) {
  const FunctionDecl* callee = e->getDirectCallee();
  if (callee == nullptr || !callee->getDeclName().isIdentifier() || !from_system(callee, ast_)) return {};
  std::string name = callee->getNameAsString();
  const std::string whole = callee->getQualifiedNameAsString();
  if (whole != name && whole != "std::" + name) return {};
  if (name.rfind("__builtin_", 0) == 0) name = name.substr(10);
  const auto result = dialect(e->getType());
  if (!result) return {};
  std::vector<std::string> arguments;
  const std::string type = result->name;
  const auto read = [&](std::size_t count) {
    if (e->getNumArgs() != count) refuse(e, "this overload of " + name + " is not supported: " + source(e));
    for (const Expr* a : e->arguments()) arguments.push_back(expression(a, fx));
  };
  if (name == "min" || name == "max") {  // std::min(a, b) is b < a ? b : a, for NaN too
    if (!dialect(e->getArg(0)->getType())) return {};
    read(2);
    const std::string test = name == "min" ? "b < a" : "a < b";
    helper(name + "_" + type, "FUNCTION " + type + " " + name + "_" + type + "(" + type + " a, " + type +
                                  " b) { return " + test + " ? b : a; }\n");
    return name + "_" + type + "(" + arguments[0] + ", " + arguments[1] + ")";
  }
  if (name == "clamp") {
    read(3);
    helper("clamp_" + type, "FUNCTION " + type + " clamp_" + type + "(" + type + " v, " + type + " low, " + type +
                                " high) { return v < low ? low : high < v ? high : v; }\n");
    return "clamp_" + type + "(" + arguments[0] + ", " + arguments[1] + ", " + arguments[2] + ")";
  }
  if (name == "abs" || name == "labs" || name == "llabs") {
    read(1);
    if (!result->integer) return "fabs((" + type + ")(" + arguments[0] + "))";
    helper("abs_" + type, "FUNCTION " + type + " abs_" + type + "(" + type + " a) { return a < 0 ? -a : a; }\n");
    return "abs_" + type + "(" + arguments[0] + ")";
  }
  if (result->integer && (name == "isnan" || name == "isinf" || name == "isfinite")) {
    const auto from = dialect(e->getArg(0)->getType());
    if (!from || from->integer) return {};
    read(1);
    const std::string x = "(" + arguments[0] + ")";
    if (name == "isnan") return "(" + x + " != " + x + ")";
    const std::string limit = from->name == "float" ? "INFINITY" : "(double)INFINITY";
    return name == "isinf" ? "(fabs" + x + " == " + limit + ")" : "(fabs" + x + " < " + limit + ")";
  }
  if (name == "lrint" || name == "lrintf" || name == "llrint" || name == "llrintf") {
    read(1);
    const auto from = dialect(e->getArg(0)->getType());
    return "(long)rint((" +
           (name.back() == 'f' ? std::string("float")
            : from->integer    ? "double"
                               : from->name) +
           ")(" + arguments[0] + "))";
  }
  if (result->integer) return {};
  if (name == "nearbyint" || name == "nearbyintf") name = "rint";
  for (const Known& known : kMath) {
    const std::string plain = known.name;
    if (name != plain && name != plain + "f") continue;
    read(static_cast<std::size_t>(known.arguments));
    scope_->nest.libm |= !known.exact;
    std::string text = plain + "(";
    for (std::size_t i = 0; i < arguments.size(); ++i)  // sqrt of a float in C is computed in double
      text += (i > 0 ? ", (" : "(") + type + ")(" + arguments[i] + ")";
    return text + ")";
  }
  return {};
}

std::string Reader::call(const CallExpr* e, Effects& fx) {
  Expr::EvalResult constant;
  if (!e->isValueDependent() && e->EvaluateAsRValue(constant, ast_) && !constant.HasSideEffects &&
      (constant.Val.isInt() || constant.Val.isFloat()))
    return literal(constant.Val, e->getType(), e);  // std::numeric_limits<float>::max()
  if (const auto text = known_function(e, fx)) return *text;
  if (const auto text = opencv_rounding(e, fx)) return *text;
  if (const LambdaExpr* l = lambda(e)) return lambda_value(e, l, fx);
  if (const auto text = value_named(e, fx)) return *text;
  const FunctionDecl* callee = e->getDirectCallee();
  if (callee == nullptr) refuse(e, "call through a pointer: its effects are unknown: " + source(e));
  if (const auto* method = dyn_cast<CXXMethodDecl>(callee)) {
    if (method->isVirtual()) refuse(e, "virtual call: its effects are unknown: " + source(e));
    refuse(e, "member function calls are not supported here: " + source(e));
  }
  if (from_system(callee, ast_))
    refuse(e, "the effects of " + callee->getNameAsString() + "() are unknown: " + source(e));
  if (callee->isNoReturn()) refuse(e, "an assertion or a call that does not return may leave the loop: " + source(e));
  std::vector<const Expr*> ignored;
  if (const FunctionDecl* as = callee->hasBody() ? nullptr : model(e, ignored, fx)) {
    scope_->nest.libm = true;
    return own_function(e, as, fx);
  }
  return own_function(e, callee, fx);
}

// Substitutes actual for formal parameters in the accesses of the callee.
std::string Reader::own_function(const CallExpr* e, const FunctionDecl* callee, Effects& fx) {
  const FunctionDecl* body = nullptr;
  if (!callee->hasBody(body)) refuse(e, "the body of " + callee->getNameAsString() + "() is not in this file");
  const Summary& known = summary(body, e);
  for (const std::string& text : known.functions)
    if (std::find(scope_->nest.functions.begin(), scope_->nest.functions.end(), text) == scope_->nest.functions.end())
      scope_->nest.functions.push_back(text);
  scope_->nest.libm |= known.libm;
  scope_->nest.asserts |= known.asserts;
  std::map<std::string, Poly> values;
  std::vector<Place> actuals(e->getNumArgs());
  std::set<std::string> unknown;
  std::string text = known.name + "(";
  for (unsigned i = 0; i < e->getNumArgs(); ++i) {
    const Expr* argument = e->getArg(i);
    text += i > 0 ? ", " : "";
    if (known.parts[i] > 0) {
      const auto values = components(argument, fx);
      if (!values) refuse(e, "the argument " + source(argument) + " is not supported");
      for (std::size_t k = 0; k < values->size(); ++k) text += (k > 0 ? ", " : "") + (*values)[k].text;
      continue;
    }
    if (known.arrays[i] < 0) {
      text += expression(argument, fx);
      if (!known.formals[i].empty()) {
        std::vector<Poly> needed;
        const auto value = poly(argument, needed);
        if (value && needed.empty())
          values[known.formals[i]] = *value;
        else
          unknown.insert(known.formals[i]);
      }
      continue;
    }
    actuals[i] = array_argument(e, argument, known.variables[known.arrays[i]], fx);
    const std::string& name = scope_->nest.variables[actuals[i].variable].name;
    const std::string& offset = actuals[i].indices[0].text;
    text += offset == "0" ? name : name + " + " + wrapped(offset);
  }
  text += ")";
  for (std::size_t i = 0; i < known.arrays.size(); ++i)  // v.size() of a formal is v.size() of the actual
    if (known.arrays[i] >= 0) {
      const Variable& formal = known.variables[known.arrays[i]];
      if (formal.storage != Storage::object) continue;
      const Variable& actual = scope_->nest.variables[actuals[i].variable];
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
Place Reader::array_argument(const CallExpr* e, const Expr* argument, const Variable& formal, Effects& fx) {
  std::optional<Place> p;
  if (argument->getType()->isPointerType()) {
    p = pointer(argument, fx);
  } else if (const auto which = object(argument)) {
    p = Place{*which, {{Poly::constant(0), "0"}}, {}};
  }
  if (!p || p->indices.size() != 1) refuse(e, "the argument " + source(argument) + " is not a known array");
  const Variable& v = scope_->nest.variables[p->variable];
  if (v.local_memory) refuse(e, "a kernel cannot pass a local array to a function: " + source(e));
  if (formal.element != v.element || formal.inner != v.inner)
    refuse(e, "the argument " + source(argument) + " has another element type than the parameter");
  return *p;
}

// An access of the callee in terms of the caller's variables; `values` are those of the callee's integer formals.
Access Reader::substituted_access(Access a, const Place& actual, const std::map<std::string, Poly>& values,
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
    a.why = "the elements of " + scope_->nest.variables[a.variable].host + " that " + source(e) +
            " accesses have no closed form: any element is assumed";
  }
  // Two calls in one statement must not share iterators, nor may the callee's be confused with the caller's of the
  // same name: all names are substituted at once.
  std::map<std::string, Poly> all = values;
  std::vector<std::string> names;
  for (const std::string& n : a.exists) {
    names.push_back(unique(n));
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
  a.exists.insert(a.exists.end(), scope_->exists.begin(), scope_->exists.end());
  a.where.insert(a.where.end(), scope_->where.begin(), scope_->where.end());
  if (!a.exact) a.subscripts.clear();
  return a;
}

// A struct or vector that a function takes by value or const reference: one parameter per component.
void Reader::add_parts(const ParmVarDecl* p, const FunctionDecl* callee, const Stmt* at, std::string& parameters,
                       std::string& prologue) {
  const QualType type = p->getType();
  if (type->isReferenceType() && !type->getPointeeType().isConstQualified() && !type->isRValueReferenceType() &&
      scope_->changed.count(p) > 0)
    refuse(at, callee->getNameAsString() + "() changes " + p->getNameAsString() +
                   " through a reference: kernels cannot call it");
  const std::vector<int> which = declare_parts(p);
  const auto types = leaf_types(type);
  std::string list;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const Variable& v = scope_->nest.variables[which[std::min(k, which.size() - 1)]];
    const std::string name = v.array() ? v.name + "_" + std::to_string(k) : v.name;
    parameters += (parameters.empty() ? "" : ", ") + v.element + " " + name;
    list += (k > 0 ? ", " : "") + name;
  }
  const Variable& v = scope_->nest.variables[which[0]];
  if (v.array())
    prologue += "  " + v.element + " " + v.name + "[" + std::to_string(v.length) + "] = {" + list + "};\n";
  else
    scope_->part_values[p].resize(types.size());
}

// Refuses a function that takes a number or struct by reference and writes an array that may overlap it.
void Reader::refuse_overlapping_parameters(const FunctionDecl* callee, const Summary& known, const Stmt* at) {
  for (const ParmVarDecl* p : callee->parameters()) {  // const float& x may be an element that the function writes
    if (!p->getType()->isReferenceType() || !dialect(p->getType().getNonReferenceType())) continue;
    Variable x = scope_->nest.variables[variable(p, at)];
    x.home = "?";
    for (const Access& a : known.accesses)
      if (const Variable& v = scope_->nest.variables[a.variable]; a.write && !v.local_memory && may_change(v, x))
        refuse(at, callee->getNameAsString() + "() takes " + x.host + " by reference and writes " + v.host +
                       ", which may overlap it");
  }
  for (const ParmVarDecl* p : callee->parameters())
    if (p->getType()->isReferenceType() && !leaf_types(p->getType()).empty())
      for (const Access& a : known.accesses)
        if (const Variable& v = scope_->nest.variables[a.variable]; a.write && v.array() && !v.local_memory)
          refuse(at, callee->getNameAsString() + "() takes " + p->getNameAsString() + " by reference and writes " +
                         v.host + ", which may overlap it");
}

const Summary& Reader::summary(const FunctionDecl* callee, const Stmt* at) {
  if (const auto it = summaries_.find(callee); it != summaries_.end()) return *it->second;
  if (!being_read_.insert(callee).second)
    refuse(at, "recursive call of " + callee->getNameAsString() + "(): kernels cannot recurse");
  if (callee->isVariadic() || callee->isTemplated())
    refuse(at, callee->getNameAsString() + "() is variadic or a template: kernels cannot call it");
  auto outer = std::move(scope_);
  scope_ = std::make_unique<Scope>();
  scope_->in_function = true;
  scope_->root = callee->getBody();
  auto result = std::make_unique<Summary>();
  struct Restore {  // also on an exception
    Reader& reader;
    std::unique_ptr<Scope>& outer;
    const FunctionDecl* callee;
    ~Restore() {
      reader.scope_ = std::move(outer);
      reader.being_read_.erase(callee);
    }
  } restore{*this, outer, callee};
  result->name = callee->getNameAsString();
  const bool taken = std::any_of(summaries_.begin(), summaries_.end(),
                                 [&](const auto& s) { return s.second->name == result->name + "_"; });
  result->name +=
      taken ? "_" + std::to_string(summaries_.size()) + "_" : "_";  // distinct from names of the kernel languages
  find_changes(callee->getBody(), scope_->changed);
  std::string parameters, prologue;
  for (const ParmVarDecl* p : callee->parameters()) {
    result->parts.push_back(leaf_types(p->getType()).size());
    if (result->parts.back() > 0) {
      add_parts(p, callee, at, parameters, prologue);
      result->formals.emplace_back();
      result->arrays.push_back(-1);
      continue;
    }
    const int which = variable(p, at);
    Variable& v = scope_->nest.variables[which];
    const bool scalar = !v.array();
    if (v.storage == Storage::reference && !v.constant && scope_->changed.count(p) > 0)
      refuse(at, callee->getNameAsString() + "() changes a number through a reference: kernels cannot call it");
    if (v.storage == Storage::object && v.type.find('&') == std::string::npos &&
        v.type.find("span") == std::string::npos)
      refuse(at, callee->getNameAsString() + "() takes an array by value: take it by reference");
    result->formals.push_back(scalar && v.integer ? v.name : "");
    result->arrays.push_back(scalar ? -1 : which);
    parameters += (parameters.empty() ? "" : ", ") +
                  (scalar ? v.element + " " + v.name
                          : std::string("GLOBAL ") + (v.constant ? "const " : "") + v.element + "* " + v.name);
    v.storage = v.storage == Storage::reference ? Storage::scalar : v.storage;
  }
  std::string type = "void";
  if (!callee->getReturnType()->isVoidType()) {
    const auto number = dialect(callee->getReturnType());
    if (!number)
      refuse(at, callee->getNameAsString() + "() returns " + type_text(callee->getReturnType()) +
                     ": functions in kernels return numbers");
    type = number->name;
  }
  const Node body = statement(callee->getBody());
  std::set<int> parts;
  for (const auto& [decl, list] : scope_->parts) parts.insert(list.begin(), list.end());
  for (std::size_t k = 0; k < scope_->nest.variables.size(); ++k) {
    const Variable& v = scope_->nest.variables[k];
    if (parts.count(static_cast<int>(k)) > 0) continue;
    if (v.global)
      refuse(at, callee->getNameAsString() + "() uses the global variable " + v.host + ": kernels cannot call it");
    if (v.host.find('.') != std::string::npos || v.host.find("->") != std::string::npos)
      refuse(at, callee->getNameAsString() + "() reads " + v.host + " of an object: kernels cannot call it");
  }
  text::visit_accesses(body, [&](const Access& a) { result->accesses.push_back(a); });
  refuse_overlapping_parameters(callee, *result, at);
  result->variables = scope_->nest.variables;
  result->functions = scope_->nest.functions;
  result->libm = scope_->nest.libm;
  result->asserts = scope_->nest.asserts;
  result->text = "FUNCTION " + type + " " + result->name + "(" + parameters + ") {\n" + prologue +
                 text::node_text(body, scope_->nest.loops, 1) + "}\n";
  result->functions.push_back(result->text);
  return *(summaries_[callee] = std::move(result));
}

}  // namespace ridge::place::frontend
