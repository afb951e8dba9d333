// Reads functions: trees of host parts and nests, and the changes of their text after which they are read again.
#pragma once
#include "place/edited.hpp"
#include "place/frontend/nest_reader.hpp"

namespace ridge::place::frontend {

// Returns true if the text changes (pointers.cpp).
bool rewrite_pointers(const Facts& facts, const clang::Stmt* body, std::vector<Edit>& rewrites);
// rewrites.cpp
void rewrite_counters(const Facts& facts, const clang::Stmt* body, std::vector<Edit>& rewrites);
// Adds member functions that return private fields which the member functions called in `body` use, because tests
// before a nest need their address and length.
void expose_fields(const Source& file, const clang::Stmt* body, std::vector<Edit>& rewrites);
void rewrite_jumps(const Source& file, const clang::Stmt* body, std::vector<Edit>& rewrites);
bool loops_in(const clang::CXXMethodDecl* method);  // also in member functions that it calls for the same object

// Member functions as free functions whose parameters are the fields, and instances of templates, as text
// (members.cpp).
class Members : protected Source {
 public:
  explicit Members(const Source& file) : Source(file) {}
  std::string lift(const clang::CXXMethodDecl* method);  // returns the reason why not, or ""
  bool lift_call(const clang::CallExpr* call);
  bool lift_parallel_for(const clang::CallExpr* call);
  void template_call(const clang::CallExpr* call, const clang::FunctionDecl* callee);

  std::vector<Edit> rewrites{};
  std::vector<TemplateCall> template_calls{};
  std::map<std::string, std::string> renamed{};  // member function: the free function that replaces it

 private:
  class Lifter;
  struct Lifted {
    struct Field {
      const clang::FieldDecl* decl = nullptr;
      std::string name{};
      clang::QualType type{};
      bool changed = false;  // more than its value is used
    };
    std::string name{}, why{};            // why: reason why it is not possible; then nothing else is set
    std::string head{}, known{}, body{};  // text: declaration, names of types, rest of the body
    std::vector<Field> fields{};
    std::set<int> stored{};  // bytes of the numbers that it stores outside its own variables; negative: floating point
    bool calls = false;      // of functions that may change a field through another name
  };
  const Lifted& lifted(const clang::CXXMethodDecl* method);
  bool write_body(const clang::CallExpr* call, const clang::LambdaExpr* l);
  bool template_names(const clang::TemplateParameterList* parameters, const clang::TemplateArgumentList& arguments,
                      std::string& known, std::string& name) const;

  std::map<const clang::CXXMethodDecl*, Lifted> lifted_{};
};

class Reader : private Source {
 public:
  explicit Reader(const Source& file) : Source(file) {}
  Function function(const clang::FunctionDecl* decl, std::set<const clang::FunctionDecl*>& called);
  std::vector<Refusal> refusals{};
  Members members{*this};

 private:
  FunctionParameter parameter(const clang::ParmVarDecl* p) const;
  // --- host parts (host.cpp)
  Part part(const clang::Stmt* s, bool in_sequence);
  Part loop_part(const clang::Stmt* s, Part result);
  Part branch_part(const clang::IfStmt* s, Part result);
  Part open_loop(const clang::Stmt* s);
  std::optional<Nest> nest(const clang::Stmt* s, Part& into);
  void touched(const clang::Stmt* s, Part& into);
  void header_touches(const clang::Stmt* s, std::vector<Touch>& touches, bool& anything);
  bool only_numbers(const clang::Stmt* s) const;
  bool only_address(const clang::Expr* e) const;
  bool moves_addresses(const clang::Stmt* s) const;
  // --- calls between nests and local arrays (locals.cpp)
  std::optional<Part> placeable_call(const clang::Stmt* s);
  const clang::CallExpr* call_inside(const clang::Expr* e) const;
  bool makes(const clang::DeclStmt* d, Part& into);
  void exchanges(const clang::Expr* e, Part& into);
  bool quiet(const clang::Expr* e) const;
  bool makes_view(const clang::VarDecl* var) const;
  std::string birth(const clang::VarDecl* var) const;

  Facts facts_{*this};
  Summaries summaries_{};
  std::set<const clang::FunctionDecl*>* called_ = nullptr;
  Function* result_ = nullptr;
};

}  // namespace ridge::place::frontend
