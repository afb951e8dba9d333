// The nest being read and the meaning of names in it; base class of the parts that read it.
#pragma once
#include "place/frontend/facts.hpp"

namespace ridge::place::frontend {

// A subscript: kernel text, and its value if it is a polynomial.
struct Index {
  std::optional<Poly> value{};
  std::string text{};
};

// A place in memory: variable and subscripts; fewer than its dimensions for a sub-array.
struct Place {
  int variable = -1;
  std::vector<Index> indices{};
  std::vector<Poly> not_negative{};
  std::string element{};  // the field's number type, in an array of structs with fields of several types
};

// An argument of a member function that is inlined.
struct Bound {
  std::string text{};
  std::optional<Poly> value{};
  std::vector<Poly> not_negative{};  // conditions for `value` to hold
};

// A number of a small struct or vector: kernel text, and its value if it is a polynomial.
struct Component {
  std::string text{};
  std::optional<Poly> value{};
};

// An image (cv::Mat), or a rectangle of one.
struct Image {
  const clang::ValueDecl* decl = nullptr;  // the variable, or the std::vector<cv::Mat> that holds it
  std::string host{}, name{};              // C++ text; name in kernels
  bool part = false;                       // a rectangle: the indices below are set
  Index top{}, left{}, rows{}, cols{};
  std::vector<Poly> inside{};  // conditions that the rectangle is inside the image
};

// A variable or part of one, by its C++ text.
struct Path {
  const clang::ValueDecl* base = nullptr;
  std::string host{}, name{};
  bool arrow = false;      // a pointer to the object
  bool reachable = false;  // may change through another name
  bool spelled = true;     // every step is an accessible field, so the whole has an address
  std::string object{};    // text of the root object
};

// Accesses collected while an expression is read.
struct Effects {
  std::vector<Access> accesses{};
  void read(int variable, int line);  // of a number
  void set(int variable, int line, const std::string& source);
};

// A function that kernels may call: its text, and its accesses in terms of its formal parameters.
struct Summary {
  std::string name{}, text{};
  std::vector<std::string> formals{};  // names of integer formals by position; "" for others
  std::vector<int> arrays{};           // variable of the array formal at each position, or -1
  std::vector<std::size_t> parts{};    // number of components of a struct or vector passed by value, or 0
  std::vector<Variable> variables{};
  std::vector<Access> accesses{};
  std::vector<std::string> functions{};  // texts of the functions it calls, callees first
  bool libm = false, asserts = false;
};

// The nest, or the body of a called function, that is being read. Names mean variables, values, places or arguments.
struct Scope : Inlining, Source {
  Scope(Facts& of, const clang::Stmt* what) : Source(of, *this), facts(of), root(what) {
    if (what != nullptr) find_changes(what, changed);
  }
  Scope(const Scope&) = delete;

  // --- variables (scope.cpp)
  std::string unique(const std::string& name);
  int variable(const clang::ValueDecl* decl, const clang::Stmt* at);
  int pseudo(const std::string& host, const std::string& name, clang::QualType type, const clang::Stmt* at,
             const std::optional<Path>& part_of = {});
  int declare_local(const clang::VarDecl* decl);
  std::vector<int> declare_parts(const clang::VarDecl* var, bool one_each = false);
  int declare_moved(const clang::VarDecl* var, bool here);  // a pointer that the nest sets: its offset in an array
  int add(const Variable& v);
  void has_home(Variable& v, const Path& at) const;
  void refuse_shadowed(const clang::ValueDecl* decl, const clang::Stmt* at) const;
  std::string symbol(int variable);  // makes it an isl parameter
  void assume(const Condition& holds, const std::string& text);
  void assume_unchanged(const std::string& differs, const clang::VarDecl* var, const clang::Stmt* at);
  std::string helper(const std::string& name, const std::string& text);
  // --- accesses and loops
  std::string element_text(const Place& p) const;
  void set_field(Place& p, clang::QualType type, const std::vector<long>& steps);
  void record(const Place& p, bool write, const clang::Expr* at, Effects& fx);
  std::string fixed_element(const clang::Expr* at) const;
  void quantify(Access& a) const;  // adds the remainders in its subscripts to the access
  bool has_remainder(const Poly& p) const;
  int begin_loop(Loop loop);
  void end_loop();
  Node declaration_node(const clang::Stmt* s) const;
  std::vector<int> guards() const;  // jumps that may skip the next statement

  Facts& facts;
  Nest nest{};
  const clang::Stmt* root;             // the nest being read
  const clang::Stmt* block = nullptr;  // the innermost block being read
  bool tested = false;                 // assumptions are tested before it runs
  std::set<const clang::ValueDecl*> changed{};
  std::map<const clang::ValueDecl*, int> variables{};
  std::map<std::string, int> pseudos{};
  std::map<const clang::ValueDecl*, Image> images{};            // parameters of functions read in place
  std::map<const clang::ValueDecl*, std::vector<int>> parts{};  // structs by value: one variable per field
  std::map<const clang::ValueDecl*, std::vector<std::optional<Poly>>> part_values{};
  std::map<const clang::ValueDecl*, std::vector<Component>> bound_parts{};  // arguments of functions read in place
  std::map<const clang::ValueDecl*, Poly> values{};                   // integers with a closed form, iterators included
  std::map<const clang::ValueDecl*, std::vector<Poly>> conditions{};  // polynomials >= 0 for that form to hold
  std::map<const clang::ValueDecl*, Place> pointers{};                // set once to a place in an array
  std::map<const clang::ValueDecl*, int> moved{};         // those set by an assignment in the nest: the variable
  std::map<const clang::ValueDecl*, Place> references{};  // another name for a place
  std::map<const clang::ValueDecl*, std::string> iterators{};
  std::map<const clang::ValueDecl*, const clang::Expr*> given{};  // arguments of lambda parameters
  std::map<const clang::ValueDecl*, Bound> bound{};               // arguments of member functions' parameters
  std::optional<Path> self{};                                     // object of the member function being read
  int lambdas = 0;                                                // depth of lambdas being read
  std::vector<Node> before{};                                     // statements that must precede the current one
  bool may_hoist = false;  // the current expression is evaluated exactly once per statement
  // Remainders of a division by a size, by their name in isl: any number from 0 to below the size.
  struct Remainder {
    Conjunction where{};
    std::vector<Poly> not_negative{};  // conditions for that
  };
  std::map<std::string, Remainder> remainders{};
  bool may_be_remainder = false;  // the number is used in subscripts only
  std::set<std::string> names{}, helpers{};
  std::vector<int> open{};                // loops around the current statement
  std::vector<std::vector<int>> skips{};  // per open loop: the jumps so far
  std::set<const clang::Expr*> own{};
  std::set<const clang::Expr*> steps{};  // k++ inside a statement, emitted separately
  std::vector<std::string> exists{};     // summary: iterators of its loops
  Conjunction where{};
};

// Syntax trees are recursive: a part reads the operands and statements inside its own through this interface.
class Tree {
 public:
  virtual ~Tree() = default;
  virtual std::string expression(const clang::Expr* e, Effects& fx) = 0;
  virtual std::optional<Poly> poly(const clang::Expr* e, std::vector<Poly>& not_negative) = 0;
  virtual std::optional<std::vector<Component>> components(const clang::Expr* e, Effects& fx) = 0;
  virtual Node statement(const clang::Stmt* s) = 0;
  virtual Node assignment(const clang::Expr* e) = 0;
  virtual void declaration(const clang::DeclStmt* s, Node& block) = 0;
  virtual const Summary& summary(const clang::FunctionDecl* callee, const clang::Stmt* at) = 0;
};

class NestPart : protected Source {
 public:
  NestPart(Scope& scope, Tree& tree) : Source(scope), scope_(scope), facts_(scope.facts), tree_(tree) {}

 protected:
  Index index(const clang::Expr* e, Effects& fx, std::vector<Poly>& not_negative);

  Scope& scope_;
  Facts& facts_;
  Tree& tree_;
};

}  // namespace ridge::place::frontend
