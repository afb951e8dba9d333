// Source positions and text of syntax nodes, and number types of the kernel dialect.
#include <clang/Lex/Lexer.h>

#include <cctype>

#include "place/frontend/reader.hpp"

namespace ridge::place::frontend {
using namespace clang;

std::string class_of(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  return record != nullptr ? record->getQualifiedNameAsString() : "";
}

std::string describe(const Stmt* s) {
  if (isa<ArraySubscriptExpr>(s)) return "an element of an unknown array";
  if (isa<CXXMemberCallExpr>(s)) return "a member function call";
  if (isa<CXXOperatorCallExpr>(s)) return "an overloaded operator";
  if (isa<CallExpr>(s)) return "this call";
  if (isa<CXXNewExpr>(s)) return "new";
  if (isa<CXXDeleteExpr>(s)) return "delete";
  if (isa<CXXThrowExpr>(s)) return "throw";
  if (isa<CXXThisExpr>(s)) return "this object as a value";
  if (isa<LambdaExpr>(s)) return "a lambda in this position";
  if (isa<CXXConstructExpr>(s)) return "constructing an object";
  if (isa<StringLiteral, PredefinedExpr>(s)) return "a string";
  if (isa<UnaryOperator>(s))
    return "the operator " + UnaryOperator::getOpcodeStr(cast<UnaryOperator>(s)->getOpcode()).str();
  if (isa<CastExpr>(s)) return "a conversion";
  return isa<Expr>(s) ? "this expression" : "this statement";
}

// Statements of a library function's model have the position of the call.
int Reader::line(const Stmt* s) const {
  if (scope_ && scope_->model_call != nullptr) s = scope_->model_call;
  return s == nullptr ? 0 : line(s->getBeginLoc());
}

int Reader::line(SourceLocation at) const {
  const auto& sources = ast_.getSourceManager();
  const std::size_t found = sources.getExpansionLineNumber(at);
  const bool moved = found > 0 && found <= lines_.size() && sources.isInMainFile(sources.getExpansionLoc(at));
  return moved ? lines_[found - 1] : static_cast<int>(found);
}

std::string Reader::file(const Stmt* s) const {
  if (scope_ && scope_->model_call != nullptr) s = scope_->model_call;
  const auto& sources = ast_.getSourceManager();
  return sources.getFilename(sources.getExpansionLoc(s->getBeginLoc())).str();
}

Span Reader::span(const SourceRange& range) const {
  const auto& sources = ast_.getSourceManager();
  const SourceLocation begin = range.getBegin();
  if (scope_ && scope_->inlined > 0) return {};  // text of a called function is not part of the nest
  SourceLocation last = range.getEnd(), whole;
  if (begin.isInvalid() || last.isInvalid() || begin.isMacroID()) return {};
  if (last.isMacroID()) {  // the statement ends with a macro: a[i] *= FACTOR
    if (!Lexer::isAtEndOfMacroExpansion(last, sources, ast_.getLangOpts(), &whole)) return {};
    last = sources.getExpansionRange(last).getEnd();
  }
  if (!sources.isInMainFile(begin) || !sources.isInMainFile(last)) return {};
  const SourceLocation end = Lexer::getLocForEndOfToken(last, 0, sources, ast_.getLangOpts());
  if (end.isInvalid()) return {};
  return {sources.getFileOffset(begin), sources.getFileOffset(end), true};
}

Span Reader::statement_span(const Stmt* s) const {
  Span found = span(s->getSourceRange());
  if (!found.known) return found;
  if (found.end > 0 && (main_text_[found.end - 1] == '}' || main_text_[found.end - 1] == ';') && !isa<Expr>(s))
    return found;
  std::size_t at = found.end;
  while (at < main_text_.size() && std::isspace(static_cast<unsigned char>(main_text_[at])) != 0) ++at;
  if (at < main_text_.size() && main_text_[at] == ';')
    found.end = static_cast<unsigned>(at + 1);
  else
    found.known = false;  // a comment or macro before the semicolon: do not replace it
  return found;
}

Span Reader::expanded_span(const Stmt* s) const {
  const auto& sources = ast_.getSourceManager();
  const SourceLocation begin = sources.getExpansionLoc(s->getBeginLoc());
  const SourceLocation last = sources.getExpansionRange(s->getEndLoc()).getEnd();
  if (begin.isInvalid() || last.isInvalid() || !sources.isInMainFile(begin) || !sources.isInMainFile(last)) return {};
  const SourceLocation end = Lexer::getLocForEndOfToken(last, 0, sources, ast_.getLangOpts());
  if (end.isInvalid()) return {};
  std::size_t at = sources.getFileOffset(end);
  while (at < main_text_.size() && std::isspace(static_cast<unsigned char>(main_text_[at])) != 0) ++at;
  const bool semicolon = at < main_text_.size() && main_text_[at] == ';';
  return {sources.getFileOffset(begin), semicolon ? static_cast<unsigned>(at + 1) : sources.getFileOffset(end), true};
}

std::string Reader::original(const SourceRange& range) const {
  const auto& sources = ast_.getSourceManager();
  const auto whole = CharSourceRange::getTokenRange(sources.getExpansionRange(range).getAsRange());
  return Lexer::getSourceText(whole, sources, ast_.getLangOpts()).str();
}

std::string Reader::source(const Stmt* s) const {
  if (scope_ && scope_->model_call != nullptr) s = scope_->model_call;
  std::string text = original(s->getSourceRange()), line;
  for (const char c : text) {
    if (c == '{' && !line.empty() && !isa<Expr>(s)) break;  // only the header of a loop
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() > 90) line = line.substr(0, 87) + "...";
  return line;
}

void Reader::refuse(const Stmt* s, const std::string& what) const { throw Refused{line(s), file(s), what}; }

std::string Reader::type_text(QualType type) const {
  PrintingPolicy policy(ast_.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  if (!ast_.getLangOpts().CPlusPlus && type->isArithmeticType()) type = type.getCanonicalType();
  return type.getAsString(policy);
}

// By size and sign, because char and long differ between machines and languages.
std::optional<Dialect> Reader::dialect(QualType type) const {
  type = type.getCanonicalType().getUnqualifiedType();
  if (type.isVolatileQualified()) return {};
  if (const auto* e = type->getAs<EnumType>(); e != nullptr && e->getDecl()->isComplete())
    type = e->getDecl()->getIntegerType().getCanonicalType();
  if (type->isBooleanType()) return Dialect{"uchar", 1, true, true};
  if (type->isSpecificBuiltinType(BuiltinType::Float)) return Dialect{"float", 4};
  if (type->isSpecificBuiltinType(BuiltinType::Double)) return Dialect{"double", 8};
  if (!type->isIntegerType() || type->isDependentType()) return {};
  const bool is_unsigned = type->isUnsignedIntegerType();
  static const char* const names[2][4] = {{"char", "short", "int", "long"}, {"uchar", "ushort", "uint", "ulong"}};
  const auto bits = ast_.getTypeSize(type);
  if (bits > 64) return {};
  const int at = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
  return Dialect{names[is_unsigned ? 1 : 0][at], static_cast<int>(bits / 8), true, is_unsigned};
}

}  // namespace ridge::place::frontend
