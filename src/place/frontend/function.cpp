// Reads one function: parameters, reasons against placing it, loop numbers, and its tree of parts.
#include <algorithm>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Fills in a parameter that is an array or an array-like object of the shape `v`.
void fill_array_parameter(QualType type, const Variable& v, FunctionParameter& made) {
  made.element = v.host_element;
  made.bytes = v.bytes;
  made.constant = v.constant;
  made.length = v.length;
  const bool plain = v.inner.empty();
  const bool structs = !plain && (v.storage == Storage::pointer || class_of(type) == "std::vector");
  for (const long n : v.inner) made.length = structs ? std::max(made.length, 1L) * n : made.length;
  made.kind = structs && v.storage == Storage::pointer                     ? FunctionParameter::Kind::struct_pointer
              : structs                                                    ? FunctionParameter::Kind::structs
              : v.length >= 0 && (!plain || v.storage == Storage::c_array) ? FunctionParameter::Kind::rows
              : !plain                                                     ? FunctionParameter::Kind::other
              : v.storage == Storage::pointer                              ? FunctionParameter::Kind::pointer
              : v.length >= 0                                              ? FunctionParameter::Kind::std_array
              : class_of(type) == "std::vector"                            ? FunctionParameter::Kind::vector
              : class_of(type) == "std::span"                              ? FunctionParameter::Kind::span
                                                                           : FunctionParameter::Kind::other;
}

}  // namespace

Function Reader::function(const FunctionDecl* decl, std::set<const FunctionDecl*>& called) {
  Function result;
  result_ = &result;
  function_ = decl;
  called_ = &called;
  const auto& sources = ast_.getSourceManager();
  result.name = decl->getNameAsString();
  result.result = type_text(decl->getReturnType());
  result.qualified = decl->getQualifiedNameAsString();
  for (const std::string unnamed = "(anonymous namespace)::"; result.qualified.find(unnamed) != std::string::npos;)
    result.qualified.erase(result.qualified.find(unnamed), unnamed.size());
  result.line = line(decl->getLocation());
  result.last_line = line(decl->getEndLoc());
  result.whole = span(decl->getSourceRange());
  result.body = span(decl->getBody()->getSourceRange());
  result.name_span = span(SourceRange(decl->getLocation(), decl->getLocation()));
  result.in_main_file = sources.isInMainFile(decl->getLocation());
  result.is_static = decl->getStorageClass() == SC_Static || decl->isInAnonymousNamespace();
  for (const ParmVarDecl* p : decl->parameters()) result.parameters.push_back(parameter(p));
  if (decl->getNumParams() > 0)
    result.parameter_text = original(
        SourceRange(decl->getParamDecl(0)->getBeginLoc(), decl->getParamDecl(decl->getNumParams() - 1)->getEndLoc()));
  if (decl->isTemplateInstantiation() || decl->isTemplated()) result.refused = "templates are not supported";
  if (decl->isVariadic()) result.refused = "variadic functions are not supported";
  if (decl->isConstexpr()) result.refused = "constexpr functions are not supported";
  if (!result.whole.known || !result.body.known) result.refused = "its text is in a macro or in another file";
  if (const auto* method = dyn_cast<CXXMethodDecl>(decl)) {
    result.refused = loops_in(method) ? lift(method) : "";
    if (result.refused.empty()) result.refused = "member functions are not supported";  // read again as a free function
  }
  if (result.refused.empty()) rewrite_jumps(decl->getBody());
  if (find_uses(decl->getBody(), result)) result.refused = "goto or setjmp: the order of its statements is unknown";
  if (result.refused.empty()) rewrite_counters(decl->getBody());
  result.root = part(decl->getBody(), false);
  for (FunctionParameter& p : result.parameters)  // the element type of a Mat is known from its uses
    for (const Nest& n : result.nests)
      for (const Variable& v : n.variables)
        if (p.kind == FunctionParameter::Kind::mat && v.host == p.name && v.array()) {
          p.element = v.host_element;
          p.length = v.inner.empty() ? 1 : v.inner[0];
        }
  return result;
}

FunctionParameter Reader::parameter(const ParmVarDecl* p) const {
  FunctionParameter made;
  made.name = p->getNameAsString();
  made.type = type_text(p->getType());
  Variable v;
  v.host = made.name;
  const QualType bare = p->getType().getNonReferenceType();
  if (const auto number = dialect(bare)) {
    made.bytes = number->bytes;
    made.is_unsigned = number->is_unsigned;
    made.constant = bare.isConstQualified();
    made.element = type_text(bare.getUnqualifiedType());
    made.kind = p->getType()->isReferenceType() && !made.constant ? FunctionParameter::Kind::reference
                : number->integer                                 ? FunctionParameter::Kind::integer
                                                                  : FunctionParameter::Kind::real;
  } else if (shape(p->getType(), v)) {
    fill_array_parameter(p->getType(), v, made);
  } else if (class_of(p->getType()) == "cv::Mat" || class_of(p->getType()) == "cv::Mat_") {
    made.kind = FunctionParameter::Kind::mat;
    made.constant = bare.isConstQualified();
  } else if (!p->getType()->isPointerType() && is_view(record_of(bare))) {
    const QualType element = pointer_of(record_of(bare), made.fields);
    const auto known = element.isNull() ? std::nullopt : dialect(element);
    if (known) {
      made.kind = FunctionParameter::Kind::view;
      made.element = type_text(element.getUnqualifiedType());
      made.bytes = known->bytes;
      made.constant = element.isConstQualified();
    }
  }
  return made;
}

// Numbers the loops and finds variables that change, escape or are captured. Returns true if the function jumps.
bool Reader::find_uses(const Stmt* body, Function& result) {
  changed_in_function_.clear();
  captured_.clear();
  escaped_.clear();
  find_escapes(body, escaped_);
  find_changes(body, changed_in_function_);
  int number = 0;
  bool jumps = false;
  visit(body, [&](const Stmt* s) {
    if (is_loop(s)) loop_ids_[s] = "l" + std::to_string(++number);
    if (const auto* written = dyn_cast<LambdaExpr>(s))
      for (const auto& capture : written->captures())
        if (capture.capturesVariable() && capture.getCaptureKind() == LCK_ByRef)
          captured_.insert(capture.getCapturedVar());
    jumps |= isa<GotoStmt, IndirectGotoStmt>(s);
    result.says_its_name |= isa<PredefinedExpr>(s);
    if (const auto* c = dyn_cast<CallExpr>(s); c != nullptr && c->getDirectCallee() != nullptr) {
      const std::string name = c->getDirectCallee()->getNameAsString();
      jumps |= name == "setjmp" || name == "longjmp" || name == "_setjmp" || name == "__sigsetjmp";
    }
  });
  return jumps;
}

}  // namespace ridge::place::frontend
