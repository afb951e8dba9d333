// Translates Clang's syntax tree into the model. Default deny: an unknown node refuses the nest that contains it, with
// its line, because an overlooked access would produce wrong code.
#pragma once
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/edited.hpp"
#include "place/pragmas.hpp"
#include "place/program.hpp"

namespace ridge::place::frontend {

struct Refused {  // thrown by this reader's own recursion only, never through Clang's frames
  int line = 0;
  std::string file{}, what{};
};

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
  std::vector<Poly> inside{};  // conditions for the rectangle to lie inside the image
};

// Accesses collected while an expression is read.
struct Effects {
  std::vector<Access> accesses{};
};

struct Dialect {  // a number type in the kernel dialect
  std::string name{};
  int bytes = 0;
  bool integer = false, is_unsigned = false;
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

class Reader {
 public:
  Reader(clang::ASTContext& ast, const std::string& main_text, const std::vector<int>& lines)
      : ast_(ast), main_text_(main_text), lines_(lines) {}

  Function function(const clang::FunctionDecl* decl, std::set<const clang::FunctionDecl*>& called);
  std::vector<Refusal> refusals{};
  std::vector<TemplateCall> template_calls{};
  std::vector<Edit>
      rewrites{};  // of counters (induction.cpp), switch and goto (jumps.cpp), member functions (members.cpp)
  std::map<std::string, std::string> renamed{};  // member function: the free function that replaces it

 private:
  // --- functions (function.cpp)
  FunctionParameter parameter(const clang::ParmVarDecl* p) const;
  bool find_uses(const clang::Stmt* body, Function& result);

  // --- source positions and types (source.cpp)
  int line(const clang::Stmt* s) const;
  int line(clang::SourceLocation at) const;
  std::string file(const clang::Stmt* s) const;
  Span span(const clang::SourceRange& range) const;
  Span statement_span(const clang::Stmt* s) const;  // including its semicolon
  Span expanded_span(const clang::Stmt* s) const;   // of the use of the macro that contains the statement
  std::string source(const clang::Stmt* s) const;   // one line, shortened
  std::string original(const clang::SourceRange& range) const;
  [[noreturn]] void refuse(const clang::Stmt* s, const std::string& what) const;
  std::string type_text(clang::QualType type) const;
  std::optional<Dialect> dialect(clang::QualType type) const;

  // --- variables and places (variables.cpp, places.cpp)
  struct Path {
    const clang::ValueDecl* base = nullptr;
    std::string host{}, name{};
    bool arrow = false;      // a pointer to the object
    bool reachable = false;  // may change through another name
    bool spelled = true;     // every step is an accessible field, so the whole has an address
    std::string object{};    // text of the root object
  };
  std::string unique(const std::string& name);
  int variable(const clang::ValueDecl* decl, const clang::Stmt* at);
  int pseudo(const std::string& host, const std::string& name, clang::QualType type, const clang::Stmt* at,
             const std::optional<Path>& part_of = {});
  int declare_local(const clang::VarDecl* decl);
  bool shape(clang::QualType type, Variable& into) const;  // arrays and array-like objects; false for other types
  std::optional<Place> place(const clang::Expr* e, Effects& fx);
  std::optional<Place> member_place(const clang::MemberExpr* member, Effects& fx);
  std::optional<Place> pointer(const clang::Expr* e, Effects& fx);  // the last index is an offset
  std::optional<int> object(const clang::Expr* e);                  // a std::vector, array or span variable
  bool reachable(const clang::ValueDecl* decl) const;               // may change through another name
  void has_home(Variable& v, const Path& at) const;
  void refuse_shadowed(const clang::ValueDecl* decl, const clang::Stmt* at) const;
  bool settled(const clang::Stmt* s) const;  // nothing it reads can have changed since
  void assume_unchanged(const std::string& differs, const clang::VarDecl* var, const clang::Stmt* at);
  void refuse_changing_subscripts(const clang::Expr* e,
                                  const std::string& name,  // refuses changing subscripts of a named place
                                  const clang::Stmt* within = nullptr) const;  // null: anywhere in the nest
  std::optional<Path> path(const clang::MemberExpr* member) const;
  std::optional<int> field(const clang::Expr* e);  // p.x: an array that is part of a struct

  // --- rows that are separate allocations (rows.cpp)
  const clang::VarDecl* row_table(const clang::Expr* row, const clang::Expr*& at) const;
  bool same_in_nest(const clang::Expr* e) const;
  std::optional<int> row(const clang::Expr* e);
  int scattered(const clang::VarDecl* table, const clang::Expr* at);
  std::optional<Place> row_element(const clang::Expr* row, const clang::Expr* column, Effects& fx);
  int row_extent(const clang::CXXMemberCallExpr* call);

  // --- views (views.cpp)
  std::optional<Path> owner(const clang::Expr* e) const;
  bool look_through(const clang::Expr* e, Effects& fx, const std::function<void(const clang::Expr*)>& read);
  std::optional<std::string> value_named(const clang::CallExpr* e, Effects& fx);
  int element_of_view(const clang::Expr* e);
  bool makes_view(const clang::VarDecl* var) const;

  // --- cv::Mat (mat.cpp)
  std::optional<Place> mat_element(const clang::Expr* e, Effects& fx);  // m.at<T>(r, c), m(r, c)
  std::optional<Place> mat_row(const clang::Expr* e, Effects& fx);      // m.ptr<T>(r), m[r]
  int mat(const Image& image, clang::QualType element, const clang::Expr* at);
  Place mat_place(const clang::Expr* object, clang::QualType element, const clang::Expr* row, const clang::Expr* column,
                  const clang::Expr* at, Effects& fx);
  std::optional<Image> image(const clang::Expr* e, Effects& fx);
  std::optional<Image> rectangle(const clang::CXXOperatorCallExpr* call, Effects& fx);
  std::optional<Index> size_of_part(const clang::Expr* e) const;  // rows or cols of a rectangle
  std::optional<Poly> size_when_made(const clang::Expr* e);       // rows or cols of Mat m(rows, cols, type)
  bool keeps_memory(const clang::Stmt* body, const clang::ValueDecl* image, int depth) const;
  void assume(const Condition& holds, const std::string& text);

  // --- small structs and vectors by value (aggregates.cpp)
  std::vector<clang::QualType> leaf_types(
      clang::QualType type) const;  // types of its components; empty for other types
  std::optional<std::vector<Component>> components(const clang::Expr* e, Effects& fx);
  std::optional<std::vector<Component>> constructed(const clang::CXXConstructExpr* made, Effects& fx);
  std::optional<std::vector<Component>> computed(const clang::CallExpr* call, Effects& fx);
  std::vector<Component> returned(const clang::CallExpr* call, Effects& fx);
  bool by_value(const clang::Expr* e) const;
  bool on_host(const clang::Expr* e) const;
  std::optional<std::vector<Component>> host_components(const clang::Expr* e, Effects& fx);
  std::optional<Component> component(const clang::Expr* e, Effects& fx);
  std::optional<Component> known_component(const clang::Expr* e) const;  // of a local struct or an argument
  std::optional<Place> component_place(const clang::Expr* e, std::size_t k, Effects& fx);
  void bind(const clang::FunctionDecl* callee, const std::vector<const clang::Expr*>& actuals, Effects& fx);
  std::string converted(const clang::Expr* e, clang::QualType type, Effects& fx);
  std::vector<int> declare_parts(const clang::VarDecl* var);
  void declare_aggregate(const clang::DeclStmt* s, const clang::VarDecl* var, Node& block);
  bool assign_aggregate(const clang::Expr* e, Node& node, Effects& fx);

  // --- calls read as if their body were written there (inlined.cpp), models of library functions (models.cpp)
  void bind_argument(const clang::ParmVarDecl* formal, const clang::Expr* actual, const clang::Expr* call, Node& block);
  Node inlined(const clang::Expr* call, const clang::FunctionDecl* callee,
               const std::vector<const clang::Expr*>& actuals, std::string* result);
  bool takes_image(const clang::FunctionDecl* callee) const;
  bool sets_arguments(const clang::FunctionDecl* callee) const;
  const clang::FunctionDecl* model(const clang::Expr* e, std::vector<const clang::Expr*>& actuals, Effects& fx);
  void refuse_overlapping_rectangles(const clang::FunctionDecl* body, const std::vector<const clang::Expr*>& actuals,
                                     const clang::Expr* call, Effects& fx);
  bool is_modelled(const clang::Expr* e, std::vector<const clang::Expr*>& actuals) const;
  std::optional<clang::QualType> element_used(const clang::Expr* object) const;
  std::optional<Node> modelled(const clang::Expr* e);
  std::optional<std::string> modelled_value(const clang::Expr* e);
  void require(const clang::Expr* condition_given);
  bool unrolled(const clang::Stmt* s, const Loop& l, Node& node);
  int extent(const clang::Expr* e);  // v.size(), p.width as a number; else -1
  Index index(const clang::Expr* e, Effects& fx, std::vector<Poly>& not_negative);
  std::string element_text(const Place& p) const;
  void record(const Place& p, bool write, const clang::Expr* at, Effects& fx);
  bool fixed(const clang::ValueDecl* decl) const;  // never changes in the function
  // No variable in the expression is in `changed`, and it reads no element.
  bool fixed_operands(const clang::Stmt* s, const std::set<const clang::ValueDecl*>& changed) const;
  bool as_declared(const clang::VarDecl* var) const;
  const clang::ValueDecl* referred(const clang::Expr* e) const;

  // --- numbers (affine.cpp)
  std::optional<Poly> poly(const clang::Expr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of(const clang::ValueDecl* decl);
  std::optional<long> constant_before(const clang::VarDecl* var) const;
  std::optional<Poly> poly_of_cast(const clang::CastExpr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_operator(const clang::BinaryOperator* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_call(const clang::CallExpr* e, std::vector<Poly>& not_negative);
  std::optional<Poly> poly_of_conditional(const clang::ConditionalOperator* e);
  std::optional<Poly> in_type(std::optional<Poly> p, clang::QualType type, std::vector<Poly>& not_negative) const;
  std::optional<Condition> condition(const clang::Expr* e, bool negate, std::vector<Poly>& not_negative);
  bool bounds(const clang::Expr* e, bool lower, std::vector<Poly>& into, std::vector<Poly>& not_negative);
  std::string symbol(int variable);  // makes it an isl parameter

  // --- expressions (expressions.cpp)
  std::string expression(const clang::Expr* e, Effects& fx);
  std::optional<std::string> literal_text(const clang::Expr* e, Effects& fx);
  std::string cast_text(const clang::CastExpr* e, Effects& fx);
  std::optional<std::string> substituted(const clang::DeclRefExpr* ref, Effects& fx);
  std::optional<std::string> unary_text(const clang::UnaryOperator* u, Effects& fx);
  std::string literal(const clang::APValue& value, clang::QualType type, const clang::Stmt* at) const;
  std::string call(const clang::CallExpr* e, Effects& fx);
  std::optional<std::string> known_function(const clang::CallExpr* e, Effects& fx);
  std::optional<std::string> opencv_rounding(const clang::CallExpr* e, Effects& fx);
  void add_parts(const clang::ParmVarDecl* p, const clang::FunctionDecl* callee, const clang::Stmt* at,
                 std::string& parameters, std::string& prologue);
  std::string own_function(const clang::CallExpr* e, const clang::FunctionDecl* callee, Effects& fx);
  Place array_argument(const clang::CallExpr* e, const clang::Expr* argument, const Variable& formal, Effects& fx);
  Access substituted_access(Access a, const Place& actual, const std::map<std::string, Poly>& values,
                            const clang::CallExpr* e);
  void refuse_overlapping_parameters(const clang::FunctionDecl* callee, const Summary& known, const clang::Stmt* at);
  const Summary& summary(const clang::FunctionDecl* callee, const clang::Stmt* at);
  std::string helper(const std::string& name, const std::string& text);

  // --- statements and loops (statements.cpp, loops.cpp, headers.cpp, range_loops.cpp, counting.cpp)
  Node statement(const clang::Stmt* s);
  Node single_statement(const clang::Stmt* s);
  std::optional<Node> assertion(const clang::Stmt* s, Node node);
  Node block(const clang::CompoundStmt* s, Node node);
  Node branch(const clang::IfStmt* s, Node node);
  Node jump(const clang::Stmt* s, Node node);
  Node expression_statement(const clang::Expr* e, const Node& node);
  Node chained_assignment(const clang::Expr* e, const clang::BinaryOperator* outer, const clang::BinaryOperator* inner,
                          const Node& node);
  std::vector<int> guards() const;  // jumps that may skip the next statement
  Node assignment(const clang::Expr* e);
  void remember(const clang::CompoundStmt* block, const clang::Stmt* s);
  const clang::UnaryOperator* step_inside(const clang::Expr* e) const;
  void declaration(const clang::DeclStmt* s, Node& block);
  void declare_pointer(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  void declare_reference(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  void declare_array(const clang::DeclStmt* s, const clang::VarDecl* var, Node& node);
  void declare_number(const clang::VarDecl* var, Node& node);
  Node loop(const clang::Stmt* s);
  std::optional<Claim> claimed(const clang::Stmt* s);
  bool waits(const clang::Stmt* s, std::set<const clang::FunctionDecl*>& seen) const;
  void note_claim(const clang::Stmt* s, Loop& into);
  // Parts of a counting loop: of a for from its header, of while and do from their test and last statement.
  struct Counting {
    const clang::VarDecl* var = nullptr;
    const clang::Expr *start = nullptr, *test = nullptr, *step = nullptr;
    const clang::Stmt *body = nullptr, *last = nullptr;
    bool declared_in_header = false;
    std::vector<const clang::VarDecl*> others{};    // further counters of a for header
    std::vector<const clang::Expr*> other_steps{};  // one step per further counter
  };
  bool counting(const clang::Stmt* s, Counting& into, std::string& why) const;
  bool several_counters(const clang::DeclStmt* d, const clang::ForStmt* f, Counting& into) const;
  const clang::Expr* value_before(const clang::Stmt* s, const clang::VarDecl* var) const;
  class HeaderReader;     // headers.cpp
  class CounterRewriter;  // induction.cpp
  void rewrite_counters(const clang::Stmt* body);
  class JumpRewriter;  // jumps.cpp
  void rewrite_jumps(const clang::Stmt* body);
  // Returns true if the loop is counted; then `into` is filled in, and `node` has the accesses of the header.
  bool header(const clang::Stmt* s, Loop& into, Node& node);
  Node counted_loop(const clang::Stmt* s, Loop l, Node node);
  void declare_counters(const Counting& count, const Loop& l, Node& body);
  Node uncounted_loop(const clang::Stmt* s, Loop l, Node node);
  std::string increments(const clang::Expr* increment, int at_line, Node& body);
  Node range_loop(const clang::CXXForRangeStmt* s);
  int begin_loop(Loop loop);
  void end_loop();

  // --- lambdas (lambdas.cpp)
  const clang::LambdaExpr* lambda(const clang::CallExpr* e) const;
  void refuse_stale_captures(const clang::CallExpr* e, const clang::LambdaExpr* l) const;
  Node lambda_statement(const clang::CallExpr* e, const clang::LambdaExpr* l);
  std::string lambda_value(const clang::CallExpr* e, const clang::LambdaExpr* l, Effects& fx);
  bool pass(const clang::ParmVarDecl* formal, const clang::Expr* actual, Effects& fx);

  // --- reductions (reductions.cpp)
  class UpdateReader;
  Reduction reduction(const clang::Stmt* s);
  bool same(const clang::Expr* a, const clang::Expr* b) const;
  bool mentions(const clang::Stmt* s, const clang::Expr* cell) const;

  // --- changes and liveness (changes.cpp)
  void find_changes(const clang::Stmt* s, std::set<const clang::ValueDecl*>& into) const;
  void find_escapes(const clang::Stmt* s, std::set<const clang::ValueDecl*>& into) const;
  bool live_after(const clang::VarDecl* var) const;

  // --- host parts (host.cpp)
  Part part(const clang::Stmt* s, bool in_sequence);
  Part loop_part(const clang::Stmt* s, Part result);
  Part branch_part(const clang::IfStmt* s, Part result);
  Part open_loop(const clang::Stmt* s);
  void record_enclosing_loops();
  void record_enclosing_branch(const clang::IfStmt* branch, bool taken);
  std::optional<Nest> nest(const clang::Stmt* s, Part& into);
  void touched(const clang::Stmt* s, Part& into);
  void header_touches(const clang::Stmt* s, std::vector<Touch>& touches, bool& anything);
  void note_touches(const std::vector<Access>& accesses, std::map<std::string, Touch>& found, bool& anything) const;
  bool only_numbers(const clang::Stmt* s) const;
  bool only_address(const clang::Expr* e) const;
  bool moves_addresses(const clang::Stmt* s) const;
  bool has_loop(const clang::Stmt* s) const;
  std::optional<Part> placeable_call(const clang::Stmt* s);  // placed_calls.cpp
  bool quiet_arguments(const clang::CallExpr* call, const clang::FunctionDecl* body) const;
  const clang::CallExpr* call_inside(const clang::Expr* e) const;
  void template_call(const clang::CallExpr* call, const clang::FunctionDecl* callee);  // templates.cpp
  bool template_names(const clang::TemplateParameterList* parameters, const clang::TemplateArgumentList& arguments,
                      std::string& known, std::string& name) const;

  // --- member functions as free functions whose parameters are the fields (members.cpp)
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
  bool loops_in(const clang::CXXMethodDecl* method) const;
  const Lifted& lifted(const clang::CXXMethodDecl* method);
  std::string lift(const clang::CXXMethodDecl* method);  // returns the reason why not, or ""
  bool lift_call(const clang::CallExpr* call);
  bool lift_parallel_for(const clang::CallExpr* call);

  // --- local arrays (locals.cpp)
  bool makes(const clang::DeclStmt* d, Part& into);
  void exchanges(const clang::Expr* e, Part& into);
  bool quiet(const clang::Expr* e) const;
  bool elements_only(const clang::VarDecl* var) const;
  std::string birth(const clang::VarDecl* var) const;

  clang::ASTContext& ast_;
  const std::string& main_text_;
  const std::vector<int>& lines_;
  const clang::FunctionDecl* function_ = nullptr;
  std::set<const clang::ValueDecl*> changed_in_function_{};
  std::set<const clang::ValueDecl*> captured_{};  // by reference in a lambda of the function
  std::set<const clang::ValueDecl*> escaped_{};   // their address or a reference is taken
  std::map<const clang::Stmt*, std::string> loop_ids_{};
  std::map<const clang::Stmt*, std::optional<Claim>> claims_{};  // by loop
  std::map<const clang::FunctionDecl*, std::unique_ptr<Summary>> summaries_{};
  std::set<const clang::FunctionDecl*> being_read_{};
  std::map<const clang::CXXMethodDecl*, Lifted> lifted_{};
  std::set<const clang::FunctionDecl*>* called_ = nullptr;
  Function* result_ = nullptr;
  struct Frame {
    const clang::Stmt* s = nullptr;
    std::size_t next = 0;  // block: index of the statement after the current one; if: 0 then, 1 else
  };
  std::vector<Frame> around_{};  // blocks and loops around the current part, outermost first
  std::vector<const clang::Stmt*> host_loops_{};

  // State of the nest or function summary being read.
  struct Scope {
    Nest nest{};
    std::map<const clang::ValueDecl*, int> variables{};
    std::map<std::string, int> pseudo{};
    struct Mat {
      int variable = -1;
      std::string element{};
      const clang::ValueDecl* decl = nullptr;
    };
    std::map<std::string, Mat> mats{};                            // cv::Mat, by its C++ text
    std::map<const clang::ValueDecl*, Image> images{};            // parameters of functions read in place
    std::map<const clang::ValueDecl*, std::vector<int>> parts{};  // structs by value: one variable per field
    std::map<const clang::ValueDecl*, std::vector<std::optional<Poly>>> part_values{};
    std::map<const clang::ValueDecl*, std::vector<Component>> bound_parts{};  // arguments of functions read in place
    std::optional<std::vector<Component>> self_parts{};  // object of the member function being read
    std::vector<Node> before{};                          // statements that must precede the current one
    bool may_hoist = false;                            // the current expression is evaluated exactly once per statement
    int inlined = 0;                                   // depth of functions being read in place
    const clang::Expr* model_call = nullptr;           // library call whose model is being read
    std::map<const clang::ValueDecl*, Poly> values{};  // integers with a closed form, iterators included
    std::map<const clang::ValueDecl*, Place> pointers{};    // set once to a place in an array
    std::map<const clang::ValueDecl*, Place> references{};  // another name for a place
    std::map<const clang::ValueDecl*, std::string> iterators{};
    std::map<const clang::ValueDecl*, const clang::Expr*> given{};  // arguments of lambda parameters
    std::map<const clang::ValueDecl*, Bound> bound{};               // arguments of member functions' parameters
    std::optional<Path> self{};                                     // object of the member function being read
    std::set<const clang::Stmt*> counted{};  // steps of while loops that are now part of a header
    int lambdas = 0;                         // depth of lambdas being read
    std::set<const clang::ValueDecl*> changed{};
    std::set<std::string> names{}, helpers{};
    std::vector<int> open{};                // loops around the current statement
    std::vector<std::vector<int>> skips{};  // per open loop: the jumps so far
    std::set<const clang::Expr*> own{};
    std::set<const clang::Expr*> steps{};  // k++ inside a statement, emitted separately
    bool in_function = false;              // a summary: return is allowed
    const clang::Stmt* root = nullptr;     // the nest being read
    const clang::Stmt* block = nullptr;    // the innermost block being read
    bool tested = false;                   // assumptions are tested before it runs
    std::vector<std::string> exists{};     // summary: iterators of its loops
    Conjunction where{};
  };
  std::unique_ptr<Scope> scope_{};
};

std::string describe(const clang::Stmt* s);  // describes a node without Clang's terms
std::string class_of(clang::QualType type);  // with its namespace; "" for other types
// Name of the library function that is called; "min" or "max" also for a user's function that computes one over
// integers.
std::string extreme_called(const clang::CallExpr* call);
const clang::CXXRecordDecl* record_of(clang::QualType type);
std::string why_not_array(clang::QualType type);  // why an array-like type is not supported; "" for others
clang::QualType uniform_fields(const clang::RecordDecl* record, std::vector<const clang::FieldDecl*>& fields);
bool of_union(const clang::Expr* e);                              // a field of a union
const clang::CXXMethodDecl* users_method(const clang::Expr* e);   // called member function of a user's class
const clang::Expr* named_by(const clang::CXXMethodDecl* method);  // the returned expression, if that is the whole body
const clang::Expr* object_changed(const clang::Expr* e);  // the object changed by assigning to the call's result
bool is_view(const clang::CXXRecordDecl* record);
bool is_mat(clang::QualType type);
const clang::Expr* image_passed(const clang::Expr* e);       // without conversions and cv::InputArray
std::string public_accessor(const clang::FieldDecl* field);  // its name, or a public member function that returns it
clang::QualType pointer_of(const clang::CXXRecordDecl* view, std::vector<std::string>& fields);
std::string wrapped(const std::string& text);  // in parentheses unless it is a single word

}  // namespace ridge::place::frontend
