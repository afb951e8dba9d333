// Builds a kernel: arrays and extents, assumptions, axes, group shape, memory, and the text in the dialect.
#include "place/emit/kernel.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "place/criteria/sizes.hpp"
#include "place/emit/blocking.hpp"
#include "place/emit/reduction_text.hpp"
#include "place/emit/tiles.hpp"
#include "place/emit/vectors.hpp"
#include "place/text/node_text.hpp"
#include "place/text/unrolling.hpp"
#include "place/text/words.hpp"
#include "place/transform/coalescing.hpp"

namespace ridge::place::emit {
namespace {

// Replaces name[i] by name[(i) * all_items + this_item], so that neighbouring work-items access neighbouring elements.
std::string interleaved(const std::string& text, const std::string& name) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool here = text.compare(at, name.size() + 1, name + "[") == 0 && (at == 0 || !text::letter(text[at - 1]));
    if (!here) {
      result += text[at++];
      continue;
    }
    std::size_t end = at + name.size() + 1;
    int depth = 1;
    while (end < text.size() && depth > 0) {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      ++end;
    }
    const std::string inner = text.substr(at + name.size() + 1, end - at - name.size() - 2);
    result += name + "[(ulong)(" + interleaved(inner, name) + ") * all_items + this_item]";
    at = end;
  }
  return result;
}

// Replaces name[ by name_before[ in everything that is read.
std::string from_copy(const std::string& text, const std::string& name) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, name.size() + 1, name + "[") == 0 && (at == 0 || !text::letter(text[at - 1]))) {
      result += name + "_before";
      at += name.size();
    }
    result += text[at];
  }
  return result;
}

void read_copies(Node& node, const std::string& name) {
  node.text = from_copy(node.text, name);
  if (node.target.rfind(name + "[", 0) == 0) {
    if (node.operation != "=") {  // x op= e becomes x = x_before op e
      node.text = from_copy(node.target, name) + " " + node.operation.substr(0, node.operation.size() - 1) + " (" +
                  node.text + ")";
      node.operation = "=";
    }
    const auto bracket = node.target.find('[');
    node.target = node.target.substr(0, bracket) + from_copy(node.target.substr(bracket), name);
  } else {
    node.target = from_copy(node.target, name);
  }
  for (Node& child : node.children) read_copies(child, name);
}

// Loops of the chain by axis. First the loop whose consecutive iterations access consecutive elements in most accesses,
// for coalesced memory access; the innermost if there is a tie.
std::vector<int> axes_by_stride(const Nest& nest, const std::vector<int>& chain) {
  std::map<int, int> score;
  text::visit_accesses(nest.root, [&](const Access& a) {
    const Variable& v = nest.variables[a.variable];
    if (!v.array() || v.local_memory || !a.exact || a.subscripts.empty()) return;
    for (const int loop : chain) {
      const std::string& i = nest.loops[loop].iterator;
      bool strided = false, adjacent = false;
      for (std::size_t d = 0; d < a.subscripts.size(); ++d)
        for (const auto& [term, factor] : a.subscripts[d].terms()) {
          if (std::find(term.begin(), term.end(), i) == term.end()) continue;
          const bool one = term.size() == 1 && std::abs(factor) <= 4 && d + 1 == a.subscripts.size();
          (one ? adjacent : strided) = true;
        }
      score[loop] += strided ? -1 : adjacent ? 1 : 0;
    }
  });
  std::vector<int> axes(chain.rbegin(), chain.rend());
  const auto best = std::max_element(axes.begin(), axes.end(), [&](int a, int b) { return score[a] < score[b]; });
  std::rotate(axes.begin(), best, best + 1);
  return axes;
}

// Turns bins[x] += e into an atomic addition.
void add_at_once(Node& node, const std::set<int>& targets) {
  if (node.kind == NodeKind::statement && node.reduction.combine == Combine::sum &&
      targets.count(node.reduction.target) > 0 && (node.operation == "+=" || node.operation == "-=")) {
    node.text =
        "ATOMIC_ADD(&" + node.target + ", " + (node.operation == "-=" ? "-(" + node.text + ")" : node.text) + ");";
    node.target.clear();
  }
  for (Node& child : node.children) add_at_once(child, targets);
}

// Records the iteration that updated an extreme inside if (e < best), so that ties are resolved as in the source.
void remember_order(Node& node, const std::set<int>& targets, const Nest& nest, const std::string& order) {
  if (node.kind == NodeKind::branch && !node.reduction.payload.empty() && targets.count(node.reduction.target) > 0) {
    Node mark;
    mark.kind = NodeKind::statement;
    mark.text = nest.variables[node.reduction.target].name + "_order = " + order + ";";
    node.children[0].children.push_back(mark);
    return;
  }
  for (Node& child : node.children) remember_order(child, targets, nest, order);
}

}  // namespace

std::string call_text(const HostCall& call, const Nest& nest) {
  std::vector<std::string> actual;
  for (const std::string& p : call.parameters) {
    const auto v =
        std::find_if(nest.variables.begin(), nest.variables.end(), [&](const Variable& x) { return x.name == p; });
    actual.push_back(v == nest.variables.end() ? p : v->bytes > 4 ? "placed::Int(" + v->host + ")" : v->host);
  }
  return call.name + "(" + text::joined(actual) + ")";
}

std::vector<Held> held(const Kernel& kernel, const Nest& nest) {
  std::set<int> results;
  for (const Reduction& r : kernel.reductions) {
    results.insert(r.target);
    results.insert(r.payload.begin(), r.payload.end());
  }
  std::vector<Held> all;
  for (std::size_t i = 0; i < nest.variables.size(); ++i) {
    const Variable& v = nest.variables[i];
    if (v.home.empty()) continue;
    const bool result = !v.array() && results.count(static_cast<int>(i)) > 0;
    const bool meets = std::any_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const KernelArray& a) {
      return (a.written || result) && may_change(nest.variables[a.variable], v);
    });
    const bool again = std::any_of(results.begin(), results.end(), [&](int r) {  // another name for a result
      const Variable& t = nest.variables[r];
      return r != static_cast<int>(i) && !t.home.empty() && !v.array() && t.bytes == v.bytes && t.integer == v.integer;
    });
    if (meets || again || result)
      all.push_back({&v, "{" + v.home + ", " + v.home_bytes + (result ? ", true}" : "}"), result});
  }
  return all;
}

std::string host_type(const Variable& v) {
  static const std::map<std::string, std::string> types{
      {"char", "std::int8_t"}, {"uchar", "std::uint8_t"}, {"short", "std::int16_t"}, {"ushort", "std::uint16_t"},
      {"int", "int"},          {"uint", "unsigned"},      {"long", "std::int64_t"},  {"ulong", "std::uint64_t"}};
  const auto at = types.find(v.element);
  return at == types.end() ? v.element : at->second;
}

Kernel make_kernel(const std::string& name, const Nest& nest, const analysis::Relations& relations,
                   const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice,
                   const Memories& memories) {
  Kernel k;
  k.name = name;
  k.chain = choice.chain;
  k.libm = nest.libm;
  k.vectors = vector_loops(nest, verdicts);
  const int root = choice.chain[0];
  k.parameters = analysis::parameters_at(relations, root);
  std::set<int> privates, expanded, reduced, payload;
  for (const int loop : choice.chain) {
    const auto& v = verdicts[loop];
    privates.insert(v.privates.begin(), v.privates.end());
    expanded.insert(v.expanded.begin(), v.expanded.end());
  }
  const std::set<int> atomics(choice.atomics.begin(), choice.atomics.end());
  k.atomic = !atomics.empty();
  for (const Reduction& r : verdicts[root].recurrences) {
    if (atomics.count(r.target) > 0) continue;
    k.reductions.push_back(r);
    reduced.insert(r.target);
    payload.insert(r.payload.begin(), r.payload.end());
    k.reassociates |= (r.combine == Combine::sum || r.combine == Combine::product) && !nest.variables[r.target].integer;
  }
  k.expanded.assign(expanded.begin(), expanded.end());
  k.privates.assign(privates.begin(), privates.end());

  // Arrays and their extents.
  const auto host_function = [&](const std::string& suffix, const std::string& type, const std::string& body) {
    HostCall made;
    made.name = name + suffix;
    std::vector<std::string> formals;
    for (const std::string& p : k.parameters)
      if (text::names(body, p)) {
        made.parameters.push_back(p);
        formals.push_back("placed::Int " + p);
      }
    std::string used;
    for (const char* helper : {"floord", "max", "min"})
      if (text::names(body, helper)) used += std::string(used.empty() ? "  using placed::" : ", placed::") + helper;
    k.functions += "inline " + type + " " + made.name + "(" + text::joined(formals) + ") {\n" +
                   (used.empty() ? "" : used + ";\n") + "  return " + body + ";\n}\n";
    return made;
  };
  std::string inside;  // tests that arrays inside structs are not overrun
  for (const analysis::Footprint& f : analysis::footprints(relations, root)) {
    if (expanded.count(f.variable) > 0 || privates.count(f.variable) > 0) continue;
    const Variable& v = nest.variables[f.variable];
    KernelArray a;
    a.variable = f.variable;
    a.written = f.written;
    a.enters = f.enters;
    a.covered = f.covered && !f.enters;
    if (f.known) {
      a.sized = true;
      a.size = host_function("_" + v.name, "placed::Int", f.elements);
    } else if (f.why.find("before its first") != std::string::npos) {
      k.why = f.why;
      return k;
    }
    if (v.member && f.known && !f.within && f.elements != "0")
      inside += (inside.empty() ? "(" : " && (") + ("(" + f.elements + ") <= " + std::to_string(v.length) + ")");
    k.arrays.push_back(a);
  }
  std::set<int> scalars;
  text::visit_accesses(nest.root, [&](const Access& a) {
    const Variable& v = nest.variables[a.variable];
    if (v.array() || !v.loops.empty() || privates.count(a.variable) > 0 || reduced.count(a.variable) > 0 ||
        payload.count(a.variable) > 0)
      return;
    if (a.write) k.why = v.host + " is written in the kernel but is neither private nor a reduction";
    scalars.insert(a.variable);
  });
  if (!k.why.empty()) return k;
  k.scalars.assign(scalars.begin(), scalars.end());

  // Assumptions, and parameters small enough for the arithmetic of the tests.
  std::string fits;
  for (const std::string& p : k.parameters) {
    const auto v =
        std::find_if(nest.variables.begin(), nest.variables.end(), [&](const Variable& x) { return x.name == p; });
    if (v != nest.variables.end() && (v->bytes > 4 || v->is_unsigned))
      fits += (fits.empty() ? "" : " && ") + p + " <= 2147483647 && " + p + " >= -2147483647";
  }
  for (const analysis::Assumption& a : relations.assumptions)
    fits += (fits.empty() ? "(" : " && (") + analysis::condition_text(a.holds) + ")";
  if (!inside.empty()) fits += (fits.empty() ? "" : " && ") + inside;
  if (!fits.empty()) k.fits = host_function("_fits", "bool", fits);
  k.axes = axes_by_stride(nest, choice.chain);
  for (const int loop : k.axes) {
    const std::string n = analysis::iterations(relations, root, loop);
    if (n.empty()) {
      k.why = "the number of iterations of " + nest.loops[loop].id + " is not known before the launch";
      return k;
    }
    k.iterations.push_back(host_function("_" + nest.loops[loop].iterator, "placed::Int", n));
  }

  // Kernel text.
  std::vector<Loop> loops = nest.loops;
  for (std::size_t i = 0; i < choice.chain.size(); ++i) {
    loops[k.axes[i]].axis = std::min(static_cast<int>(i), 2);
    if (loops[choice.chain[i]].start.find_first_of("?&|<>=") != std::string::npos)
      loops[choice.chain[i]].start = "(" + loops[choice.chain[i]].start + ")";
  }
  Node root_node = nest.root;
  if (k.atomic) add_at_once(root_node, atomics);
  k.copies = choice.copies;
  for (const int c : k.copies) {
    read_copies(root_node, nest.variables[c].name);
    for (Loop& l : loops) {
      l.start = from_copy(l.start, nest.variables[c].name);
      l.condition = from_copy(l.condition, nest.variables[c].name);
    }
  }
  std::vector<std::string> arguments;
  std::string top, end, before;
  for (const int c : k.copies)
    arguments.push_back("GLOBAL const " + nest.variables[c].element + "* RESTRICT " + nest.variables[c].name +
                        "_before");
  for (const int s : k.scalars) arguments.push_back(nest.variables[s].element + " " + nest.variables[s].name);
  if (k.axes.size() > 3) {
    std::vector<int> shared;
    for (const int l : choice.chain)
      if (loops[l].axis == 2) shared.push_back(l);
    top += transform::coalesce(loops, shared);
  }
  for (const int e : k.expanded)
    arguments.push_back("GLOBAL " + nest.variables[e].element + "* RESTRICT " + nest.variables[e].name);
  for (const int p : privates) {
    const Variable& v = nest.variables[p];
    if (!v.loops.empty()) continue;
    top += "  " + v.element + " " + v.name + (v.array() ? "[" + std::to_string(v.length) + "]" : "") + ";\n";
  }
  if (!k.expanded.empty() || !k.reductions.empty())
    top +=
        "  const int item = LOCAL_ID(0) + ITEMS(0) * (LOCAL_ID(1) + ITEMS(1) * LOCAL_ID(2));\n"
        "  const uint group = GROUP_ID(0) + GROUPS(0) * (GROUP_ID(1) + GROUPS(1) * GROUP_ID(2));\n";
  if (!k.expanded.empty())
    top +=
        "  const ulong in_group = (ulong)ITEMS(0) * ITEMS(1) * ITEMS(2);\n"
        "  const ulong all_items = in_group * GROUPS(0) * GROUPS(1) * GROUPS(2), this_item = group * in_group + "
        "item;\n";
  std::set<int> ordered;
  for (const Reduction& r : k.reductions) {
    for (const std::string& a : reduction_arguments(r, nest)) arguments.push_back(a);
    top += reduction_start(r, nest);
    end += reduction_tree(r, nest);
    if (!r.payload.empty()) ordered.insert(r.target);
  }
  if (!ordered.empty()) {
    std::string order = "1";  // 1 + index of the iteration in source order
    std::string at = "0";
    for (std::size_t i = 0; i < choice.chain.size(); ++i) {
      const Loop& l = nest.loops[choice.chain[i]];
      const std::string steps =
          "(ulong)(" + (l.step > 0 ? l.iterator + " - (" + l.start + ")" : "(" + l.start + ") - " + l.iterator) + ")" +
          (std::abs(l.step) == 1 ? "" : " / " + std::to_string(std::abs(l.step)));
      at = i == 0 ? steps : "(" + at + ") * 4294967296UL + " + steps;
      if (i > 1) {
        k.why = "the position of a minimum or maximum is supported over at most two grid loops";
        return k;
      }
    }
    remember_order(root_node, ordered, nest, order + " + " + at);
  }
  std::vector<long> axis_iterations;
  for (std::size_t i = 0; i < k.axes.size(); ++i) {
    const long n = text::constant_iterations(nest.loops[k.axes[i]]);
    if (i < 3)
      axis_iterations.push_back(n);
    else
      axis_iterations[2] *= n;
  }
  const std::vector<int> shape = criteria::group_shape(axis_iterations, !k.reductions.empty());
  k.why = criteria::exceeded_limit(shape);
  if (!k.why.empty()) return k;
  for (const int side : shape) k.items.push_back(std::to_string(side));
  std::string body;
  const Blocking blocking = k.expanded.empty() && !k.atomic ? find_blocking(nest, choice, k.privates) : Blocking{};
  if (blocking.blocks()) {
    k.copies_of.assign(choice.chain.size(), "");
    for (std::size_t i = 0; i < choice.chain.size(); ++i)
      k.copies_of[loops[choice.chain[i]].axis] = std::to_string(blocking.copies[i]);
  }

  // Memory of the arrays that are only read.
  std::vector<criteria::Tile> tiles;
  Node tiled = root_node;
  if (choice.chain.size() <= 3) {
    std::vector<int> only_read;
    std::vector<long> width;
    for (const KernelArray& a : k.arrays)
      if (!a.written) only_read.push_back(a.variable);
    for (std::size_t i = 0; i < choice.chain.size(); ++i)
      width.push_back(shape[static_cast<std::size_t>(loops[choice.chain[i]].axis)] *
                      (blocking.blocks() ? blocking.copies[i] : 1));
    Memories allowed = memories;
    if (!boxes(nest, choice) || !k.expanded.empty() || !k.copies.empty()) allowed.tiles = "never";
    const criteria::Spaces spaces = criteria::choose_spaces(relations, only_read, choice.chain, width,
                                                            shape[0] * shape[1] * shape[2], k.axes[0], allowed);
    k.memory = spaces.description;
    for (const criteria::Tile& t : spaces.tiles) {
      Node changed = tiled;
      if (!read_from_tile(changed, t, relations)) continue;
      tiled = changed;
      tiles.push_back(t);
      k.tiles.push_back(t.description);
    }
    for (KernelArray& a : k.arrays) {
      for (const criteria::Tile& t : tiles) a.tiled |= t.variable == a.variable;
      a.constant =
          a.sized && std::find(spaces.constants.begin(), spaces.constants.end(), a.variable) != spaces.constants.end();
      for (const std::string& f : nest.functions)
        a.constant = a.constant && !text::names(f, nest.variables[a.variable].name);
    }
  }
  if (!tiles.empty()) {
    before = "  const int item = LOCAL_ID(0) + ITEMS(0) * (LOCAL_ID(1) + ITEMS(1) * LOCAL_ID(2));\n";
    std::string declared;
    for (const criteria::Tile& t : tiles)
      declared += "  LOCAL_ARRAY(" + nest.variables[t.variable].element + ", " + nest.variables[t.variable].name +
                  "_tile, " + std::to_string(t.elements) + ");\n";
    before = declared + before;
    body = tiled_text(nest, root_node, tiled, loops, choice, blocking, tiles, relations, k.items);
  } else if (blocking.blocks()) {
    body = blocked_text(nest, loops, choice, blocking, k.items);
  } else {
    body = text::node_text(root_node, loops, 1);
  }
  std::vector<std::string> first;
  for (const KernelArray& a : k.arrays) {
    const Variable& v = nest.variables[a.variable];
    first.push_back(std::string(a.constant  ? "CONSTANT "
                                : a.written ? "GLOBAL "
                                            : "GLOBAL const ") +
                    v.element + "* RESTRICT " + v.name);
    if (a.tiled) arguments.push_back("long " + tile_elements(nest, v));
  }
  arguments.insert(arguments.begin(), first.begin(), first.end());
  for (const int e : k.expanded) body = interleaved(body, nest.variables[e].name);
  if (body.find("tile_max(") != std::string::npos)
    k.text = "FUNCTION int tile_max(int a, int b) { return a < b ? b : a; }\n";
  if (body.find("tile_min(") != std::string::npos)
    k.text += "FUNCTION int tile_min(int a, int b) { return b < a ? b : a; }\n";
  k.text += "KERNEL WORK_GROUP(" + text::joined(k.items) + ") void " + name + "(" + text::joined(arguments) + ") {\n" +
            before + top + body + end + "}\n";
  return k;
}

}  // namespace ridge::place::emit
