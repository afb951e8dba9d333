// Parts of the nest reader for calls: functions and lambdas of the user, and models of library functions.
#pragma once
#include "place/frontend/values.hpp"

namespace ridge::place::frontend {

// Functions by a summary of their accesses; lambdas and functions that take images as if their body were written at the
// call (calls.cpp).
class Calls : public NestPart, private ValueParts {
 public:
  Calls(Scope& scope, Tree& tree, const ValueParts& values, std::set<const clang::FunctionDecl*>& being_read)
      : NestPart(scope, tree), ValueParts(values), being_read_(being_read) {}
  std::string own_function(const clang::CallExpr* e, const clang::FunctionDecl* callee, Effects& fx);
  Node lambda_statement(const clang::CallExpr* e, const clang::LambdaExpr* l);
  std::string lambda_value(const clang::CallExpr* e, const clang::LambdaExpr* l, Effects& fx);
  Node inlined(const clang::Expr* call, const clang::FunctionDecl* callee,
               const std::vector<const clang::Expr*>& actuals, std::string* result);
  bool reads_in_place(const clang::FunctionDecl* callee) const;

 private:
  Place array_argument(const clang::CallExpr* e, const clang::Expr* argument, const Variable& formal, Effects& fx);
  Access substituted_access(Access a, const Place& actual, const std::map<std::string, Poly>& values,
                            const clang::CallExpr* e);
  void refuse_stale_captures(const clang::CallExpr* e, const clang::LambdaExpr* l) const;
  bool pass(const clang::ParmVarDecl* formal, const clang::Expr* actual, Effects& fx);
  void declare_value(const clang::ParmVarDecl* formal, const clang::Expr* actual, Node& node, Effects& fx);
  void bind_argument(const clang::ParmVarDecl* formal, const clang::Expr* actual, const clang::Expr* call, Node& block);

  std::set<const clang::FunctionDecl*>& being_read_;
};

// Text with models of library functions, appended to the user's text when it is parsed: those of OpenCV if the text
// uses it, then those of the user's --models file.
std::string models_text(const std::string& users_text, const std::string& users_models, bool opencv);

// Library functions by their models (models.cpp).
class Models : public NestPart, private ValueParts {
 public:
  Models(Scope& scope, Tree& tree, const ValueParts& values, Calls& calls)
      : NestPart(scope, tree), ValueParts(values), calls_(calls) {}
  const clang::FunctionDecl* model(const clang::Expr* e, std::vector<const clang::Expr*>& actuals, Effects& fx);
  std::optional<Node> modelled(const clang::Expr* e);
  std::optional<std::string> modelled_value(const clang::Expr* e);
  void require(const clang::Expr* condition_given);

 private:
  void refuse_overlapping_rectangles(const clang::FunctionDecl* body, const std::vector<const clang::Expr*>& actuals,
                                     const clang::Expr* call, Effects& fx);

  Calls& calls_;
};

}  // namespace ridge::place::frontend
