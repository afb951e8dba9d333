// Library functions modelled as loops. A model is a C++ function in the namespace ridge_models, appended to the user's
// text when it is parsed: for cv::f(a, b) a member f of Calls<element type>, for any other library function lib::f a
// function ridge_models::lib::f with the same parameters (from the user's --models file).
#include "place/frontend/calls.hpp"

#include <clang/AST/DeclTemplate.h>
#include <llvm/Support/SaveAndRestore.h>

#include <algorithm>

#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Models for images of floating-point numbers with one channel. needs() is tested before the placed code runs: with
// other sizes OpenCV would allocate the result anew or throw.
constexpr const char* kOpenCv = R"models(
namespace ridge_models {
inline void needs(bool) {}
#define RIDGE_EACH(IMAGE) for (int y = 0; y < IMAGE.rows; ++y) for (int x = 0; x < IMAGE.cols; ++x)
#define RIDGE_SAME(A, B) needs(A.rows == B.rows && A.cols == B.cols)
#define RIDGE_TWO(NAME, VALUE) \
  static void NAME(const cv::Mat& a, const cv::Mat& b, cv::Mat& to) { \
    RIDGE_SAME(a, to); RIDGE_SAME(b, to); \
    RIDGE_EACH(to) { const T p = a.at<T>(y, x), q = b.at<T>(y, x); to.at<T>(y, x) = VALUE; } \
  }
#define RIDGE_ONE(NAME, VALUE) \
  static void NAME(const cv::Mat& a, cv::Mat& to) { \
    RIDGE_SAME(a, to); \
    RIDGE_EACH(to) { const T p = a.at<T>(y, x); to.at<T>(y, x) = VALUE; } \
  }
template <class T>
struct Calls {
  RIDGE_TWO(add, p + q)
  RIDGE_TWO(subtract, p - q)
  RIDGE_TWO(multiply, p * q)
  RIDGE_TWO(divide, p / q)
  RIDGE_TWO(absdiff, std::fabs(p - q))
  RIDGE_TWO(min, q < p ? q : p)
  RIDGE_TWO(max, p < q ? q : p)
  RIDGE_TWO(magnitude, std::sqrt(p * p + q * q))
  RIDGE_ONE(exp, std::exp(p))
  RIDGE_ONE(log, std::log(p))
  RIDGE_ONE(sqrt, std::sqrt(p))
  RIDGE_ONE(copyTo, p)
  static void pow(const cv::Mat& a, double power, cv::Mat& to) {
    RIDGE_SAME(a, to);
    RIDGE_EACH(to) to.at<T>(y, x) = std::pow(a.at<T>(y, x), static_cast<T>(power));
  }
  static void scaleAdd(const cv::Mat& a, double factor, const cv::Mat& b, cv::Mat& to) {
    RIDGE_SAME(a, to); RIDGE_SAME(b, to);
    RIDGE_EACH(to) to.at<T>(y, x) = a.at<T>(y, x) * static_cast<T>(factor) + b.at<T>(y, x);
  }
  static void addWeighted(const cv::Mat& a, double p, const cv::Mat& b, double q, double more, cv::Mat& to) {
    RIDGE_SAME(a, to); RIDGE_SAME(b, to);
    RIDGE_EACH(to) to.at<T>(y, x) = a.at<T>(y, x) * static_cast<T>(p) + b.at<T>(y, x) * static_cast<T>(q) + static_cast<T>(more);
  }
  static void setTo(cv::Mat& to, double value) { RIDGE_EACH(to) to.at<T>(y, x) = static_cast<T>(value); }
  static void operator_times(cv::Mat& to, double factor) { RIDGE_EACH(to) to.at<T>(y, x) *= static_cast<T>(factor); }
  static void operator_over(cv::Mat& to, double divisor) { RIDGE_EACH(to) to.at<T>(y, x) *= static_cast<T>(1 / divisor); }
  static void operator_plus(cv::Mat& to, const cv::Mat& a) { RIDGE_SAME(a, to); RIDGE_EACH(to) to.at<T>(y, x) += a.at<T>(y, x); }
  static void operator_minus(cv::Mat& to, const cv::Mat& a) { RIDGE_SAME(a, to); RIDGE_EACH(to) to.at<T>(y, x) -= a.at<T>(y, x); }
  static double sum(const cv::Mat& a) {
    double total = 0;
    RIDGE_EACH(a) total += a.at<T>(y, x);
    return total;
  }
  static double mean(const cv::Mat& a) {
    double total = 0;
    RIDGE_EACH(a) total += a.at<T>(y, x);
    return total / (static_cast<double>(a.rows) * a.cols);
  }
  static int countNonZero(const cv::Mat& a) {
    int count = 0;
    RIDGE_EACH(a) if (a.at<T>(y, x) != 0) count += 1;
    return count;
  }
};
template struct Calls<float>;
template struct Calls<double>;
#undef RIDGE_EACH
#undef RIDGE_SAME
#undef RIDGE_TWO
#undef RIDGE_ONE
}  // namespace ridge_models
)models";

// Names of the models in Calls.
const std::set<std::string>& names() {
  static const std::set<std::string> all{"add",
                                         "subtract",
                                         "multiply",
                                         "divide",
                                         "absdiff",
                                         "min",
                                         "max",
                                         "magnitude",
                                         "exp",
                                         "log",
                                         "sqrt",
                                         "copyTo",
                                         "pow",
                                         "setTo",
                                         "scaleAdd",
                                         "sum",
                                         "mean",
                                         "addWeighted",
                                         "operator_times",
                                         "operator_over",
                                         "operator_plus",
                                         "operator_minus",
                                         "countNonZero"};
  return all;
}

// Name of the model of an OpenCV call; "" for other calls. `actuals` are its images and numbers.
std::string opencv_model(const Expr* e, std::vector<const Expr*>& actuals) {
  const auto* call = dyn_cast<CallExpr>(e->IgnoreParens()->IgnoreImplicit());
  const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
  if (callee == nullptr) return "";
  actuals.clear();
  std::string name;
  if (const auto* operation = dyn_cast<CXXOperatorCallExpr>(call)) {
    if (operation->getNumArgs() != 2 || class_of(operation->getArg(0)->getType()) != "cv::Mat") return "";
    switch (operation->getOperator()) {
      case OO_StarEqual:
        name = "operator_times";
        break;
      case OO_SlashEqual:
        name = "operator_over";
        break;
      case OO_PlusEqual:
        name = "operator_plus";
        break;
      case OO_MinusEqual:
        name = "operator_minus";
        break;
      default:
        return "";
    }
  } else if (const auto* member = dyn_cast<CXXMemberCallExpr>(call)) {
    const CXXMethodDecl* method = member->getMethodDecl();
    if (method == nullptr || !method->getDeclName().isIdentifier() ||
        class_of(member->getImplicitObjectArgument()->getType()) != "cv::Mat")
      return "";
    name = method->getNameAsString();
    if (name != "setTo" && name != "copyTo") return "";
    actuals.push_back(member->getImplicitObjectArgument());
  } else {
    if (!callee->getDeclName().isIdentifier()) return "";
    name = callee->getNameAsString();
    if (callee->getQualifiedNameAsString() != "cv::" + name) return "";
  }
  if (names().count(name) == 0) return "";
  for (const Expr* a : call->arguments())
    if (!isa<CXXDefaultArgExpr>(a)) actuals.push_back(a);
  const bool image = std::any_of(actuals.begin(), actuals.end(),
                                 [](const Expr* a) { return class_of(image_passed(a)->getType()) == "cv::Mat"; });
  return image ? name : "";
}

const NamespaceDecl* space(const DeclContext* in, const std::string& name) {
  for (const Decl* d : in->decls())
    if (const auto* n = dyn_cast<NamespaceDecl>(d); n != nullptr && n->getNameAsString() == name) return n;
  return nullptr;
}

bool same_parameters(const FunctionDecl* a, const FunctionDecl* b) {
  if (a->getNumParams() != b->getNumParams()) return false;
  for (unsigned i = 0; i < a->getNumParams(); ++i)
    if (a->getParamDecl(i)->getType().getCanonicalType() != b->getParamDecl(i)->getType().getCanonicalType())
      return false;
  return true;
}

// A number passed as a cv::Scalar, or as it is; null for anything else.
const Expr* number_passed(const Expr* e) {
  while (true) {
    e = e->IgnoreParens()->IgnoreImplicit();
    if (e->getType()->isArithmeticType()) return e;
    if (const auto* m = dyn_cast<MaterializeTemporaryExpr>(e)) {
      e = m->getSubExpr();
    } else if (const auto* c = dyn_cast<CXXFunctionalCastExpr>(e)) {
      e = c->getSubExpr();
    } else if (const auto* made = dyn_cast<CXXConstructExpr>(e); made != nullptr && made->getNumArgs() == 1) {
      e = made->getArg(0);
    } else {
      return nullptr;
    }
  }
}

}  // namespace

std::string models_text(const std::string& users_text, const std::string& users_models, bool opencv) {
  const auto mentions = [&](const char* word) { return users_text.find(word) != std::string::npos; };
  std::string all;
  if (opencv && mentions("opencv") && mentions("Mat")) all = kOpenCv;
  if (!users_models.empty()) all += "\n#line 1 \"--models\"\n" + users_models + "\n";
  return all;
}

bool is_modelled(const Expr* e, std::vector<const Expr*>& actuals) { return !opencv_model(e, actuals).empty(); }

// Refuses a call that writes a rectangle of an image and reads another rectangle of it: the library's order of accesses
// within a row is unknown.
void Models::refuse_overlapping_rectangles(const FunctionDecl* body, const std::vector<const Expr*>& actuals,
                                           const Expr* call, Effects& fx) {
  for (unsigned to = 0; to < body->getNumParams(); ++to)
    for (unsigned from = 0; from < body->getNumParams(); ++from) {
      const QualType type = body->getParamDecl(to)->getType();
      if (to == from || !is_mat(type) || !is_mat(body->getParamDecl(from)->getType()) || !type->isReferenceType() ||
          type->getPointeeType().isConstQualified())
        continue;
      const auto a = images_.image(actuals[to], fx), b = images_.image(actuals[from], fx);
      if (a && b && a->host == b->host && (a->part || b->part) &&
          (a->part != b->part || a->top.text != b->top.text || a->left.text != b->left.text))
        refuse(call, "the call reads and writes two rectangles of " + a->host + ": " + source(call));
    }
}

// The model of a library call, with the arguments in the order of its parameters; null if there is none.
const FunctionDecl* Models::model(const Expr* e, std::vector<const Expr*>& actuals, Effects& fx) {
  const NamespaceDecl* models = space(ast_.getTranslationUnitDecl(), "ridge_models");
  const auto* call = dyn_cast<CallExpr>(e);
  const FunctionDecl* callee = call != nullptr ? call->getDirectCallee() : nullptr;
  if (models == nullptr || callee == nullptr) return nullptr;
  const std::string name = opencv_model(e, actuals);
  if (name.empty()) {  // lib::f is modelled by ridge_models::lib::f
    const DeclContext* within = models;
    std::string rest = callee->getQualifiedNameAsString();
    for (auto at = rest.find("::"); within != nullptr && at != std::string::npos; at = rest.find("::")) {
      within = space(within, rest.substr(0, at));
      rest = rest.substr(at + 2);
    }
    if (within == nullptr || isa<CXXMethodDecl>(callee)) return nullptr;
    actuals.assign(call->arg_begin(), call->arg_end());
    for (const Decl* d : within->decls())
      if (const auto* f = dyn_cast<FunctionDecl>(d);
          f != nullptr && f->getNameAsString() == rest && f->hasBody() && f != callee && same_parameters(f, callee))
        return f;
    return nullptr;
  }
  std::optional<QualType> element;
  for (const Expr* a : actuals)
    if (class_of(image_passed(a)->getType()) == "cv::Mat" && !element) element = images_.element_used(a);
  if (!element)
    refuse(e, "the element type of the images is not known, or not float or double with one channel: " + source(e));
  for (const Decl* d : models->decls()) {
    const auto* made = dyn_cast<ClassTemplateDecl>(d);
    if (made == nullptr || made->getNameAsString() != "Calls") continue;
    for (const ClassTemplateSpecializationDecl* each : made->specializations()) {
      if (each->getTemplateArgs()[0].getAsType().getCanonicalType() != *element) continue;
      for (const CXXMethodDecl* method : each->methods()) {
        const FunctionDecl* body = nullptr;
        if (!method->getDeclName().isIdentifier() || method->getNameAsString() != name ||
            method->getNumParams() != actuals.size() || !method->hasBody(body))
          continue;
        bool fits = true;
        for (unsigned i = 0; i < body->getNumParams(); ++i) {
          if (is_mat(body->getParamDecl(i)->getType())) {
            const auto given = images_.image(actuals[i], fx);
            fits = fits && given.has_value();
            if (!given) continue;
            // The test reads the type of the image that is passed, not the type with which a variable was made.
            const std::string type = type_text(*element);
            const int other =
                scope_.pseudo("static_cast<long>(" + given->host + ".type() - cv::traits::Type<" + type + ">::value)",
                              given->name + "_type", ast_.LongTy, e);
            scope_.assume(Condition{{{Poly::symbol(scope_.symbol(other)), true}}},
                          given->host + " has elements of type " + type);
          } else {
            actuals[i] = number_passed(actuals[i]);
            fits = fits && actuals[i] != nullptr;
          }
          if (!fits) break;
        }
        if (fits) {
          refuse_overlapping_rectangles(body, actuals, e, fx);
          return body;
        }
      }
    }
  }
  refuse(e, "this overload of " + name + " is not modelled: " + source(e));
}

// A library call as a statement; empty if it has no model.
std::optional<Node> Models::modelled(const Expr* e) {
  if (facts_.in_function) return {};
  std::vector<const Expr*> actuals;
  Effects fx;
  const FunctionDecl* body = model(e, actuals, fx);
  if (body == nullptr) return {};
  scope_.nest.libm = true;  // the library may round differently
  const llvm::SaveAndRestore called(scope_.model_call, scope_.model_call != nullptr ? scope_.model_call : e);
  Node node = calls_.inlined(e, body, actuals, nullptr);
  Node& first = node.children[0];
  Node reads;
  reads.kind = NodeKind::statement;
  reads.line = line(e);
  reads.guards = scope_.guards();
  reads.accesses = fx.accesses;
  first.children.insert(first.children.begin(), std::move(reads));
  return node;
}

// The value of a library call: sum(image)[0], countNonZero(image). Its loops precede the current statement.
std::optional<std::string> Models::modelled_value(const Expr* e) {
  if (facts_.in_function) return {};
  e = e->IgnoreParens()->IgnoreImplicit();
  if (const auto* subscript = dyn_cast<CXXOperatorCallExpr>(e);
      subscript != nullptr && subscript->getOperator() == OO_Subscript &&
      (class_of(subscript->getArg(0)->getType()) == "cv::Vec" ||
       class_of(subscript->getArg(0)->getType()) == "cv::Scalar_")) {
    const Expr* inner = subscript->getArg(0)->IgnoreParens()->IgnoreImplicit();
    std::vector<const Expr*> ignored;
    const std::string name = opencv_model(inner, ignored);
    Expr::EvalResult at;
    if ((name != "sum" && name != "mean") || !subscript->getArg(1)->EvaluateAsInt(at, ast_)) return {};
    if (!at.Val.getInt().isZero()) return "0.0";  // images with one channel
    e = inner;
  }
  std::vector<const Expr*> actuals;
  if (opencv_model(e, actuals).empty()) return {};
  if (!scope_.may_hoist) refuse(e, "this call is supported only where it is always evaluated: " + source(e));
  Effects fx;
  const FunctionDecl* body = model(e, actuals, fx);
  if (body == nullptr || body->getReturnType()->isVoidType()) return {};
  const llvm::SaveAndRestore called(scope_.model_call, scope_.model_call != nullptr ? scope_.model_call : e);
  const llvm::SaveAndRestore hoists(scope_.may_hoist);
  scope_.nest.libm = true;
  std::string value;
  Node node = calls_.inlined(e, body, actuals, &value);
  for (Node& child : node.children) {
    if (child.kind == NodeKind::block)
      for (Node& inner : child.children) scope_.before.push_back(std::move(inner));
    else
      scope_.before.push_back(std::move(child));
  }
  return wrapped(value);
}

// needs(condition) in a model: proved from closed forms, or tested before the placed code runs.
void Models::require(const Expr* given) {
  std::vector<Poly> needed;
  const auto holds = numbers_.condition(given, false, needed);
  if (!holds || holds->size() != 1 || !needed.empty())
    refuse(given, "the sizes of the images have no closed form: " + source(given));
  const auto& parameters = scope_.nest.parameters;
  for (const Constraint& c : (*holds)[0]) {
    if (const auto value = c.poly.value()) {
      if (c.equality ? *value != 0 : *value < 0) refuse(given, "the images have different sizes: " + source(given));
      continue;
    }
    for (const std::string& name : c.poly.symbols())
      if (std::find(parameters.begin(), parameters.end(), name) == parameters.end())
        refuse(given, "the sizes of the images differ between iterations: " + source(given));
    std::string sizes;
    for (const std::string& name : c.poly.symbols()) sizes += " " + name;
    scope_.assume(Condition{{c}}, "line " + std::to_string(line(given)) + ": the sizes of the images agree:" + sizes);
  }
}

}  // namespace ridge::place::frontend
