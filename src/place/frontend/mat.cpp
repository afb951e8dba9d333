// OpenCV images (cv::Mat): rows with a step between them, elements of the type named by at and ptr. Copies of a Mat
// share their elements, so overlap is tested by address at run time.
#include <clang/AST/DeclTemplate.h>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

bool is_mat(QualType type) { return class_of(type) == "cv::Mat" || class_of(type) == "cv::Mat_"; }

// Element type: T of Mat_<T>, at<T> or ptr<T>.
QualType element_of(const Expr* object, const FunctionDecl* method) {
  const auto* record =
      dyn_cast_or_null<ClassTemplateSpecializationDecl>(object->getType().getNonReferenceType()->getAsCXXRecordDecl());
  if (record != nullptr && class_of(object->getType()) == "cv::Mat_" &&
      record->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
    return record->getTemplateArgs()[0].getAsType();
  const TemplateArgumentList* arguments = method != nullptr ? method->getTemplateSpecializationArgs() : nullptr;
  if (arguments == nullptr || arguments->size() == 0 || arguments->get(0).getKind() != TemplateArgument::Type)
    return {};
  return arguments->get(0).getAsType();
}

const Expr* object_of(const Expr* e) { return e->IgnoreParenImpCasts(); }

}  // namespace

int Reader::mat(const ValueDecl* decl, QualType element, const Expr* at) {
  const std::string host = decl->getNameAsString(), type = type_text(element.getUnqualifiedType());
  if (scope_->changed.count(decl) > 0) refuse(at, host + " changes inside the loop");
  if (isa<ParmVarDecl>(decl) && !decl->getType()->isReferenceType())
    refuse(at, host + " is passed by value: take it by reference");
  if (scope_->in_function) refuse(at, "a cv::Mat in a function called from a loop is not supported");
  if (const auto it = scope_->mats.find(decl); it != scope_->mats.end()) {
    if (it->second.second != type)
      refuse(at, host + " is accessed with two element types, " + it->second.second + " and " + type);
    return it->second.first;
  }
  Variable v;
  v.host = host;
  v.type = type_text(decl->getType());
  v.storage = Storage::object;
  QualType number = element;
  std::string each;
  if (class_of(element) == "cv::Vec") {
    const auto& arguments = cast<ClassTemplateSpecializationDecl>(element->getAsCXXRecordDecl())->getTemplateArgs();
    number = arguments[0].getAsType();
    v.inner.push_back(arguments[1].getAsIntegral().getExtValue());
    each = " * " + std::to_string(v.inner[0]);
  }
  const auto known = dialect(number);
  if (!known) refuse(at, host + " with elements of type " + type + " is not supported");
  v.element = known->name;
  v.host_element = type_text(number.getUnqualifiedType());
  v.bytes = known->bytes;
  v.integer = known->integer;
  v.is_unsigned = known->is_unsigned;
  v.outlives = true;
  refuse_shadowed(decl, at);
  has_home(v, {decl, host, host, false, reachable(decl), true, host});
  v.data = "reinterpret_cast<" + v.host_element + "*>(" + host + ".data)";
  const std::string stride = "static_cast<long>(" + host + ".step / sizeof(" + type + "))";
  v.count = "(" + host + ".rows > 0 ? (" + host + ".rows - 1) * " + stride + " + " + host + ".cols : 0)" + each;
  v.name = unique(host);
  v.line = line(decl->getLocation());
  scope_->nest.variables.push_back(v);
  const int which = static_cast<int>(scope_->nest.variables.size()) - 1;
  scope_->mats[decl] = {which, type};
  // The row step must be a multiple of the element size.
  const int odd = pseudo("static_cast<long>(" + host + ".step % sizeof(" + type + "))", host + "_odd", ast_.LongTy, at);
  scope_->nest.assumptions.push_back(Condition{{{Poly::symbol(symbol(odd)), true}}});
  scope_->nest.assumption_texts.push_back("the row step of " + host + " is a multiple of its element size");
  return which;
}

Place Reader::mat_place(const Expr* object, QualType element, const Expr* row, const Expr* column, const Expr* at,
                        Effects& fx) {
  const ValueDecl* decl = referred(object);
  if (decl == nullptr || !isa<VarDecl>(decl) || scope_->references.count(decl) > 0)
    refuse(at, "the cv::Mat " + source(object) + " is not a variable");
  if (decl->getType()->isReferenceType() && !isa<ParmVarDecl>(decl))
    refuse(at, "the cv::Mat " + decl->getNameAsString() + " is a reference to an unknown object");
  Place p;
  p.variable = mat(decl, element, at);
  const Variable v = scope_->nest.variables[p.variable];
  Index result{Poly::constant(0), "0"};
  if (row != nullptr) {
    const Index r = index(row, fx, p.not_negative);
    const int stride =
        pseudo("static_cast<long>(" + v.host + ".step / sizeof(" + scope_->mats[decl].second + "))", v.name + "_stride",
               ast_.LongTy, at, Path{decl, v.host, v.host, false, reachable(decl), false, v.host});
    Access a;
    a.variable = stride;
    a.line = line(at);
    fx.accesses.push_back(a);
    if (r.value)
      result.value = r.value->times(Poly::symbol(symbol(stride)));
    else
      result.value.reset();
    result.text = wrapped(r.text) + " * " + scope_->nest.variables[stride].name;
  }
  if (column != nullptr) {
    const Index c = index(column, fx, p.not_negative);
    if (result.value && c.value)
      result.value = result.value->plus(*c.value);
    else
      result.value.reset();
    result.text += " + " + wrapped(c.text);
  }
  p.indices.push_back(result);
  return p;
}

std::optional<Place> Reader::mat_element(const Expr* e, Effects& fx) {
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const Expr* object = object_of(call->getImplicitObjectArgument());
    if (!is_mat(object->getType()) || !call->getMethodDecl()->getDeclName().isIdentifier() ||
        call->getMethodDecl()->getNameAsString() != "at")
      return {};
    const QualType element = element_of(object, call->getMethodDecl());
    if (element.isNull() || call->getNumArgs() != 2 || !call->getArg(0)->getType()->isIntegerType())
      refuse(e, "this overload of at is not supported: " + source(e));
    return mat_place(object, element, call->getArg(0), call->getArg(1), e, fx);
  }
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == OO_Call && class_of(call->getArg(0)->getType()) == "cv::Mat_") {
    if (call->getNumArgs() != 3 || !call->getArg(1)->getType()->isIntegerType())
      refuse(e, "this use of a cv::Mat_ is not supported: " + source(e));
    return mat_place(object_of(call->getArg(0)), element_of(object_of(call->getArg(0)), nullptr), call->getArg(1),
                     call->getArg(2), e, fx);
  }
  return {};
}

std::optional<Place> Reader::mat_row(const Expr* e, Effects& fx) {
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const Expr* object = object_of(call->getImplicitObjectArgument());
    if (!is_mat(object->getType()) || !call->getMethodDecl()->getDeclName().isIdentifier() ||
        call->getMethodDecl()->getNameAsString() != "ptr")
      return {};
    const QualType element = element_of(object, call->getMethodDecl());
    unsigned given = 0;
    for (const Expr* a : call->arguments()) given += isa<CXXDefaultArgExpr>(a) ? 0 : 1;
    if (element.isNull() || given > 1) refuse(e, "this overload of ptr is not supported: " + source(e));
    return mat_place(object, element, given == 1 ? call->getArg(0) : nullptr, nullptr, e, fx);
  }
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e);
      call != nullptr && call->getOperator() == OO_Subscript && class_of(call->getArg(0)->getType()) == "cv::Mat_")
    return mat_place(object_of(call->getArg(0)), element_of(object_of(call->getArg(0)), nullptr), call->getArg(1),
                     nullptr, e, fx);
  return {};
}

}  // namespace ridge::place::frontend
