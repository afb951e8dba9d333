// Access to the user's file through Clang: positions, text and types of syntax nodes, and refusals. Default deny: an
// unknown node refuses the nest that contains it, with its line, because an overlooked access would produce wrong code.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/program.hpp"

namespace ridge::place::frontend {

struct Refused {  // thrown by this reader's own recursion only, never through Clang's frames
  int line = 0;
  std::string file{}, what{};
};

struct Dialect {  // a number type in the kernel dialect
  std::string name{};
  int bytes = 0;
  bool integer = false, is_unsigned = false;
};

// Calls whose bodies are being read as if they were written at the call.
struct Inlining {
  int inlined = 0;                          // depth
  const clang::Expr* model_call = nullptr;  // library call whose model is being read
};

class Source {
 public:
  Source(clang::ASTContext& ast, const std::string& main_text, const std::vector<int>& lines)
      : ast_(ast), main_text_(main_text), lines_(lines) {}
  Source(const Source& file, const Inlining& inlining) : Source(file) { inlining_ = &inlining; }

  clang::ASTContext& ast() const { return ast_; }
  const std::string& text() const { return main_text_; }
  int line(const clang::Stmt* s) const;
  int line(clang::SourceLocation at) const;
  Span span(const clang::SourceRange& range) const;
  Span statement_span(const clang::Stmt* s) const;  // including its semicolon
  Span expanded_span(const clang::Stmt* s) const;   // of the use of the macro that contains the statement
  std::string source(const clang::Stmt* s) const;   // one line, shortened
  std::string original(const clang::SourceRange& range) const;
  [[noreturn]] void refuse(const clang::Stmt* s, const std::string& what) const;
  std::string type_text(clang::QualType type) const;
  std::optional<Dialect> dialect(clang::QualType type) const;
  std::string literal(const clang::APValue& value, clang::QualType type, const clang::Stmt* at) const;
  bool shape(clang::QualType type, Variable& into) const;        // arrays and array-like objects; false for other types
  bool fill_number(clang::QualType type, Variable& into) const;  // false for types that are not numbers
  std::vector<clang::QualType> leaf_types(clang::QualType type) const;  // components of a struct or vector by value

 protected:
  clang::ASTContext& ast_;
  const std::string& main_text_;

 private:
  const std::vector<int>& lines_;
  const Inlining* inlining_ = nullptr;
  const clang::Stmt* here(const clang::Stmt* s) const {  // statements of a model have the position of its call
    return inlining_ != nullptr && inlining_->model_call != nullptr ? inlining_->model_call : s;
  }
};

std::string describe(const clang::Stmt* s);                // describes a node without Clang's terms
std::string qualified_name(const clang::NamedDecl* decl);  // without unnamed namespaces
std::string class_of(clang::QualType type);                // with its namespace; "" for other types
const clang::ValueDecl* referred(const clang::Expr* e);
const clang::CXXRecordDecl* record_of(clang::QualType type);
std::vector<const clang::FieldDecl*> fields_of(clang::QualType type);
bool copies_fields(const std::string& kind);      // a library's class whose copy is a copy of all fields
bool indexed(clang::QualType type);               // cv::Vec, cv::Scalar_, std::complex
bool is_complex(clang::QualType type);            // std::complex
std::string why_not_array(clang::QualType type);  // why an array-like type is not supported; "" for others
clang::QualType uniform_fields(const clang::RecordDecl* record, std::vector<const clang::FieldDecl*>& fields);
long offset_of(const clang::ASTContext& ast, const clang::FieldDecl* field);  // bytes
long common_unit(const clang::ASTContext& ast, clang::QualType type);
bool of_union(const clang::Expr* e);                              // a field of a union
const clang::CXXMethodDecl* users_method(const clang::Expr* e);   // called member function of a user's class
const clang::Expr* named_by(const clang::CXXMethodDecl* method);  // the returned expression, if that is the whole body
const clang::Expr* object_changed(const clang::Expr* e);  // the object changed by assigning to the call's result
bool is_this(const clang::Expr* e);                       // this, or *this
bool is_view(const clang::CXXRecordDecl* record);
bool is_mat(clang::QualType type);
const clang::Expr* image_passed(const clang::Expr* e);       // without conversions and cv::InputArray
std::string public_accessor(const clang::FieldDecl* field);  // its name, or a public member function that returns it
clang::QualType pointer_of(const clang::CXXRecordDecl* view, std::vector<std::string>& fields);
std::string wrapped(const std::string& text);  // in parentheses unless it is a single word
// Name of a function of the C or C++ standard library, without std::; "" for all others, also for a user's function of
// that name.
std::string library_function(const clang::FunctionDecl* f);
// Name of the library function that is called; "min" or "max" also for a user's function that computes one over
// integers.
std::string extreme_called(const clang::CallExpr* call);
bool same(const clang::Expr* a, const clang::Expr* b);         // the same expression without effects
bool mentions(const clang::Stmt* s, const clang::Expr* cell);  // contains the same expression

}  // namespace ridge::place::frontend
