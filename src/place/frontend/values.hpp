// Parts of the nest reader for values: images, places in memory, small structs, and integers as polynomials. Each uses
// those above it; operands are read through Tree.
#pragma once
#include <functional>

#include "place/frontend/scope.hpp"

namespace ridge::place::frontend {

// cv::Mat (images.cpp).
class Images : public NestPart {
 public:
  using NestPart::NestPart;
  std::optional<Place> mat_element(const clang::Expr* e, Effects& fx);  // m.at<T>(r, c), m(r, c)
  std::optional<Place> mat_row(const clang::Expr* e, Effects& fx);      // m.ptr<T>(r), m[r]
  std::optional<Image> image(const clang::Expr* e, Effects& fx);
  std::optional<Index> size_of_part(const clang::Expr* e) const;  // rows or cols of a rectangle
  std::optional<Poly> size_when_made(const clang::Expr* e);       // rows or cols of Mat m(rows, cols, type)
  std::optional<clang::QualType> element_used(const clang::Expr* object) const;

  struct Mat {
    int variable = -1;
    std::string element{};
    const clang::ValueDecl* decl = nullptr;
  };
  std::map<std::string, Mat> mats{};  // by their C++ text

 private:
  int mat(const Image& image, clang::QualType element, const clang::Expr* at);
  Place mat_place(const clang::Expr* object, clang::QualType element, const clang::Expr* row, const clang::Expr* column,
                  const clang::Expr* at, Effects& fx);
  std::optional<Image> rectangle(const clang::CXXOperatorCallExpr* call, Effects& fx);
};

// Arrays, pointers, references, fields (places.cpp), rows of tables (rows.cpp), the user's views (views.cpp).
class Places : public NestPart {
 public:
  Places(Scope& scope, Tree& tree, Images& images) : NestPart(scope, tree), images_(images) {}
  std::optional<Place> place(const clang::Expr* e, Effects& fx);
  std::optional<Place> pointer(const clang::Expr* e, Effects& fx);  // the last index is an offset
  std::optional<int> object(const clang::Expr* e);                  // a std::vector, array or span variable
  int extent(const clang::Expr* e);                                 // v.size(), p.width as a number; else -1
  // Refuses changing subscripts of a named place; `within` null: anywhere in the nest.
  void refuse_changing_subscripts(const clang::Expr* e, const std::string& name,
                                  const clang::Stmt* within = nullptr) const;
  bool look_through(const clang::Expr* e, Effects& fx, const std::function<void(const clang::Expr*)>& read);
  std::optional<std::string> value_named(const clang::CallExpr* e, Effects& fx);

 private:
  std::optional<Place> member_place(const clang::MemberExpr* member, Effects& fx);
  Index in_elements(Index i, clang::QualType of, const clang::Expr* at, Effects& fx);
  std::optional<Place> mixed_part(const clang::Expr* e, Effects& fx);
  bool of_pointed_struct(const clang::MemberExpr* member) const;
  std::optional<Path> path(const clang::MemberExpr* member) const;
  std::optional<int> field(const clang::Expr* e);  // p.x: an array that is part of a struct
  const clang::VarDecl* row_table(const clang::Expr* row, const clang::Expr*& at) const;
  bool same_in_nest(const clang::Expr* e) const;
  std::optional<int> row(const clang::Expr* e);
  int scattered(const clang::VarDecl* table, const clang::Expr* at, bool claimed);
  std::optional<Place> row_element(const clang::Expr* row, const clang::Expr* column, Effects& fx);
  int row_extent(const clang::CXXMemberCallExpr* call);
  std::optional<Path> owner(const clang::Expr* e) const;
  int element_of_view(const clang::Expr* e);

  Images& images_;
};

// Small structs and vectors by value (aggregates.cpp).
class Aggregates : public NestPart {
 public:
  Aggregates(Scope& scope, Tree& tree, Places& places) : NestPart(scope, tree), places_(places) {}
  std::optional<std::vector<Component>> components(const clang::Expr* e, Effects& fx);
  std::optional<Component> component(const clang::Expr* e, Effects& fx);
  std::optional<Component> known_component(const clang::Expr* e) const;  // of a local struct or an argument
  bool by_value(const clang::Expr* e) const;
  void declare_aggregate(const clang::DeclStmt* s, const clang::VarDecl* var, Node& block);
  bool assign_aggregate(const clang::Expr* e, Node& node, Effects& fx);
  std::optional<std::string> complex_part(const clang::CallExpr* e, Effects& fx);  // z.real(), std::norm(z)

 private:
  std::optional<std::vector<Component>> constructed(const clang::CXXConstructExpr* made, Effects& fx);
  std::optional<std::vector<Component>> computed(const clang::CallExpr* call, Effects& fx);
  std::vector<Component> returned(const clang::CallExpr* call, Effects& fx);
  std::optional<std::vector<Component>> complex_value(const clang::Expr* e, clang::QualType part, Effects& fx);
  static std::optional<std::vector<Component>> complex_result(const std::string& sign, const std::vector<Component>& a,
                                                              const std::vector<Component>& b);
  std::optional<std::vector<Component>> complex_computed(const clang::CallExpr* call, Effects& fx);
  std::optional<std::vector<Component>> complex_assigned(const clang::CXXOperatorCallExpr* e, clang::QualType part,
                                                         Effects& fx);
  bool on_host(const clang::Expr* e) const;
  std::optional<std::vector<Component>> host_components(const clang::Expr* e, Effects& fx);
  std::optional<Place> component_place(const clang::Expr* e, std::size_t k, Effects& fx);
  void bind(const clang::FunctionDecl* callee, const std::vector<const clang::Expr*>& actuals, Effects& fx);
  std::string converted(const clang::Expr* e, clang::QualType type, Effects& fx);

  Places& places_;
  std::optional<std::vector<Component>> self_{};  // object of the member function being read
};

// Integers as polynomials, conditions as constraints (numbers.cpp).
class Numbers : public NestPart {
 public:
  Numbers(Scope& scope, Tree& tree, Images& images, Places& places, Aggregates& aggregates)
      : NestPart(scope, tree), images_(images), places_(places), aggregates_(aggregates) {}
  std::optional<Poly> poly(const clang::Expr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of(const clang::ValueDecl* decl);
  std::optional<Poly> in_type(std::optional<Poly> p, clang::QualType type, std::vector<Poly>& not_negative) const;
  std::optional<Condition> condition(const clang::Expr* e, bool negate, std::vector<Poly>& not_negative);
  bool bounds(const clang::Expr* e, bool lower, std::vector<Poly>& into, std::vector<Poly>& not_negative);

 private:
  std::optional<Poly> value(const clang::Expr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> remainder(const Poly& of, const Poly& size, const clang::Expr* divisor);
  std::optional<Poly> poly_of_cast(const clang::CastExpr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_operator(const clang::BinaryOperator* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_call(const clang::CallExpr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_conditional(const clang::ConditionalOperator* e);

  Images& images_;
  Places& places_;
  Aggregates& aggregates_;
};

struct ValueParts {  // base of the parts that use those above
  Images& images_;
  Places& places_;
  Aggregates& aggregates_;
  Numbers& numbers_;
};

}  // namespace ridge::place::frontend
