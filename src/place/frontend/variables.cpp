// Variables of a nest: their kernel names, array shapes and homes.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"

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

const CXXRecordDecl* record_of(QualType type) { return type.getNonReferenceType()->getAsCXXRecordDecl(); }

// Why an array-like type is not supported, and what to use instead; "" for other types.
std::string why_not_array(QualType type) {
  type = type.getNonReferenceType();
  const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record_of(type));
  const std::string kind = class_of(type);
  if (kind == "std::vector" && made != nullptr) {
    const QualType element = made->getTemplateArgs()[0].getAsType();
    if (class_of(element) == "std::vector")
      return ": its rows are separate allocations; use one std::vector of rows * columns elements";
    if (element->isBooleanType()) return ": it stores bits; use std::vector<unsigned char>";
  }
  if (type->isPointerType() && type->getPointeeType()->isPointerType())
    return ": its rows are separate allocations; use one pointer and row * columns + column";
  for (const char* scattered : {"std::list", "std::deque", "std::map", "std::set", "std::unordered_map"})
    if (kind == scattered) return ": its elements are not contiguous in memory";
  return "";
}

// Element type of a struct whose fields all have one number type, without bases or bit-fields: a short array.
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

bool of_union(const Expr* e) {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  const auto* field = member != nullptr ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
  return field != nullptr && (field->getParent()->isUnion() || of_union(member->getBase()));
}

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

// Element type, inner extents and C++ text for an array type or an object that wraps one.
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
      if (fixed == nullptr) return false;  // variable-length array
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
      } else if (made != nullptr && kind == "std::unique_ptr" && first &&
                 made->getTemplateArgs()[0].getAsType()->isArrayType()) {
        into.storage = Storage::pointer;
        into.data = host + ".get()";
        type = ast_.getAsArrayType(made->getTemplateArgs()[0].getAsType())->getElementType();
      } else if (made != nullptr && (kind == "std::vector" || kind == "std::array" || kind == "std::span")) {
        const auto& arguments = made->getTemplateArgs();
        const QualType element = arguments[0].getAsType();
        if (kind == "std::vector" && element->isBooleanType()) return false;  // stores bits
        if (first) {
          into.storage = Storage::object;
          into.data = host + ".data()";
          into.count = host + ".size()";
          if (kind == "std::array") into.length = arguments[1].getAsIntegral().getExtValue();
        } else if (kind == "std::array") {
          into.inner.push_back(arguments[1].getAsIntegral().getExtValue());
        } else {
          return false;  // rows are separate allocations
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
    } else if (const RecordDecl* in_c = type->getAsRecordDecl()) {
      std::vector<const FieldDecl*> fields;
      const QualType element = uniform_fields(in_c, fields);
      if (element.isNull() || first) return false;
      into.inner.push_back(static_cast<long>(fields.size()));
      into.constant |= type.isConstQualified();
      type = element;
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

// True if its value may change through another name.
bool Reader::reachable(const ValueDecl* decl) const {
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr || var->getType()->isReferenceType()) return true;
  if (var->getType().isConstQualified()) return false;
  return var->hasGlobalStorage() || escaped_.count(var) > 0;
}

void Reader::has_home(Variable& v, const Path& at) const {
  if (!at.reachable || scope_->in_function) return;
  v.home = "&" + (at.spelled ? at.host : at.object);
  v.home_bytes =
      at.spelled && !v.array() ? std::to_string(v.bytes) : "sizeof(" + (at.spelled ? at.host : at.object) + ")";
  const auto* base = dyn_cast<VarDecl>(at.base);
  if (base == nullptr) return;
  const bool leads = base->getType()->isReferenceType() || base->getType()->isPointerType();
  if (base->hasGlobalStorage() && !leads) v.home_in = Variable::Home::outside;
  if (isa<ParmVarDecl>(base) && leads && changed_in_function_.count(base) == 0) v.home_in = Variable::Home::outside;
  if (base->hasLocalStorage() && !leads) v.home_in = Variable::Home::own;
}

// Refuses a variable whose name is shadowed at the nest: code inserted there refers to variables by name.
void Reader::refuse_shadowed(const ValueDecl* decl, const Stmt* at) const {
  if (scope_->root == nullptr || scope_->in_function || !decl->getDeclName().isIdentifier()) return;
  const ValueDecl* last = nullptr;
  const auto look = [&](const Stmt* s) {
    if (const auto* d = dyn_cast_or_null<DeclStmt>(s))
      for (const Decl* one : d->decls())
        if (const auto* v = dyn_cast<ValueDecl>(one); v != nullptr && v->getDeclName() == decl->getDeclName()) last = v;
  };
  for (const Frame& frame : around_) {
    if (const auto* block = dyn_cast<CompoundStmt>(frame.s)) {
      std::size_t i = 0;
      for (const Stmt* s : block->body())
        if (i++ < frame.next && s != scope_->root) look(s);
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

int Reader::variable(const ValueDecl* decl, const Stmt* at) {
  if (const auto it = scope_->variables.find(decl); it != scope_->variables.end()) return it->second;
  const auto* var = dyn_cast<VarDecl>(decl);
  if (var == nullptr) refuse(at, decl->getNameAsString() + " is not a variable");
  refuse_shadowed(decl, at);
  Variable v;
  v.host = var->getNameAsString();
  v.type = type_text(var->getType());
  v.parameter = isa<ParmVarDecl>(var);
  v.captured = captured_.count(var) > 0;
  v.global = var->hasGlobalStorage();
  v.line = line(var->getLocation());
  const QualType type = var->getType();
  if (type.getNonReferenceType().isVolatileQualified()) refuse(at, v.host + " is volatile");
  if (var->getTLSKind() != VarDecl::TLS_None) refuse(at, v.host + " is thread_local");
  if (const auto number = dialect(type.getNonReferenceType())) {
    v.element = number->name;
    v.host_element = type_text(type.getNonReferenceType().getUnqualifiedType());
    v.bytes = number->bytes;
    v.integer = number->integer;
    v.is_unsigned = number->is_unsigned;
    v.constant = type.getNonReferenceType().isConstQualified();
    v.storage = type->isReferenceType() ? Storage::reference : Storage::scalar;
    if (type->isReferenceType() && !v.parameter)
      refuse(at, "the reference " + v.host + " refers to an unknown variable or array element");
    v.outlives = v.global || type->isReferenceType();
  } else {
    if (!shape(type, v)) refuse(at, v.host + " of type " + v.type + " is not supported" + why_not_array(type));
    if (type->isPointerType() && (scope_->in_function ? !v.parameter : scope_->changed.count(decl) > 0))
      refuse(at, "the pointer " + v.host + " changes in the loop: it must point to one known array element");
    if (type->isReferenceType() && !v.parameter) refuse(at, "the reference " + v.host + " refers to an unknown object");
    if (v.parameter && v.storage == Storage::object && !type->isReferenceType() && class_of(type) != "std::span" &&
        !scope_->in_function)
      refuse(at, v.host + " is passed by value: take it by reference");
    v.outlives = v.global || type->isReferenceType() || v.storage == Storage::pointer ||
                 v.type.find("span") != std::string::npos;
    v.given = v.parameter && changed_in_function_.count(decl) == 0;
  }
  if (!v.array() || v.storage == Storage::pointer || (v.storage == Storage::object && v.length < 0))
    has_home(v, {var, v.host, v.host, false, reachable(var), true, v.host});
  v.name = unique(v.host);
  scope_->nest.variables.push_back(v);
  return scope_->variables[decl] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

// A number without a variable of its own: v.size(), window.radius.
int Reader::pseudo(const std::string& host, const std::string& name, QualType type, const Stmt* at,
                   const std::optional<Path>& part_of) {
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
  if (part_of) has_home(v, *part_of);
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
      throw Refused{line(decl->getLocation()), "", "the local " + v.host + " of type " + v.type + " is not supported"};
    v = probe;
    if (v.length * v.bytes > 4096)
      throw Refused{line(decl->getLocation()), "",
                    "the local array " + v.host + " has " + std::to_string(v.length * v.bytes) +
                        " bytes: a work-item holds 4096 at most"};
    v.local_memory = true;
  }
  v.name = unique(v.host);
  v.line = line(decl->getLocation());
  scope_->nest.variables.push_back(v);
  return scope_->variables[decl] = static_cast<int>(scope_->nest.variables.size()) - 1;
}

}  // namespace ridge::place::frontend
