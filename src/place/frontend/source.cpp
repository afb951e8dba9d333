// Source positions and text of syntax nodes, and number types of the kernel dialect.
#include <clang/AST/APValue.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecordLayout.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <numeric>

#include "base/number.hpp"
#include "place/frontend/source.hpp"

namespace ridge::place::frontend {
using namespace clang;

std::string qualified_name(const NamedDecl* decl) {
  std::string name = decl->getQualifiedNameAsString();
  for (const std::string unnamed = "(anonymous namespace)::"; name.find(unnamed) != std::string::npos;)
    name.erase(name.find(unnamed), unnamed.size());
  return name;
}

std::string library_function(const FunctionDecl* f) {
  if (f == nullptr || isa<CXXMethodDecl>(f) || !f->getDeclName().isIdentifier()) return "";
  const auto& sources = f->getASTContext().getSourceManager();
  const FunctionDecl* body = nullptr;
  const bool declared = sources.isInSystemHeader(f->getLocation()) || f->getBuiltinID() != 0;
  if (!declared || (f->hasBody(body) && !sources.isInSystemHeader(body->getLocation()))) return "";
  const std::string name = f->getNameAsString(), whole = f->getQualifiedNameAsString();
  if (whole == "std::" + name) return name;
  // C has no functions of these names, so a global one belongs to another library.
  const bool only_in_std = name == "min" || name == "max" || name == "clamp" || name == "norm";
  return whole == name && !only_in_std ? name : "";
}

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

int Source::line(const Stmt* s) const {
  s = here(s);
  return s == nullptr ? 0 : line(s->getBeginLoc());
}

int Source::line(SourceLocation at) const {
  const auto& sources = ast_.getSourceManager();
  const std::size_t found = sources.getExpansionLineNumber(at);
  const bool moved = found > 0 && found <= lines_.size() && sources.isInMainFile(sources.getExpansionLoc(at));
  return moved ? lines_[found - 1] : static_cast<int>(found);
}

Span Source::span(const SourceRange& range) const {
  const auto& sources = ast_.getSourceManager();
  const SourceLocation begin = range.getBegin();
  if (inlining_ != nullptr && inlining_->inlined > 0) return {};  // text of a called function is not part of the nest
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

Span Source::statement_span(const Stmt* s) const {
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

Span Source::expanded_span(const Stmt* s) const {
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

std::string Source::original(const SourceRange& range) const {
  const auto& sources = ast_.getSourceManager();
  const auto whole = CharSourceRange::getTokenRange(sources.getExpansionRange(range).getAsRange());
  return Lexer::getSourceText(whole, sources, ast_.getLangOpts()).str();
}

std::string Source::source(const Stmt* s) const {
  s = here(s);
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

void Source::refuse(const Stmt* s, const std::string& what) const {
  const auto& sources = ast_.getSourceManager();
  throw Refused{line(s), sources.getFilename(sources.getExpansionLoc(here(s)->getBeginLoc())).str(), what};
}

std::string Source::type_text(QualType type) const {
  PrintingPolicy policy(ast_.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  if (!ast_.getLangOpts().CPlusPlus && type->isArithmeticType()) type = type.getCanonicalType();
  return type.getAsString(policy);
}

// By size and sign, because char and long differ between machines and languages.
std::optional<Dialect> Source::dialect(QualType type) const {
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

namespace {

// Adds the sizes and offsets of a type's numbers to their common divisor. False for types with other parts than
// numbers, addresses, arrays and structs of them.
bool divide_by_parts(const ASTContext& ast, QualType type, long at, long& unit) {
  type = type.getCanonicalType();
  if (type.isVolatileQualified() || type->isAnyComplexType()) return false;
  if (type->isArithmeticType() || type->isEnumeralType() || type->isPointerType()) {
    unit = std::gcd(unit, std::gcd(at, ast.getTypeSizeInChars(type).getQuantity()));
    return true;
  }
  if (const ConstantArrayType* array = ast.getAsConstantArrayType(type)) {
    const long each = ast.getTypeSizeInChars(array->getElementType()).getQuantity();
    return divide_by_parts(ast, array->getElementType(), at, unit) &&
           divide_by_parts(ast, array->getElementType(), at + each, unit);
  }
  const RecordDecl* record = type->getAsRecordDecl();
  if (record == nullptr || !record->isCompleteDefinition() || record->isUnion() || record->isDependentType())
    return false;
  if (const auto* with_bases = dyn_cast<CXXRecordDecl>(record);
      with_bases != nullptr && (with_bases->getNumBases() > 0 || with_bases->isPolymorphic()))
    return false;
  for (const FieldDecl* field : record->fields())
    if (field->isBitField() || field->isMutable() ||
        !divide_by_parts(ast, field->getType(), at + offset_of(ast, field), unit))
      return false;
  unit = std::gcd(unit, static_cast<long>(ast.getTypeSizeInChars(type).getQuantity()));
  return !record->field_empty();
}

}  // namespace

long offset_of(const ASTContext& ast, const FieldDecl* field) {
  return static_cast<long>(ast.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex()) / 8);
}

// Bytes of the largest unit of which all offsets and sizes of a struct's numbers are multiples; 0 for other types.
long common_unit(const ASTContext& ast, QualType type) {
  long unit = 0;
  type = type.getNonReferenceType();
  const auto* made = type->getAsCXXRecordDecl();
  if (type->getAsRecordDecl() == nullptr ||
      (made != nullptr && made->hasDefinition() && !made->isTriviallyCopyable()) ||
      !divide_by_parts(ast, type, 0, unit))
    return 0;
  return unit == 1 || unit == 2 || unit == 4 || unit == 8 ? unit : std::gcd(unit, 8L);
}

bool of_union(const Expr* e) {
  const auto* member = dyn_cast<MemberExpr>(e->IgnoreParenImpCasts());
  const auto* field = member != nullptr ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
  return field != nullptr && (field->getParent()->isUnion() || of_union(member->getBase()));
}

bool is_this(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref)
    e = u->getSubExpr()->IgnoreParenImpCasts();
  return isa<CXXThisExpr>(e);
}

std::string wrapped(const std::string& text) {
  const bool word =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return word ? text : "(" + text + ")";
}

const ValueDecl* referred(const Expr* e) {
  const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return ref != nullptr ? ref->getDecl() : nullptr;
}

bool Source::fill_number(QualType type, Variable& into) const {
  const auto number = dialect(type.getNonReferenceType());
  if (!number) return false;
  into.element = number->name;
  into.host_element = type_text(type.getNonReferenceType().getUnqualifiedType());
  into.bytes = number->bytes;
  into.integer = number->integer;
  into.is_unsigned = number->is_unsigned;
  return true;
}

namespace {

std::string float_text(double value, bool single) {
  std::string result = base::decimal_text(value, single ? 9 : 17);
  if (result.find_first_of(".en") == std::string::npos) result += ".0";
  return single ? result + "f" : result;
}

// Element type of an object that wraps an array; null, with `refused`, for other classes.
QualType wrapped_elements(QualType type, bool first, Variable& into, const ASTContext& ast, bool& refused) {
  const auto* made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(record_of(type));
  const std::string kind = class_of(type), &host = into.host;
  const QualType element = made != nullptr && made->getTemplateArgs().size() > 0 &&
                                   made->getTemplateArgs()[0].getKind() == TemplateArgument::Type
                               ? made->getTemplateArgs()[0].getAsType()
                               : QualType();
  const auto length = [&] { return made->getTemplateArgs()[1].getAsIntegral().getExtValue(); };
  if (made != nullptr && (kind == "cv::Vec" || kind == "std::complex") && !first) {
    into.inner.push_back(kind == "cv::Vec" ? length() : 2);
    into.constant |= type.isConstQualified();
    return element;
  }
  if (made != nullptr && kind == "std::unique_ptr" && first && element->isArrayType()) {
    into.storage = Storage::pointer;
    into.data = host + ".get()";
    return ast.getAsArrayType(element)->getElementType();
  }
  if (made != nullptr && (kind == "std::vector" || kind == "std::array" || kind == "std::span")) {
    const bool bits = kind == "std::vector" && element->isBooleanType();
    refused = bits || (!first && kind != "std::array");  // rows of other kinds are separate allocations
    if (refused) return {};
    if (first) {
      into.storage = Storage::object;
      into.data = host + ".data()";
      into.count = host + ".size()";
      if (kind == "std::array") into.length = length();
    } else {
      into.inner.push_back(length());
    }
    into.constant |= type.isConstQualified() && kind != "std::span";
    return element;
  }
  std::vector<const FieldDecl*> fields;
  const QualType each = uniform_fields(type->getAsRecordDecl(), fields);
  const long unit = each.isNull() && !first ? common_unit(ast, type) : 0;
  refused = first || (each.isNull() && unit == 0);
  if (refused) return {};
  into.constant |= type.isConstQualified();
  if (unit > 0) {  // fields of several types: rows of unsigned integers
    into.mixed = true;
    into.inner.push_back(static_cast<long>(ast.getTypeSizeInChars(type).getQuantity()) / unit);
    return ast.getIntTypeForBitwidth(static_cast<unsigned>(8 * unit), 0);
  }
  into.inner.push_back(static_cast<long>(fields.size()));
  return each;
}

// Element type of one level of an array; null for other types, with `refused` if the level is not supported.
// `rows`: set if the level is an array of variable length.
QualType elements_of(QualType type, bool first, Variable& into, const ASTContext& ast, bool& refused, bool& rows) {
  if (const auto* pointer = type->getAs<PointerType>(); pointer != nullptr && first) {
    into.storage = Storage::pointer;
    into.data = into.host;
    return pointer->getPointeeType();
  }
  if (const ArrayType* array = ast.getAsArrayType(type)) {
    const auto* fixed = dyn_cast<ConstantArrayType>(array);
    const auto* variable = dyn_cast<VariableArrayType>(array);
    if (variable != nullptr && !first && into.storage == Storage::pointer && into.inner.empty()) {
      rows = true;  // double (*a)[n]: one array, whose subscripts are multiplied by n
      return array->getElementType();
    }
    refused = fixed == nullptr || rows;
    if (refused) return {};
    const long n = static_cast<long>(fixed->getSize().getZExtValue());
    if (first) {
      into.storage = Storage::c_array;
      into.length = n;
      into.data = "&" + into.host + "[0]";
    } else {
      into.inner.push_back(n);
    }
    return array->getElementType();
  }
  return type->getAsRecordDecl() != nullptr ? wrapped_elements(type, first, into, ast, refused) : QualType();
}

}  // namespace

// Element type, inner extents and C++ text for an array type or an object that wraps one.
bool Source::shape(QualType type, Variable& into) const {
  type = type.getNonReferenceType();
  bool found = false, refused = false, rows = false;
  for (QualType inner = elements_of(type, true, into, ast_, refused, rows); !inner.isNull();
       inner = elements_of(type, false, into, ast_, refused, rows)) {
    type = inner;
    found = true;
  }
  if (!found || refused || type.isVolatileQualified() || !fill_number(type, into) || (rows && !into.inner.empty()))
    return false;
  into.constant |= type.isConstQualified();
  if (into.length >= 0)
    for (const long n : into.inner) into.length *= n;
  if (!into.inner.empty() || rows) {
    std::string all = rows ? "1" : "";
    for (const long n : into.inner) all += (all.empty() ? "" : " * ") + std::to_string(n);
    if (!into.count.empty()) into.count += " * " + all;
    into.data =
        "reinterpret_cast<" + std::string(into.constant ? "const " : "") + into.host_element + "*>(" + into.data + ")";
  }
  if (into.storage == Storage::c_array) into.count = std::to_string(into.length);
  return true;
}

bool indexed(QualType type) {
  const std::string kind = class_of(type);
  return kind == "cv::Vec" || kind == "cv::Scalar_" || kind == "std::complex";
}

bool is_complex(QualType type) { return class_of(type) == "std::complex"; }

// Classes of libraries whose copy is a copy of all fields, although they declare it.
bool copies_fields(const std::string& kind) {
  static const std::set<std::string> known{"cv::Point_", "cv::Point3_", "cv::Size_",   "cv::Range",   "cv::Rect_",
                                           "std::pair",  "cv::Vec",     "cv::Scalar_", "std::complex"};
  return known.count(kind) > 0;
}

std::vector<const FieldDecl*> fields_of(QualType type) {
  const RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  if (record == nullptr) return {};
  return {record->field_begin(), record->field_end()};
}

std::vector<QualType> Source::leaf_types(QualType type) const {
  constexpr std::size_t kMostComponents = 16;
  type = type.getNonReferenceType();
  const std::string kind = class_of(type);
  const RecordDecl* record = type->getAsRecordDecl();
  if (record == nullptr || type.isVolatileQualified()) return {};
  std::vector<QualType> all;
  if (indexed(type)) {
    const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(record);
    if (made == nullptr) return {};
    const auto& arguments = made->getTemplateArgs();
    const long n = kind == "cv::Vec" ? arguments[1].getAsIntegral().getExtValue() : kind == "std::complex" ? 2 : 4;
    if (n < 1 || n > static_cast<long>(kMostComponents)) return {};
    all.assign(static_cast<std::size_t>(n), arguments[0].getAsType());
  } else {
    const bool listed = copies_fields(kind);
    if (!record->isCompleteDefinition() || record->isUnion()) return {};
    if (const auto* made = dyn_cast<CXXRecordDecl>(record); made != nullptr) {  // in C++
      if (made->isPolymorphic() || made->isLambda() || !made->hasTrivialDestructor() ||
          (made->getNumBases() > 0 && !listed))
        return {};
      if (!listed && (kind.rfind("std::", 0) == 0 || kind.rfind("cv::", 0) == 0 || !made->hasTrivialCopyConstructor() ||
                      !made->hasTrivialCopyAssignment()))
        return {};
    }
    for (const FieldDecl* field : record->fields()) {
      const QualType each = field->getType();
      if (field->isBitField() || field->isMutable() || each.isVolatileQualified() || each->isReferenceType()) return {};
      all.push_back(each);
    }
  }
  if (all.size() > kMostComponents) return {};
  for (const QualType& each : all)
    if (!each->isArithmeticType() || !dialect(each)) return {};
  return all;
}

std::string Source::literal(const APValue& value, QualType type, const Stmt* at) const {
  const auto number = dialect(type);
  if (!number) refuse(at, "constants of this type are not supported");
  if (value.isInt()) {
    std::string digits;
    const auto& n = value.getInt();
    if (!number->is_unsigned && n.isSigned() && n.isMinSignedValue() && number->bytes >= 4)
      return number->bytes == 8 ? "(-9223372036854775807L - 1)" : "(-2147483647 - 1)";
    llvm::SmallString<32> text;
    n.toString(text, 10);
    digits = text.str().str();
    if (number->bytes == 8) digits += number->is_unsigned ? "UL" : "L";
    if (number->bytes == 4 && number->is_unsigned) digits += "U";
    return digits[0] == '-' ? "(" + digits + ")" : digits;
  }
  if (value.isFloat()) {
    const bool single = number->name == "float";
    const auto& f = value.getFloat();
    if (f.isNaN()) return single ? "NAN" : "(double)NAN";
    if (f.isInfinity()) {
      const std::string infinity = single ? "INFINITY" : "(double)INFINITY";
      return f.isNegative() ? "(-" + infinity + ")" : infinity;
    }
    const std::string text = float_text(single ? static_cast<double>(f.convertToFloat()) : f.convertToDouble(), single);
    return text[0] == '-' ? "(" + text + ")" : text;
  }
  refuse(at, "only constants that are numbers are supported");
}

}  // namespace ridge::place::frontend
