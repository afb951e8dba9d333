// The nest being read: its variables with their kernel names and homes, accesses, assumptions and open loops.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "place/frontend/scope.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Words with another meaning in kernels or in isl.
const std::set<std::string>& reserved() {
  static const std::set<std::string> words{
      "kernel",    "global",     "local",      "constant", "half",      "private",  "generic",  "pipe",
      "image2d_t", "sampler_t",  "uchar",      "ushort",   "uint",      "ulong",    "bool2",    "vec_step",
      "mod",       "floor",      "ceil",       "exists",   "and",       "or",       "not",      "implies",
      "min",       "max",        "infty",      "true",     "false",     "floord",   "ceild",    "KERNEL",
      "GLOBAL",    "LOCAL",      "CONSTANT",   "FUNCTION", "BARRIER",   "RESTRICT", "FMA",      "UNROLL",
      "CLUSTER",   "item",       "reach",      "group",    "signed",    "class",    "new",      "this",
      "delete",    "template",   "operator",   "public",   "protected", "virtual",  "unsigned", "uniform",
      "read_only", "write_only", "read_write", "event_t",  "abs",       "device"};
  return words;
}

}  // namespace

void Effects::read(int variable, int line) {
  Access& a = accesses.emplace_back();
  a.variable = variable;
  a.line = line;
}

void Effects::set(int variable, int line, const std::string& source) {
  read(variable, line);
  accesses.back().write = true;
  accesses.back().source = source;
}

int Scope::add(const Variable& v) {
  nest.variables.push_back(v);
  return static_cast<int>(nest.variables.size()) - 1;
}

std::string Scope::unique(const std::string& name) {
  std::string wanted = name;
  if (reserved().count(wanted) > 0) wanted += "_";
  std::string result = wanted;
  for (int i = 2; !names.insert(result).second; ++i) result = wanted + "_" + std::to_string(i);
  return result;
}

void Scope::has_home(Variable& v, const Path& at) const {
  if (!at.reachable || facts.in_function) return;
  v.home = "&" + (at.spelled ? at.host : at.object);
  v.home_bytes =
      at.spelled && !v.array() ? std::to_string(v.bytes) : "sizeof(" + (at.spelled ? at.host : at.object) + ")";
  const auto* base = dyn_cast<VarDecl>(at.base);
  if (base == nullptr) return;
  const bool leads = base->getType()->isReferenceType() || base->getType()->isPointerType();
  if (base->hasGlobalStorage() && !leads) v.home_in = Variable::Home::outside;
  if (isa<ParmVarDecl>(base) && leads && facts.changed.count(base) == 0) v.home_in = Variable::Home::outside;
  if (base->hasLocalStorage() && !leads) v.home_in = Variable::Home::own;
}

// Refuses a variable whose name is shadowed at the nest: code inserted there refers to variables by name.
void Scope::refuse_shadowed(const ValueDecl* decl, const Stmt* at) const {
  if (root == nullptr || facts.in_function || !decl->getDeclName().isIdentifier()) return;
  const ValueDecl* last = nullptr;
  const auto look = [&](const Stmt* s) {
    if (const auto* d = dyn_cast_or_null<DeclStmt>(s))
      for (const Decl* one : d->decls())
        if (const auto* v = dyn_cast<ValueDecl>(one); v != nullptr && v->getDeclName() == decl->getDeclName()) last = v;
  };
  for (const Facts::Frame& frame : facts.around) {
    if (const auto* around = dyn_cast<CompoundStmt>(frame.s)) {
      std::size_t i = 0;
      for (const Stmt* s : around->body())
        if (i++ < frame.next && s != root) look(s);
    } else if (const auto* f = dyn_cast<ForStmt>(frame.s)) {
      look(f->getInit());
    } else if (const auto* w = dyn_cast<WhileStmt>(frame.s)) {
      look(w->getConditionVariableDeclStmt());
    } else if (const auto* b = dyn_cast<IfStmt>(frame.s)) {
      look(b->getInit());
      look(b->getConditionVariableDeclStmt());
    } else if (const auto* r = dyn_cast<CXXForRangeStmt>(frame.s)) {
      look(r->getLoopVarStmt());
    }
  }
  if (last != nullptr && last != decl)
    refuse(at,
           "two variables are named " + decl->getNameAsString() + " here, and the loop uses the outer one: rename one");
}

int Scope::variable(const ValueDecl* decl, const Stmt* at) {
  if (const auto it = variables.find(decl); it != variables.end()) return it->second;
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr) refuse(at, decl->getNameAsString() + " is not a variable");
  refuse_shadowed(decl, at);
  Variable v;
  v.host = qualified_name(var);
  v.type = type_text(var->getType());
  v.parameter = isa<ParmVarDecl>(var);
  v.captured = facts.captured.count(var) > 0;
  v.global = var->hasGlobalStorage();
  v.line = line(var->getLocation());
  const QualType type = var->getType();
  if (type.getNonReferenceType().isVolatileQualified()) refuse(at, v.host + " is volatile");
  if (var->getTLSKind() != VarDecl::TLS_None) refuse(at, v.host + " is thread_local");
  if (fill_number(type, v)) {
    v.constant = type.getNonReferenceType().isConstQualified();
    v.storage = type->isReferenceType() ? Storage::reference : Storage::scalar;
    if (type->isReferenceType() && !v.parameter)
      refuse(at, "the reference " + v.host + " refers to an unknown variable or array element");
    v.outlives = v.global || type->isReferenceType();
  } else {
    if (!shape(type, v)) refuse(at, v.host + " of type " + v.type + " is not supported" + why_not_array(type));
    if (type->isPointerType() && (facts.in_function ? !v.parameter : changed.count(decl) > 0))
      refuse(at, "the pointer " + v.host + " changes in the loop: it must point to one known array element");
    if (type->isReferenceType() && !v.parameter) refuse(at, "the reference " + v.host + " refers to an unknown object");
    if (v.parameter && v.storage == Storage::object && !type->isReferenceType() && class_of(type) != "std::span" &&
        !facts.in_function)
      refuse(at, v.host + " is passed by value: take it by reference");
    v.outlives = v.global || type->isReferenceType() || v.storage == Storage::pointer ||
                 v.type.find("span") != std::string::npos;
    v.given = v.parameter && facts.changed.count(decl) == 0;
  }
  if (!v.array() || v.storage == Storage::pointer || (v.storage == Storage::object && v.length < 0))
    has_home(v, {var, v.host, v.host, false, facts.reachable(var), true, v.host});
  v.name = unique(var->getNameAsString());
  return variables[decl] = add(v);
}

// A number without a variable of its own: v.size(), window.radius.
int Scope::pseudo(const std::string& host, const std::string& name, QualType type, const Stmt* at,
                  const std::optional<Path>& part_of) {
  if (const auto it = pseudos.find(host); it != pseudos.end()) return it->second;
  Variable v;
  v.host = host;
  if (!dialect(type) || !fill_number(type, v)) refuse(at, host + " is not a number");
  v.name = unique(name);
  v.constant = true;
  if (part_of) has_home(v, *part_of);
  return pseudos[host] = add(v);
}

int Scope::declare_local(const VarDecl* decl) {
  Variable v;
  v.host = decl->getNameAsString();
  v.type = type_text(decl->getType());
  v.loops = open;
  if (decl->getType()->isReferenceType() || !fill_number(decl->getType(), v)) {
    Variable probe = v;
    if (!shape(decl->getType(), probe) || probe.length < 0) {
      const CXXRecordDecl* record = decl->getType()->getAsCXXRecordDecl();
      const bool iterator = record != nullptr && record->getNameAsString().find("iterator") != std::string::npos;
      throw Refused{line(decl->getLocation()), "",
                    iterator ? "the iterator " + v.host + " is not supported: use a subscript or a range-based for"
                             : "the local " + v.host + " of type " + v.type + " is not supported"};
    }
    v = probe;
    if (v.length * v.bytes > 4096)
      throw Refused{line(decl->getLocation()), "",
                    "the local array " + v.host + " has " + std::to_string(v.length * v.bytes) +
                        " bytes: a work-item holds 4096 at most"};
    v.local_memory = true;
  }
  if (v.mixed)
    throw Refused{line(decl->getLocation()), "",
                  "the local array " + v.host + " of structs with fields of several types is not supported"};
  v.name = unique(v.host);
  v.line = line(decl->getLocation());
  return variables[decl] = add(v);
}

std::string Scope::symbol(int which) {
  const Variable& v = nest.variables[which];
  auto& all = nest.parameters;
  if (std::find(all.begin(), all.end(), v.name) == all.end()) {
    all.push_back(v.name);
    if (v.is_unsigned) nest.context.push_back({Poly::symbol(v.name)});
  }
  return v.name;
}

// Declares the variables of a local struct or vector; returns one per field, or the array of a cv::Vec or std::complex.
// `one_each`: a std::complex also gets one variable per part.
std::vector<int> Scope::declare_parts(const VarDecl* var, bool one_each) {
  const std::vector<QualType> types = leaf_types(var->getType());
  const auto fields = fields_of(var->getType());
  const bool complex = one_each && is_complex(var->getType()), array = indexed(var->getType()) && !complex;
  std::vector<int> all;
  for (std::size_t k = 0; k < (array ? 1 : types.size()); ++k) {
    const std::string part = array ? "" : complex ? (k == 0 ? "real" : "imag") : fields[k]->getNameAsString();
    Variable v;
    fill_number(types[k], v);
    v.host = var->getNameAsString() + (array ? "" : "." + part + (complex ? "()" : ""));
    v.type = type_text(var->getType());
    v.loops = open;
    if (array) {
      v.storage = Storage::c_array;
      v.length = static_cast<long>(types.size());
      v.local_memory = true;
    }
    v.name = unique(var->getNameAsString() + (array ? "" : "_" + part));
    v.line = line(var->getLocation());
    all.push_back(add(v));
  }
  if (array)
    variables[var] = all[0];
  else
    parts[var] = all;
  return all;
}

int Scope::declare_moved(const VarDecl* var, bool here) {
  if (const auto it = variables.find(var); it != variables.end()) return it->second;
  refuse_shadowed(var, root);
  Variable v;
  v.host = var->getNameAsString();
  v.type = v.host_element = type_text(var->getType());
  v.element = "long";
  v.bytes = 8;
  v.integer = true;
  if (here) v.loops = open;
  v.name = unique(v.host);
  v.line = line(var->getLocation());
  return variables[var] = add(v);
}

std::string Scope::helper(const std::string& name, const std::string& text) {
  if (helpers.insert(name).second) nest.functions.push_back(text);
  return name;
}

// Once, unless another variable of the same name has the same text.
void Scope::assume(const Condition& holds, const std::string& text) {
  const auto same = [](const Conjunction& a, const Conjunction& b) {
    return conjunction_text(a) == conjunction_text(b);
  };
  for (std::size_t k = 0; k < nest.assumptions.size(); ++k) {
    const Condition& known = nest.assumptions[k];
    if (nest.assumption_texts[k] == text && std::equal(known.begin(), known.end(), holds.begin(), holds.end(), same))
      return;
  }
  nest.assumptions.push_back(holds);
  nest.assumption_texts.push_back(text);
}

Index NestPart::index(const Expr* e, Effects& fx, std::vector<Poly>& not_negative) {
  Index result;
  result.text = tree_.expression(e, fx);
  std::vector<Poly> needed;
  const bool outer = std::exchange(scope_.may_be_remainder, true);
  result.value = tree_.poly(e, needed);
  scope_.may_be_remainder = outer;
  if (result.value) not_negative.insert(not_negative.end(), needed.begin(), needed.end());
  return result;
}

// Adds the assumption that a variable set before the nest still has that value when the nest begins.
void Scope::assume_unchanged(const std::string& differs, const VarDecl* var, const Stmt* at) {
  const std::string name = var->getNameAsString();
  if (!tested) refuse(at, "the value of " + name + " may have changed since it was set");
  const int moved = pseudo("static_cast<long>(" + differs + ")", name + "_moved", ast_.LongTy, at);
  assume(Condition{{{Poly::symbol(symbol(moved)), true}}},
         name + " still has the value set in line " + std::to_string(line(var->getLocation())));
}

// Horner's rule over the constant inner extents, in 64 bits if the array may be larger than 2^31 elements.
std::string Scope::element_text(const Place& p) const {
  const Variable& v = nest.variables[p.variable];
  if (p.indices.empty()) return v.name;
  std::string text = p.indices[0].text;
  for (std::size_t i = 1; i < p.indices.size(); ++i)
    text = (i == 1 && v.length < 0 ? "(long)" : "") + wrapped(text) + " * " + std::to_string(v.inner[i - 1]) + " + " +
           wrapped(p.indices[i].text);
  const std::string element = v.name + "[" + text + "]";
  return p.element.empty() ? element : "(*(GLOBAL " + p.element + "*)&" + element + ")";
}

// Makes `p` the number of that type inside a struct with fields of several types. `steps`: distances in bytes between
// the places that `p` may be, the start of the struct included.
void Scope::set_field(Place& p, QualType type, const std::vector<long>& steps) {
  Variable& v = nest.variables[p.variable];
  const auto number = dialect(type);
  p.element = number->name;
  const auto unaligned = [&](long bytes) { return bytes % number->bytes != 0; };
  v.packed = v.packed || unaligned(v.inner.back() * v.bytes) || std::any_of(steps.begin(), steps.end(), unaligned);
}

namespace {

// Conditions that the known subscripts of an array inside a struct stay within it: beyond its end are other fields.
void add_limits(const Place& p, const Variable& v, std::vector<Poly>& not_negative) {
  long rows = v.length;
  for (const long n : v.inner) rows /= n;
  for (std::size_t k = 0; k < p.indices.size(); ++k) {
    const auto& value = p.indices[k].value;
    if (!value || !value->affine()) continue;
    not_negative.push_back(*value);
    not_negative.push_back(Poly::constant((k == 0 ? rows : v.inner[k - 1]) - 1).plus(*value, -1));
  }
}

}  // namespace

bool Scope::has_remainder(const Poly& p) const {
  if (remainders.empty()) return false;
  const auto names_in = p.symbols();
  return std::any_of(names_in.begin(), names_in.end(), [&](const auto& n) { return remainders.count(n) > 0; });
}

void Scope::quantify(Access& a) const {
  if (remainders.empty()) return;
  const auto add = [&](const Poly& p, const auto& again) -> void {
    for (const std::string& n : p.symbols()) {
      const auto found = remainders.find(n);
      if (found == remainders.end() || std::find(a.exists.begin(), a.exists.end(), n) != a.exists.end()) continue;
      a.exists.push_back(n);
      a.where.insert(a.where.end(), found->second.where.begin(), found->second.where.end());
      for (const Poly& q : found->second.not_negative) {
        a.not_negative.push_back(q);
        again(q, again);
      }
    }
  };
  for (const Poly& p : std::vector<Poly>(a.subscripts)) add(p, add);
  for (const Poly& p : std::vector<Poly>(a.not_negative)) add(p, add);
}

// C++ text of an array element whose address can be computed before the statement: array and subscripts are variables
// of the function that nothing else changes, and the statement does not change them. "" for other elements.
std::string Scope::fixed_element(const Expr* at) const {
  const SourceManager& sources = ast().getSourceManager();
  bool fixed = !facts.in_function && isa<ArraySubscriptExpr>(at->IgnoreParens());
  visit(at, [&](const Stmt* s) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
      const auto* var = dyn_cast<VarDecl>(ref->getDecl());
      fixed = fixed && var != nullptr && (var->getType()->isArrayType() || !facts.reachable(var)) &&
              (var->getDeclContext() == facts.function || var->isFileVarDecl()) && changed.count(var) == 0 &&
              sources.isBeforeInTranslationUnit(var->getLocation(), root->getBeginLoc());
    } else if (const auto* cast = dyn_cast<ImplicitCastExpr>(s)) {
      fixed =
          fixed && (cast->getCastKind() != CK_LValueToRValue || isa<DeclRefExpr>(cast->getSubExpr()->IgnoreParens()));
    } else if (const auto* b = dyn_cast<BinaryOperator>(s)) {
      fixed = fixed && (b->isAdditiveOp() || b->isMultiplicativeOp());
    } else {
      fixed = fixed && isa<ArraySubscriptExpr, ParenExpr, IntegerLiteral>(s);
    }
  });
  return fixed && span(at->getSourceRange()).known ? original(at->getSourceRange()) : "";
}

void Scope::record(const Place& p, bool write, const Expr* at, Effects& fx) {
  const Variable& v = nest.variables[p.variable];
  const std::size_t dimensions = v.array() ? 1 + v.inner.size() : 0;
  if (p.indices.size() != dimensions)
    refuse(at, "a part of the array " + v.host + " is used without an index for every dimension");
  Access a;
  a.variable = p.variable;
  a.write = write;
  a.own = own.count(at->IgnoreParenImpCasts()) > 0;
  a.line = line(at);
  a.source = source(at);
  if (v.array() && !tested) a.element = fixed_element(at);
  a.not_negative = p.not_negative;
  a.exists = exists;
  a.where = where;
  for (const Index& i : p.indices) {
    if (!i.value) {
      a.exact = false;
      a.why = "subscript " + i.text + " of " + v.host + " has no closed form: any element is assumed";
    } else {
      a.subscripts.push_back(*i.value);
    }
  }
  if (!a.exact) {
    a.not_negative.clear();
    if (v.member && v.length > 0 && !facts.in_function) add_limits(p, v, a.not_negative);
    a.subscripts.clear();
  }
  quantify(a);
  if (write && v.constant && v.array()) refuse(at, v.host + " is constant but written");
  fx.accesses.push_back(a);
}

std::vector<int> Scope::guards() const {
  std::vector<int> all;
  for (const auto& of_loop : skips) all.insert(all.end(), of_loop.begin(), of_loop.end());
  return all;
}

Node Scope::declaration_node(const Stmt* s) const {
  Node node;
  node.kind = NodeKind::statement;
  node.line = line(s);
  node.source = source(s);
  node.declaration = true;
  node.guards = guards();
  return node;
}

int Scope::begin_loop(Loop made) {
  made.parent = open.empty() ? -1 : open.back();
  made.depth = static_cast<int>(open.size());
  nest.loops.push_back(std::move(made));
  const int at = static_cast<int>(nest.loops.size()) - 1;
  open.push_back(at);
  skips.emplace_back();
  const Loop& l = nest.loops[at];
  if (facts.in_function) {
    exists.push_back(l.iterator);
    where.insert(where.end(), l.bounds.begin(), l.bounds.end());
  }
  return at;
}

void Scope::end_loop() {
  if (facts.in_function) {
    const Loop& l = nest.loops[open.back()];
    exists.pop_back();
    where.resize(where.size() - l.bounds.size());
  }
  open.pop_back();
  skips.pop_back();
}

}  // namespace ridge::place::frontend
