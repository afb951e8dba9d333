// Reads a nest, the body of a function that a nest calls, or the accesses of a host statement, by parts that it owns.
#pragma once
#include <memory>

#include "place/frontend/calls.hpp"

namespace ridge::place::frontend {

// Kernel text of expressions, with their accesses (expressions.cpp).
class Expressions : public NestPart, private ValueParts {
 public:
  Expressions(Scope& scope, Tree& tree, const ValueParts& values, Calls& calls, Models& models)
      : NestPart(scope, tree), ValueParts(values), calls_(calls), models_(models) {}
  std::string expression(const clang::Expr* e, Effects& fx);
  std::string call(const clang::CallExpr* e, Effects& fx);

 private:
  std::optional<std::string> literal_text(const clang::Expr* e, Effects& fx);
  std::string cast_text(const clang::CastExpr* e, Effects& fx);
  std::optional<std::string> substituted(const clang::DeclRefExpr* ref, Effects& fx);
  std::optional<std::string> unary_text(const clang::UnaryOperator* u, Effects& fx);
  std::optional<std::string> known_function(const clang::CallExpr* e, Effects& fx);
  std::optional<std::string> opencv_rounding(const clang::CallExpr* e, Effects& fx);

  Calls& calls_;
  Models& models_;
};

// Loops (loops.cpp) and their headers (headers.cpp).
class Loops : public NestPart, private ValueParts {
 public:
  Loops(Scope& scope, Tree& tree, const ValueParts& values) : NestPart(scope, tree), ValueParts(values) {}
  Node loop(const clang::Stmt* s);
  bool counts(const clang::Stmt* s) const { return counted_.count(s) > 0; }

 private:
  class HeaderReader;
  // Returns true if the loop is counted; then `into` is filled in, and `node` has the accesses of the header.
  bool header(const clang::Stmt* s, Loop& into, Node& node);
  Node counted_loop(const clang::Stmt* s, Loop l, Node node);
  void declare_counters(const Counting& count, const Loop& l, Node& body);
  Node uncounted_loop(const clang::Stmt* s, Loop l, Node node);
  std::string increments(const clang::Expr* increment, int at_line, Node& body);
  Node range_loop(const clang::CXXForRangeStmt* s);
  bool unrolled(const clang::Stmt* s, const Loop& l, Node& node);
  void note_claim(const clang::Stmt* s, Loop& into);

  std::set<const clang::Stmt*> counted_{};  // steps of while loops that are now part of a header
};

// Statements (statements.cpp) and reductions (reductions.cpp).
class Statements : public NestPart, private ValueParts {
 public:
  Statements(Scope& scope, Tree& tree, const ValueParts& values, Calls& calls, Models& models, Expressions& texts,
             Loops& loops)
      : NestPart(scope, tree), ValueParts(values), calls_(calls), models_(models), expressions_(texts), loops_(loops) {}
  Node statement(const clang::Stmt* s);
  Node assignment(const clang::Expr* e);
  void declaration(const clang::DeclStmt* s, Node& block);

 private:
  class UpdateReader;
  Node single_statement(const clang::Stmt* s);
  std::optional<Node> assertion(const clang::Stmt* s, Node node);
  Node block(const clang::CompoundStmt* s, Node node);
  Node branch(const clang::IfStmt* s, Node node);
  Node jump(const clang::Stmt* s, Node node);
  Node expression_statement(const clang::Expr* e, const Node& node);
  Node chained_assignment(const clang::Expr* e, const clang::BinaryOperator* outer, const clang::BinaryOperator* inner,
                          const Node& node);
  void remember(const clang::CompoundStmt* block, const clang::Stmt* s);
  const clang::VarDecl* moved_pointer(const clang::Expr* e) const;
  Node pointer_assignment(const clang::BinaryOperator* e, const clang::VarDecl* var, Node node);
  const clang::UnaryOperator* step_inside(const clang::Expr* e) const;
  void declare_pointer(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  void declare_reference(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  void declare_array(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  bool constant_numbers(const clang::VarDecl* var) const;
  void list_values(const clang::InitListExpr* list, clang::QualType type, Effects& fx, std::vector<std::string>& all);
  void declare_number(const clang::VarDecl* var, Node& node);
  Reduction reduction(const clang::Stmt* s);

  Calls& calls_;
  Models& models_;
  Expressions& expressions_;
  Loops& loops_;
};

struct Summaries {
  std::map<const clang::FunctionDecl*, std::unique_ptr<Summary>> known{};
  std::set<const clang::FunctionDecl*> being_read{};
};

class NestReader : private Tree {
 public:
  NestReader(Facts& facts, Summaries& summaries, const clang::Stmt* root)
      : facts_(facts), summaries_(summaries), scope_(facts, root) {}
  Nest nest();  // throws Refused
  // Memory that a statement, an expression or the range of a for loop accesses. `anything`: not only named objects.
  void touches(std::vector<Touch>& touches, bool& anything);

 private:
  std::string expression(const clang::Expr* e, Effects& fx) override { return expressions_.expression(e, fx); }
  std::optional<Poly> poly(const clang::Expr* e, std::vector<Poly>& needed) override {
    return numbers_.poly(e, needed);
  }
  std::optional<std::vector<Component>> components(const clang::Expr* e, Effects& fx) override {
    return aggregates_.components(e, fx);
  }
  Node statement(const clang::Stmt* s) override { return statements_.statement(s); }
  Node assignment(const clang::Expr* e) override { return statements_.assignment(e); }
  void declaration(const clang::DeclStmt* s, Node& block) override { statements_.declaration(s, block); }
  const Summary& summary(const clang::FunctionDecl* callee, const clang::Stmt* at) override;

  std::vector<const clang::VarDecl*> take_structs_apart();
  void record_enclosing_loops();
  void record_enclosing_branch(const clang::IfStmt* branch, bool taken);
  void note_live_after(const clang::ValueDecl* decl, int which);
  void note_touches(const std::vector<Access>& accesses, std::map<std::string, Touch>& found, bool& anything) const;
  void summarize(const clang::FunctionDecl* callee, const clang::Stmt* at, Summary& result);
  void add_parameter(const clang::ParmVarDecl* p, const clang::FunctionDecl* callee, const clang::Stmt* at,
                     std::string& parameters, Summary& result);
  void add_parts(const clang::ParmVarDecl* p, const clang::FunctionDecl* callee, const clang::Stmt* at,
                 std::string& parameters, std::string& prologue);
  void refuse_overlapping_parameters(const clang::FunctionDecl* callee, const Summary& known, const clang::Stmt* at);

  Facts& facts_;
  Summaries& summaries_;
  Scope scope_;
  Images images_{scope_, *this};
  Places places_{scope_, *this, images_};
  Aggregates aggregates_{scope_, *this, places_};
  Numbers numbers_{scope_, *this, images_, places_, aggregates_};
  ValueParts values_{images_, places_, aggregates_, numbers_};
  Calls calls_{scope_, *this, values_, summaries_.being_read};
  Models models_{scope_, *this, values_, calls_};
  Expressions expressions_{scope_, *this, values_, calls_, models_};
  Loops loops_{scope_, *this, values_};
  Statements statements_{scope_, *this, values_, calls_, models_, expressions_, loops_};
};

}  // namespace ridge::place::frontend
