// Facts about the function being read: which variables change, escape or are captured, where the current part is.
#pragma once
#include <map>

#include "place/frontend/source.hpp"
#include "place/pragmas.hpp"

namespace ridge::place::frontend {

void find_changes(const clang::Stmt* s, std::set<const clang::ValueDecl*>& into);
void find_escapes(const clang::Stmt* s, std::set<const clang::ValueDecl*>& into);
bool keeps_memory(const clang::Stmt* body, const clang::ValueDecl* image, int depth);
// True for a call of an OpenCV function that has a model (models.cpp).
bool is_modelled(const clang::Expr* e, std::vector<const clang::Expr*>& actuals);

// Parts of a counting loop: of a for from its header, of while and do from their test and last statement.
struct Counting {
  const clang::VarDecl* var = nullptr;
  const clang::Expr *start = nullptr, *test = nullptr, *step = nullptr;
  const clang::Stmt *body = nullptr, *last = nullptr;
  bool declared_in_header = false;
  std::vector<const clang::VarDecl*> others{};    // further counters of a for header
  std::vector<const clang::Expr*> other_steps{};  // one step per further counter
};

class Facts : public Source {
 public:
  explicit Facts(const Source& file) : Source(file) {}

  bool find(const clang::FunctionDecl* decl, Function& result);  // returns true if the function jumps
  bool reachable(const clang::ValueDecl* decl) const;            // may change through another name
  bool fixed(const clang::ValueDecl* decl) const;                // never changes in the function
  // No variable in the expression is in `changed`, and it reads no element.
  bool fixed_operands(const clang::Stmt* s, const std::set<const clang::ValueDecl*>& changed) const;
  bool as_declared(const clang::VarDecl* var) const;
  bool settled(const clang::Stmt* s) const;  // nothing it reads can have changed since
  bool live_after(const clang::VarDecl* var) const;
  const clang::Expr* value_before(const clang::Stmt* s, const clang::VarDecl* var) const;
  std::optional<long> constant_before(const clang::VarDecl* var, const clang::Stmt* nest) const;
  bool counting(const clang::Stmt* s, Counting& into, std::string& why) const;
  const clang::LambdaExpr* lambda(const clang::CallExpr* e) const;
  std::optional<Claim> claimed(const clang::Stmt* s, const Span& whole);

  const clang::FunctionDecl* function = nullptr;
  bool in_function = false;  // a function that a nest calls is being read: nothing is known about its variables
  std::set<const clang::ValueDecl*> changed{};
  std::set<const clang::ValueDecl*> captured{};  // by reference in a lambda of the function
  std::set<const clang::ValueDecl*> escaped{};   // their address or a reference is taken
  std::map<const clang::Stmt*, std::string> loop_ids{};
  struct Frame {
    const clang::Stmt* s = nullptr;
    std::size_t next = 0;  // block: index of the statement after the current one; if: 0 then, 1 else
  };
  std::vector<Frame> around{};  // blocks and loops around the current part, outermost first

 private:
  std::map<const clang::Stmt*, std::optional<Claim>> claims_{};  // by loop
};

}  // namespace ridge::place::frontend
