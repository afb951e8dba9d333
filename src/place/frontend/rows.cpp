// Rows that are separate allocations: std::vector<std::vector<T>> and T**. A row that is the same in the whole nest is
// an array of its own. If rows vary, those of nested vectors are disjoint by construction; those of a T** are tested
// before the nest runs on threads. Only threads of the host can run these nests.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/values.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

constexpr long kLongest = 1L << 30;  // elements of a row; longer ones are excluded by a test before the nest

QualType element_of_vector(QualType type) {
  const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record_of(type));
  return made != nullptr && class_of(type) == "std::vector" ? made->getTemplateArgs()[0].getAsType() : QualType();
}

bool is_nested(QualType type) {
  const QualType row = element_of_vector(type);
  return !row.isNull() && !element_of_vector(row).isNull();
}

bool is_pointer_table(QualType type) { return type->isPointerType() && type->getPointeeType()->isPointerType(); }

// The table of rows and the subscript of a[i], if a is a variable with rows of its own.
const VarDecl* table_of(const Expr* e, const Expr*& at) {
  e = e->IgnoreParenImpCasts();
  const Expr* base = nullptr;
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == OO_Subscript && call->getNumArgs() == 2) {
    base = call->getArg(0);
    at = call->getArg(1);
  } else if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
    base = subscript->getBase();
    at = subscript->getIdx();
  }
  const auto* ref = base != nullptr ? dyn_cast<DeclRefExpr>(base->IgnoreParenImpCasts()) : nullptr;
  const auto* var = ref != nullptr ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
  const bool known = var != nullptr && (is_nested(var->getType()) || is_pointer_table(var->getType()));
  return known && !var->getType().getNonReferenceType().isVolatileQualified() ? var : nullptr;
}

}  // namespace

// Finds the table of a row; null if code before the nest could not name it.
const VarDecl* Places::row_table(const Expr* row, const Expr*& at) const {
  const VarDecl* table = table_of(row, at);
  if (table == nullptr || facts_.in_function || scope_.inlined > 0 || scope_.lambdas > 0 || scope_.self) return {};
  if (table->getType()->isReferenceType() && !isa<ParmVarDecl>(table)) return {};
  if (scope_.changed.count(table) > 0) refuse(row, table->getNameAsString() + " changes inside the loop");
  scope_.refuse_shadowed(table, row);
  return table;
}

// True for a sum or product of literals and integers from outside the nest that nothing changes.
bool Places::same_in_nest(const Expr* e) const {
  bool same = true;
  const Span nest = span(scope_.root->getSourceRange());
  visit(e, [&](const Stmt* s) {
    if (const auto* ref = dyn_cast<DeclRefExpr>(s)) {
      const auto* var = dyn_cast<VarDecl>(ref->getDecl());
      same = same && var != nullptr && var->getType()->isIntegerType() && !facts_.reachable(var) &&
             scope_.changed.count(var) == 0;
      if (!same) return;
      const unsigned made = ast_.getSourceManager().getFileOffset(var->getLocation());
      same = nest.known && (made < nest.begin || made >= nest.end);
      scope_.refuse_shadowed(var, e);
    } else if (const auto* b = dyn_cast<BinaryOperator>(s)) {
      same = same && (b->isAdditiveOp() || b->getOpcode() == BO_Mul);
    } else {
      same = same && isa<IntegerLiteral, ParenExpr, ImplicitCastExpr>(s);
    }
  });
  return same;
}

// A row with the same subscript in the whole nest, as an array of its own.
std::optional<int> Places::row(const Expr* e) {
  const Expr* at = nullptr;
  e = e->IgnoreParenImpCasts();
  const VarDecl* table = table_of(e, at) != nullptr ? row_table(e, at) : nullptr;
  if (table == nullptr || !same_in_nest(at)) return {};
  Variable v;
  v.host = qualified_name(table) + "[";
  for (const char c : original(at->getSourceRange()))
    if (std::isspace(static_cast<unsigned char>(c)) == 0) v.host += c;
  v.host += "]";
  if (const auto it = scope_.pseudos.find(v.host); it != scope_.pseudos.end()) return it->second;
  const QualType type = e->getType();
  v.type = type_text(type);
  if (type.isVolatileQualified() || !shape(type, v)) return {};
  v.outlives = true;
  // A loop without iterations may name a row that does not exist.
  const std::string name = qualified_name(table),
                    where = v.host.substr(name.size() + 1, v.host.size() - name.size() - 2);
  if (is_nested(table->getType())) {
    const std::string there = "(static_cast<std::size_t>(" + where + ") < " + name + ".size() ? ";
    v.data = there + v.data + " : nullptr)";
    v.count = there + v.count + " : 0)";
    v.home = name + ".data() + (" + where + ")";
  } else {
    v.data = "(" + name + " ? " + v.host + " : 0)";
    v.home = name + " + (" + where + ")";  // the row's address may be overwritten
  }
  v.home_bytes = "sizeof(" + v.host + ")";
  v.name = scope_.unique(table->getNameAsString() + "_row");
  v.line = line(at);
  return scope_.pseudos[v.host] = scope_.add(v);
}

// The whole table as one array whose rows cannot be in one piece of memory.
int Places::scattered(const VarDecl* table, const Expr* at, bool claimed) {
  if (const auto it = scope_.variables.find(table); it != scope_.variables.end()) return it->second;
  const QualType type = table->getType().getNonReferenceType();
  const bool nested = is_nested(type);
  const QualType rows = nested ? element_of_vector(type) : type->getPointeeType();
  Variable v;
  v.host = qualified_name(table);
  if (!shape(rows, v) || !v.inner.empty())
    refuse(at, v.host + " of type " + type_text(table->getType()) + " is not supported" + why_not_array(type));
  v.type = type_text(table->getType());
  v.scattered = v.outlives = true;
  v.parameter = isa<ParmVarDecl>(table);
  v.global = table->hasGlobalStorage();
  v.constant |= nested && type.isConstQualified();
  v.line = line(table->getLocation());
  v.data = "*" + v.host;
  if (!nested && !claimed) v.inner.push_back(kLongest);
  if (nested) {  // the memory between the lowest and the highest element
    const std::string each = "for (auto& x : r) if (!x.empty()) ", given = "}(" + v.host + ")";
    v.inner.push_back(kLongest);
    v.data = "[](auto& r) { decltype(r[0].data()) low = nullptr; " + each +
             "low = low == nullptr || x.data() < low ? x.data() : low; return low; " + given;
    v.count =
        "[](auto& r) { decltype(r[0].data()) low = nullptr, high = nullptr; " + each +
        "{ low = low == nullptr || x.data() < low ? x.data() : low; high = x.data() + x.size() > high ? x.data() + "
        "x.size() : high; } return reinterpret_cast<char const*>(high) - reinterpret_cast<char const*>(low); " +
        given + " / static_cast<long>(sizeof(" + v.host_element + "))";
    v.storage = Storage::object;
  }
  scope_.has_home(v, {table, v.host, v.host, false, facts_.reachable(table), true, v.host});
  v.name = scope_.unique(table->getNameAsString());
  return scope_.variables[table] = scope_.add(v);
}

// a[i][j] with rows that differ between iterations.
std::optional<Place> Places::row_element(const Expr* row, const Expr* column, Effects& fx) {
  const Expr* at = nullptr;
  if (table_of(row, at) == nullptr) return {};
  const VarDecl* table = row_table(row, at);
  if (table == nullptr) return {};
  const bool nested = is_nested(table->getType());
  const bool claimed = !nested && facts_.claimed(scope_.root, span(scope_.root->getSourceRange()));
  Place p;
  p.variable = scattered(table, row, claimed);
  const Index r = index(at, fx, p.not_negative), c = index(column, fx, p.not_negative);
  if (!claimed)
    p.indices = {r, c};
  else
    p.indices = {{std::nullopt, wrapped(r.text) + " + " + wrapped(c.text)}};
  return p;
}

// a.size(), or a[i].size() if all rows have one length, which is tested; -1 for others.
int Places::row_extent(const CXXMemberCallExpr* call) {
  const Expr* object = call->getImplicitObjectArgument()->IgnoreParenImpCasts();
  const auto* whole = dyn_cast_or_null<VarDecl>(referred(object));
  if (whole != nullptr && is_nested(whole->getType()) && !facts_.in_function && scope_.inlined == 0 &&
      (!whole->getType()->isReferenceType() || isa<ParmVarDecl>(whole))) {
    if (scope_.changed.count(whole) > 0) refuse(call, "the length of " + whole->getNameAsString() + " may change");
    scope_.refuse_shadowed(whole, call);
    const std::string name = qualified_name(whole), word = whole->getNameAsString();
    return scope_.pseudo(name + ".size()", word + "_size", call->getType(), call,
                         Path{whole, name, word, false, facts_.reachable(whole), false, name});
  }
  const Expr* at = nullptr;
  const VarDecl* table = table_of(object, at) != nullptr ? row_table(object, at) : nullptr;
  if (table == nullptr || !is_nested(table->getType()) || !scope_.tested) return -1;
  const std::string name = qualified_name(table), word = table->getNameAsString();
  const Path path{table, name, word, false, facts_.reachable(table), false, name};
  const int differ = scope_.pseudo(
      "[](auto& r) { for (auto& x : r) if (x.size() != r[0].size()) return 1L; return 0L; }(" + name + ")",
      word + "_differ", ast_.LongTy, call, path);
  scope_.assume(Condition{{{Poly::symbol(scope_.symbol(differ)), true}}},
                "the rows of " + name + " have the same length");
  return scope_.pseudo("[](auto& r) { return r.empty() ? 0 : r[0].size(); }(" + name + ")", word + "_columns",
                       call->getType(), call, path);
}

}  // namespace ridge::place::frontend
