// Builds the chain of grid loops from the outermost parallel loop inwards.
#include "place/criteria/choose.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "place/text/node_text.hpp"
#include "place/transform/coalescing.hpp"

namespace ridge::place::criteria {
namespace {

const Node* find_loop(const Node& node, int loop) {
  if (node.kind == NodeKind::loop && node.loop == loop) return &node;
  for (const Node& child : node.children)
    if (const Node* found = find_loop(child, loop)) return found;
  return nullptr;
}

// Returns the only loop of a body and lists everything next to it in `beside`; null if there is another loop. Does not
// look inside branches.
const Node* only_loop(const Node& body, std::vector<const Node*>& beside) {
  const Node* found = nullptr;
  bool other = false;
  const std::function<void(const Node&)> look = [&](const Node& n) {
    if (n.kind == NodeKind::block) {
      for (const Node& child : n.children) look(child);
    } else if (n.kind == NodeKind::loop) {
      other |= found != nullptr;
      found = &n;
    } else {
      beside.push_back(&n);
    }
  };
  look(body);
  return other ? nullptr : found;
}

bool all_in(const std::vector<int>& some, const std::vector<int>& all) {
  return std::all_of(some.begin(), some.end(),
                     [&](int x) { return std::find(all.begin(), all.end(), x) != all.end(); });
}

// Statements next to a loop run in every work-item, which gives the same result only if they set the item's own
// variables, from data that the nest does not write, and the loop does not change these variables.
bool repeatable(const Nest& nest, const std::vector<const Node*>& beside, const Node& inner, int level,
                const std::set<int>& written) {
  bool good = true;
  std::set<int> set_beside;
  for (const Node* n : beside) {
    good = good && n->reduction.combine == Combine::none && n->text.find("break") == std::string::npos;
    text::visit_accesses(*n, [&](const Access& a) {
      const Variable& x = nest.variables[a.variable];
      const bool own = std::find(x.loops.begin(), x.loops.end(), level) != x.loops.end();
      if (a.write) {
        good = good && own;
        set_beside.insert(a.variable);
      } else if (written.count(a.variable) > 0) {
        good = false;
      }
    });
  }
  text::visit_accesses(inner, [&](const Access& a) { good = good && !(a.write && set_beside.count(a.variable) > 0); });
  return good;
}

}  // namespace

Choice choose(const Nest& nest, const std::vector<analysis::Verdict>& verdicts) {
  Choice choice;
  const int root = 0;
  const Loop& outer = nest.loops[root];
  const analysis::Verdict& first = verdicts[root];
  if (!first.parallel && first.copies.empty()) return choice.why = first.why, choice;
  std::set<int> copies(first.copies.begin(), first.copies.end());
  const auto add_reads = [&](const analysis::Verdict& v) {
    choice.old_reads.insert(choice.old_reads.end(), v.old_reads.begin(), v.old_reads.end());
    choice.some_stay |= v.some_stay;
  };
  add_reads(first);
  if (!outer.exact) return choice.why = "its number of iterations is not known before it starts", choice;
  // Work-items advance by the grid size: an unsigned iterator that counts down would wrap below 0.
  const auto wraps = [](const Loop& l) { return l.step < 0 && l.type[0] == 'u'; };
  if (wraps(outer)) return choice.why = "its iterator is unsigned and counts down", choice;
  for (const int x : first.array_reductions) {
    const Variable& v = nest.variables[x];
    const bool sum = std::any_of(first.recurrences.begin(), first.recurrences.end(),
                                 [&](const Reduction& r) { return r.target == x && r.combine == Combine::sum; });
    if (!sum || !v.integer || v.bytes != 4)  // integer sums do not depend on the order
      return choice.why = "several iterations may add to the same element of " + v.host +
                          ", which is possible for 32-bit integers only",
             choice;
    choice.atomics.push_back(x);
  }
  choice.reduces = std::any_of(first.reductions.begin(), first.reductions.end(), [&](int x) {
    return std::find(choice.atomics.begin(), choice.atomics.end(), x) == choice.atomics.end();
  });
  choice.chain.push_back(root);
  std::set<int> written;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.write && nest.variables[a.variable].array() && !nest.variables[a.variable].local_memory)
      written.insert(a.variable);
  });
  const Node* at = find_loop(nest.root, root);
  while (choice.chain.size() < transform::kMostCoalesced) {
    std::vector<const Node*> beside;
    const Node* inner = only_loop(at->children[0], beside);
    if (inner == nullptr) break;
    const analysis::Verdict& v = verdicts[inner->loop];
    const Loop& loop = nest.loops[inner->loop];
    if ((!v.parallel && v.copies.empty()) || !loop.exact || !inner->guards.empty()) break;
    if (!all_in(v.array_reductions, choice.atomics) || !all_in(v.reductions, first.reductions)) break;
    if (!v.reductions.empty() && !choice.reduces) break;
    if (!repeatable(nest, beside, *inner, choice.chain.back(), written)) break;
    if (choice.chain.size() >= 3) {  // more loops than axes: the outer ones share the third
      bool boxes = transform::box(nest, inner->loop);
      for (const int l : choice.chain) boxes = boxes && transform::box(nest, l);
      if (!boxes) break;
    }
    choice.chain.push_back(inner->loop);
    copies.insert(v.copies.begin(), v.copies.end());
    add_reads(v);
    at = inner;
  }
  choice.copies.assign(copies.begin(), copies.end());
  return choice;
}

// Device limits, and the work-group shape for given loop lengths.

const std::vector<Limits>& devices() {
  static const std::vector<Limits> all{
      {"NVIDIA", 32, {1024, 1024, 64}, 1024, {2147483647, 65535, 65535}, 2048, 32},
      {"AMD", 64, {1024, 1024, 1024}, 256, {2147483647, 65535, 65535}, 2048, 16},
      {"CPU", 8, {4096, 4096, 4096}, 4096, {2147483647, 65535, 65535}, 0, 1},
  };
  return all;
}

std::vector<int> group_shape(const std::vector<long>& iterations, bool full) {
  static const std::vector<int> usual[] = {{1, 1, 1}, {kItems, 1, 1}, {32, 8, 1}, {32, 4, 2}};
  const std::size_t axes = std::min<std::size_t>(iterations.size(), 3);
  std::vector<int> shape = usual[axes], most{kItems, kItems, 64};
  for (std::size_t a = 0; a < 3; ++a) {  // work-items without an iteration would be idle
    if (a >= axes) most[a] = 1;
    if (a < axes && iterations[a] > 0)
      while (most[a] / 2 >= iterations[a]) most[a] /= 2;
    shape[a] = std::min(shape[a], most[a]);
  }
  const auto all = [&] { return shape[0] * shape[1] * shape[2]; };
  for (std::size_t a = 0; a < axes; ++a)
    while (all() < kItems && shape[a] < most[a]) shape[a] *= 2;
  return full && all() != kItems ? usual[axes] : shape;
}

std::string exceeded_limit(const std::vector<int>& shape) {
  const int all = shape[0] * shape[1] * shape[2];
  for (const Limits& d : devices()) {
    const std::string of = std::string(d.name) + " devices allow ";
    for (std::size_t a = 0; a < 3; ++a)
      if (shape[a] > d.sides[a])
        return "its groups have " + std::to_string(shape[a]) + " work-items along axis " + std::to_string(a) + ": " +
               of + std::to_string(d.sides[a]);
    if (all > d.most) return "its groups have " + std::to_string(all) + " work-items: " + of + std::to_string(d.most);
  }
  return "";
}

}  // namespace ridge::place::criteria
