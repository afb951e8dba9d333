// Wrap-around variables: a number set at the end of an iteration and read in the next one, as in
// { a[i] = b[i] + b[before]; before = i; }. Trigger: the loop is sequential because of such numbers. The first
// iteration runs alone; every other one begins by computing the number as the iteration before it did. Legal if the
// statements that compute it use no value of an earlier iteration and no array that the nest writes. The order is
// unchanged.
#include <algorithm>
#include <set>

#include "place/text/node_text.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

class Peeler {
 public:
  explicit Peeler(const State& state) : state_(state), nest_(state.nest), block_(body_block(*find(nest_.root, 0))) {
    text::visit_accesses(nest_.root, [&](const Access& a) {
      if (a.write) written_.insert(a.variable);
    });
  }

  // Text that computes the variable's value at the end of the iteration; "" if that is not possible. `levels`: number
  // of iterations that it computes again.
  std::string value(int variable, int level, int& levels) {
    const Variable& v = nest_.variables[variable];
    if (v.array() || v.storage != Storage::scalar || !v.home.empty() || v.captured || !v.loops.empty()) return "";
    std::vector<std::size_t> slice;
    std::set<int> needed{variable}, set;
    for (std::size_t k = block_.children.size(); k-- > 0 && !needed.empty();) {
      const Node& node = block_.children[k];
      std::vector<const Node*> parts;
      bool helps = false;
      if (!statements(node, parts)) parts.clear();
      text::visit_accesses(node, [&](const Access& a) { helps |= a.write && needed.count(a.variable) > 0; });
      if (!helps) continue;
      if (parts.empty()) return "";
      slice.push_back(k);
      for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        for (const Access& a : (*part)->accesses) {
          if (!a.write) continue;
          if (!a.must || nest_.variables[a.variable].array()) return "";
          needed.erase(a.variable);
          set.insert(a.variable);
        }
        for (const Access& a : (*part)->accesses) {
          if (a.write) continue;
          reads_arrays = reads_arrays || nest_.variables[a.variable].array();
          if (written_.count(a.variable) == 0) continue;
          if (nest_.variables[a.variable].array()) return "";
          needed.insert(a.variable);
        }
      }
    }
    std::string own, text;
    for (const int n : needed) {  // from the iteration before that one
      if (n == variable || level == kLevels) return "";
      const std::string before = value(n, level + 1, levels);
      if (before.empty()) return "";
      set.insert(n);
      text += at_iteration_before(level + 1, before);
    }
    levels = std::max(levels, level);
    for (const int s : set)
      if (!nest_.variables[s].part_of.empty()) return "";
    for (const int s : set)  // declared in the iteration: by the statements themselves
      if (s != variable && nest_.variables[s].loops.empty())
        own += nest_.variables[s].host_element + " " + nest_.variables[s].host + "; ";
    std::set<unsigned> done;
    if (slice.empty()) return "";
    for (auto k = slice.rbegin(); k != slice.rend(); ++k)
      if (done.insert(block_.children[*k].span.begin).second)
        text += transform::slice(state_, block_.children[*k].span) + " ";
    return own + text;
  }

  // Runs `text` with the iterator of the iteration before.
  std::string at_iteration_before(int level, const std::string& text) const {
    const std::string &i = nest_.loops[0].host_iterator, last = fresh(state_, i + "_before" + std::to_string(level));
    return "{ const int " + last + " = " + i + " - 1; { const int " + i + " = " + last + "; " + text + "} } ";
  }

  bool reads_arrays = false;  // the statements that are computed again

  bool applies() const {
    return block_.kind == NodeKind::block && nest_.jumps.empty() && nest_.functions.empty() &&
           state_.text[nest_.loops[0].body.begin] == '{' &&
           std::all_of(block_.children.begin(), block_.children.end(), [](const Node& n) { return n.span.known; });
  }

 private:
  // Lists the statements of a tree; false if it contains loops or branches.
  static bool statements(const Node& node, std::vector<const Node*>& all) {
    if (node.kind == NodeKind::statement) all.push_back(&node);
    return node.kind == NodeKind::statement ||
           (node.kind == NodeKind::block &&
            std::all_of(node.children.begin(), node.children.end(), [&](const Node& n) { return statements(n, all); }));
  }

  static constexpr int kLevels = 3;
  const State& state_;
  const Nest& nest_;
  const Node& block_;  // the loop's body
  std::set<int> written_{};
};

}  // namespace

std::vector<Proposal> wrap_around(const State& state) {
  const Nest& nest = state.nest;
  const auto limits = loop_bounds(nest, 0);
  if (!plain(nest, 0) || state.verdicts[0].parallel || !limits) return {};
  if (!header_is_invariant(nest, *find(nest.root, 0))) return {};
  Peeler peeler(state);
  if (!peeler.applies()) return {};
  std::string again, names;
  int levels = 1;
  for (const analysis::Dependence& d : state.verdicts[0].dependences) {
    const std::string text = peeler.value(d.variable, 1, levels);
    if (text.empty()) continue;
    again += "{ " + peeler.at_iteration_before(1, text) + "} ";
    names += (names.empty() ? "" : ", ") + nest.variables[d.variable].host;
  }
  if (again.empty()) return {};
  const Loop& l = nest.loops[0];
  const std::string i = l.host_iterator, peeled = limits->low_text + " + " + std::to_string(levels),
                    &low = limits->low_text, &high = limits->high_text,
                    body = state.text.substr(l.body.begin, l.span.end - l.body.begin);
  Proposal made;
  made.what = l.id + " computes " + names + " of the iteration before again";
  made.renames = peeler.reads_arrays;  // arrays that the nest writes must not overlap them
  made.test = low + " <= 1073741823";
  made.edits = {{l.span.begin, l.span.end,
                 "{ for (int " + i + " = " + low + "; " + i + " <= " + high + " && " + i + " < " + peeled + "; ++" + i +
                     ") " + body + "\nfor (int " + i + " = " + peeled + "; " + i + " <= " + high + "; ++" + i + ") { " +
                     again + body.substr(body.find('{') + 1) + " }"}};
  made.loops = loops_in_order(nest, nest.root);
  const auto once = made.loops;
  made.loops.insert(made.loops.end(), once.begin(), once.end());
  return {made};
}

}  // namespace ridge::place::transform
