// Reads nests, the accesses of host statements, and the functions that nests call.
#include "place/frontend/nest_reader.hpp"

#include <llvm/ADT/ScopeExit.h>

#include <algorithm>

#include "place/frontend/walk.hpp"
#include "place/text/node_text.hpp"

namespace ridge::place::frontend {
using namespace clang;

Nest NestReader::nest() {
  const Stmt* s = scope_.root;
  Nest& nest = scope_.nest;
  scope_.tested = true;
  nest.line = scope_.line(s);
  nest.span = scope_.statement_span(s);
  if (const auto claim = facts_.claimed(s, scope_.span(s->getSourceRange())); claim && claim->attribute)
    nest.span.begin = static_cast<unsigned>(claim->begin);
  if (!nest.span.known) scope_.refuse(s, "the loop comes from a macro or from another file");
  const std::vector<const VarDecl*> apart = take_structs_apart();
  nest.root = statement(s);
  record_enclosing_loops();
  std::vector<std::pair<const ValueDecl*, int>> named(scope_.variables.begin(), scope_.variables.end());
  for (const auto& [host, mat] : images_.mats) named.emplace_back(mat.decl, mat.variable);
  for (const VarDecl* var : apart)
    for (const int part : scope_.parts[var]) named.emplace_back(var, part);
  for (const auto& [decl, which] : named) note_live_after(decl, which);
  for (std::size_t v = 0; v < nest.variables.size(); ++v)
    if (nest.variables[v].outlives) nest.live_after.insert(static_cast<int>(v));
  return std::move(nest);
}

// Declares one variable per field of the local structs from before the nest that it changes.
std::vector<const VarDecl*> NestReader::take_structs_apart() {
  const auto& sources = scope_.ast().getSourceManager();
  std::map<unsigned, const VarDecl*> found;  // by position
  for (const ValueDecl* decl : scope_.changed) {
    const auto* var = dyn_cast<VarDecl>(decl);
    if (var == nullptr || !var->hasLocalStorage() || var->getDeclContext() != facts_.function ||
        facts_.reachable(var) || facts_.captured.count(var) > 0 ||
        (indexed(var->getType()) && !is_complex(var->getType())) || scope_.leaf_types(var->getType()).empty() ||
        !sources.isInMainFile(var->getLocation()))
      continue;
    const unsigned made = sources.getFileOffset(var->getLocation());
    if (made < scope_.nest.span.begin) found[made] = var;
  }
  std::vector<const VarDecl*> all;
  for (const auto& [made, var] : found) {
    scope_.refuse_shadowed(var, scope_.root);
    for (const int part : scope_.declare_parts(var, true)) scope_.nest.variables[part].part_of = var->getNameAsString();
    scope_.part_values[var].resize(scope_.parts[var].size());
    all.push_back(var);
  }
  return all;
}

// Records whether the values of a variable are needed after the nest, or by its next execution.
void NestReader::note_live_after(const ValueDecl* decl, int which) {
  const Variable& v = scope_.nest.variables[which];
  const auto* var = dyn_cast<VarDecl>(decl);
  if (v.outlives || (var != nullptr && !v.shares && v.loops.empty() && facts_.live_after(var))) {
    scope_.nest.live_after.insert(which);
  } else if (v.array() && !v.local_memory) {
    // An array is needed later unless it is used only inside the nest.
    bool elsewhere = false;
    visit(facts_.function->getBody(), [&](const Stmt* x) {
      if (const auto* ref = dyn_cast<DeclRefExpr>(x); ref != nullptr && ref->getDecl() == decl) {
        const Span at = scope_.span(x->getSourceRange());
        elsewhere |= !at.known || at.begin < scope_.nest.span.begin || at.begin >= scope_.nest.span.end;
      }
    });
    const unsigned made = var != nullptr ? scope_.ast().getSourceManager().getFileOffset(var->getLocation()) : 0;
    const bool again = std::any_of(facts_.around.begin(), facts_.around.end(), [&](const Facts::Frame& f) {
      const Span loop = scope_.span(f.s->getSourceRange());
      return is_loop(f.s) && (!loop.known || made < loop.begin || made >= loop.end);
    });
    if (elsewhere)
      scope_.nest.live_after.insert(which);
    else if (again)
      scope_.nest.kept.insert(which);
  }
}

// Records the bounds of counted loops around the nest as facts about their iterators.
void NestReader::record_enclosing_loops() {
  for (const Facts::Frame& frame : facts_.around) {
    if (const auto* branch = dyn_cast<IfStmt>(frame.s)) record_enclosing_branch(branch, frame.next == 0);
    const auto* f = dyn_cast<ForStmt>(frame.s);
    if (f == nullptr || f->getInit() == nullptr || f->getCond() == nullptr || f->getInc() == nullptr) continue;
    Counting count;
    std::string ignored;
    if (!facts_.counting(f, count, ignored)) continue;
    const VarDecl* var = count.var;
    if (!count.declared_in_header && (facts_.reachable(var) || facts_.captured.count(var) > 0)) continue;
    bool up = false, down = false;  // never below or above its start
    if (const auto* u = dyn_cast<UnaryOperator>(f->getInc()->IgnoreParens())) {
      up = u->isIncrementOp() && referred(u->getSubExpr()) == var;
      down = u->isDecrementOp() && referred(u->getSubExpr()) == var;
    } else if (const auto* b = dyn_cast<BinaryOperator>(f->getInc()->IgnoreParens());
               b != nullptr && referred(b->getLHS()) == var) {
      Expr::EvalResult by, from;
      const bool known = b->isCompoundAssignmentOp() && b->getRHS()->EvaluateAsInt(by, scope_.ast());
      const bool positive = known && by.Val.getInt().isStrictlyPositive();
      up = positive && (b->getOpcode() == BO_AddAssign ||
                        (b->getOpcode() == BO_MulAssign && count.start->EvaluateAsInt(from, scope_.ast()) &&
                         from.Val.getInt().isStrictlyPositive()));
      down = positive && b->getOpcode() == BO_SubAssign;
    }
    if (!up && !down) continue;
    if (!var->getType()->isIntegerType() || scope_.variables.count(var) == 0) continue;
    std::set<const ValueDecl*> changed;
    find_changes(f->getBody(), changed);
    if (changed.count(var) > 0) continue;
    const auto still = [&](const Stmt* e) {
      bool ok = true;
      visit(e, [&](const Stmt* x) {
        if (const auto* ref = dyn_cast<DeclRefExpr>(x)) ok = ok && changed.count(ref->getDecl()) == 0;
        ok = ok && !isa<CallExpr>(x) && !isa<ArraySubscriptExpr>(x);
      });
      return ok;
    };
    const auto know = [&](const Constraint& c, bool surely) {
      if (surely) {
        scope_.nest.context.push_back(c);
        return;
      }
      if (!c.poly.affine()) return;
      scope_.nest.assumptions.push_back(Condition{{c}});
      scope_.nest.assumption_texts.push_back("the loop header of line " + std::to_string(scope_.line(f)) +
                                             " does not change");
    };
    std::vector<Poly> needed;
    const auto i = numbers_.poly_of(var);
    if (!i) continue;
    if (const auto start = poly(count.start, needed); start && start->affine() && needed.empty() && still(count.start))
      know({up ? i->plus(*start, -1) : start->plus(*i, -1)}, facts_.settled(count.start));
    needed.clear();
    if (const auto when = numbers_.condition(f->getCond(), false, needed);
        when && when->size() == 1 && needed.empty() && still(f->getCond()))
      for (const Constraint& c : (*when)[0]) know(c, facts_.settled(f->getCond()));
  }
}

// Records the condition of an enclosing if as a fact, provided that nothing in the arm changes its variables.
void NestReader::record_enclosing_branch(const IfStmt* branch, bool taken) {
  const Stmt* arm = taken ? branch->getThen() : branch->getElse();
  if (branch->getCond() == nullptr || arm == nullptr || !facts_.settled(branch->getCond())) return;
  std::set<const ValueDecl*> changed;
  find_changes(arm, changed);
  find_changes(branch->getCond(), changed);
  bool still = true;
  visit(branch->getCond(), [&](const Stmt* x) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(x))
      still = still && changed.count(ref->getDecl()) == 0 && scope_.variables.count(ref->getDecl()) > 0;
    still = still && !isa<CallExpr, ArraySubscriptExpr, MemberExpr, LambdaExpr>(x);
    if (const auto* u = dyn_cast<UnaryOperator>(x)) still = still && u->getOpcode() != UO_Deref;
  });
  std::vector<Poly> needed;
  if (!still) return;
  if (const auto when = numbers_.condition(branch->getCond(), !taken, needed);
      when && when->size() == 1 && needed.empty())
    for (const Constraint& c : (*when)[0]) scope_.nest.context.push_back(c);
}

// Collects the accessed arrays, and the scalars that may overlap an array on the device.
void NestReader::note_touches(const std::vector<Access>& accesses, std::map<std::string, Touch>& found,
                              bool& anything) const {
  for (const Access& a : accesses) {
    const Variable& v = scope_.nest.variables[a.variable];
    if (v.local_memory) continue;
    if (!v.home.empty()) {
      Touch& t = found[v.home + " " + v.element];
      t.data = v.home;
      t.write |= a.write && !v.array();
      t.number = v;
    }
    if (!v.array()) continue;
    const bool unknown = v.storage == Storage::pointer || v.count.empty() || v.scattered;
    if (unknown && (a.element.empty() || v.scattered)) {
      anything = true;
      continue;
    }
    Touch& t = found[v.data + " " + a.element];
    t.data = v.data;
    t.count = unknown ? "" : v.count;
    t.element = v.host_element;
    t.one = a.element;
    t.write |= a.write;
  }
}

void NestReader::touches(std::vector<Touch>& touches, bool& anything) {
  const Stmt* s = scope_.root;
  std::map<std::string, Touch> found;
  try {
    const auto* e = dyn_cast<Expr>(s);
    const Expr* bare = e != nullptr ? e->IgnoreParens() : nullptr;
    const auto* unary = dyn_cast_or_null<UnaryOperator>(bare);
    const auto* binary = dyn_cast_or_null<BinaryOperator>(bare);
    const bool changes = (unary != nullptr && unary->isIncrementDecrementOp()) ||
                         (binary != nullptr && (binary->isAssignmentOp() || binary->getOpcode() == BO_Comma));
    Effects fx;
    if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) {
      scope_.changed.clear();
      const auto which = places_.object(range->getRangeInit());
      const auto p = which ? std::optional(Place{*which, {}, {}}) : places_.place(range->getRangeInit(), fx);
      fx.accesses.clear();
      if (p)
        fx.read(p->variable, 0);
      else
        anything = true;
    } else if (e != nullptr && scope_.dialect(e->getType()) && !changes) {
      expression(e, fx);
    } else {
      text::visit_accesses(statement(s), [&](const Access& a) { fx.accesses.push_back(a); });
    }
    note_touches(fx.accesses, found, anything);
  } catch (const Refused&) {
    anything = true;
  }
  anything |= scope_.nest.asserts;  // the function may be left here
  for (const auto& [data, touch] : found) touches.push_back(touch);
}

// A function that kernels call: read once, as a nest of its own whose facts are those of its parameters only.
const Summary& NestReader::summary(const FunctionDecl* callee, const Stmt* at) {
  auto& known = summaries_.known;
  if (const auto it = known.find(callee); it != known.end()) return *it->second;
  if (!summaries_.being_read.insert(callee).second)
    scope_.refuse(at, "recursive call of " + callee->getNameAsString() + "(): kernels cannot recurse");
  if (callee->isVariadic() || callee->isTemplated())
    scope_.refuse(at, callee->getNameAsString() + "() is variadic or a template: kernels cannot call it");
  const auto done = llvm::make_scope_exit([&] { summaries_.being_read.erase(callee); });
  auto result = std::make_unique<Summary>();
  result->name = callee->getNameAsString();
  const bool taken =
      std::any_of(known.begin(), known.end(), [&](const auto& s) { return s.second->name == result->name + "_"; });
  result->name += taken ? "_" + std::to_string(known.size()) + "_" : "_";  // distinct from names of kernel languages
  Facts facts = facts_;
  facts.in_function = true;
  NestReader(facts, summaries_, callee->getBody()).summarize(callee, at, *result);
  return *(known[callee] = std::move(result));
}

void NestReader::summarize(const FunctionDecl* callee, const Stmt* at, Summary& result) {
  const std::string name = callee->getNameAsString();
  std::string parameters, prologue;
  for (const ParmVarDecl* p : callee->parameters()) {
    result.parts.push_back(scope_.leaf_types(p->getType()).size());
    if (result.parts.back() > 0) {
      add_parts(p, callee, at, parameters, prologue);
      result.formals.emplace_back();
      result.arrays.push_back(-1);
    } else {
      add_parameter(p, callee, at, parameters, result);
    }
  }
  std::string type = "void";
  if (!callee->getReturnType()->isVoidType()) {
    const auto number = scope_.dialect(callee->getReturnType());
    if (!number)
      scope_.refuse(at, name + "() returns " + scope_.type_text(callee->getReturnType()) +
                            ": functions in kernels return numbers");
    type = number->name;
  }
  const Node body = statement(callee->getBody());
  std::set<int> parts;
  for (const auto& [decl, list] : scope_.parts) parts.insert(list.begin(), list.end());
  for (std::size_t k = 0; k < scope_.nest.variables.size(); ++k) {
    const Variable& v = scope_.nest.variables[k];
    if (parts.count(static_cast<int>(k)) > 0) continue;
    if (v.global) scope_.refuse(at, name + "() uses the global variable " + v.host + ": kernels cannot call it");
    if (v.host.find('.') != std::string::npos || v.host.find("->") != std::string::npos)
      scope_.refuse(at, name + "() reads " + v.host + " of an object: kernels cannot call it");
  }
  text::visit_accesses(body, [&](const Access& a) { result.accesses.push_back(a); });
  refuse_overlapping_parameters(callee, result, at);
  result.variables = scope_.nest.variables;
  result.functions = scope_.nest.functions;
  result.libm = scope_.nest.libm;
  result.asserts = scope_.nest.asserts;
  result.text = "FUNCTION " + type + " " + result.name + "(" + parameters + ") {\n" + prologue +
                text::node_text(body, scope_.nest.loops, 1) + "}\n";
  result.functions.push_back(result.text);
}

// A number or an array that a function takes.
void NestReader::add_parameter(const ParmVarDecl* p, const FunctionDecl* callee, const Stmt* at,
                               std::string& parameters, Summary& result) {
  const int which = scope_.variable(p, at);
  Variable& v = scope_.nest.variables[which];
  const bool scalar = !v.array();
  if (v.storage == Storage::reference && !v.constant && scope_.changed.count(p) > 0)
    scope_.refuse(at, callee->getNameAsString() + "() changes a number through a reference: kernels cannot call it");
  if (v.storage == Storage::object && v.type.find('&') == std::string::npos && v.type.find("span") == std::string::npos)
    scope_.refuse(at, callee->getNameAsString() + "() takes an array by value: take it by reference");
  result.formals.push_back(scalar && v.integer ? v.name : "");
  result.arrays.push_back(scalar ? -1 : which);
  parameters += (parameters.empty() ? "" : ", ") +
                (scalar ? v.element + " " + v.name
                        : std::string("GLOBAL ") + (v.constant ? "const " : "") + v.element + "* " + v.name);
  v.storage = v.storage == Storage::reference ? Storage::scalar : v.storage;
}

// A struct or vector that a function takes by value or const reference: one parameter per component.
void NestReader::add_parts(const ParmVarDecl* p, const FunctionDecl* callee, const Stmt* at, std::string& parameters,
                           std::string& prologue) {
  const QualType type = p->getType();
  if (type->isReferenceType() && !type->getPointeeType().isConstQualified() && !type->isRValueReferenceType() &&
      scope_.changed.count(p) > 0)
    scope_.refuse(at, callee->getNameAsString() + "() changes " + p->getNameAsString() +
                          " through a reference: kernels cannot call it");
  const std::vector<int> which = scope_.declare_parts(p);
  const auto types = scope_.leaf_types(type);
  std::string list;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const Variable& v = scope_.nest.variables[which[std::min(k, which.size() - 1)]];
    const std::string name = v.array() ? v.name + "_" + std::to_string(k) : v.name;
    parameters += (parameters.empty() ? "" : ", ") + v.element + " " + name;
    list += (k > 0 ? ", " : "") + name;
  }
  const Variable& v = scope_.nest.variables[which[0]];
  if (v.array())
    prologue += "  " + v.element + " " + v.name + "[" + std::to_string(v.length) + "] = {" + list + "};\n";
  else
    scope_.part_values[p].resize(types.size());
}

// Refuses a function that takes a number or struct by reference and writes an array that may overlap it.
void NestReader::refuse_overlapping_parameters(const FunctionDecl* callee, const Summary& known, const Stmt* at) {
  for (const ParmVarDecl* p : callee->parameters()) {  // const float& x may be an element that the function writes
    if (!p->getType()->isReferenceType() || !scope_.dialect(p->getType().getNonReferenceType())) continue;
    Variable x = scope_.nest.variables[scope_.variable(p, at)];
    x.home = "?";
    for (const Access& a : known.accesses)
      if (const Variable& v = scope_.nest.variables[a.variable]; a.write && !v.local_memory && may_change(v, x))
        scope_.refuse(at, callee->getNameAsString() + "() takes " + x.host + " by reference and writes " + v.host +
                              ", which may overlap it");
  }
  for (const ParmVarDecl* p : callee->parameters())
    if (p->getType()->isReferenceType() && !scope_.leaf_types(p->getType()).empty())
      for (const Access& a : known.accesses)
        if (const Variable& v = scope_.nest.variables[a.variable]; a.write && v.array() && !v.local_memory)
          scope_.refuse(at, callee->getNameAsString() + "() takes " + p->getNameAsString() +
                                " by reference and writes " + v.host + ", which may overlap it");
}

}  // namespace ridge::place::frontend
