// Pointers that step through an array: *p++ in a loop becomes p[p_at], with p_at++ after the statement. The text is
// then read again, and the counter becomes a number computed from the iterator (rewrites.cpp).
#include <functional>
#include <map>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Text that follows a statement: the steps of the pointers that it names.
struct Step {
  Span statement{};
  std::string text{};
  bool in_block = true;  // else the statement needs braces
};

// One for loop, and one pointer that is declared before it.
class PointerRewriter {
 public:
  PointerRewriter(const Facts& facts, const VarDecl* var, const std::string& at) : r_(facts), var_(var), at_(at) {}

  // False if the pointer is used in another way, or does not step.
  bool run(const Stmt* loop) {
    statement(loop, true);
    return good_ && steps_ > 0;
  }
  const std::vector<Edit>& edits() const { return edits_; }
  const std::vector<Step>& steps() const { return steps_after_; }

 private:
  bool is_pointer(const Expr* e) const { return referred(e) == var_; }

  int uses(const Stmt* s) const { return uses_of(var_, s); }

  void replace(const Stmt* s, const std::string& text) {
    const Span at = r_.span(s->getSourceRange());
    good_ = good_ && at.known;
    edits_.push_back({at.begin, at.end, text, {}});
  }

  // p++, p += 2 and the like as a statement.
  bool step(const Expr* e) {
    e = e->IgnoreParens();
    const auto* u = dyn_cast<UnaryOperator>(e);
    const auto* b = dyn_cast<BinaryOperator>(e);
    const Expr* stepped = u != nullptr && u->isIncrementDecrementOp() ? u->getSubExpr()
                          : b != nullptr && (b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign)
                              ? b->getLHS()
                              : nullptr;
    if (stepped == nullptr || !is_pointer(stepped) || uses(e) != 1) return false;
    replace(stepped, at_);
    ++steps_;
    return true;
  }

  const UnaryOperator* stepped_element(const Stmt* s) const {  // *p++ or *p--
    const auto* element = dyn_cast<UnaryOperator>(s);
    if (element == nullptr || element->getOpcode() != UO_Deref) return nullptr;
    const auto* step = dyn_cast<UnaryOperator>(element->getSubExpr()->IgnoreParenImpCasts());
    return step != nullptr && step->isPostfix() && is_pointer(step->getSubExpr()) ? step : nullptr;
  }

  // Elements in an expression. `once`: it is evaluated exactly once, in a statement that names the pointer once.
  void elements(const Stmt* s, bool once) {
    if (s == nullptr || !good_) return;
    if (const UnaryOperator* step = stepped_element(s)) {
      good_ = once;
      after_ = at_ + (step->isIncrementOp() ? "++;" : "--;");
      replace(s, name() + "[" + at_ + "]");
      return;
    }
    if (const auto* u = dyn_cast<UnaryOperator>(s); u != nullptr && u->getOpcode() == UO_Deref && bare(u->getSubExpr()))
      return replace(s, name() + "[" + at_ + "]");
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(s); a != nullptr && bare(a->getBase())) {
      replace(a->getBase(), "(" + name() + " + " + at_ + ")");
      return elements(a->getIdx(), false);
    }
    if (const auto* ref = dyn_cast<DeclRefExpr>(s); ref != nullptr && ref->getDecl() == var_) good_ = false;
    if (isa<LambdaExpr, StmtExpr>(s)) good_ = good_ && uses(s) == 0;
    const auto* chosen = dyn_cast<ConditionalOperator>(s);
    const auto* logical = dyn_cast<BinaryOperator>(s);
    for (const Stmt* child : s->children()) {
      bool always = once && !isa<LambdaExpr, UnaryExprOrTypeTraitExpr, CXXNoexceptExpr>(s);
      if (chosen != nullptr) always = always && child == chosen->getCond();
      if (logical != nullptr && logical->isLogicalOp()) always = always && child == logical->getLHS();
      elements(child, always);
    }
  }

  bool bare(const Expr* e) const {
    const auto* ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
    return ref != nullptr && ref->getDecl() == var_;
  }

  std::string name() const { return var_->getNameAsString(); }

  void statement(const Stmt* s, bool in_block) {
    if (s == nullptr || !good_ || uses(s) == 0) return;
    if (isa<CompoundStmt, IfStmt>(s) || is_loop(s)) {
      for (const Stmt* child : s->children())
        if (child == nullptr || is_statement(s, child))
          statement(child, isa<CompoundStmt>(s));
        else
          elements(child, false);  // conditions and headers
      return;
    }
    const auto* e = dyn_cast<Expr>(s);
    if (e != nullptr && step(e)) return;
    if (e == nullptr && !isa<DeclStmt>(s)) {
      good_ = false;
      return;
    }
    after_.clear();
    elements(s, uses(s) == 1);
    if (after_.empty()) return;
    ++steps_;
    steps_after_.push_back({r_.statement_span(s), " " + after_, in_block});
    good_ = good_ && steps_after_.back().statement.known && (in_block || isa<Expr>(s));
  }

  // True for the statements of a block, the branches of an if and the body of a loop.
  static bool is_statement(const Stmt* of, const Stmt* child) {
    if (isa<CompoundStmt>(of)) return true;
    if (const auto* branch = dyn_cast<IfStmt>(of)) return child == branch->getThen() || child == branch->getElse();
    return child == body_of(of);
  }

  const Facts& r_;
  const VarDecl* var_;
  const std::string at_;  // name of the counter
  std::vector<Edit> edits_{};
  std::vector<Step> steps_after_{};
  std::string after_{};
  int steps_ = 0;
  bool good_ = true;
};

class LoopPointers {
 public:
  LoopPointers(const Facts& facts, std::vector<Edit>& rewrites) : r_(facts), rewrites_(rewrites) {}

  void look(const Stmt* s, const CompoundStmt* block) {
    if (s == nullptr || isa<LambdaExpr>(s)) return;
    if (isa<ForStmt>(s) && block != nullptr && rewrite(s, block)) return;
    for (const Stmt* child : s->children()) look(child, dyn_cast<CompoundStmt>(s));
  }

 private:
  bool eligible(const VarDecl* var, const Stmt* loop) const {
    const QualType type = var->getType();
    return type->isPointerType() && r_.dialect(type->getPointeeType()) && !type.isVolatileQualified() &&
           !type->getPointeeType().isVolatileQualified() && var->hasLocalStorage() && !r_.reachable(var) &&
           r_.captured.count(var) == 0 &&
           r_.ast().getSourceManager().isBeforeInTranslationUnit(var->getLocation(), loop->getBeginLoc());
  }

  bool rewrite(const Stmt* loop, const CompoundStmt* block) {
    std::map<std::string, const VarDecl*> found;  // by name, so that the text does not depend on addresses
    visit(loop, [&](const Stmt* s) {
      const auto* ref = dyn_cast<DeclRefExpr>(s);
      const auto* var = ref != nullptr ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
      if (var != nullptr && eligible(var, loop)) found[var->getNameAsString()] = var;
    });
    std::vector<Edit> all;
    std::string before, after;
    std::map<unsigned, std::string> opened, closed;  // by position: braces and steps around statements
    for (const auto& [name, var] : found) {
      std::string at = name + "_at";
      for (int k = 2; r_.text().find(at) != std::string::npos; ++k) at = name + "_at" + std::to_string(k);
      PointerRewriter one(r_, var, at);
      if (!one.run(loop)) continue;
      all.insert(all.end(), one.edits().begin(), one.edits().end());
      for (const Step& s : one.steps()) {
        closed[s.statement.end] += s.text;
        if (!s.in_block) opened[s.statement.begin] = "{ ", braces_.insert(s.statement.end);
      }
      before += "long " + at + " = 0; ";
      if (!ends_here(var, loop, block)) after += " " + name + " += " + at + ";";
    }
    const Span whole = r_.statement_span(loop);
    if (all.empty() || !whole.known) return false;
    const auto insert = [&](unsigned at, const std::string& text) { rewrites_.push_back({at, at, text, {}}); };
    // In this order, because changes at the same position are applied in the order of the list.
    insert(whole.begin, "{ " + before);
    for (const auto& [at, text] : closed) insert(at, text + (braces_.count(at) > 0 ? " }" : ""));
    for (const auto& [at, text] : opened) insert(at, text);
    rewrites_.insert(rewrites_.end(), all.begin(), all.end());
    insert(whole.end, after + " }");
    return true;
  }

  bool ends_here(const VarDecl* var, const Stmt* loop, const CompoundStmt* block) const {
    const bool whole = r_.function != nullptr && r_.function->getBody() == block;
    return ends_with(loop, var, block, isa<ParmVarDecl>(var) && whole);
  }

  const Facts& r_;
  std::vector<Edit>& rewrites_;
  std::set<unsigned> braces_{};  // ends of statements that need braces
};

}  // namespace

bool rewrite_pointers(const Facts& facts, const Stmt* body, std::vector<Edit>& rewrites) {
  const std::size_t before = rewrites.size();
  LoopPointers(facts, rewrites).look(body, nullptr);
  return rewrites.size() > before;
}

}  // namespace ridge::place::frontend
