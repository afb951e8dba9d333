// A switch inside a loop whose sections all end with break, continue or return becomes a chain of ifs; goto to a label
// at the end of the loop body becomes continue. In changed text that is read again.
#include <functional>

#include "place/frontend/reader.hpp"
#include "place/frontend/walk.hpp"

namespace ridge::place::frontend {
using namespace clang;

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

class Reader::JumpRewriter {
 public:
  explicit JumpRewriter(const Reader& reader) : r_(reader) {}

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

 private:
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
              !value->getLHS()->EvaluateAsInt(known, r_.ast_) || known.Val.getInt().getSignificantBits() > 31)
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
    if (!isa<BreakStmt>(end)) return last || isa<ContinueStmt, ReturnStmt>(end);
    ++ended;
    const Span at = r_.statement_span(end);
    edits.push_back({at.begin, at.end, ";", {}});
    return at.known;
  }

  const Reader& r_;
};

void Reader::rewrite_jumps(const Stmt* body) {
  const JumpRewriter rewriter(*this);
  const std::function<void(const Stmt*, bool)> look = [&](const Stmt* s, bool in_loop) {
    if (s == nullptr || isa<LambdaExpr>(s)) return;
    std::vector<Edit> edits;
    const auto* choice = dyn_cast<SwitchStmt>(s);
    if ((in_loop && choice != nullptr && rewriter.chain(choice, edits)) || (is_loop(s) && rewriter.continues(s, edits)))
      rewrites.insert(rewrites.end(), edits.begin(), edits.end());
    for (const Stmt* child : s->children()) look(child, in_loop || is_loop(s));
  };
  look(body, false);
}

}  // namespace ridge::place::frontend
