// OpenCV images (cv::Mat): rows with a step between them, elements of the type named by at and ptr. Copies of a Mat
// share their elements, so overlap is tested by address at run time.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "place/frontend/values.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

bool is_mat(QualType type) { return class_of(type) == "cv::Mat" || class_of(type) == "cv::Mat_"; }

// The image that is passed to a library function: without conversions, and without cv::InputArray around it.
const Expr* image_passed(const Expr* e) {
  while (true) {
    const Expr* inner = e->IgnoreParens()->IgnoreImplicit();
    if (inner != e) {
      e = inner;
      continue;
    }
    const auto* made = dyn_cast<CXXConstructExpr>(e);
    if (made == nullptr || made->getNumArgs() == 0) return e;
    const std::string kind = class_of(made->getType());
    const bool wraps = kind == "cv::_InputArray" || kind == "cv::_OutputArray" || kind == "cv::_InputOutputArray";
    const bool copies = kind == "cv::Mat" && made->getConstructor()->isCopyOrMoveConstructor();
    if (!wraps && !copies) return e;
    e = made->getArg(0);
  }
}

namespace {

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

std::string kernel_name(std::string host) {
  for (char& c : host)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  while (!host.empty() && host.back() == '_') host.pop_back();
  return host;
}

// rows or cols of an image; null for other expressions.
const MemberExpr* size_asked(const Expr* e, bool& rows) {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  if (member == nullptr || member->isArrow() || !is_mat(member->getBase()->getType())) return nullptr;
  const std::string name = member->getMemberDecl()->getNameAsString();
  rows = name == "rows";
  return rows || name == "cols" ? member : nullptr;
}

Index plus(const Index& a, const Index& b) {
  if (a.text.empty() || a.text == "0") return b;
  Index sum;
  if (a.value && b.value) sum.value = a.value->plus(*b.value);
  sum.text = wrapped(a.text) + " + " + wrapped(b.text);
  return sum;
}

}  // namespace

// The image that an expression names: a variable, an element of a std::vector<cv::Mat> with a known subscript, the
// argument of a function read in place, or a rectangle of one of these.
std::optional<Image> Images::image(const Expr* e, Effects& fx) {
  e = image_passed(e);
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e)) {
    if (call->getOperator() == OO_Call && is_mat(call->getArg(0)->getType())) return rectangle(call, fx);
    const ValueDecl* list = call->getOperator() == OO_Subscript ? referred(call->getArg(0)) : nullptr;
    if (list == nullptr || class_of(list->getType()) != "std::vector" || !is_mat(e->getType())) return {};
    std::vector<Poly> needed;
    const auto at = tree_.poly(call->getArg(1), needed);
    const auto k = at && needed.empty() ? at->value() : std::nullopt;
    if (!k) refuse(e, "the image " + source(e) + " differs between iterations: its subscript must be a constant");
    if (scope_.changed.count(list) > 0) refuse(e, list->getNameAsString() + " changes inside the loop");
    scope_.refuse_shadowed(list, e);
    const std::string host = qualified_name(list) + "[" + std::to_string(*k) + "]";
    return Image{list, host, kernel_name(host), false, {}, {}, {}, {}, {}};
  }
  const ValueDecl* decl = referred(e);
  if (decl == nullptr || !isa<VarDecl>(decl) || !is_mat(decl->getType())) return {};
  if (const auto known = scope_.images.find(decl); known != scope_.images.end()) return known->second;
  if (scope_.inlined > 0 && !isa<ParmVarDecl>(decl) && facts_.function != decl->getDeclContext())
    refuse(e, "an image that a called function declares is not supported: " + source(e));
  if (scope_.references.count(decl) > 0) refuse(e, "the cv::Mat " + source(e) + " is not a variable");
  if (decl->getType()->isReferenceType() && !isa<ParmVarDecl>(decl))
    refuse(e, "the cv::Mat " + decl->getNameAsString() + " is a reference to an unknown object");
  const std::string host = qualified_name(decl);
  return Image{decl, host, decl->getNameAsString(), false, {}, {}, {}, {}, {}};
}

// m(rows, columns) with two cv::Range, or m(cv::Rect).
std::optional<Image> Images::rectangle(const CXXOperatorCallExpr* call, Effects& fx) {
  auto whole = image(call->getArg(0), fx);
  if (!whole) return {};
  Index top, left, rows, cols;
  const auto difference = [](const Component& to, const Component& from) {
    Index d;
    if (to.value && from.value) d.value = to.value->plus(*from.value, -1);
    d.text = wrapped(to.text) + " - " + wrapped(from.text);
    return d;
  };
  if (call->getNumArgs() == 3 && class_of(call->getArg(1)->getType()) == "cv::Range") {
    const auto down = tree_.components(call->getArg(1), fx), across = tree_.components(call->getArg(2), fx);
    if (!down || !across) refuse(call, "the rectangle " + source(call) + " is not supported");
    top = {(*down)[0].value, (*down)[0].text};
    left = {(*across)[0].value, (*across)[0].text};
    rows = difference((*down)[1], (*down)[0]);
    cols = difference((*across)[1], (*across)[0]);
  } else if (call->getNumArgs() == 2 && class_of(call->getArg(1)->getType()) == "cv::Rect_") {
    const auto box = tree_.components(call->getArg(1), fx);
    if (!box) refuse(call, "the rectangle " + source(call) + " is not supported");
    left = {(*box)[0].value, (*box)[0].text};
    top = {(*box)[1].value, (*box)[1].text};
    cols = {(*box)[2].value, (*box)[2].text};
    rows = {(*box)[3].value, (*box)[3].text};
  } else {
    return {};
  }
  if (!top.value || !left.value || !rows.value || !cols.value)
    refuse(call, "the rectangle " + source(call) + " has no closed form");
  const auto extent = [&](const char* side) {
    const Path at{whole->decl, whole->host + "." + side,      whole->name + "_" + side,
                  false,       facts_.reachable(whole->decl), true,
                  whole->host};
    return Poly::symbol(scope_.symbol(scope_.pseudo(at.host, at.name, ast_.IntTy, call, at)));
  };
  const Poly height = whole->part ? *whole->rows.value : extent("rows"),
             width = whole->part ? *whole->cols.value : extent("cols");
  whole->inside.insert(whole->inside.end(), {*top.value, *left.value, height.plus(*top.value, -1).plus(*rows.value, -1),
                                             width.plus(*left.value, -1).plus(*cols.value, -1)});
  whole->top = plus(whole->top, top);
  whole->left = plus(whole->left, left);
  whole->rows = rows;
  whole->cols = cols;
  whole->part = true;
  return whole;
}

std::optional<Index> Images::size_of_part(const Expr* e) const {
  bool rows = false;
  const MemberExpr* member = size_asked(e, rows);
  const ValueDecl* decl = member != nullptr ? referred(member->getBase()) : nullptr;
  const auto known = decl != nullptr ? scope_.images.find(decl) : scope_.images.end();
  if (known == scope_.images.end() || !known->second.part) return {};
  return rows ? known->second.rows : known->second.cols;
}

// Mat m(h, w, CV_32F): m.rows is h. Tested before the nest, because a library function may have given it another size.
std::optional<Poly> Images::size_when_made(const Expr* e) {
  bool rows = false;
  const MemberExpr* member = size_asked(e, rows);
  const ValueDecl* decl = member != nullptr ? referred(member->getBase()) : nullptr;
  if (decl == nullptr || !scope_.tested) return {};
  if (const auto known = scope_.images.find(decl); known != scope_.images.end()) {
    if (known->second.part || known->second.host != qualified_name(known->second.decl)) return {};
    decl = known->second.decl;
  }
  const auto* var = dyn_cast<VarDecl>(decl);
  const auto* made =
      var != nullptr && var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  if (made == nullptr || isa<ParmVarDecl>(var) || var->hasGlobalStorage() || class_of(var->getType()) != "cv::Mat" ||
      made->getNumArgs() != 3 || facts_.changed.count(var) > 0)
    return {};
  for (const Expr* a : made->arguments())
    if (!a->getType()->isIntegerType()) return {};
  const Expr* given = made->getArg(rows ? 0 : 1);
  if (!facts_.fixed_operands(given, facts_.changed) || !facts_.settled(given)) return {};
  std::vector<Poly> needed;
  const auto size = tree_.poly(given, needed);
  if (!size || !needed.empty() || !size->affine()) return {};
  const std::string host = decl->getNameAsString() + (rows ? ".rows" : ".cols");
  const int now =
      scope_.pseudo(host, kernel_name(host), ast_.IntTy, e,
                    Path{decl, host, kernel_name(host), false, facts_.reachable(decl), true, decl->getNameAsString()});
  scope_.assume(Condition{{{Poly::symbol(scope_.symbol(now)).plus(*size, -1), true}}},
                host + " is the size given in line " + std::to_string(line(var->getLocation())));
  return size;
}

int Images::mat(const Image& image, QualType element, const Expr* at) {
  const std::string &host = image.host, type = type_text(element.getUnqualifiedType());
  const ValueDecl* decl = image.decl;
  if (scope_.changed.count(decl) > 0) refuse(at, host + " changes inside the loop");
  if (facts_.in_function) refuse(at, "a cv::Mat in a function called from a loop is not supported here");
  if (const auto it = mats.find(host); it != mats.end()) {
    if (it->second.element != type)
      refuse(at, host + " is accessed with two element types, " + it->second.element + " and " + type);
    return it->second.variable;
  }
  Variable v;
  v.host = host;
  v.type = type_text(decl->getType());
  v.storage = Storage::object;
  v.shares = true;
  QualType number = element;
  std::string each;
  if (class_of(element) == "cv::Vec") {
    const auto& arguments = cast<ClassTemplateSpecializationDecl>(element->getAsCXXRecordDecl())->getTemplateArgs();
    number = arguments[0].getAsType();
    v.inner.push_back(arguments[1].getAsIntegral().getExtValue());
    each = " * " + std::to_string(v.inner[0]);
  }
  if (!fill_number(number, v)) refuse(at, host + " with elements of type " + type + " is not supported");
  const auto* var = dyn_cast<VarDecl>(decl);
  const auto* made =
      var != nullptr && var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  const bool fresh = made != nullptr && made->getNumArgs() == 3 && made->getArg(2)->getType()->isIntegerType() &&
                     class_of(var->getType()) == "cv::Mat" && var->hasLocalStorage() && !isa<ParmVarDecl>(var);
  v.outlives = !fresh || !keeps_memory(facts_.function->getBody(), decl, 0);
  scope_.refuse_shadowed(decl, at);
  scope_.has_home(v, {decl, host, image.name, false, facts_.reachable(decl), true, host});
  v.data = "reinterpret_cast<" + v.host_element + "*>(" + host + ".data)";
  const std::string stride = "static_cast<long>(" + host + ".step / sizeof(" + type + "))";
  v.count = "(" + host + ".rows > 0 ? (" + host + ".rows - 1) * " + stride + " + " + host + ".cols : 0)" + each;
  v.name = scope_.unique(image.name);
  v.line = line(decl->getLocation());
  const int which = scope_.add(v);
  mats[host] = {which, type, decl};
  // The row step must be a multiple of the element size.
  const int odd = scope_.pseudo("static_cast<long>(" + host + ".step % sizeof(" + type + "))", image.name + "_odd",
                                ast_.LongTy, at);
  scope_.assume(Condition{{{Poly::symbol(scope_.symbol(odd)), true}}},
                "the row step of " + host + " is a multiple of its element size");
  return which;
}

Place Images::mat_place(const Expr* object, QualType element, const Expr* row, const Expr* column, const Expr* at,
                        Effects& fx) {
  const auto named = image(object, fx);
  if (!named) refuse(at, "the cv::Mat " + source(object) + " is not a variable");
  Place p;
  p.variable = mat(*named, element, at);
  p.not_negative = named->inside;
  const Variable v = scope_.nest.variables[p.variable];
  Index result{Poly::constant(0), "0"};
  if (row != nullptr || named->part) {
    const Index given = row != nullptr ? index(row, fx, p.not_negative) : Index{Poly::constant(0), "0"};
    const Index r = named->part ? plus(named->top, given) : given;
    const int stride = scope_.pseudo(
        "static_cast<long>(" + v.host + ".step / sizeof(" + mats[v.host].element + "))", v.name + "_stride",
        ast_.LongTy, at, Path{named->decl, v.host, v.name, false, facts_.reachable(named->decl), false, v.host});
    fx.read(stride, line(at));
    if (r.value)
      result.value = r.value->times(Poly::symbol(scope_.symbol(stride)));
    else
      result.value.reset();
    result.text = wrapped(r.text) + " * " + scope_.nest.variables[stride].name;
  }
  if (column != nullptr || named->part) {
    const Index given = column != nullptr ? index(column, fx, p.not_negative) : Index{Poly::constant(0), "0"};
    const Index c = named->part ? plus(named->left, given) : given;
    if (result.value && c.value)
      result.value = result.value->plus(*c.value);
    else
      result.value.reset();
    result.text += " + " + wrapped(c.text);
  }
  p.indices.push_back(result);
  return p;
}

std::optional<Place> Images::mat_element(const Expr* e, Effects& fx) {
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const Expr* object = call->getImplicitObjectArgument()->IgnoreParenImpCasts();
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
    return mat_place(call->getArg(0)->IgnoreParenImpCasts(),
                     element_of(call->getArg(0)->IgnoreParenImpCasts(), nullptr), call->getArg(1), call->getArg(2), e,
                     fx);
  }
  return {};
}

std::optional<Place> Images::mat_row(const Expr* e, Effects& fx) {
  if (const auto* call = dyn_cast<CXXMemberCallExpr>(e); call != nullptr && call->getMethodDecl() != nullptr) {
    const Expr* object = call->getImplicitObjectArgument()->IgnoreParenImpCasts();
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
    return mat_place(call->getArg(0)->IgnoreParenImpCasts(),
                     element_of(call->getArg(0)->IgnoreParenImpCasts(), nullptr), call->getArg(1), nullptr, e, fx);
  return {};
}

// Element type of an image: from its uses by at and ptr in the function, or from the constant with which it was made.
std::optional<QualType> Images::element_used(const Expr* object) const {
  const ValueDecl* decl = referred(image_passed(object));
  if (decl == nullptr) return {};
  if (const auto known = scope_.images.find(decl); known != scope_.images.end()) {
    if (known->second.host != qualified_name(known->second.decl)) return {};
    decl = known->second.decl;
  }
  if (const auto known = mats.find(qualified_name(decl)); known != mats.end())
    return known->second.element == "float"    ? std::optional(ast_.FloatTy)
           : known->second.element == "double" ? std::optional(ast_.DoubleTy)
                                               : std::nullopt;
  const auto* var = dyn_cast<VarDecl>(decl);
  const auto* made =
      var != nullptr && var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  Expr::EvalResult type;
  const QualType single = ast_.FloatTy, twice = ast_.DoubleTy;
  if (made != nullptr && made->getNumArgs() == 3 && made->getArg(2)->EvaluateAsInt(type, ast_)) {
    if (type.Val.getInt() == 5) return single;  // CV_32F
    if (type.Val.getInt() == 6) return twice;   // CV_64F
  }
  std::optional<QualType> found;
  visit(facts_.function->getBody(), [&](const Stmt* s) {
    const auto* call = dyn_cast<CXXMemberCallExpr>(s);
    const CXXMethodDecl* method = call != nullptr ? call->getMethodDecl() : nullptr;
    if (method == nullptr || referred(call->getImplicitObjectArgument()) != decl) return;
    const TemplateArgumentList* arguments = method->getTemplateSpecializationArgs();
    if (arguments == nullptr || arguments->size() == 0 || arguments->get(0).getKind() != TemplateArgument::Type) return;
    const QualType each = arguments->get(0).getAsType().getCanonicalType().getUnqualifiedType();
    if (each == single || each == twice) found = each;
  });
  return found;
}

}  // namespace ridge::place::frontend
