// Counters beside the iterator: for (int i = 0, j = n; i < n; ++i, --j) and k += 2 in the body become numbers computed
// from the iterator, in changed text that is read again. Steps that are not constants become a count of iterations.
#include <algorithm>
#include <functional>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Literals, variables, + - *: may be evaluated again as long as its variables do not change.
bool repeatable(const Expr* e, const std::set<const ValueDecl*>& changed) {
  e = e->IgnoreParenImpCasts();
  if (isa<IntegerLiteral>(e)) return true;
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    return var != nullptr && var->hasLocalStorage() && !var->getType()->isReferenceType() &&
           var->getType()->isIntegerType() && changed.count(var) == 0;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Minus)
    return repeatable(u->getSubExpr(), changed);
  const auto* b = dyn_cast<BinaryOperator>(e);
  return b != nullptr && (b->isAdditiveOp() || b->getOpcode() == BO_Mul) && repeatable(b->getLHS(), changed) &&
         repeatable(b->getRHS(), changed);
}

std::vector<const Expr*> parts_of(const Expr* e) {  // separated by commas
  std::vector<const Expr*> all{e->IgnoreParens()};
  while (const auto* comma = dyn_cast<BinaryOperator>(all.front())) {
    if (comma->getOpcode() != BO_Comma) break;
    all.front() = comma->getLHS()->IgnoreParens();
    all.insert(all.begin() + 1, comma->getRHS()->IgnoreParens());
  }
  return all;
}

}  // namespace

// One for loop whose header or body has further counters.
class Reader::CounterRewriter {
 public:
  CounterRewriter(const Reader& reader, const ForStmt* loop, bool in_block)
      : r_(reader), f_(loop), in_block_(in_block) {}

  bool run(std::vector<Edit>& edits) {
    if (f_->getInit() == nullptr || f_->getCond() == nullptr || f_->getInc() == nullptr || !known(f_->getSourceRange()))
      return false;
    bool leaves = jumps_out(f_->getBody());
    visit(f_->getBody(), [&](const Stmt* s) { leaves |= isa<ReturnStmt>(s); });
    if (leaves) return false;
    r_.find_changes(f_->getBody(), changed_);
    if (!find_starts() || !find_iterator()) return false;
    std::set<const ValueDecl*> all = changed_;
    r_.find_changes(f_->getInc(), all);
    if (!repeatable(starts_.at(i_), all) || !repeatable(end_, all)) return false;
    for (const Step& s : steps_)
      if (s.var != i_ && !add_header_counter(s, all)) return false;
    if (!add_body_counters(all)) return false;
    if (counters_.empty() && constant_) return false;
    return write(edits);
  }

 private:
  struct Step {
    const VarDecl* var = nullptr;
    const Expr* by = nullptr;  // null: 1
    int sign = 1;
  };
  struct Counter {
    Step step{};
    std::string start{};              // text; "" if it is saved before the loop
    const Stmt* statement = nullptr;  // in the body
  };

  bool known(const SourceRange& range) const { return r_.span(range).known; }
  std::string text(const Expr* e) const { return wrapped(r_.original(e->getSourceRange())); }

  bool plain(const VarDecl* var) const {
    const auto number = var != nullptr ? r_.dialect(var->getType()) : std::nullopt;
    return number && number->integer && !number->is_unsigned && number->bytes >= 4 && var->hasLocalStorage() &&
           !var->getType()->isReferenceType() && !var->getType().isConstQualified() && !r_.reachable(var) &&
           r_.captured_.count(var) == 0;
  }

  std::optional<Step> step_of(const Stmt* s) const {
    const auto* e = dyn_cast_or_null<Expr>(s);
    if (e == nullptr) return {};
    e = e->IgnoreParens();
    if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->isIncrementDecrementOp())
      if (const auto* var = dyn_cast_or_null<VarDecl>(r_.referred(u->getSubExpr())); plain(var))
        return Step{var, nullptr, u->isIncrementOp() ? 1 : -1};
    const auto* b = dyn_cast<BinaryOperator>(e);
    const auto* var = b != nullptr ? dyn_cast_or_null<VarDecl>(r_.referred(b->getLHS())) : nullptr;
    if (var == nullptr || !plain(var)) return {};
    if (b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign)
      return Step{var, b->getRHS(), b->getOpcode() == BO_AddAssign ? 1 : -1};
    return {};
  }

  bool find_starts() {
    if (const auto* d = dyn_cast<DeclStmt>(f_->getInit())) {
      declared_ = true;
      for (const Decl* one : d->decls()) {
        const auto* var = dyn_cast<VarDecl>(one);
        if (var == nullptr || !var->hasInit() || !plain(var)) return false;
        starts_[var] = var->getInit();
      }
      return true;
    }
    for (const Expr* part : parts_of(cast<Expr>(f_->getInit()))) {
      const auto* b = dyn_cast<BinaryOperator>(part);
      const auto* var =
          b != nullptr && b->getOpcode() == BO_Assign ? dyn_cast_or_null<VarDecl>(r_.referred(b->getLHS())) : nullptr;
      if (var == nullptr || !plain(var)) return false;
      starts_[var] = b->getRHS();
    }
    return true;
  }

  // The iterator is compared with a bound above it: i < e or i <= e.
  bool find_iterator() {
    const auto* test = dyn_cast<BinaryOperator>(f_->getCond()->IgnoreParenImpCasts());
    if (test == nullptr || (test->getOpcode() != BO_LT && test->getOpcode() != BO_LE)) return false;
    i_ = dyn_cast_or_null<VarDecl>(r_.referred(test->getLHS()));
    end_ = test->getRHS();
    more_ = test->getOpcode() == BO_LE ? " + 1" : "";
    if (i_ == nullptr || starts_.count(i_) == 0 || changed_.count(i_) > 0) return false;
    for (const Expr* part : parts_of(f_->getInc())) {
      const auto step = step_of(part);
      if (!step || starts_.count(step->var) == 0) return false;
      if (step->var == i_) mine_ = *step;
      steps_.push_back(*step);
    }
    if (mine_.var == nullptr || mine_.sign < 0) return false;
    Expr::EvalResult value;
    constant_ = mine_.by == nullptr || (!mine_.by->isValueDependent() && mine_.by->EvaluateAsInt(value, r_.ast_));
    if (constant_ && mine_.by != nullptr && value.Val.getInt() != 1) return false;
    // Another number of iterations is computed before the loop.
    return constant_ || (in_block_ && declared_ && repeatable(mine_.by, changed_));
  }

  bool add_header_counter(const Step& s, const std::set<const ValueDecl*>& all) {
    if (!declared_ || changed_.count(s.var) > 0 || !repeatable(starts_.at(s.var), all)) return false;
    if (s.by != nullptr && !repeatable(s.by, all)) return false;
    counters_.push_back({s, text(starts_.at(s.var)), nullptr});
    return true;
  }

  int uses(const Stmt* in, const ValueDecl* var) const {
    int count = 0;
    visit(in, [&](const Stmt* s) {
      const auto* ref = dyn_cast<DeclRefExpr>(s);
      count += ref != nullptr && ref->getDecl() == var ? 1 : 0;
    });
    return count;
  }

  // k += 2; directly in the body, where k is used by other statements too.
  bool add_body_counters(const std::set<const ValueDecl*>& all) {
    const auto* block = dyn_cast<CompoundStmt>(f_->getBody());
    if (block == nullptr || !in_block_) return true;
    for (const Stmt* s : block->body()) {
      const auto step = step_of(s);
      if (!step || starts_.count(step->var) > 0 || (step->by != nullptr && !repeatable(step->by, all))) continue;
      if (r_.ast_.getSourceManager().isBeforeInTranslationUnit(f_->getBeginLoc(), step->var->getLocation())) continue;
      std::set<const ValueDecl*> others;
      for (const Stmt* other : block->body())
        if (other != s) r_.find_changes(other, others);
      if (others.count(step->var) > 0 || uses(block, step->var) < 2 || uses(f_->getCond(), step->var) > 0 ||
          !r_.statement_span(s).known)
        continue;
      counters_.push_back({*step, "", s});
    }
    return true;
  }

  std::string fresh(const std::string& name) const {
    std::string result = name;
    for (int k = 2; r_.main_text_.find(result) != std::string::npos; ++k) result = name + std::to_string(k);
    return result;
  }

  std::string times(const Step& s, const std::string& count) const {
    return (s.sign > 0 ? " + " : " - ") + (s.by == nullptr ? "" : text(s.by) + " * ") + "(" + count + ")";
  }

  bool write(std::vector<Edit>& edits) const {
    const Span whole = r_.statement_span(f_), body = r_.span(f_->getBody()->getSourceRange());
    const auto* block = dyn_cast<CompoundStmt>(f_->getBody());
    if (!whole.known || !body.known) return false;
    const std::string i = i_->getNameAsString(), i0 = text(starts_.at(i_)), type = r_.type_text(i_->getType());
    const std::string end = text(end_);
    std::string before, first, inside, after, at = i + " - " + i0;
    std::string header = "for (" + (declared_ ? type + " " : std::string()) + i + " = " + i0 + "; " +
                         r_.original(f_->getCond()->getSourceRange()) + "; ++" + i + ") ";
    if (!constant_) {
      const std::string by = text(mine_.by), count = fresh(i + "_count"), turn = fresh(i + "_turn");
      before = "const " + type + " " + count + " = " + by + " > 0 && " + end + more_ + " > " + i0 + " ? (" + end +
               more_ + " - " + i0 + " - 1) / " + by + " + 1 : 0; ";
      header = "for (" + type + " " + turn + " = 0; " + turn + " < " + count + "; ++" + turn + ") ";
      inside = " const " + type + " " + i + " = " + i0 + " + " + turn + " * " + by + ";";
      at = turn;
      if (std::any_of(counters_.begin(), counters_.end(), [](const Counter& c) { return c.statement != nullptr; }))
        return false;
    }
    std::string closing;
    for (const Counter& c : counters_) {
      const std::string k = c.step.var->getNameAsString(), kind = r_.type_text(c.step.var->getType());
      std::string start = c.start;
      if (c.statement != nullptr) {
        start = fresh(k + "_start");
        before += "const " + kind + " " + start + " = " + k + "; ";
        after += " " + k + " = " + start +
                 times(c.step, end + more_ + " > " + i0 + " ? " + end + more_ + " - " + i0 + " : 0") + ";";
        const Span s = r_.statement_span(c.statement);
        edits.push_back(
            {s.begin, s.end, "{ const " + kind + " " + k + " = " + start + times(c.step, at + " + 1") + ";", {}});
        closing += " }";
      }
      inside += " const " + kind + " " + k + " = " + start + times(c.step, at) + ";";
    }
    edits.push_back({whole.begin, block != nullptr ? body.begin + 1 : body.begin, before + header + "{" + inside, {}});
    if (block != nullptr && !closing.empty()) edits.push_back({body.end - 1, body.end - 1, closing, {}});
    if (block == nullptr || !after.empty())
      edits.push_back({whole.end, whole.end, (block == nullptr ? " }" : "") + after, {}});
    return true;
  }

  const Reader& r_;
  const ForStmt* f_;
  const bool in_block_;
  bool declared_ = false, constant_ = true;
  std::set<const ValueDecl*> changed_{};
  std::map<const VarDecl*, const Expr*> starts_{};
  std::vector<Step> steps_{};
  std::vector<Counter> counters_{};
  const VarDecl* i_ = nullptr;
  const Expr* end_ = nullptr;
  const char* more_ = "";
  Step mine_{};
};

void Reader::rewrite_counters(const Stmt* body) {
  const std::function<void(const Stmt*, bool)> look = [&](const Stmt* s, bool in_block) {
    if (s == nullptr || isa<LambdaExpr>(s)) return;
    if (const auto* f = dyn_cast<ForStmt>(s)) {
      std::vector<Edit> edits;
      if (CounterRewriter(*this, f, in_block).run(edits)) {
        rewrites.insert(rewrites.end(), edits.begin(), edits.end());
        return;  // loops inside it are rewritten when the new text is read
      }
    }
    for (const Stmt* child : s->children()) look(child, isa<CompoundStmt>(s));
  };
  look(body, false);
}

}  // namespace ridge::place::frontend
