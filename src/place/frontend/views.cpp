// Views, user-defined classes over an array: a member function that only returns an element, a row or a number is
// inlined, with its object and arguments substituted.
#include <algorithm>
#include <utility>

#include "place/frontend/values.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

bool in_system(const Decl* d) { return d->getASTContext().getSourceManager().isInSystemHeader(d->getLocation()); }

bool only_names(const Stmt* s, int depth);

const Expr* returned(const CXXMethodDecl* method, int depth) {
  const FunctionDecl* definition = nullptr;
  if (depth > 8 || method->isVirtual() || method->isVariadic() || !method->hasBody(definition)) return nullptr;
  const auto* body = dyn_cast_or_null<CompoundStmt>(definition->getBody());
  const auto* result = body != nullptr && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
  if (result == nullptr || result->getRetValue() == nullptr) return nullptr;
  return only_names(result->getRetValue(), depth) ? result->getRetValue() : nullptr;
}

bool takes_numbers(const FunctionDecl* f) {
  return std::all_of(f->param_begin(), f->param_end(), [](const ParmVarDecl* p) {
    const QualType type = p->getType();
    return type.getNonReferenceType()->isArithmeticType() &&
           (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified());
  });
}

// True if evaluating it writes, creates and throws nothing.
bool only_names(const Stmt* s, int depth) {
  if (s == nullptr) return true;
  if (isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr, CXXThrowExpr, StmtExpr, CXXConstructExpr, VAArgExpr>(s)) return false;
  if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && (b->isAssignmentOp() || b->getOpcode() == BO_Comma))
    return false;
  if (const auto* u = dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp()) return false;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = call->getDirectCallee();
    const auto* method = dyn_cast_or_null<CXXMethodDecl>(callee);
    if (callee == nullptr) return false;
    if (users_method(call) != nullptr) {
      if (returned(method, depth + 1) == nullptr) return false;
    } else if (method != nullptr && !method->isStatic()) {
      const bool looks = method->isConst() || method->getOverloadedOperator() == OO_Subscript ||
                         (method->getDeclName().isIdentifier() && method->getName() == "data");
      if (!in_system(method) || !looks) return false;
    } else if (!takes_numbers(callee)) {
      return false;
    }
  }
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return only_names(c, depth); });
}

// True if the result is an element of an array, not part of the object itself.
bool is_element(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->getOpcode() == UO_Deref;
  if (const CXXMethodDecl* method = users_method(e)) {
    const Expr* inner = named_by(method);
    return inner != nullptr && is_element(inner);
  }
  const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
  return isa<ArraySubscriptExpr>(e) || (call != nullptr && call->getOperator() == OO_Subscript);
}

// True if member functions only ever read v[k] of the field, so that it cannot be written through them.
bool only_read(const CXXRecordDecl* record, const ValueDecl* field) {
  const auto* whole = record->getDefinition();
  bool all = whole != nullptr;
  for (const CXXMethodDecl* method : all ? whole->methods() : record->methods()) {
    const FunctionDecl* body = nullptr;
    if (isa<CXXConstructorDecl>(method) || !method->hasBody(body)) continue;
    std::set<const Stmt*> read;
    visit(body->getBody(), [&](const Stmt* s) {
      if (const auto* cast = dyn_cast<ImplicitCastExpr>(s);
          cast != nullptr && cast->getCastKind() == CK_LValueToRValue) {
        const Expr* one = cast->getSubExpr()->IgnoreParens();
        if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(one))
          read.insert(subscript->getBase()->IgnoreParenImpCasts());
        else if (const auto* call = dyn_cast<CXXOperatorCallExpr>(one);
                 call != nullptr && call->getOperator() == OO_Subscript)
          read.insert(call->getArg(0)->IgnoreParenImpCasts());
      }
      const auto* member = dyn_cast<MemberExpr>(s);
      all = all && (member == nullptr || member->getMemberDecl() != field || read.count(s) > 0);
    });
  }
  return all;
}

const Expr* object_called(const CallExpr* call) {
  const auto* member = dyn_cast<CXXMemberCallExpr>(call);
  return member != nullptr ? member->getImplicitObjectArgument() : call->getArg(0);
}

}  // namespace

// The called member function, if its class is the user's: not std, OpenCV or a lambda.
const CXXMethodDecl* users_method(const Expr* e) {
  const auto* call = dyn_cast<CallExpr>(e);
  if (call == nullptr || !isa<CXXMemberCallExpr, CXXOperatorCallExpr>(call)) return nullptr;
  const auto* method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
  if (method == nullptr || method->isStatic() || method->getParent()->isLambda() || in_system(method)) return nullptr;
  const std::string kind = method->getParent()->getQualifiedNameAsString();
  return kind.rfind("cv::", 0) == 0 || kind.rfind("std::", 0) == 0 ? nullptr : method;
}

const Expr* named_by(const CXXMethodDecl* method) { return returned(method, 0); }

// v.rows() = 3 changes v; v(r, c) = 3 does not.
const Expr* object_changed(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (users_method(e) == nullptr || is_element(e)) return nullptr;
  return object_called(cast<CallExpr>(e));
}

// True for a class of numbers and pointers only: it owns nothing, and copies refer to the same memory.
bool is_view(const CXXRecordDecl* record) {
  if (record == nullptr || !record->hasDefinition() || record->isUnion() || record->isPolymorphic() ||
      record->isLambda() || !record->hasTrivialDestructor() || record->getNumBases() > 0 || record->field_empty())
    return false;
  return std::all_of(record->field_begin(), record->field_end(), [](const FieldDecl* f) {
    return !f->getType().isVolatileQualified() && (f->getType()->isArithmeticType() || f->getType()->isPointerType());
  });
}

std::string public_accessor(const FieldDecl* field) {
  const auto* record = dyn_cast<CXXRecordDecl>(field->getParent());
  if (field->getAccess() == AS_public || field->getAccess() == AS_none || record == nullptr)
    return field->getNameAsString();
  const auto bare_type = [](QualType t) { return t.getNonReferenceType().getCanonicalType().getUnqualifiedType(); };
  for (const CXXMethodDecl* method : record->methods()) {
    if (method->getAccess() != AS_public || !method->isConst() || !method->param_empty() ||
        !method->getDeclName().isIdentifier() || bare_type(method->getReturnType()) != bare_type(field->getType()))
      continue;
    const auto* written = method;  // a template's member that is never instantiated
    if (!method->hasBody()) written = dyn_cast_or_null<CXXMethodDecl>(method->getTemplateInstantiationPattern());
    const Expr* result = written != nullptr ? named_by(written) : nullptr;
    const auto* member = result != nullptr ? dyn_cast<MemberExpr>(result->IgnoreParenImpCasts()) : nullptr;
    if (member != nullptr && isa<CXXThisExpr>(member->getBase()->IgnoreParenImpCasts()) &&
        member->getMemberDecl()->getDeclName() == field->getDeclName())
      return method->getNameAsString() + "()";
  }
  return "";
}

// Arguments that create a view, by its longest constructor or field by field: one pointer and integers. Returns the
// pointee type; null if anything else is needed.
QualType pointer_of(const CXXRecordDecl* record, std::vector<std::string>& fields) {
  std::vector<const ValueDecl*> parts;
  if (record->isAggregate())
    parts.assign(record->field_begin(), record->field_end());
  else
    for (const CXXConstructorDecl* c : record->ctors())
      if (c->getAccess() == AS_public && !c->isDeleted() && c->getNumParams() > parts.size() &&
          !c->isCopyOrMoveConstructor())
        parts.assign(c->param_begin(), c->param_end());
  QualType element;
  fields.clear();
  for (const ValueDecl* part : parts) {
    const QualType type = part->getType();
    const bool address = type->isPointerType();
    if (address ? !element.isNull() : !type.getNonReferenceType()->isIntegerType()) return {};
    if (address) element = type->getPointeeType();
    fields.push_back(address ? "*" : part->getNameAsString());
  }
  return element;
}

// The object of a member function call: a variable, part of one, or the object of the function being read.
std::optional<Path> Places::owner(const Expr* e) const {
  e = e->IgnoreParenImpCasts();
  if (is_this(e)) return scope_.self;
  if (const auto* member = dyn_cast<MemberExpr>(e))
    return member->getType()->isPointerType() || member->getMemberDecl()->getType()->isReferenceType() ? std::nullopt
                                                                                                       : path(member);
  const auto* var = dyn_cast_or_null<VarDecl>(referred(e));
  if (var == nullptr || scope_.references.count(var) > 0 || scope_.variables.count(var) > 0 ||
      scope_.pointers.count(var) > 0 || scope_.parts.count(var) > 0 || scope_.bound_parts.count(var) > 0)
    return {};
  if (const auto known = scope_.images.find(var); known != scope_.images.end()) {
    const Image& of = known->second;
    if (of.part) return {};
    return Path{of.decl, of.host, of.name, false, facts_.reachable(of.decl), true, of.host};
  }
  if (scope_.inlined > 0 && isa<ParmVarDecl>(var) && var->getDeclContext() != facts_.function) return {};
  const bool arrow = var->getType().getNonReferenceType()->isPointerType();
  const QualType type = var->getType().getNonReferenceType();
  const RecordDecl* record = (arrow ? type->getPointeeType() : type)->getAsRecordDecl();
  if (record == nullptr || record->isUnion()) return {};
  scope_.refuse_shadowed(var, e);
  const std::string name = qualified_name(var);
  return Path{
      var, name, var->getNameAsString(), arrow, facts_.reachable(var) || arrow, true, arrow ? "*" + name : name};
}

bool Places::look_through(const Expr* e, Effects& fx, const std::function<void(const Expr*)>& read) {
  const CXXMethodDecl* method = users_method(e);
  if (method == nullptr) return false;
  const auto* call = cast<CallExpr>(e);
  if (method->isVirtual()) refuse(e, "virtual call: its effects are unknown: " + source(e));
  const std::string name = method->getParent()->getNameAsString() + "::" + method->getNameAsString();
  const Expr* result = named_by(method);
  if (result == nullptr)
    refuse(e, "the member function " + name + " does more than return an element or a number: " + source(e));
  const auto self = owner(object_called(call));
  if (!self) refuse(e, "the object of this call is not a known variable: " + source(e));
  if (scope_.changed.count(self->base) > 0) refuse(e, self->base->getNameAsString() + " changes inside the loop");
  const FunctionDecl* definition = nullptr;
  method->hasBody(definition);
  auto bound = scope_.bound;
  const unsigned first = isa<CXXMemberCallExpr>(call) ? 0 : 1;
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    const ParmVarDecl* formal = definition->getParamDecl(i);
    const Expr* actual = call->getArg(first + i);
    if (const auto* unsaid = dyn_cast<CXXDefaultArgExpr>(actual)) actual = unsaid->getExpr();
    const auto number = dialect(formal->getType().getNonReferenceType());
    if (!number) refuse(e, "the argument " + source(actual) + " is not supported");
    Bound b;
    const std::string text = tree_.expression(actual, fx);
    const auto from = dialect(actual->IgnoreParenImpCasts()->getType());
    b.text = from && from->name == number->name ? wrapped(text) : "(" + number->name + ")(" + text + ")";
    if (b.text.size() > 16384) refuse(e, "the expression exceeds 16384 characters after inlining its member functions");
    const bool other = std::exchange(scope_.may_be_remainder, true);
    b.value = tree_.poly(actual, b.not_negative);
    scope_.may_be_remainder = other;
    bound[formal] = b;
  }
  std::swap(scope_.bound, bound);
  auto outer = self;
  std::swap(scope_.self, outer);
  read(result);
  scope_.bound = std::move(bound);
  scope_.self = std::move(outer);
  return true;
}

std::optional<std::string> Places::value_named(const CallExpr* e, Effects& fx) {
  std::string text;
  std::optional<Dialect> from;
  const auto number = dialect(e->getType());
  if (!number || !look_through(e, fx, [&](const Expr* result) {
        text = tree_.expression(result, fx);
        from = dialect(result->IgnoreParenImpCasts()->getType());
      }))
    return {};
  return from && from->name == number->name ? wrapped(text) : "(" + number->name + ")(" + text + ")";
}

// extents[1] inside a view as a number, if the function uses that field nowhere else.
int Places::element_of_view(const Expr* e) {
  if (!scope_.self || facts_.function == nullptr || !dialect(e->getType()) || !dialect(e->getType())->integer)
    return -1;
  const Expr *array = nullptr, *at = nullptr;
  if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
    array = subscript->getBase();
    at = subscript->getIdx();
  } else if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
             call != nullptr && call->getOperator() == OO_Subscript && call->getNumArgs() == 2) {
    array = call->getArg(0);
    at = call->getArg(1);
  }
  const auto* member = array != nullptr ? dyn_cast<MemberExpr>(array->IgnoreParenImpCasts()) : nullptr;
  if (member == nullptr || !(member->getType()->isConstantArrayType() || class_of(member->getType()) == "std::array"))
    return -1;
  std::vector<Poly> needed;
  const auto index = tree_.poly(at, needed);
  const auto k = index && needed.empty() ? index->value() : std::nullopt;
  const auto found = path(member);
  if (!k || *k < 0 || !found) return -1;
  const auto* record = dyn_cast<CXXRecordDecl>(cast<FieldDecl>(member->getMemberDecl())->getParent());
  bool elsewhere = record == nullptr || !only_read(record, member->getMemberDecl());
  visit(facts_.function->getBody(), [&](const Stmt* s) {
    const auto* other = dyn_cast<MemberExpr>(s);
    elsewhere |= other != nullptr && other->getMemberDecl() == member->getMemberDecl();
  });
  if (elsewhere) return -1;
  if (scope_.changed.count(found->base) > 0) refuse(e, found->base->getNameAsString() + " changes inside the loop");
  return scope_.pseudo(found->host + "[" + std::to_string(*k) + "]", found->name + "_" + std::to_string(*k),
                       e->getType(), e, found);
}

}  // namespace ridge::place::frontend
