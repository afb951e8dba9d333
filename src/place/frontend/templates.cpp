// Calls of function templates that contain loops: writes the instantiated function as text, which is then parsed like
// any other.
#include <clang/AST/DeclTemplate.h>

#include <algorithm>
#include <cctype>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

// Declares the template's parameters with their values, as text, and appends the values to `name`.
bool Reader::template_names(const TemplateParameterList* parameters, const TemplateArgumentList& arguments,
                            std::string& known, std::string& name) const {
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const TemplateArgument& a = arguments.get(i);
    const std::string formal = parameters->getParam(i)->getNameAsString();
    std::string value;
    if (a.getKind() == TemplateArgument::Type) {
      value = type_text(a.getAsType());
      if (!formal.empty()) known += "  using " + formal + " = " + value + ";\n";
    } else if (a.getKind() == TemplateArgument::Integral) {
      llvm::SmallString<32> digits;
      a.getAsIntegral().toString(digits, 10);
      value = digits.str().str();
      if (!formal.empty())
        known += "  constexpr " + type_text(a.getIntegralType()) + " " + formal + " = " + value + ";\n";
    } else {
      return false;
    }
    name += "_" + value;
  }
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return true;
}

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
  if (!template_names(from->getTemplateParameters(), *arguments, known, made.function)) return;
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
