// Calls of function templates that contain loops: writes the instantiated function as text, which is then parsed like
// any other.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

void Reader::template_call(const CallExpr* call, const FunctionDecl* callee) {
  const FunctionTemplateDecl* from = callee->getPrimaryTemplate();
  const TemplateArgumentList* arguments = callee->getTemplateSpecializationArgs();
  const FunctionDecl* body = nullptr;
  if (from == nullptr || arguments == nullptr || !callee->hasBody(body) || isa<CXXMethodDecl>(callee)) return;
  bool loops = false;
  visit(body->getBody(), [&](const Stmt* s) { loops |= is_loop(s); });
  const Span whole = span(from->getTemplatedDecl()->getSourceRange()), inside = span(body->getBody()->getSourceRange());
  TemplateCall made;
  made.name = span(call->getCallee()->getSourceRange());
  if (!loops || !whole.known || !inside.known || !made.name.known) return;
  std::string known, formals;
  made.function = callee->getNameAsString();
  const TemplateParameterList* parameters = from->getTemplateParameters();
  for (unsigned i = 0; i < arguments->size(); ++i) {
    const TemplateArgument& a = arguments->get(i);
    const std::string name = parameters->getParam(i)->getNameAsString();
    std::string value;
    if (a.getKind() == TemplateArgument::Type) {
      value = type_text(a.getAsType());
      if (!name.empty()) known += "  using " + name + " = " + value + ";\n";
    } else if (a.getKind() == TemplateArgument::Integral) {
      llvm::SmallString<32> digits;
      a.getAsIntegral().toString(digits, 10);
      value = digits.str().str();
      if (!name.empty()) known += "  constexpr " + type_text(a.getIntegralType()) + " " + name + " = " + value + ";\n";
    } else {
      return;
    }
    made.function += "_" + value;
  }
  for (char& c : made.function)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  while (main_text_.find(made.function + "(") != std::string::npos) made.function += "_";
  for (const ParmVarDecl* p : body->parameters()) {
    const QualType type = p->getType();
    if (type->isFunctionPointerType() || type.getNonReferenceType()->isArrayType()) return;
    formals += (formals.empty() ? "" : ", ") + type_text(type) + " " + p->getNameAsString();
  }
  const std::string text = main_text_.substr(inside.begin + 1, inside.end - inside.begin - 1);
  made.at = whole.end;
  made.text =
      "\n\nstatic " + type_text(body->getReturnType()) + " " + made.function + "(" + formals + ") {\n" + known + text;
  const int first = line(body->getBody()->getBeginLoc());
  made.lines.assign(3 + static_cast<std::size_t>(std::count(known.begin(), known.end(), '\n')), first);
  const auto more = std::count(text.begin(), text.end(), '\n');
  for (long k = 0; k <= more; ++k) made.lines.push_back(first + static_cast<int>(k));
  template_calls.push_back(made);
}

}  // namespace ridge::place::frontend
