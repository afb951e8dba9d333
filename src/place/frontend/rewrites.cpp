// Changes of the text, which is then read again. Counters beside the iterator: for (int i = 0, j = n; i < n; ++i, --j)
// and k += 2 in the body become numbers computed from the iterator. Steps that are not constants become a count of
// iterations.
#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

namespace {

// Literals, variables, + - * /, comparisons and ?: may be evaluated again as long as its variables do not change.
bool repeatable(const Expr* e, const std::set<const ValueDecl*>& changed) {
  e = e->IgnoreParenImpCasts();
  if (isa<IntegerLiteral>(e)) return true;
  if (const auto* c = dyn_cast<ConditionalOperator>(e))
    return repeatable(c->getCond(), changed) && repeatable(c->getTrueExpr(), changed) &&
           repeatable(c->getFalseExpr(), changed);
  if (const auto* ref = dyn_cast<DeclRefExpr>(e)) {
    const auto* var = dyn_cast<VarDecl>(ref->getDecl());
    return var != nullptr && var->hasLocalStorage() && !var->getType()->isReferenceType() &&
           var->getType()->isIntegerType() && changed.count(var) == 0;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Minus)
    return repeatable(u->getSubExpr(), changed);
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (b != nullptr && b->getOpcode() == BO_Div) {
    const auto* by = dyn_cast<IntegerLiteral>(b->getRHS()->IgnoreParenImpCasts());
    return by != nullptr && by->getValue() != 0 && repeatable(b->getLHS(), changed);
  }
  return b != nullptr && (b->isAdditiveOp() || b->isRelationalOp() || b->getOpcode() == BO_Mul) &&
         repeatable(b->getLHS(), changed) && repeatable(b->getRHS(), changed);
}

}  // namespace

// One for loop whose header or body has further counters.
class CounterRewriter {
 public:
  CounterRewriter(const Facts& facts, const ForStmt* loop, const CompoundStmt* around)
      : r_(facts), f_(loop), around_(around), in_block_(around != nullptr) {}

  bool run(std::vector<Edit>& edits) {
    if (f_->getInit() == nullptr || f_->getCond() == nullptr || f_->getInc() == nullptr || !known(f_->getSourceRange()))
      return false;
    bool leaves = jumps_out(f_->getBody());
    visit(f_->getBody(), [&](const Stmt* s) { leaves |= isa<ReturnStmt>(s); });
    if (leaves) return false;
    find_changes(f_->getBody(), changed_);
    if (!find_starts() || !find_iterator()) return false;
    std::set<const ValueDecl*> all = changed_;
    find_changes(f_->getInc(), all);
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
    const VarDecl* var = nullptr;
    std::vector<Step> steps{};              // of one iteration
    std::string start{};                    // text; "" if it is saved before the loop
    std::vector<const Stmt*> statements{};  // one per step, in the body; none: a step of the header
  };

  bool known(const SourceRange& range) const { return r_.span(range).known; }
  std::string text(const Expr* e) const { return wrapped(r_.original(e->getSourceRange())); }

  bool plain(const VarDecl* var) const {
    const auto number = var != nullptr ? r_.dialect(var->getType()) : std::nullopt;
    return number && number->integer && !number->is_unsigned && number->bytes >= 4 && var->hasLocalStorage() &&
           !var->getType()->isReferenceType() && !var->getType().isConstQualified() && !r_.reachable(var) &&
           r_.captured.count(var) == 0;
  }

  std::optional<Step> step_of(const Stmt* s) const {
    const auto* e = dyn_cast_or_null<Expr>(s);
    if (e == nullptr) return {};
    e = e->IgnoreParens();
    if (const auto* u = dyn_cast<UnaryOperator>(e); u != nullptr && u->isIncrementDecrementOp())
      if (const auto* var = dyn_cast_or_null<VarDecl>(referred(u->getSubExpr())); plain(var))
        return Step{var, nullptr, u->isIncrementOp() ? 1 : -1};
    const auto* b = dyn_cast<BinaryOperator>(e);
    const auto* var = b != nullptr ? dyn_cast_or_null<VarDecl>(referred(b->getLHS())) : nullptr;
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
          b != nullptr && b->getOpcode() == BO_Assign ? dyn_cast_or_null<VarDecl>(referred(b->getLHS())) : nullptr;
      if (var == nullptr || !plain(var)) return false;
      starts_[var] = b->getRHS();
    }
    return true;
  }

  // The iterator is compared with a bound above it: i < e or i <= e.
  bool find_iterator() {
    const auto* test = dyn_cast<BinaryOperator>(f_->getCond()->IgnoreParenImpCasts());
    if (test == nullptr || (test->getOpcode() != BO_LT && test->getOpcode() != BO_LE)) return false;
    i_ = dyn_cast_or_null<VarDecl>(referred(test->getLHS()));
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
    constant_ = mine_.by == nullptr || (!mine_.by->isValueDependent() && mine_.by->EvaluateAsInt(value, r_.ast()));
    if (constant_ && mine_.by != nullptr && value.Val.getInt() != 1) return false;
    // Another number of iterations is computed before the loop.
    return constant_ || (in_block_ && declared_ && repeatable(mine_.by, changed_));
  }

  bool add_header_counter(const Step& s, const std::set<const ValueDecl*>& all) {
    if (!declared_ || changed_.count(s.var) > 0 || !repeatable(starts_.at(s.var), all)) return false;
    if (s.by != nullptr && !repeatable(s.by, all)) return false;
    counters_.push_back({s.var, {s}, text(starts_.at(s.var)), {}});
    return true;
  }

  // True if all variables of the expression are declared before the loop.
  bool from_before(const Expr* e) const {
    bool all = true;
    visit(e, [&](const Stmt* s) {
      const auto* ref = dyn_cast<DeclRefExpr>(s);
      all = all && (ref == nullptr || r_.ast().getSourceManager().isBeforeInTranslationUnit(
                                          ref->getDecl()->getLocation(), f_->getBeginLoc()));
    });
    return all;
  }

  // k += 2; directly in the body, once or several times, where k is used by other statements too.
  bool add_body_counters(const std::set<const ValueDecl*>& all) {
    const auto* block = dyn_cast<CompoundStmt>(f_->getBody());
    if (block == nullptr || !in_block_) return true;
    std::vector<Counter> found;
    for (const Stmt* s : block->body()) {
      const auto step = step_of(s);
      if (!step || starts_.count(step->var) > 0 || !r_.statement_span(s).known) continue;
      if (step->by != nullptr && (!repeatable(step->by, all) || !from_before(step->by))) continue;
      if (r_.ast().getSourceManager().isBeforeInTranslationUnit(f_->getBeginLoc(), step->var->getLocation())) continue;
      auto at = std::find_if(found.begin(), found.end(), [&](const Counter& c) { return c.var == step->var; });
      if (at == found.end()) at = found.insert(found.end(), Counter{step->var, {}, "", {}});
      at->steps.push_back(*step);
      at->statements.push_back(s);
    }
    for (const Counter& c : found) {
      std::set<const ValueDecl*> others;
      for (const Stmt* other : block->body())
        if (std::find(c.statements.begin(), c.statements.end(), other) == c.statements.end())
          find_changes(other, others);
      if (others.count(c.var) == 0 && uses_of(c.var, block) > static_cast<int>(c.steps.size()) &&
          uses_of(c.var, f_->getCond()) == 0)
        counters_.push_back(c);
    }
    return true;
  }

  std::string fresh(const std::string& name) const {
    std::string result = name;
    for (int k = 2; r_.text().find(result) != std::string::npos; ++k) result = name + std::to_string(k);
    return result;
  }

  std::optional<long> value(const Expr* e) const {
    Expr::EvalResult known;
    if (e->isValueDependent() || !e->EvaluateAsInt(known, r_.ast()) || known.Val.getInt().getSignificantBits() > 31)
      return {};
    return static_cast<long>(known.Val.getInt().getSExtValue());
  }

  // The sum of the first `count` steps.
  std::string sum(const std::vector<Step>& steps, std::size_t count) const {
    long all = 0;
    std::string rest;
    for (std::size_t k = 0; k < count; ++k) {
      const auto known = steps[k].by == nullptr ? std::optional<long>(1) : value(steps[k].by);
      if (known)
        all += steps[k].sign * *known;
      else
        rest += (steps[k].sign > 0 ? " + " : " - ") + text(steps[k].by);
    }
    return "(" + std::to_string(all) + rest + ")";
  }

  // Number of iterations of a loop that counts by 1.
  std::string iterations() const {
    const auto first = value(starts_.at(i_)), last = value(end_);
    if (first && last) return std::to_string(std::max(0L, *last + (*more_ == 0 ? 0 : 1) - *first));
    const std::string end = text(end_) + more_, start = text(starts_.at(i_));
    return "(" + end + " > " + start + " ? " + end + " - " + start + " : 0)";
  }

  bool write(std::vector<Edit>& edits) const {
    const Span whole = r_.statement_span(f_), body = r_.span(f_->getBody()->getSourceRange());
    const auto* block = dyn_cast<CompoundStmt>(f_->getBody());
    if (!whole.known || !body.known) return false;
    const std::string i = i_->getNameAsString(), i0 = text(starts_.at(i_)), type = r_.type_text(i_->getType());
    const std::string end = text(end_);
    std::string before, first, inside, after, at = i + " - " + i0, all = iterations();
    std::string header = "for (" + (declared_ ? type + " " : std::string()) + i + " = " + i0 + "; " +
                         r_.original(f_->getCond()->getSourceRange()) + "; ++" + i + ") ";
    if (!constant_) {
      const std::string by = text(mine_.by), count = fresh(i + "_count"), turn = fresh(i + "_turn");
      before = "const " + type + " " + count + " = " + by + " > 0 && " + end + more_ + " > " + i0 + " ? (" + end +
               more_ + " - " + i0 + " - 1) / " + by + " + 1 : 0; ";
      header = "for (" + type + " " + turn + " = 0; " + turn + " < " + count + "; ++" + turn + ") ";
      inside = " const " + type + " " + i + " = " + i0 + " + " + turn + " * " + by + ";";
      at = turn;
      all = count;
    }
    std::string closing;
    for (const Counter& c : counters_) {
      const std::string k = c.var->getNameAsString(), kind = r_.type_text(c.var->getType());
      const std::string each = sum(c.steps, c.steps.size());
      std::string start = c.start;
      if (!c.statements.empty()) {
        const Expr* set = r_.value_before(f_, c.var);
        const auto known = set != nullptr ? value(set) : std::nullopt;
        start = known ? wrapped(std::to_string(*known)) : fresh(k + "_start");
        if (!known) before += "const " + kind + " " + start + " = " + k + "; ";
        if (!ends_with(f_, c.var, around_)) after += " " + k + " += " + each + " * " + all + ";";
      }
      const std::string now = start + " + " + each + " * (" + at + ")";
      inside += " const " + kind + " " + k + " = " + now + ";";
      for (std::size_t m = 0; m < c.statements.size(); ++m) {
        const Span s = r_.statement_span(c.statements[m]);
        edits.push_back(
            {s.begin, s.end, "{ const " + kind + " " + k + " = " + now + " + " + sum(c.steps, m + 1) + ";", {}});
        closing += " }";
      }
    }
    edits.push_back({whole.begin, block != nullptr ? body.begin + 1 : body.begin, before + header + "{" + inside, {}});
    if (block != nullptr && !closing.empty()) edits.push_back({body.end - 1, body.end - 1, closing, {}});
    if (block == nullptr || !after.empty())
      edits.push_back({whole.end, whole.end, (block == nullptr ? " }" : "") + after, {}});
    return true;
  }

  const Facts& r_;
  const ForStmt* f_;
  const CompoundStmt* const around_;  // the block that contains the loop; null if there is none
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

void expose_fields(const Source& file, const Stmt* body, std::vector<Edit>& rewrites) {
  const auto& sources = file.ast().getSourceManager();
  bool loops = false;
  visit(body, [&](const Stmt* s) { loops |= is_loop(s); });
  if (!loops) return;
  visit(body, [&](const Stmt* s) {
    const auto* call = dyn_cast<CallExpr>(s);
    const CXXMethodDecl* method = call != nullptr ? users_method(call) : nullptr;
    const Expr* result = method != nullptr ? named_by(method) : nullptr;
    if (result == nullptr || !method->getParent()->hasDefinition()) return;
    visit(result, [&](const Stmt* x) {
      const auto* member = dyn_cast<MemberExpr>(x);
      const auto* field = member != nullptr ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
      if (field == nullptr || !is_this(member->getBase()) || field->getType()->isReferenceType() ||
          !field->getDeclName().isIdentifier() || !public_accessor(field).empty())
        return;
      SourceLocation end = field->getParent()->getBraceRange().getEnd();
      if (const auto* made = dyn_cast<CXXRecordDecl>(field->getParent()); made != nullptr)
        if (const CXXRecordDecl* pattern = made->getTemplateInstantiationPattern())
          end = pattern->getBraceRange().getEnd();
      if (end.isInvalid() || end.isMacroID() || !sources.isInMainFile(end)) return;
      const std::string name = field->getNameAsString(), type = "decltype(" + name + ")& ", call_of = kAccessor + name;
      const unsigned at = sources.getFileOffset(end);
      const std::string text = " public: " + type + call_of + "() { return " + name + "; } const " + type + call_of +
                               "() const { return " + name + "; } ";
      if (std::none_of(rewrites.begin(), rewrites.end(),
                       [&](const Edit& e) { return e.begin == at && e.text == text; }))
        rewrites.push_back({at, at, text, {}});
    });
  });
}

void rewrite_counters(const Facts& facts, const Stmt* body, std::vector<Edit>& rewrites) {
  const std::function<void(const Stmt*, const CompoundStmt*)> look = [&](const Stmt* s, const CompoundStmt* around) {
    if (s == nullptr || isa<LambdaExpr>(s)) return;
    if (const auto* f = dyn_cast<ForStmt>(s)) {
      std::vector<Edit> edits;
      if (CounterRewriter(facts, f, around).run(edits)) {
        rewrites.insert(rewrites.end(), edits.begin(), edits.end());
        return;  // loops inside it are rewritten when the new text is read
      }
    }
    for (const Stmt* child : s->children()) look(child, dyn_cast<CompoundStmt>(s));
  };
  look(body, nullptr);
}

// A switch inside a loop whose sections all end with a jump becomes a chain of ifs; goto to a label at the end of the
// loop body becomes continue; goto to a later label of the body becomes a number that decides which statements run.
namespace {

// The breaks that belong to this switch.
void find_breaks(const Stmt* s, std::vector<const Stmt*>& into) {
  if (s == nullptr || is_loop(s) || isa<SwitchStmt, LambdaExpr>(s)) return;
  if (isa<BreakStmt>(s)) into.push_back(s);
  for (const Stmt* child : s->children()) find_breaks(child, into);
}

const Stmt* last_of(const Stmt* s) {
  while (const auto* block = dyn_cast<CompoundStmt>(s)) {
    if (block->body_empty()) break;
    s = block->body_back();
  }
  return s;
}

struct Section {
  const Stmt *label = nullptr, *last = nullptr;
  const Stmt* first = nullptr;
  std::vector<long> values{};
  bool otherwise = false;  // default:
};

}  // namespace

class JumpRewriter {
 public:
  explicit JumpRewriter(const Source& file) : r_(file) {}

  bool chain(const SwitchStmt* s, std::vector<Edit>& edits) const {
    const auto* block = dyn_cast<CompoundStmt>(s->getBody());
    const Span whole = r_.span(s->getSourceRange());
    const auto number = r_.dialect(s->getCond()->getType());
    if (block == nullptr || !whole.known || s->getInit() != nullptr || s->getConditionVariable() != nullptr ||
        !number || !s->getCond()->getType()->isIntegerType())
      return false;
    std::vector<Section> all;
    if (!find_sections(s, block, all) || all.empty()) return false;
    const std::string name = "chosen_" + std::to_string(whole.begin);
    std::string other;
    for (const Section& one : all)
      for (const long v : one.values)
        other += (other.empty() ? "" : " && ") + name + " != " + wrapped(std::to_string(v));
    const Span body = r_.span(block->getSourceRange());
    edits.push_back({whole.begin,
                     body.begin + 1,
                     "{ const " + r_.type_text(s->getCond()->getType().getCanonicalType().getUnqualifiedType()) + " " +
                         name + " = " + r_.original(s->getCond()->getSourceRange()) + ";",
                     {}});
    std::vector<const Stmt*> breaks;
    for (const Stmt* child : block->body()) find_breaks(child, breaks);
    std::size_t ended = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Section& one = all[k];
      std::string test;
      for (const long v : one.values) test += (test.empty() ? "" : " || ") + name + " == " + wrapped(std::to_string(v));
      if (one.otherwise) test = other.empty() ? "1" : other;
      const Span label = r_.span(one.label->getSourceRange()), first = r_.span(one.first->getSourceRange());
      if (!label.known || !first.known || !end_section(one, k + 1 == all.size(), ended, edits)) return false;
      edits.push_back({label.begin, first.begin, (k > 0 ? "} else if (" : "if (") + test + ") { ", {}});
    }
    edits.push_back({body.end - 1, body.end - 1, "} ", {}});
    return ended == breaks.size();
  }

  // Replaces every goto to the label by continue, if the label is the end of the loop's body.
  bool continues(const Stmt* loop, std::vector<Edit>& edits) const {
    const auto* block = dyn_cast_or_null<CompoundStmt>(body_of(loop));
    const auto* label = block != nullptr && !block->body_empty() ? dyn_cast<LabelStmt>(block->body_back()) : nullptr;
    if (label == nullptr || !isa<NullStmt>(label->getSubStmt())) return false;
    bool good = true;
    const std::function<void(const Stmt*)> look = [&](const Stmt* s) {
      if (s == nullptr) return;
      if (const auto* jump = dyn_cast<GotoStmt>(s); jump != nullptr && jump->getLabel() == label->getDecl()) {
        const Span at = r_.span(jump->getSourceRange());
        good = good && at.known;
        edits.push_back({at.begin, at.end, "continue", {}});
      }
      bool inside = false;  // continue would belong to another loop
      if (s != loop && (is_loop(s) || isa<LambdaExpr>(s)))
        visit(s,
              [&](const Stmt* x) { inside |= isa<GotoStmt>(x) && cast<GotoStmt>(x)->getLabel() == label->getDecl(); });
      good = good && !inside;
      for (const Stmt* child : s->children()) look(child);
    };
    look(loop);
    const Span at = r_.span({label->getIdentLoc(), label->getIdentLoc()}),
               rest = r_.span(label->getSubStmt()->getSourceRange());
    if (!good || !at.known || !rest.known) return false;
    edits.push_back({at.begin, rest.begin, "", {}});
    return true;
  }

  // Replaces gotos to later labels of the loop's body: goto number k sets a variable to k, and the statements between
  // labels j and j + 1 run if it is at most j.
  bool skips(const Stmt* loop, std::vector<Edit>& edits) const {
    const auto* block = dyn_cast_or_null<CompoundStmt>(body_of(loop));
    if (block == nullptr) return false;
    std::map<const LabelDecl*, int> labels;
    for (const Stmt* child : block->body())
      if (const auto* label = dyn_cast<LabelStmt>(child)) {
        if (isa<LabelStmt, DeclStmt>(label->getSubStmt())) return false;
        labels.emplace(label->getDecl(), static_cast<int>(labels.size()) + 1);
      }
    const Span body = r_.span(block->getSourceRange());
    if (labels.empty() || !body.known) return false;
    const std::string name = "goes_to_" + std::to_string(body.begin);
    edits.push_back({body.begin + 1, body.begin + 1, " int " + name + " = 0;", {}});
    int segment = 0, open = 0;
    bool skipped = false;  // there is a goto before this statement of the segment
    for (const Stmt* child : block->body()) {
      const Span at = r_.span(child->getSourceRange());
      const std::string guard =
          "if (" + name + " <= " + std::to_string(segment + (isa<LabelStmt>(child) ? 1 : 0)) + ") { ";
      const Stmt* inner = child;
      std::string before;
      if (!at.known) return false;
      if (const auto* label = dyn_cast<LabelStmt>(child)) {
        inner = label->getSubStmt();
        const Span rest = r_.span(inner->getSourceRange());
        if (!rest.known) return false;
        edits.push_back({at.begin, rest.begin, repeated("} ", open) + guard, {}});
        ++segment;
        open = 1;
      } else if (skipped) {
        before = guard;
        ++open;
      }
      if (open > 0 && isa<DeclStmt>(child)) return false;
      int gotos = 0, last = 0;
      visit(inner, [&](const Stmt* s) { gotos += isa<GotoStmt, IndirectGotoStmt>(s) ? 1 : 0; });
      if (!before.empty() && !isa<GotoStmt>(inner))
        edits.push_back({at.begin, at.begin, std::exchange(before, ""), {}});
      if (!at_ends(inner, labels, segment, name, before, last, edits) || last != gotos) return false;
      skipped = gotos > 0;
    }
    edits.push_back({body.end - 1, body.end - 1, repeated("} ", open), {}});
    return true;
  }

 private:
  static std::string repeated(const std::string& text, int count) {
    std::string all;
    for (; count > 0; --count) all += text;
    return all;
  }

  // Replaces the gotos that end a statement or its branches; counts them. False if one does not lead forward.
  bool at_ends(const Stmt* s, const std::map<const LabelDecl*, int>& labels, int segment, const std::string& name,
               const std::string& before, int& count, std::vector<Edit>& edits) const {
    s = last_of(s);
    if (const auto* branch = dyn_cast<IfStmt>(s))
      return at_ends(branch->getThen(), labels, segment, name, before, count, edits) &&
             (branch->getElse() == nullptr || at_ends(branch->getElse(), labels, segment, name, before, count, edits));
    const auto* jump = dyn_cast<GotoStmt>(s);
    if (jump == nullptr) return true;
    const auto to = labels.find(jump->getLabel());
    const Span at = r_.span(jump->getSourceRange());
    if (to == labels.end() || to->second <= segment || !at.known) return false;
    edits.push_back({at.begin, at.end, before + name + " = " + std::to_string(to->second), {}});
    ++count;
    return true;
  }

  bool find_sections(const SwitchStmt* s, const CompoundStmt* block, std::vector<Section>& all) const {
    std::size_t labels = 0;
    for (const SwitchCase* one = s->getSwitchCaseList(); one != nullptr; one = one->getNextSwitchCase()) --labels;
    for (const Stmt* child : block->body()) {
      if (!isa<SwitchCase>(child)) {
        if (all.empty()) return false;
        all.back().last = child;
        continue;
      }
      Section made;
      made.label = child;
      while (const auto* label = dyn_cast<SwitchCase>(child)) {
        ++labels;
        if (const auto* value = dyn_cast<CaseStmt>(label)) {
          Expr::EvalResult known;
          if (value->getRHS() != nullptr || value->getLHS()->isValueDependent() ||
              !value->getLHS()->EvaluateAsInt(known, r_.ast()) || known.Val.getInt().getSignificantBits() > 31)
            return false;
          made.values.push_back(static_cast<long>(known.Val.getInt().getSExtValue()));
        } else {
          made.otherwise = true;
        }
        child = label->getSubStmt();
      }
      made.first = made.last = child;
      all.push_back(made);
    }
    for (Section& one : all)
      if (one.otherwise) one.values.clear();  // case 3: default: is default
    return labels == 0;                       // no label inside a block
  }

  // Removes the break at the end of a section; counts it.
  bool end_section(const Section& one, bool last, std::size_t& ended, std::vector<Edit>& edits) const {
    const Stmt* end = last_of(one.last);
    if (!isa<BreakStmt>(end)) return last || isa<ContinueStmt, ReturnStmt, GotoStmt>(end);
    ++ended;
    const Span at = r_.statement_span(end);
    edits.push_back({at.begin, at.end, ";", {}});
    return at.known;
  }

  const Source& r_;
};

void rewrite_jumps(const Source& file, const Stmt* body, std::vector<Edit>& rewrites) {
  const JumpRewriter rewriter(file);
  const std::function<void(const Stmt*, bool)> look = [&](const Stmt* s, bool in_loop) {
    if (s == nullptr || isa<LambdaExpr>(s)) return;
    std::vector<Edit> edits;
    const auto* choice = dyn_cast<SwitchStmt>(s);
    bool done =
        (in_loop && choice != nullptr && rewriter.chain(choice, edits)) || (is_loop(s) && rewriter.continues(s, edits));
    if (!done) edits.clear();
    done = done || (is_loop(s) && rewriter.skips(s, edits));
    if (done) rewrites.insert(rewrites.end(), edits.begin(), edits.end());
    if (done && is_loop(s)) return;  // the statements inside it are rewritten when the new text is read
    for (const Stmt* child : s->children()) look(child, in_loop || is_loop(s));
  };
  look(body, false);
}

}  // namespace ridge::place::frontend
