// Expressions as places in memory: arrays, pointers set once, references, std::vector, std::array, std::span, fields.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "place/frontend/values.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

// The variable at the root of p.q.x and its C++ text; empty if it may refer to more than one object.
std::optional<Path> Places::path(const MemberExpr* member) const {
  const auto* named = dyn_cast<FieldDecl>(member->getMemberDecl());
  if (named == nullptr || named->getParent()->isUnion()) return {};
  const bool anonymous = named->isAnonymousStructOrUnion();  // its fields are named like those of the outer struct
  const std::string field = anonymous ? "" : public_accessor(named);
  if (field.empty() && !anonymous)
    refuse(member, member->getMemberDecl()->getNameAsString() +
                       " is private and no public member function without arguments returns it");
  const Expr* base = member->getBase()->IgnoreParenImpCasts();
  std::optional<Path> of;
  if (const auto* inner = dyn_cast<MemberExpr>(base)) {
    if (member->isArrow() || inner->getMemberDecl()->getType()->isReferenceType()) return {};
    of = path(inner);
  } else {
    of = owner(base);
  }
  if (!of || anonymous) return of;
  const bool constant = named->getType().isConstQualified();
  return Path{of->base,
              of->host + (of->arrow ? "->" : ".") + field,
              of->name + "_" + member->getMemberDecl()->getNameAsString(),
              false,
              (of->reachable || of->arrow) && !constant,
              of->spelled && field.find('(') == std::string::npos && !named->isBitField(),
              of->object};
}

std::optional<int> Places::field(const Expr* e) {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  if (member == nullptr || dialect(member->getType()) || member->getMemberDecl()->getType()->isReferenceType())
    return {};
  const auto found = path(member);
  if (!found) return {};
  if (scope_.changed.count(found->base) > 0) refuse(e, found->base->getNameAsString() + " changes inside the loop");
  if (const auto it = scope_.pseudos.find(found->host); it != scope_.pseudos.end()) return it->second;
  Variable v;
  v.host = found->host;
  QualType type = member->getType();
  if (scope_.self) {  // fields look const inside a const member function, but the object may not be const
    const QualType base = found->base->getType().getNonReferenceType();
    type = member->getMemberDecl()->getType();
    if ((base->isPointerType() ? base->getPointeeType() : base).isConstQualified()) type.addConst();
  }
  v.type = type_text(type);
  if (type.isVolatileQualified() || !shape(type, v)) {
    const std::string why = why_not_array(member->getType());
    if (!why.empty()) refuse(e, v.host + " of type " + v.type + " is not supported" + why);
    return {};
  }
  if (isa<ParmVarDecl>(found->base) && !found->base->getType()->isReferenceType() &&
      !found->base->getType()->isPointerType() && v.storage != Storage::pointer &&
      class_of(member->getType()) != "std::span")
    refuse(e, v.host + " is passed by value: take it by reference");
  v.outlives = true;
  v.member = v.length >= 0;
  v.given = isa<ParmVarDecl>(found->base) && !found->reachable && facts_.changed.count(found->base) == 0;
  if (v.storage == Storage::pointer || (v.storage == Storage::object && v.length < 0)) scope_.has_home(v, *found);
  v.name = scope_.unique(found->name);
  return scope_.pseudos[found->host] = scope_.add(v);
}

std::optional<int> Places::object(const Expr* e) {
  const ValueDecl* decl = referred(e);
  if (decl == nullptr) {
    auto which = field(e);
    if (!which) which = row(e);
    return which && scope_.nest.variables[*which].storage == Storage::object ? which : std::nullopt;
  }
  const CXXRecordDecl* record = record_of(decl->getType());
  if (record == nullptr) return {};
  const std::string kind = record->getQualifiedNameAsString();
  if (kind != "std::vector" && kind != "std::array" && kind != "std::span" && kind != "std::unique_ptr") return {};
  if (const auto it = scope_.references.find(decl); it != scope_.references.end() && it->second.indices.empty())
    return it->second.variable;
  return scope_.variable(decl, e);
}

// Sizes and integer fields as parameters that do not change while the nest runs; -1 for other expressions.
int Places::extent(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const std::string method = call->getMethodDecl()->getNameAsString();
    if (method != "size" || call->getNumArgs() != 0) return -1;
    if (const int rows = row_extent(call); rows >= 0) return rows;
    const auto which = object(call->getImplicitObjectArgument());
    if (!which) return -1;
    const std::string host = scope_.nest.variables[*which].host;
    if (scope_.changed.count(referred(call->getImplicitObjectArgument())) > 0)
      refuse(e, "the length of " + host + " may change");
    const int size = scope_.pseudo(host + ".size()", scope_.nest.variables[*which].name + "_size", call->getType(), e);
    scope_.nest.variables[size].home = scope_.nest.variables[*which].home;
    scope_.nest.variables[size].home_bytes = scope_.nest.variables[*which].home_bytes;
    return size;
  }
  if (const int one = element_of_view(e); one >= 0) return one;
  if (const auto* member = dyn_cast<MemberExpr>(e)) {
    if (!dialect(member->getType())) return -1;
    const auto found = path(member);
    if (!found) return -1;
    if (member->getType().isVolatileQualified()) refuse(e, "volatile fields are not supported");
    if (scope_.changed.count(found->base) > 0) refuse(e, found->base->getNameAsString() + " changes inside the loop");
    return scope_.pseudo(found->host, found->name, member->getType(), e, found);
  }
  return -1;
}

namespace {

Index sum(const Index& a, const Index& b, const char* sign) {
  Index result;
  if (a.value && b.value) result.value = a.value->plus(*b.value, sign[0] == '-' ? -1 : 1);
  if (a.text == "0" && sign[0] == '+')
    result.text = b.text;
  else
    result.text = b.text == "0" ? a.text : wrapped(a.text) + " " + sign + " " + wrapped(b.text);
  return result;
}

// Variables whose elements or values a statement writes, in lambdas and by arguments too.
std::set<const ValueDecl*> written_in(const Stmt* statement, const Facts& facts) {
  std::set<const ValueDecl*> written;
  const std::function<void(const Expr*)> note = [&](const Expr* to) {  // the written variable, not its subscripts
    to = to->IgnoreParenImpCasts();
    const auto* u = dyn_cast<UnaryOperator>(to);
    const auto* b = dyn_cast<BinaryOperator>(to);
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(to)) return note(a->getBase());
    if (const auto* m = dyn_cast<MemberExpr>(to)) return note(m->getBase());
    if (const auto* m = dyn_cast<CXXMemberCallExpr>(to)) return note(m->getImplicitObjectArgument());
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(to)) return note(o->getArg(0));
    if (u != nullptr && (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf)) return note(u->getSubExpr());
    if (b != nullptr && b->isAdditiveOp() && b->getType()->isPointerType())
      return note(b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS());
    visit(to, [&](const Stmt* s) {
      if (const auto* ref = dyn_cast<DeclRefExpr>(s)) written.insert(ref->getDecl());
    });
  };
  const std::function<void(const Stmt*, int)> collect = [&](const Stmt* all, int depth) {
    visit(all, [&](const Stmt* s) {
      if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) note(b->getLHS());
      if (const auto* u = dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
        note(u->getSubExpr());
      const auto* c = dyn_cast<CallExpr>(s);
      if (c == nullptr) return;
      if (facts.lambda(c) != nullptr && depth < 8) collect(c->getDirectCallee()->getBody(), depth + 1);
      const FunctionDecl* callee = c->getDirectCallee();
      for (unsigned k = 0; callee != nullptr && !isa<CXXMethodDecl>(callee) && k < c->getNumArgs(); ++k) {
        const QualType type = k < callee->getNumParams() ? callee->getParamDecl(k)->getType() : QualType();
        const bool leads = !type.isNull() && (type->isPointerType() || type->isReferenceType());
        if (type.isNull() || (leads && !type->getPointeeType().isConstQualified())) note(c->getArg(k));
      }
    });
  };
  collect(statement, 0);
  return written;
}

}  // namespace

// Refuses a reference or pointer to an element whose subscript changes in the block that declares the name, since the
// name would refer to another element.
void Places::refuse_changing_subscripts(const Expr* e, const std::string& name, const Stmt* within) const {
  const std::set<const ValueDecl*> written = written_in(within != nullptr ? within : scope_.root, facts_);
  std::set<const ValueDecl*> in_block;
  if (within != nullptr) find_changes(within, in_block);
  const auto changes = [&](const ValueDecl* decl) {  // a local number, while the block is executed
    const auto* var = dyn_cast<VarDecl>(decl);
    const bool own = within != nullptr && var != nullptr && var->hasLocalStorage() && dialect(var->getType()) &&
                     !facts_.reachable(var) && facts_.captured.count(var) == 0;
    return (own ? in_block : scope_.changed).count(decl) > 0;
  };
  const std::function<void(const Stmt*, bool)> look = [&](const Stmt* s, bool subscript) {
    if (s == nullptr) return;
    if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && subscript) {
      const ValueDecl* decl = ref->getDecl();
      const bool counted = scope_.iterators.count(decl) > 0 || scope_.values.count(decl) > 0;
      Variable array, other;
      const bool elements = shape(decl->getType(), array);
      for (const ValueDecl* w : written)  // a local pointer or reference may point into the same array
        if (const auto* name_of = dyn_cast<VarDecl>(w);
            elements && w != decl && name_of != nullptr && !isa<ParmVarDecl>(w) &&
            (w->getType()->isPointerType() || w->getType()->isReferenceType())) {
          const auto number = dialect(w->getType().getNonReferenceType());
          if (array.mixed || (number                                       ? number->name
                              : shape(w->getType(), other) && !other.mixed ? other.element
                                                                           : array.element) == array.element)
            refuse(e, name + " refers to an element whose subscript, read from " + decl->getNameAsString() +
                          ", may change in the loop");
        }
      if (!counted && (changes(decl) || written.count(decl) > 0))
        refuse(e, name + " refers to an element whose subscript, " + decl->getNameAsString() + ", changes in the loop");
    }
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(s)) {
      look(a->getBase(), subscript);
      look(a->getIdx(), true);
      return;
    }
    if (const auto* b = dyn_cast<BinaryOperator>(s); b != nullptr && b->getType()->isPointerType()) {
      for (const Expr* side : {b->getLHS(), b->getRHS()}) look(side, subscript || !side->getType()->isPointerType());
      return;
    }
    if (const auto* c = dyn_cast<CallExpr>(s)) {
      const auto* member = dyn_cast<CXXMemberCallExpr>(c);
      const bool operation = isa<CXXOperatorCallExpr>(c);
      if (member != nullptr) look(member->getImplicitObjectArgument(), subscript);
      for (unsigned i = 0; i < c->getNumArgs(); ++i) look(c->getArg(i), subscript || !(operation && i == 0));
      return;
    }
    for (const Stmt* child : s->children()) look(child, subscript);
  };
  look(e, false);
}

namespace {

// The array that is a field, if the subscript is of such an array: cells[i].next in cells[i].next[k].
const Expr* in_field(const ArraySubscriptExpr* subscript) {
  const auto* decay = dyn_cast<ImplicitCastExpr>(subscript->getBase()->IgnoreParens());
  if (decay == nullptr || decay->getCastKind() != CK_ArrayToPointerDecay) return nullptr;
  const Expr* array = decay->getSubExpr()->IgnoreParens();
  const auto* inner = dyn_cast<ArraySubscriptExpr>(array);
  return isa<MemberExpr>(array) || (inner != nullptr && in_field(inner) != nullptr) ? array : nullptr;
}

}  // namespace

// A subscript of rows of variable length, counted in elements: i of double (*a)[n] is i * n.
Index Places::in_elements(Index i, QualType of, const Expr* at, Effects& fx) {
  while (const VariableArrayType* row = ast_.getAsVariableArrayType(of)) {
    const Expr* length = row->getSizeExpr();
    std::vector<Poly> needed;
    const auto n = length != nullptr ? tree_.poly(length, needed) : std::nullopt;
    if (!n || !needed.empty() || !facts_.fixed_operands(length, facts_.changed) || !facts_.settled(length))
      refuse(at, "the length of the rows may have changed: " + source(at));
    i.text = "(long)" + wrapped(i.text) + " * " + wrapped(tree_.expression(length, fx));
    i.value = i.value ? i.value->times(*n) : std::nullopt;
    of = row->getElementType();
  }
  return i;
}

// A pointer expression as a place whose last index is an offset.
std::optional<Place> Places::pointer(const Expr* e, Effects& fx) {
  e = e->IgnoreParens();
  const Index zero{Poly::constant(0), "0"};
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e)) {
    if (cast->getCastKind() == CK_ArrayToPointerDecay) {
      auto p = place(cast->getSubExpr(), fx);
      if (p && !cast->getSubExpr()->getType()->isVariableArrayType()) p->indices.push_back(zero);
      return p;
    }
    if (cast->getCastKind() == CK_LValueToRValue || cast->getCastKind() == CK_NoOp)
      return pointer(cast->getSubExpr(), fx);
    return {};
  }
  if (e->getType()->isPointerType() && users_method(e) != nullptr) {
    std::optional<Place> p;
    look_through(e, fx, [&](const Expr* result) { p = pointer(result, fx); });
    return p;
  }
  if (const ValueDecl* decl = referred(e)) {
    if (const auto it = scope_.pointers.find(decl); it != scope_.pointers.end()) {
      if (const auto set = scope_.moved.find(decl); set != scope_.moved.end()) fx.read(set->second, line(e));
      return it->second;
    }
    if (!decl->getType()->isPointerType()) return {};
    // Set once before the nest from unchanging operands: always the same place.
    if (const auto* var = dyn_cast<VarDecl>(decl); var != nullptr && !isa<ParmVarDecl>(var) &&
                                                   !var->hasGlobalStorage() && var->hasInit() && facts_.fixed(var) &&
                                                   facts_.as_declared(var)) {
      if (!facts_.settled(var->getInit())) {
        scope_.refuse_shadowed(var, e);
        scope_.assume_unchanged(var->getNameAsString() + " != " + original(var->getInit()->getSourceRange()), var, e);
      }
      if (auto known = pointer(var->getInit(), fx)) return known;
      bool converted = false;
      visit(var->getInit(), [&](const Stmt* s) { converted |= isa<ExplicitCastExpr>(s); });
      if (converted) refuse(e, "the pointer " + var->getNameAsString() + " is a conversion of another address");
    }
    const int which = scope_.variable(decl, e);
    if (!scope_.nest.variables[which].array())
      refuse(e, "the pointer " + decl->getNameAsString() +
                    " changes in the loop: it must point to one known array element");
    return Place{which, {zero}, {}};
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAdditiveOp()) {
    const bool left = b->getLHS()->getType()->isPointerType();
    if (!left && b->getOpcode() == BO_Sub) return {};
    if (b->getLHS()->getType()->isPointerType() && b->getRHS()->getType()->isPointerType()) return {};
    auto p = pointer(left ? b->getLHS() : b->getRHS(), fx);
    if (!p) return {};
    const Index by = in_elements(index(left ? b->getRHS() : b->getLHS(), fx, p->not_negative),
                                 e->getType()->getPointeeType(), e, fx);
    p->indices.back() = sum(p->indices.back(), by, b->getOpcode() == BO_Sub ? "-" : "+");
    return p;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf) {
    auto p = place(u->getSubExpr(), fx);
    if (!p || p->indices.empty()) return {};
    if (const Variable& v = scope_.nest.variables[p->variable]; v.mixed && p->indices.size() > v.inner.size())
      refuse(e, "the address of a field of a struct with fields of several types is not supported: " + source(e));
    return p;
  }
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(e); member != nullptr && member->getMethodDecl() != nullptr)
    if (const std::string method = member->getMethodDecl()->getNameAsString();
        (method == "data" || method == "get") && member->getNumArgs() == 0)
      if (const auto which = object(member->getImplicitObjectArgument())) return Place{*which, {zero}, {}};
  if (auto row = images_.mat_row(e, fx)) return row;
  if (const auto which = row(e); which && e->getType()->isPointerType()) return Place{*which, {zero}, {}};
  if (isa<MemberExpr>(e))
    if (const auto which = field(e)) return Place{*which, {zero}, {}};
  return {};
}

// p.x: a field of a local struct, of a struct in an array, or an array that is a field.
std::optional<Place> Places::member_place(const MemberExpr* member, Effects& fx) {
  if (const ValueDecl* decl = referred(member->getBase()); decl != nullptr && scope_.parts.count(decl) > 0) {
    const auto fields = member->getMemberDecl()->getDeclContext()->decls();
    std::size_t k = 0;
    for (const Decl* d : fields) {
      if (d == member->getMemberDecl()) return Place{scope_.parts[decl][k], {}, {}};
      k += isa<FieldDecl>(d) ? 1 : 0;
    }
  }
  const std::string kind = class_of(member->getBase()->getType());
  if (kind == "cv::Matx" || kind == "cv::Vec")  // v.val
    return member->getType()->isArrayType() && !member->isArrow() ? place(member->getBase(), fx) : std::nullopt;
  if (!of_pointed_struct(member)) {
    if (extent(member) >= 0) return {};
    if (const auto which = field(member)) return Place{*which, {}, {}};
    if (member->isArrow()) return {};
  }
  const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
  std::vector<const FieldDecl*> fields;
  if (field == nullptr || uniform_fields(field->getParent(), fields).isNull()) return {};
  auto p = member->isArrow() ? pointer(member->getBase(), fx) : place(member->getBase(), fx);
  if (!p || p->indices.empty()) return {};
  const auto at = std::find(fields.begin(), fields.end(), field) - fields.begin();
  p->indices.push_back({Poly::constant(at), std::to_string(at)});
  return p;
}

// True for p->x if p is a pointer to a known element, as in const Particle* p = &all[i], and for (all + i)->x.
bool Places::of_pointed_struct(const MemberExpr* member) const {
  if (!member->isArrow()) return false;
  const Expr* base = member->getBase()->IgnoreParenImpCasts();
  if (const auto* b = dyn_cast<BinaryOperator>(base)) return b->isAdditiveOp();
  if (const auto* u = dyn_cast<UnaryOperator>(base)) return u->getOpcode() == UO_AddrOf;
  const ValueDecl* decl = referred(base);
  return decl != nullptr && scope_.pointers.count(decl) > 0;
}

// A number inside a struct with fields of several types that is an element of an array: cells[i].flow.x,
// cells[i].next[k].
std::optional<Place> Places::mixed_part(const Expr* e, Effects& fx) {
  std::vector<const Expr*> steps;  // from the number outwards to the struct that is an element
  const QualType number = e->getType();
  for (e = e->IgnoreParens();;) {
    const auto* member = dyn_cast<MemberExpr>(e);
    const auto* subscript = dyn_cast<ArraySubscriptExpr>(e);
    if (member != nullptr) {
      const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
      if (field == nullptr || field->isBitField() || field->getType()->isReferenceType()) return {};
      steps.push_back(member);
      if (member->isArrow()) break;
      e = member->getBase()->IgnoreParens();
      if (!isa<MemberExpr>(e) && !(isa<ArraySubscriptExpr>(e) && in_field(cast<ArraySubscriptExpr>(e)))) break;
    } else if (subscript != nullptr && in_field(subscript)) {
      steps.push_back(subscript);
      e = in_field(subscript);
    } else {
      return {};
    }
  }
  if (steps.empty()) return {};
  const auto* outer = cast<MemberExpr>(steps.back());
  const auto* record = cast<FieldDecl>(outer->getMemberDecl())->getParent();
  std::vector<const FieldDecl*> fields;
  const QualType type = ast_.getRecordType(record);
  const long unit = common_unit(ast_, type);
  if (unit == 0 || !uniform_fields(record, fields).isNull()) return {};
  if (outer->isArrow() && !of_pointed_struct(outer)) return {};
  if (const auto* of = dyn_cast<DeclRefExpr>(outer->getBase()->IgnoreParenImpCasts());
      of != nullptr && !outer->isArrow() && scope_.references.count(of->getDecl()) == 0)
    return {};  // a struct variable
  auto p = outer->isArrow() ? pointer(outer->getBase(), fx) : place(outer->getBase(), fx);
  if (!p) return {};
  const Variable& v = scope_.nest.variables[p->variable];
  if (!v.mixed || v.bytes != unit || p->indices.size() != v.inner.size()) return {};
  Index at{Poly::constant(0), "0"};
  std::vector<long> distances;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (const auto* member = dyn_cast<MemberExpr>(*step)) {
      const long units = offset_of(ast_, cast<FieldDecl>(member->getMemberDecl())) / unit;
      distances.push_back(units * unit);
      at = sum(at, {Poly::constant(units), std::to_string(units)}, "+");
      continue;
    }
    const long units = ast_.getTypeSizeInChars((*step)->getType()).getQuantity() / unit;
    distances.push_back(units * unit);
    const auto* subscript = cast<ArraySubscriptExpr>(*step);
    Index by = index(subscript->getIdx(), fx, p->not_negative);
    const auto* row = ast_.getAsConstantArrayType(in_field(subscript)->getType());
    if (row == nullptr) return {};
    if (by.value) {  // it stays in its row: beyond are other fields
      p->not_negative.push_back(*by.value);
      p->not_negative.push_back(Poly::constant(row->getSize().getSExtValue() - 1).plus(*by.value, -1));
    }
    by.text = wrapped(by.text) + " * " + std::to_string(units);
    if (by.value) by.value = Poly().plus(*by.value, units);
    at = sum(at, by, "+");
  }
  p->indices.push_back(at);
  scope_.set_field(*p, number, distances);
  return p;
}

std::optional<Place> Places::place(const Expr* e, Effects& fx) {
  e = e->IgnoreParens();
  if (dialect(e->getType()))
    if (auto part = mixed_part(e, fx)) return part;
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e)) {
    const bool same = cast->getCastKind() == CK_NoOp || cast->getCastKind() == CK_LValueToRValue ||
                      class_of(cast->getSubExpr()->getType()) == "cv::Scalar_" ||  // to its base
                      class_of(cast->getType()) == "cv::Matx";
    return same ? place(cast->getSubExpr(), fx) : std::nullopt;
  }
  if (e->isGLValue() && users_method(e) != nullptr) {
    std::optional<Place> p;
    look_through(e, fx, [&](const Expr* result) { p = place(result, fx); });
    return p;
  }
  if (scope_.self && element_of_view(e) >= 0) return {};
  if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
    auto p = pointer(subscript->getBase(), fx);
    if (!p) return row_element(subscript->getBase(), subscript->getIdx(), fx);
    const Index by = in_elements(index(subscript->getIdx(), fx, p->not_negative), e->getType(), e, fx);
    p->indices.back() = sum(p->indices.back(), by, "+");
    return p;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref)
    return pointer(u->getSubExpr(), fx);
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == OO_Subscript && call->getNumArgs() == 2) {
    if (const auto which = object(call->getArg(0))) {
      Place p{*which, {}, {}};
      p.indices.push_back(index(call->getArg(1), fx, p.not_negative));
      return p;
    }
    const std::string kind = class_of(call->getArg(0)->getType());
    if (kind == "std::vector") return row_element(call->getArg(0), call->getArg(1), fx);
    if (kind != "std::array" && kind != "cv::Vec") return {};
    auto p = place(call->getArg(0), fx);  // a std::array inside a std::vector
    if (p) p->indices.push_back(index(call->getArg(1), fx, p->not_negative));
    return p;
  }
  if (auto element = images_.mat_element(e, fx)) return element;
  if (const auto* member = dyn_cast<MemberExpr>(e)) return member_place(member, fx);
  if (const ValueDecl* decl = referred(e); decl != nullptr && isa<VarDecl>(decl)) {
    if (const auto it = scope_.references.find(decl); it != scope_.references.end()) return it->second;
    if (scope_.bound.count(decl) > 0 || scope_.pointers.count(decl) > 0 || scope_.iterators.count(decl) > 0) return {};
    const auto* var = cast<VarDecl>(decl);
    if (var->getType()->isReferenceType() && !isa<ParmVarDecl>(var) && !var->hasGlobalStorage() && var->hasInit() &&
        scope_.variables.count(decl) == 0 && facts_.as_declared(var)) {
      if (!facts_.settled(var->getInit())) {
        scope_.refuse_shadowed(var, e);
        scope_.assume_unchanged(
            "&" + var->getNameAsString() + " != &" + wrapped(original(var->getInit()->getSourceRange())), var, e);
      }
      return place(var->getInit(), fx);
    }
    return Place{scope_.variable(decl, e), {}, {}};
  }
  return {};
}

}  // namespace ridge::place::frontend
