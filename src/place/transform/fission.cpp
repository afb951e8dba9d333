// Loop fission: splits a loop into two with one part of the body each. Trigger: the loop is sequential, or a kernel
// with only this loop on its grid, and has several statements. Private scalars computed from data the nest does not
// write are recomputed in the second loop. With scalar expansion, a private scalar becomes an array with one element
// per iteration instead, so that work before a recurrence leaves the sequential loop; it carries no dependence, so the
// conditions are the same.
#include <algorithm>
#include <set>

#include "place/text/node_text.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {

namespace {

// Splits the outermost loop of a nest before one of its statements.
class Splitter {
 public:
  Splitter(const State& state, bool expand)
      : state_(state),
        nest_(state.nest),
        l_(state.nest.loops[kLoop]),
        block_(body_block(*find(state.nest.root, kLoop))),
        expand_(expand) {
    text::visit_accesses(nest_.root, [&](const Access& a) {
      if (a.write) written_.insert(a.variable);
    });
  }

  static bool applies(const State& state) {
    const Nest& nest = state.nest;
    if (!plain(nest, kLoop) || (state.verdicts[kLoop].independent() && !state.thin)) return false;
    const Node& node = *find(nest.root, kLoop);
    const Node& block = body_block(node);
    if (block.kind != NodeKind::block || block.children.size() < 2 || state.text[nest.loops[kLoop].body.begin] != '{')
      return false;
    return header_is_invariant(nest, node) && nest.jumps.empty() &&
           std::all_of(block.children.begin(), block.children.end(), [](const Node& n) { return n.span.known; });
  }

  std::vector<Proposal> proposals() {
    std::vector<Proposal> all;
    for (std::size_t cut = 1; cut < size(); ++cut) {
      if (block_.children[cut - 1].span.begin == block_.children[cut].span.begin)
        continue;  // two variables in one declaration
      if ((!expand_ && !works(0, cut)) || !works(cut, size())) continue;
      if (!carry_variables(cut) || (expand_ && kept_.empty())) continue;
      const auto limits = loop_bounds(nest_, kLoop);
      if (expand_ && !limits) return all;
      all.push_back(proposal(cut, expand_ ? expansion(*limits) : Expansion{}));
    }
    return all;
  }

 private:
  static constexpr int kLoop = 0;

  // Text that passes scalars from the first part to the second in arrays.
  struct Expansion {
    std::string arrays{}, keep{}, again{}, said{};
  };

  std::size_t size() const { return block_.children.size(); }

  // True if there is more than declarations.
  bool works(std::size_t from, std::size_t to) const {
    return std::any_of(block_.children.begin() + static_cast<long>(from),
                       block_.children.begin() + static_cast<long>(to), [](const Node& n) { return !n.declaration; });
  }

  bool touches(std::size_t from, std::size_t to, int variable) const {
    bool found = false;
    for (std::size_t k = from; k < to; ++k)
      text::visit_accesses(block_.children[k], [&](const Access& a) { found |= a.variable == variable; });
    return found;
  }

  bool in_loop(const Variable& v) const { return std::find(v.loops.begin(), v.loops.end(), kLoop) != v.loops.end(); }

  // Finds how the second part gets the loop's variables that both parts use: from arrays (kept_), or recomputed
  // (repeated_). False if one can be passed neither way.
  bool carry_variables(std::size_t cut) {
    repeated_.clear();
    kept_.clear();
    for (std::size_t v = 0; v < nest_.variables.size(); ++v) {
      const int which = static_cast<int>(v);
      if (!in_loop(nest_.variables[v]) || !touches(0, cut, which) || !touches(cut, size(), which)) continue;
      if (expand_) kept_.push_back(which);
      if (!(expand_ ? can_be_kept(cut, which) : can_be_repeated(cut, which))) return false;
    }
    // References and pointers declared in the first part are not variables of the nest; their uses in the second part
    // cannot be found.
    return std::none_of(block_.children.begin(), block_.children.begin() + static_cast<long>(cut),
                        [](const Node& n) { return n.declaration && n.text.empty(); });
  }

  // Declared directly in the body, so that it is in scope at the end of the part.
  bool can_be_kept(std::size_t cut, int which) const {
    const Variable& x = nest_.variables[which];
    bool declared = false;
    for (std::size_t k = 0; k < cut; ++k)
      declared |= block_.children[k].declaration && !block_.children[k].text.empty() &&
                  std::any_of(block_.children[k].accesses.begin(), block_.children[k].accesses.end(),
                              [&](const Access& a) { return a.write && a.variable == which; });
    return declared && !x.array() && x.storage == Storage::scalar;
  }

  // Computed in the first part only, from data that the nest does not write.
  bool can_be_repeated(std::size_t cut, int which) {
    bool possible = true;
    for (std::size_t k = 0; k < size(); ++k) {
      const Node& child = block_.children[k];
      bool writes = false;
      text::visit_accesses(child, [&](const Access& a) { writes |= a.write && a.variable == which; });
      if (!writes) continue;
      possible = possible && child.declaration && k < cut && !nest_.variables[which].array();
      for (const Access& a : child.accesses)
        possible = possible && (a.write || (!in_loop(nest_.variables[a.variable]) && written_.count(a.variable) == 0));
      repeated_.insert(k);
    }
    return possible;
  }

  Expansion expansion(const LoopBounds& limits) const {
    Expansion made;
    const std::string at = "[" + l_.host_iterator + " - (" + limits.low_text + ")]";
    for (const int which : kept_) {
      const Variable& x = nest_.variables[which];
      const std::string each = fresh(state_, x.host + "_each");
      made.arrays += "std::vector<" + x.host_element + "> " + each + "(" + limits.high_text + " >= " + limits.low_text +
                     " ? " + limits.high_text + " - (" + limits.low_text + ") + 1 : 0); ";
      made.keep += " " + each + at + " = " + x.host + ";";
      made.again += " " + x.host_element + " " + x.host + " = " + each + at + ";";
      made.said += (made.said.empty() ? "" : ", ") + x.host;
    }
    return made;
  }

  // The loop over statements `from` to `to` of its body.
  std::string part(std::size_t from, std::size_t to, const Expansion& expansion) const {
    std::string text = header(state_, kLoop) + " {" + (from > 0 ? expansion.again : "");
    std::set<unsigned> done;
    for (std::size_t k = 0; k < to; ++k) {
      const Span& span = block_.children[k].span;
      if ((k >= from || repeated_.count(k) > 0) && done.insert(span.begin).second) text += " " + slice(state_, span);
    }
    return text + (from == 0 ? expansion.keep : "") + " }";
  }

  Proposal proposal(std::size_t cut, const Expansion& expansion) const {
    Proposal made;
    made.what = l_.id + " split before line " + std::to_string(block_.children[cut].line) +
                (expand_ ? ", with an array for " + expansion.said : "");
    made.edits = {{l_.span.begin, l_.span.end,
                   "{ " + expansion.arrays + part(0, cut, expansion) + "\n" + part(cut, size(), expansion) + " }"}};
    const std::size_t at = 2 * static_cast<std::size_t>(l_.depth) + 1;
    for (std::size_t k = 0; k < state_.relations.instances.size(); ++k) {
      const auto& instance = state_.relations.instances[k];
      std::size_t group = 0;
      for (std::size_t c = cut; c < size(); ++c)
        if (contains(block_.children[c], instance.node)) group = 1;
      made.order[k] = instance.order;
      made.order[k].insert(made.order[k].begin() + static_cast<long>(at), std::to_string(group));
    }
    for (const bool second : {false, true}) {
      made.loops.push_back(l_.id);
      for (std::size_t k = second ? cut : 0; k < (second ? size() : cut); ++k)
        for (const std::string& id : loops_in_order(nest_, block_.children[k])) made.loops.push_back(id);
    }
    return made;
  }

  const State& state_;
  const Nest& nest_;
  const Loop& l_;
  const Node& block_;  // the loop's body
  bool expand_;
  std::set<int> written_{};           // variables that the nest writes
  std::set<std::size_t> repeated_{};  // declarations that the second part repeats
  std::vector<int> kept_{};           // scalars of the first part that the second needs: one element per iteration
};

std::vector<Proposal> split(const State& state, bool expand) {
  return Splitter::applies(state) ? Splitter(state, expand).proposals() : std::vector<Proposal>{};
}

}  // namespace

std::vector<Proposal> fission(const State& state) { return split(state, false); }

std::vector<Proposal> expansion(const State& state) {
  const bool has_vector = state.text.find("#include <vector>") != std::string::npos;
  return has_vector ? split(state, true) : std::vector<Proposal>{};
}

}  // namespace ridge::place::transform
