// Variables and places in memory: arrays, pointers set once, references, std::vector, std::array, std::span, fields.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Words that mean something else in a kernel or in isl.
const std::set<std::string>& reserved() {
  static const std::set<std::string> words{
      "kernel",    "global",   "local",     "constant",   "half",       "private", "generic",  "pipe",     "image2d_t",
      "sampler_t", "uchar",    "ushort",    "uint",       "ulong",      "bool2",   "vec_step", "mod",      "floor",
      "ceil",      "exists",   "and",       "or",         "not",        "implies", "min",      "max",      "infty",
      "true",      "false",    "floord",    "ceild",      "KERNEL",     "GLOBAL",  "LOCAL",    "CONSTANT", "FUNCTION",
      "BARRIER",   "RESTRICT", "FMA",       "UNROLL",     "CLUSTER",    "item",    "reach",    "group",    "signed",
      "unsigned",  "uniform",  "read_only", "write_only", "read_write", "event_t", "abs",      "device"};
  return words;
}

const CXXRecordDecl* record_of(QualType type) { return type.getNonReferenceType()->getAsCXXRecordDecl(); }

// Why a type is no array, for those that people take for one.
std::string no_array(QualType type) {
  type = type.getNonReferenceType();
  const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record_of(type));
  const std::string kind = class_of(type);
  if (kind == "std::vector" && made != nullptr) {
    const QualType element = made->getTemplateArgs()[0].getAsType();
    if (class_of(element) == "std::vector")
      return ": its rows lie anywhere in memory; use one std::vector of rows * columns elements";
    if (element->isBooleanType()) return ": it keeps bits; use std::vector<unsigned char>";
  }
  if (type->isPointerType() && type->getPointeeType()->isPointerType())
    return ": its rows lie anywhere in memory; use one pointer and row * columns + column";
  for (const char* scattered : {"std::list", "std::deque", "std::map", "std::set", "std::unordered_map"})
    if (kind == scattered) return ": its elements lie anywhere in memory";
  return "";
}

// All fields of one number type, nothing hidden: the struct is a short array.
QualType uniform_fields(const RecordDecl* record, std::vector<const FieldDecl*>& fields) {
  QualType first;
  if (record == nullptr || !record->isCompleteDefinition() || record->isUnion()) return {};
  if (const auto* with_bases = dyn_cast<CXXRecordDecl>(record);
      with_bases != nullptr && (with_bases->getNumBases() > 0 || with_bases->isPolymorphic()))
    return {};
  for (const FieldDecl* field : record->fields()) {
    const QualType type = field->getType().getCanonicalType().getUnqualifiedType();
    if (field->isBitField() || !type->isArithmeticType() || (!first.isNull() && type != first)) return {};
    first = type;
    fields.push_back(field);
  }
  return first;
}

}  // namespace

std::string wrapped(const std::string& text) {
  const bool word =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return word ? text : "(" + text + ")";
}

std::string Reader::unique(const std::string& name) {
  std::string wanted = name;
  if (reserved().count(wanted) > 0) wanted += "_";
  std::string result = wanted;
  for (int i = 2; !scope_->names.insert(result).second; ++i) result = wanted + "_" + std::to_string(i);
  return result;
}

const ValueDecl* Reader::referred(const Expr* e) const {
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return ref != nullptr ? ref->getDecl() : nullptr;
}

// Element type, inner extents and the host's words for an array type or an object that wraps one.
bool Reader::shape(QualType type, Variable& into) const {
  type = type.getNonReferenceType();
  bool first = true, found = false;
  const std::string& host = into.host;
  while (true) {
    if (const auto* pointer = type->getAs<PointerType>(); pointer != nullptr && first) {
      into.storage = Storage::pointer;
      into.data = host;
      type = pointer->getPointeeType();
    } else if (const ArrayType* array = ast_.getAsArrayType(type)) {
      const auto* fixed = dyn_cast<ConstantArrayType>(array);
      if (fixed == nullptr) return false;  // a length that only the run knows
      const long n = static_cast<long>(fixed->getSize().getZExtValue());
      if (first) {
        into.storage = Storage::c_array;
        into.length = n;
        into.data = "&" + host + "[0]";
      } else {
        into.inner.push_back(n);
      }
      type = array->getElementType();
    } else if (const CXXRecordDecl* record = record_of(type)) {
      const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(record);
      const std::string kind = record->getQualifiedNameAsString();
      if (made != nullptr && kind == "cv::Vec" && !first) {
        const auto& arguments = made->getTemplateArgs();
        into.inner.push_back(arguments[1].getAsIntegral().getExtValue());
        into.constant |= type.isConstQualified();
        type = arguments[0].getAsType();
      } else if (made != nullptr && (kind == "std::vector" || kind == "std::array" || kind == "std::span")) {
        const auto& arguments = made->getTemplateArgs();
        const QualType element = arguments[0].getAsType();
        if (kind == "std::vector" && element->isBooleanType()) return false;  // bits, no array
        if (first) {
          into.storage = Storage::object;
          into.data = host + ".data()";
          into.count = host + ".size()";
          if (kind == "std::array") into.length = arguments[1].getAsIntegral().getExtValue();
        } else if (kind == "std::array") {
          into.inner.push_back(arguments[1].getAsIntegral().getExtValue());
        } else {
          return false;  // rows that lie anywhere
        }
        into.constant |= type.isConstQualified() && kind != "std::span";
        type = element;
      } else {
        std::vector<const FieldDecl*> fields;
        const QualType element = uniform_fields(record, fields);
        if (element.isNull() || first) return false;
        into.inner.push_back(static_cast<long>(fields.size()));
        into.constant |= type.isConstQualified();
        type = element;
      }
    } else {
      break;
    }
    first = false;
    found = true;
  }
  if (!found) return false;
  const auto number = dialect(type);
  if (!number || type.isVolatileQualified()) return false;
  into.constant |= type.isConstQualified();
  into.element = number->name;
  into.host_element = type_text(type.getUnqualifiedType());
  into.bytes = number->bytes;
  into.integer = number->integer;
  into.is_unsigned = number->is_unsigned;
  if (into.length >= 0)
    for (const long n : into.inner) into.length *= n;
  if (!into.inner.empty()) {
    std::string all;
    for (const long n : into.inner) all += (all.empty() ? "" : " * ") + std::to_string(n);
    if (!into.count.empty()) into.count += " * " + all;
    into.data =
        "reinterpret_cast<" + std::string(into.constant ? "const " : "") + into.host_element + "*>(" + into.data + ")";
  }
  if (into.storage == Storage::c_array) into.count = std::to_string(into.length);
  return true;
}

int Reader::variable(const ValueDecl* decl, const Stmt* at) {
  if (const auto it = scope_->variables.find(decl); it != scope_->variables.end()) return it->second;
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr) refuse(at, decl->getNameAsString() + " is not a variable");
  Variable v;
  v.host = var->getNameAsString();
  v.type = type_text(var->getType());
  v.parameter = isa<ParmVarDecl>(var);
  v.captured = captured_.count(var) > 0;
  v.global = var->hasGlobalStorage();
  v.line = static_cast<int>(ast_.getSourceManager().getExpansionLineNumber(var->getLocation()));
  const QualType type = var->getType();
  if (type.getNonReferenceType().isVolatileQualified()) refuse(at, v.host + " is volatile");
  if (var->getTLSKind() != VarDecl::TLS_None) refuse(at, v.host + " belongs to a thread");
  if (const auto number = dialect(type.getNonReferenceType())) {
    v.element = number->name;
    v.host_element = type_text(type.getNonReferenceType().getUnqualifiedType());
    v.bytes = number->bytes;
    v.integer = number->integer;
    v.is_unsigned = number->is_unsigned;
    v.constant = type.getNonReferenceType().isConstQualified();
    v.storage = type->isReferenceType() ? Storage::reference : Storage::scalar;
    if (type->isReferenceType() && !v.parameter)
      refuse(at, "the reference " + v.host + " stands for a place that is not known");
    v.outlives = v.global || type->isReferenceType();
  } else {
    if (!shape(type, v)) refuse(at, v.host + " of type " + v.type + " is not modelled" + no_array(type));
    if (type->isPointerType() && (!v.parameter || changed_in_function_.count(decl) > 0))
      refuse(at, "the pointer " + v.host + " does not stand for one known place in an array");
    if (type->isReferenceType() && !v.parameter)
      refuse(at, "the reference " + v.host + " stands for an object that is not known");
    if (v.parameter && v.storage == Storage::object && !type->isReferenceType() && class_of(type) != "std::span" &&
        !scope_->in_function)
      refuse(at, v.host + " is a copy that ends with the function: take it by reference");
    v.outlives = v.global || type->isReferenceType() || v.storage == Storage::pointer ||
                 v.type.find("span") != std::string::npos;
  }
  v.name = unique(v.host);
  scope_->nest.variables.push_back(v);
  return scope_->variables[decl] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

// A number that is no variable of its own: v.size(), window.radius.
int Reader::pseudo(const std::string& host, const std::string& name, QualType type, const Stmt* at) {
  if (const auto it = scope_->pseudo.find(host); it != scope_->pseudo.end()) return it->second;
  const auto number = dialect(type);
  if (!number) refuse(at, host + " is not a number");
  Variable v;
  v.host = host;
  v.name = unique(name);
  v.element = number->name;
  v.host_element = type_text(type.getNonReferenceType().getUnqualifiedType());
  v.bytes = number->bytes;
  v.integer = number->integer;
  v.is_unsigned = number->is_unsigned;
  v.constant = true;
  scope_->nest.variables.push_back(v);
  return scope_->pseudo[host] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

int Reader::declare_local(const VarDecl* decl) {
  Variable v;
  v.host = decl->getNameAsString();
  v.type = type_text(decl->getType());
  v.loops = scope_->open;
  if (const auto number = dialect(decl->getType())) {
    v.element = number->name;
    v.host_element = type_text(decl->getType().getUnqualifiedType());
    v.bytes = number->bytes;
    v.integer = number->integer;
    v.is_unsigned = number->is_unsigned;
  } else {
    Variable probe = v;
    if (!shape(decl->getType(), probe) || probe.length < 0)
      throw Refused{static_cast<int>(ast_.getSourceManager().getExpansionLineNumber(decl->getLocation())), "",
                    "the local " + v.host + " of type " + v.type + " is not modelled"};
    v = probe;
    if (v.length * v.bytes > 4096)
      throw Refused{
          static_cast<int>(ast_.getSourceManager().getExpansionLineNumber(decl->getLocation())), "",
          "the local " + v.host + " is too large for a work-item (" + std::to_string(v.length * v.bytes) + " bytes)"};
    v.local_memory = true;
  }
  v.name = unique(v.host);
  v.line = static_cast<int>(ast_.getSourceManager().getExpansionLineNumber(decl->getLocation()));
  scope_->nest.variables.push_back(v);
  return scope_->variables[decl] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

// The variable at the bottom of p.q.x and how it is said; nothing where it may stand for more than one object.
std::optional<Reader::Path> Reader::path(const MemberExpr* member) const {
  if (!isa<FieldDecl>(member->getMemberDecl())) return {};
  Path result;
  result.host = result.name = member->getMemberDecl()->getNameAsString();
  const Expr* base = member->getBase()->IgnoreParenImpCasts();
  bool arrow = member->isArrow();
  while (const auto* inner = dyn_cast<MemberExpr>(base)) {
    if (arrow || !isa<FieldDecl>(inner->getMemberDecl()) || inner->getType()->isReferenceType()) return {};
    result.host = inner->getMemberDecl()->getNameAsString() + "." + result.host;
    result.name = inner->getMemberDecl()->getNameAsString() + "_" + result.name;
    arrow = inner->isArrow();
    base = inner->getBase()->IgnoreParenImpCasts();
  }
  result.base = referred(base);
  if (result.base == nullptr || !isa<VarDecl>(result.base) || scope_->references.count(result.base) > 0) return {};
  const CXXRecordDecl* record = record_of(arrow ? result.base->getType()->getPointeeType() : result.base->getType());
  if (record == nullptr || record->isUnion() || scope_->variables.count(result.base) > 0) return {};
  const std::string prefix = result.base->getNameAsString();
  result.host = prefix + (arrow ? "->" : ".") + result.host;
  result.name = prefix + "_" + result.name;
  return result;
}

std::optional<int> Reader::field(const Expr* e) {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  if (member == nullptr || dialect(member->getType()) || member->getMemberDecl()->getType()->isReferenceType())
    return {};
  const auto found = path(member);
  if (!found) return {};
  if (scope_->changed.count(found->base) > 0) refuse(e, found->base->getNameAsString() + " changes inside the loop");
  if (const auto it = scope_->pseudo.find(found->host); it != scope_->pseudo.end()) return it->second;
  Variable v;
  v.host = found->host;
  v.type = type_text(member->getType());
  if (member->getType().isVolatileQualified() || !shape(member->getType(), v)) {
    const std::string why = no_array(member->getType());
    if (!why.empty()) refuse(e, v.host + " of type " + v.type + " is not modelled" + why);
    return {};
  }
  if (isa<ParmVarDecl>(found->base) && !found->base->getType()->isReferenceType() &&
      !found->base->getType()->isPointerType() && v.storage != Storage::pointer &&
      class_of(member->getType()) != "std::span")
    refuse(e, v.host + " is a copy that ends with the function: take it by reference");
  v.outlives = true;
  v.name = unique(found->name);
  scope_->nest.variables.push_back(v);
  return scope_->pseudo[found->host] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

std::optional<int> Reader::object(const Expr* e) {
  const ValueDecl* decl = referred(e);
  if (decl == nullptr) {
    const auto which = field(e);
    return which && scope_->nest.variables[*which].storage == Storage::object ? which : std::nullopt;
  }
  const CXXRecordDecl* record = record_of(decl->getType());
  if (record == nullptr) return {};
  const std::string kind = record->getQualifiedNameAsString();
  if (kind != "std::vector" && kind != "std::array" && kind != "std::span") return {};
  if (const auto it = scope_->references.find(decl); it != scope_->references.end() && it->second.indices.empty())
    return it->second.variable;
  return variable(decl, e);
}

// Sizes and fields that do not change while the nest runs.
int Reader::extent(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const std::string method = call->getMethodDecl()->getNameAsString();
    if (method != "size" || call->getNumArgs() != 0) return -1;
    const auto which = object(call->getImplicitObjectArgument());
    if (!which) return -1;
    const std::string host = scope_->nest.variables[*which].host;
    if (scope_->changed.count(referred(call->getImplicitObjectArgument())) > 0)
      refuse(e, "the length of " + host + " may change");
    return pseudo(host + ".size()", scope_->nest.variables[*which].name + "_size", call->getType(), e);
  }
  if (const auto* member = dyn_cast<MemberExpr>(e)) {
    if (!dialect(member->getType())) return -1;
    const auto found = path(member);
    if (!found) return -1;
    if (member->getType().isVolatileQualified()) refuse(e, "a volatile field");
    if (scope_->changed.count(found->base) > 0) refuse(e, found->base->getNameAsString() + " changes inside the loop");
    return pseudo(found->host, found->name, member->getType(), e);
  }
  return -1;
}

Index Reader::index(const Expr* e, Effects& fx, std::vector<Poly>& not_negative) {
  Index result;
  result.text = expression(e, fx);
  std::vector<Poly> needed;
  result.value = poly(e, needed);
  if (result.value) not_negative.insert(not_negative.end(), needed.begin(), needed.end());
  return result;
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

}  // namespace

bool Reader::fixed(const ValueDecl* decl) const {
  return changed_in_function_.count(decl) == 0 && !scope_->in_function;
}

bool Reader::fixed_operands(const Stmt* s) const {
  if (s == nullptr) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && isa<VarDecl>(ref->getDecl())) {
    const auto* var = cast<VarDecl>(ref->getDecl());
    const bool number = dialect(var->getType().getNonReferenceType()).has_value();
    if (var->getType()->isReferenceType() && number && !var->getType()->getPointeeType().isConstQualified())
      return false;
    if ((number || var->getType()->isPointerType()) && !fixed(var)) return false;
    if (!number && !isa<ParmVarDecl>(var) && var->getType()->isReferenceType()) return false;
    if (!number && changed_in_function_.count(var) > 0) return false;  // a vector that grows or is exchanged
  }
  if (isa<CallExpr>(s) && !isa<CXXMemberCallExpr>(s) && !isa<CXXOperatorCallExpr>(s)) return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return fixed_operands(c); });
}

// A pointer value as a place whose last index can be moved.
std::optional<Place> Reader::pointer(const Expr* e, Effects& fx) {
  e = e->IgnoreParens();
  const Index zero{Poly::constant(0), "0"};
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e)) {
    if (cast->getCastKind() == CK_ArrayToPointerDecay) {
      auto p = place(cast->getSubExpr(), fx);
      if (p) p->indices.push_back(zero);
      return p;
    }
    if (cast->getCastKind() == CK_LValueToRValue || cast->getCastKind() == CK_NoOp)
      return pointer(cast->getSubExpr(), fx);
    return {};
  }
  if (const ValueDecl* decl = referred(e)) {
    if (const auto it = scope_->pointers.find(decl); it != scope_->pointers.end()) return it->second;
    if (!decl->getType()->isPointerType()) return {};
    // Set once, before the nest, from things that never change: the same place throughout.
    if (const auto* var = dyn_cast<VarDecl>(decl); var != nullptr && !isa<ParmVarDecl>(var) &&
                                                   !var->hasGlobalStorage() && var->hasInit() && fixed(var) &&
                                                   fixed_operands(var->getInit()))
      return pointer(var->getInit(), fx);
    Place p;
    p.variable = variable(decl, e);
    p.indices.push_back(zero);
    return p;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b != nullptr && b->isAdditiveOp()) {
    const bool left = b->getLHS()->getType()->isPointerType();
    if (!left && b->getOpcode() == BO_Sub) return {};
    if (b->getLHS()->getType()->isPointerType() && b->getRHS()->getType()->isPointerType()) return {};
    auto p = pointer(left ? b->getLHS() : b->getRHS(), fx);
    if (!p) return {};
    const Index by = index(left ? b->getRHS() : b->getLHS(), fx, p->not_negative);
    p->indices.back() = sum(p->indices.back(), by, b->getOpcode() == BO_Sub ? "-" : "+");
    return p;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf) {
    auto p = place(u->getSubExpr(), fx);
    if (!p || p->indices.empty()) return {};
    return p;
  }
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(e); member != nullptr && member->getMethodDecl() != nullptr)
    if (member->getMethodDecl()->getNameAsString() == "data" && member->getNumArgs() == 0)
      if (const auto which = object(member->getImplicitObjectArgument())) {
        Place p;
        p.variable = *which;
        p.indices.push_back(zero);
        return p;
      }
  if (auto row = mat_row(e, fx)) return row;
  if (isa<MemberExpr>(e))
    if (const auto which = field(e)) return Place{*which, {zero}, {}};
  return {};
}

std::optional<Place> Reader::place(const Expr* e, Effects& fx) {
  e = e->IgnoreParens();
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e))
    return cast->getCastKind() == CK_NoOp || cast->getCastKind() == CK_LValueToRValue ? place(cast->getSubExpr(), fx)
                                                                                      : std::nullopt;
  if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
    auto p = pointer(subscript->getBase(), fx);
    if (!p) return {};
    const Index by = index(subscript->getIdx(), fx, p->not_negative);
    p->indices.back() = sum(p->indices.back(), by, "+");
    return p;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref)
    return pointer(u->getSubExpr(), fx);
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == OO_Subscript && call->getNumArgs() == 2) {
    if (const auto which = object(call->getArg(0))) {
      Place p;
      p.variable = *which;
      p.indices.push_back(index(call->getArg(1), fx, p.not_negative));
      return p;
    }
    const std::string kind = class_of(call->getArg(0)->getType());
    if (kind != "std::array" && kind != "cv::Vec") return {};
    auto p = place(call->getArg(0), fx);  // a std::array inside a std::vector
    if (p) p->indices.push_back(index(call->getArg(1), fx, p->not_negative));
    return p;
  }
  if (auto element = mat_element(e, fx)) return element;
  if (const auto* member = dyn_cast<MemberExpr>(e); member != nullptr) {
    if (extent(e) >= 0) return {};
    if (const auto which = field(e)) return Place{*which, {}, {}};
    if (member->isArrow()) return {};
    const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
    std::vector<const FieldDecl*> fields;
    if (field == nullptr || uniform_fields(field->getParent(), fields).isNull()) return {};
    auto p = place(member->getBase(), fx);
    if (!p || p->indices.empty()) return {};
    const auto at = std::find(fields.begin(), fields.end(), field) - fields.begin();
    p->indices.push_back({Poly::constant(at), std::to_string(at)});
    return p;
  }
  if (const ValueDecl* decl = referred(e); decl != nullptr && isa<VarDecl>(decl)) {
    if (const auto it = scope_->references.find(decl); it != scope_->references.end()) return it->second;
    if (scope_->pointers.count(decl) > 0 || scope_->iterators.count(decl) > 0) return {};
    const auto* var = cast<VarDecl>(decl);
    if (var->getType()->isReferenceType() && !isa<ParmVarDecl>(var) && !var->hasGlobalStorage() && var->hasInit() &&
        scope_->variables.count(decl) == 0 && fixed_operands(var->getInit()))
      return place(var->getInit(), fx);
    Place p;
    p.variable = variable(decl, e);
    return p;
  }
  return {};
}

// Horner's rule over the constant inner extents.
std::string Reader::element_text(const Place& p) const {
  const Variable& v = scope_->nest.variables[p.variable];
  if (p.indices.empty()) return v.name;
  std::string text = p.indices[0].text;
  for (std::size_t i = 1; i < p.indices.size(); ++i)
    text = wrapped(text) + " * " + std::to_string(v.inner[i - 1]) + " + " + wrapped(p.indices[i].text);
  return v.name + "[" + text + "]";
}

void Reader::record(const Place& p, bool write, const Expr* at, Effects& fx) {
  const Variable& v = scope_->nest.variables[p.variable];
  const std::size_t dimensions = v.array() ? 1 + v.inner.size() : 0;
  if (p.indices.size() != dimensions) refuse(at, "part of the array " + v.host + " is used as a whole");
  Access a;
  a.variable = p.variable;
  a.write = write;
  a.own = scope_->own.count(at->IgnoreParenImpCasts()) > 0;
  a.line = line(at);
  a.source = source(at);
  a.not_negative = p.not_negative;
  a.exists = scope_->exists;
  a.where = scope_->where;
  for (const Index& i : p.indices) {
    if (!i.value) {
      a.exact = false;
      a.why = "subscript " + i.text + " of " + v.host + " has no closed form: any element";
    } else {
      a.subscripts.push_back(*i.value);
    }
  }
  if (!a.exact) a.subscripts.clear();
  if (write && v.constant && v.array()) refuse(at, "a write to the constant " + v.host);
  fx.accesses.push_back(a);
}

}  // namespace ridge::place::frontend
