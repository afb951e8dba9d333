// OpenCV images (cv::Mat): rows with a step between them, elements of the type named by at and ptr. Copies of a Mat
// share their elements, so overlap is tested by address at run time.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "place/frontend/reader.hpp"
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

const Expr* object_of(const Expr* e) { return e->IgnoreParenImpCasts(); }

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

void Reader::assume(const Condition& holds, const std::string& text) {
  auto& texts = scope_->nest.assumption_texts;
  if (std::find(texts.begin(), texts.end(), text) != texts.end()) return;
  scope_->nest.assumptions.push_back(holds);
  texts.push_back(text);
}

// The image that an expression names: a variable, an element of a std::vector<cv::Mat> with a known subscript, the
// argument of a function read in place, or a rectangle of one of these.
std::optional<Image> Reader::image(const Expr* e, Effects& fx) {
  e = image_passed(e);
  if (const auto* call = dyn_cast<CXXOperatorCallExpr>(e)) {
    if (call->getOperator() == OO_Call && is_mat(call->getArg(0)->getType())) return rectangle(call, fx);
    const ValueDecl* list = call->getOperator() == OO_Subscript ? referred(call->getArg(0)) : nullptr;
    if (list == nullptr || class_of(list->getType()) != "std::vector" || !is_mat(e->getType())) return {};
    std::vector<Poly> needed;
    const auto at = poly(call->getArg(1), needed);
    const auto k = at && needed.empty() ? at->value() : std::nullopt;
    if (!k) refuse(e, "the image " + source(e) + " differs between iterations: its subscript must be a constant");
    if (scope_->changed.count(list) > 0) refuse(e, list->getNameAsString() + " changes inside the loop");
    refuse_shadowed(list, e);
    const std::string host = list->getNameAsString() + "[" + std::to_string(*k) + "]";
    return Image{list, host, kernel_name(host), false, {}, {}, {}, {}, {}};
  }
  const ValueDecl* decl = referred(e);
  if (decl == nullptr || !isa<VarDecl>(decl) || !is_mat(decl->getType())) return {};
  if (const auto known = scope_->images.find(decl); known != scope_->images.end()) return known->second;
  if (scope_->inlined > 0 && !isa<ParmVarDecl>(decl) && function_ != decl->getDeclContext())
    refuse(e, "an image that a called function declares is not supported: " + source(e));
  if (scope_->references.count(decl) > 0) refuse(e, "the cv::Mat " + source(e) + " is not a variable");
  if (decl->getType()->isReferenceType() && !isa<ParmVarDecl>(decl))
    refuse(e, "the cv::Mat " + decl->getNameAsString() + " is a reference to an unknown object");
  const std::string host = decl->getNameAsString();
  return Image{decl, host, host, false, {}, {}, {}, {}, {}};
}

// m(rows, columns) with two cv::Range, or m(cv::Rect).
std::optional<Image> Reader::rectangle(const CXXOperatorCallExpr* call, Effects& fx) {
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
    const auto down = components(call->getArg(1), fx), across = components(call->getArg(2), fx);
    if (!down || !across) refuse(call, "the rectangle " + source(call) + " is not supported");
    top = {(*down)[0].value, (*down)[0].text};
    left = {(*across)[0].value, (*across)[0].text};
    rows = difference((*down)[1], (*down)[0]);
    cols = difference((*across)[1], (*across)[0]);
  } else if (call->getNumArgs() == 2 && class_of(call->getArg(1)->getType()) == "cv::Rect_") {
    const auto box = components(call->getArg(1), fx);
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
    const Path at{whole->decl, whole->host + "." + side, whole->name + "_" + side, false, reachable(whole->decl), true,
                  whole->host};
    return Poly::symbol(symbol(pseudo(at.host, at.name, ast_.IntTy, call, at)));
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

std::optional<Index> Reader::size_of_part(const Expr* e) const {
  bool rows = false;
  const MemberExpr* member = size_asked(e, rows);
  const ValueDecl* decl = member != nullptr ? referred(member->getBase()) : nullptr;
  const auto known = decl != nullptr ? scope_->images.find(decl) : scope_->images.end();
  if (known == scope_->images.end() || !known->second.part) return {};
  return rows ? known->second.rows : known->second.cols;
}

// Mat m(h, w, CV_32F): m.rows is h. Tested before the nest, because a library function may have given it another size.
std::optional<Poly> Reader::size_when_made(const Expr* e) {
  bool rows = false;
  const MemberExpr* member = size_asked(e, rows);
  const ValueDecl* decl = member != nullptr ? referred(member->getBase()) : nullptr;
  if (decl == nullptr || !scope_->tested) return {};
  if (const auto known = scope_->images.find(decl); known != scope_->images.end()) {
    if (known->second.part || known->second.host != known->second.decl->getNameAsString()) return {};
    decl = known->second.decl;
  }
  const auto* var = dyn_cast<VarDecl>(decl);
  const auto* made =
      var != nullptr && var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  if (made == nullptr || isa<ParmVarDecl>(var) || var->hasGlobalStorage() || class_of(var->getType()) != "cv::Mat" ||
      made->getNumArgs() != 3 || changed_in_function_.count(var) > 0)
    return {};
  for (const Expr* a : made->arguments())
    if (!a->getType()->isIntegerType()) return {};
  const Expr* given = made->getArg(rows ? 0 : 1);
  if (!fixed_operands(given, changed_in_function_) || !settled(given)) return {};
  std::vector<Poly> needed;
  const auto size = poly(given, needed);
  if (!size || !needed.empty() || !size->affine()) return {};
  const std::string host = decl->getNameAsString() + (rows ? ".rows" : ".cols");
  const int now = pseudo(host, kernel_name(host), ast_.IntTy, e,
                         Path{decl, host, kernel_name(host), false, reachable(decl), true, decl->getNameAsString()});
  assume(Condition{{{Poly::symbol(symbol(now)).plus(*size, -1), true}}},
         host + " is the size given in line " + std::to_string(line(var->getLocation())));
  return size;
}

// True if an image variable is used only through its elements and its size, so that nothing else refers to its memory:
// as an argument of functions for which the same holds, and of modelled library functions.
bool Reader::keeps_memory(const Stmt* body, const ValueDecl* image, int depth) const {
  if (depth > 4 || body == nullptr) return false;
  std::set<const Stmt*> known;
  bool all = true;
  const auto know = [&](const Expr* e) {
    e = image_passed(e);
    if (const auto* part = dyn_cast<CXXOperatorCallExpr>(e);
        part != nullptr && part->getOperator() == OO_Call && is_mat(part->getArg(0)->getType()))
      e = part->getArg(0)->IgnoreParenImpCasts();
    known.insert(e);
  };
  visit(body, [&](const Stmt* s) {
    if (const auto* member = dyn_cast<MemberExpr>(s); member != nullptr && is_mat(member->getBase()->getType())) {
      static const std::set<std::string> harmless{"rows", "cols",  "step",     "at",    "ptr",   "type",    "size",
                                                  "dims", "depth", "channels", "total", "empty", "elemSize"};
      if (harmless.count(member->getMemberDecl()->getNameAsString()) > 0)
        known.insert(member->getBase()->IgnoreParenImpCasts());
    }
    const auto* call = dyn_cast<CallExpr>(s);
    std::vector<const Expr*> actuals;
    if (call != nullptr && is_modelled(call, actuals)) {
      for (const Expr* a : actuals) know(a);
    } else if (call != nullptr && !isa<CXXMemberCallExpr, CXXOperatorCallExpr>(call)) {
      const FunctionDecl* definition = nullptr;
      const FunctionDecl* callee = call->getDirectCallee();
      if (callee != nullptr && callee->hasBody(definition) &&
          ast_.getSourceManager().isInMainFile(definition->getLocation()))
        for (unsigned i = 0; i < call->getNumArgs() && i < definition->getNumParams(); ++i)
          if (is_mat(definition->getParamDecl(i)->getType()) && referred(call->getArg(i)) == image &&
              keeps_memory(definition->getBody(), definition->getParamDecl(i), depth + 1))
            know(call->getArg(i));
    }
    if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && ref->getDecl() == image)
      all = all && known.count(s) > 0;  // a parent is visited before its children
  });
  return all;
}

int Reader::mat(const Image& image, QualType element, const Expr* at) {
  const std::string &host = image.host, type = type_text(element.getUnqualifiedType());
  const ValueDecl* decl = image.decl;
  if (scope_->changed.count(decl) > 0) refuse(at, host + " changes inside the loop");
  if (scope_->in_function) refuse(at, "a cv::Mat in a function called from a loop is not supported here");
  if (const auto it = scope_->mats.find(host); it != scope_->mats.end()) {
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
  const auto known = dialect(number);
  if (!known) refuse(at, host + " with elements of type " + type + " is not supported");
  v.element = known->name;
  v.host_element = type_text(number.getUnqualifiedType());
  v.bytes = known->bytes;
  v.integer = known->integer;
  v.is_unsigned = known->is_unsigned;
  const auto* var = dyn_cast<VarDecl>(decl);
  const auto* made =
      var != nullptr && var->hasInit() ? dyn_cast<CXXConstructExpr>(var->getInit()->IgnoreImplicit()) : nullptr;
  const bool fresh = made != nullptr && made->getNumArgs() == 3 && made->getArg(2)->getType()->isIntegerType() &&
                     class_of(var->getType()) == "cv::Mat" && var->hasLocalStorage() && !isa<ParmVarDecl>(var);
  v.outlives = !fresh || !keeps_memory(function_->getBody(), decl, 0);
  refuse_shadowed(decl, at);
  has_home(v, {decl, host, image.name, false, reachable(decl), true, host});
  v.data = "reinterpret_cast<" + v.host_element + "*>(" + host + ".data)";
  const std::string stride = "static_cast<long>(" + host + ".step / sizeof(" + type + "))";
  v.count = "(" + host + ".rows > 0 ? (" + host + ".rows - 1) * " + stride + " + " + host + ".cols : 0)" + each;
  v.name = unique(image.name);
  v.line = line(decl->getLocation());
  scope_->nest.variables.push_back(v);
  const int which = static_cast<int>(scope_->nest.variables.size()) - 1;
  scope_->mats[host] = {which, type, decl};
  // The row step must be a multiple of the element size.
  const int odd =
      pseudo("static_cast<long>(" + host + ".step % sizeof(" + type + "))", image.name + "_odd", ast_.LongTy, at);
  assume(Condition{{{Poly::symbol(symbol(odd)), true}}},
         "the row step of " + host + " is a multiple of its element size");
  return which;
}

Place Reader::mat_place(const Expr* object, QualType element, const Expr* row, const Expr* column, const Expr* at,
                        Effects& fx) {
  const auto named = image(object, fx);
  if (!named) refuse(at, "the cv::Mat " + source(object) + " is not a variable");
  Place p;
  p.variable = mat(*named, element, at);
  p.not_negative = named->inside;
  const Variable v = scope_->nest.variables[p.variable];
  Index result{Poly::constant(0), "0"};
  if (row != nullptr || named->part) {
    const Index given = row != nullptr ? index(row, fx, p.not_negative) : Index{Poly::constant(0), "0"};
    const Index r = named->part ? plus(named->top, given) : given;
    const int stride = pseudo("static_cast<long>(" + v.host + ".step / sizeof(" + scope_->mats[v.host].element + "))",
                              v.name + "_stride", ast_.LongTy, at,
                              Path{named->decl, v.host, v.name, false, reachable(named->decl), false, v.host});
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
