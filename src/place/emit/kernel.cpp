// Builds a kernel: arrays and extents, assumptions, axes, group shape, memory, and the text in the dialect.
#include "place/emit/kernel.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "place/criteria/choose.hpp"
#include "place/emit/blocking.hpp"
#include "place/emit/reduction_text.hpp"
#include "place/emit/tiles.hpp"
#include "place/emit/vectors.hpp"
#include "place/text/node_text.hpp"
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

std::string apart_count(const Kernel& kernel, const Nest& nest, int variable, const std::string& count) {
  std::string same;
  for (const auto& [read, written] : kernel.same) {
    if (read != variable) continue;
    const std::string &a = nest.variables[read].host, &b = nest.variables[written].host;
    std::string one;
    for (const char* field : {"data", "step", "rows", "cols"})
      one += std::string(one.empty() ? "(" : " && ") + a + "." + field + " == " + b + "." + field;
    same += (same.empty() ? "" : " || ") + one + ")";
  }
  return same.empty() ? count : "(" + same + " ? 0 : " + count + ")";
}

std::string host_type(const Variable& v) {
  static const std::map<std::string, std::string> types{
      {"char", "std::int8_t"}, {"uchar", "std::uint8_t"}, {"short", "std::int16_t"}, {"ushort", "std::uint16_t"},
      {"int", "int"},          {"uint", "unsigned"},      {"long", "std::int64_t"},  {"ulong", "std::uint64_t"}};
  const auto at = types.find(v.element);
  return at == types.end() ? v.element : at->second;
}

namespace {

// Builds the kernel of one nest. A step that returns false has stored in Kernel::why the reason why there is no kernel.
class KernelMaker {
 public:
  KernelMaker(const std::string& name, const Nest& nest, const analysis::Relations& relations,
              const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice, const Memories& memories)
      : nest_(nest),
        relations_(relations),
        verdicts_(verdicts),
        choice_(choice),
        memories_(memories),
        loops_(nest.loops),
        root_(nest.root) {
    k_.name = name;
  }

  Kernel make() {
    classify_variables();
    if (!size_arrays() || !find_scalars()) return k_;
    add_tests();
    if (!count_iterations()) return k_;
    prepare_tree();
    declare_variables();
    if (!add_reductions() || !shape_group()) return k_;
    choose_blocking();
    if (choice_.chain.size() <= 3) choose_memory();
    write(body());
    if (memories_.strips) add_strip();
    return k_;
  }

 private:
  // True for an image that the kernel may access under two names.
  bool two_names(int variable) const {
    return std::any_of(choice_.same.begin(), choice_.same.end(),
                       [&](const auto& p) { return p.first == variable || p.second == variable; });
  }

  void classify_variables() {
    k_.chain = choice_.chain;
    k_.same = choice_.same;
    k_.libm = nest_.libm;
    k_.vectors = vector_loops(nest_, verdicts_);
    k_.parameters = analysis::parameters_at(relations_, outermost());
    for (const int loop : choice_.chain) {
      const auto& v = verdicts_[loop];
      privates_.insert(v.privates.begin(), v.privates.end());
      expanded_.insert(v.expanded.begin(), v.expanded.end());
    }
    atomics_.insert(choice_.atomics.begin(), choice_.atomics.end());
    k_.atomic = !atomics_.empty();
    for (const Reduction& r : verdicts_[outermost()].recurrences) {
      if (atomics_.count(r.target) > 0) continue;
      k_.reductions.push_back(r);
      reduced_.insert(r.target);
      reduced_.insert(r.payload.begin(), r.payload.end());
      k_.reassociates |=
          (r.combine == Combine::sum || r.combine == Combine::product) && !nest_.variables[r.target].integer;
    }
    k_.expanded.assign(expanded_.begin(), expanded_.end());
    k_.privates.assign(privates_.begin(), privates_.end());
    for (const auto* own : {&expanded_, &privates_})
      for (const int x : *own)
        if (nest_.variables[x].mixed)
          k_.not_on_device = "every iteration would need its own copy of " + nest_.variables[x].host +
                             ", structs with fields of several types";
  }

  int outermost() const { return choice_.chain[0]; }

  // Adds a host function that returns `body` over the parameters it names.
  HostCall host_function(const std::string& suffix, const std::string& type, const std::string& body) {
    HostCall made;
    made.name = k_.name + suffix;
    std::vector<std::string> formals;
    for (const std::string& p : k_.parameters)
      if (text::names(body, p)) {
        made.parameters.push_back(p);
        formals.push_back("placed::Int " + p);
      }
    k_.functions +=
        "inline " + type + " " + made.name + "(" + text::joined(formals) + ") {\n  return " +
        text::replaced(body, {{"floord", "placed::floord"}, {"max", "placed::max"}, {"min", "placed::min"}}) + ";\n}\n";
    return made;
  }

  // Arrays and their extents.
  bool size_arrays() {
    for (const analysis::Footprint& f : analysis::footprints(relations_, outermost())) {
      if (expanded_.count(f.variable) > 0 || privates_.count(f.variable) > 0) continue;
      const Variable& v = nest_.variables[f.variable];
      KernelArray a;
      a.variable = f.variable;
      a.written = f.written;
      a.enters = f.enters;
      a.covered = f.covered && !f.enters && !two_names(f.variable);
      if (f.known) {
        a.sized = true;
        a.size = host_function("_" + v.name, "placed::Int", f.elements);
        if (!f.first.empty()) {
          a.first = host_function("_" + v.name + "_first", "placed::Int", f.first);
          starts_ += (starts_.empty() ? "(" : " && (") + f.starts_inside + ")";
          k_.inside_texts.push_back(v.host + " is not accessed before its first element: " + f.starts_inside);
          if (f.always_before) k_.not_on_device = v.host + " is accessed before its first element";
        }
      } else if (f.why.find("before its first") != std::string::npos) {
        k_.why = f.why;
        return false;
      }
      static const char* const limits[] = {"_first_row", "_last_row", "_first_column", "_last_column"};
      for (std::size_t k = 0; k < f.rows.size(); ++k)
        a.rows.push_back(host_function("_" + v.name + limits[k], "placed::Int", f.rows[k]));
      if (v.member && f.known && !f.within && f.elements != "0")
        inside_ += (inside_.empty() ? "(" : " && (") + ("(" + f.elements + ") <= " + std::to_string(v.length) + ")");
      k_.arrays.push_back(a);
    }
    return true;
  }

  bool find_scalars() {
    std::set<int> scalars;
    text::visit_accesses(nest_.root, [&](const Access& a) {
      const Variable& v = nest_.variables[a.variable];
      if (v.array() || !v.loops.empty() || privates_.count(a.variable) > 0 || reduced_.count(a.variable) > 0) return;
      if (a.write) k_.why = v.host + " is written in the kernel but is neither private nor a reduction";
      scalars.insert(a.variable);
    });
    if (!k_.why.empty()) return false;
    k_.scalars.assign(scalars.begin(), scalars.end());
    return true;
  }

  // Tests of the assumptions, and of parameters small enough for the arithmetic of the tests.
  void add_tests() {
    std::string fits;
    for (const std::string& p : k_.parameters) {
      const auto v =
          std::find_if(nest_.variables.begin(), nest_.variables.end(), [&](const Variable& x) { return x.name == p; });
      if (v != nest_.variables.end() && (v->bytes > 4 || v->is_unsigned))
        fits += (fits.empty() ? "" : " && ") + p + " <= 2147483647 && " + p + " >= -2147483647";
    }
    for (const analysis::Assumption& a : relations_.assumptions)
      fits += (fits.empty() ? "(" : " && (") + analysis::condition_text(a.holds) + ")";
    if (!inside_.empty()) fits += (fits.empty() ? "" : " && ") + inside_;
    if (!fits.empty()) k_.fits = host_function("_fits", "bool", fits);
    if (!starts_.empty()) k_.inside = host_function("_inside", "bool", starts_);
  }

  bool count_iterations() {
    k_.axes = axes_by_stride(nest_, choice_.chain);
    for (const int loop : k_.axes) {
      const std::string n = analysis::iterations(relations_, outermost(), loop);
      if (n.empty()) {
        k_.why = "the number of iterations of " + nest_.loops[loop].id + " is not known before the launch";
        return false;
      }
      k_.iterations.push_back(host_function("_" + nest_.loops[loop].iterator, "placed::Int", n));
    }
    if (choice_.threads) k_.work = host_function("_work", "double", "0.25 * (" + work(nest_.root) + ")");
    return true;
  }

  // Estimated time on one thread as C text over the parameters, in quarters of a nanosecond: 1 per access to an array,
  // 8 per division, 20 per call. Every iteration of an inner loop counts as the longest; unknown lengths as 16.
  std::string work(const Node& node) const {
    long own = 0;
    if (node.kind == NodeKind::statement || node.kind == NodeKind::branch) {
      own = 1 + std::count(node.text.begin(), node.text.end(), '/') * 8;
      for (const Access& a : node.accesses) own += nest_.variables[a.variable].array() ? 1 : 0;
      for (std::size_t at = node.text.find('('); at != std::string::npos; at = node.text.find('(', at + 1))
        own += at > 0 && text::letter(node.text[at - 1]) ? 20 : 0;
    }
    std::string all = own > 0 ? std::to_string(own) : "";
    for (const Node& child : node.children)
      if (const std::string more = work(child); more != "0") all += (all.empty() ? "" : " + ") + more;
    if (all.empty()) return "0";
    if (node.kind != NodeKind::loop) return all;
    const std::string n = analysis::iterations(relations_, outermost(), node.loop);
    return "1.0 * (" + (n.empty() ? "16" : n) + ") * (" + all + ")";
  }

  // Loops with their axes, atomic additions, reads from copies.
  void prepare_tree() {
    for (std::size_t i = 0; i < choice_.chain.size(); ++i) {
      loops_[k_.axes[i]].axis = std::min(static_cast<int>(i), 2);
      if (loops_[choice_.chain[i]].start.find_first_of("?&|<>=") != std::string::npos)
        loops_[choice_.chain[i]].start = "(" + loops_[choice_.chain[i]].start + ")";
    }
    if (k_.atomic) add_at_once(root_, atomics_);
    k_.copies = choice_.copies;
    k_.old_reads = choice_.old_reads;
    for (const int c : k_.copies) {
      read_copies(root_, nest_.variables[c].name);
      for (Loop& l : loops_) {
        l.start = from_copy(l.start, nest_.variables[c].name);
        l.condition = from_copy(l.condition, nest_.variables[c].name);
      }
    }
  }

  // Arguments after the arrays, and declarations at the top of the kernel.
  void declare_variables() {
    for (const int c : k_.copies)
      arguments_.push_back("GLOBAL const " + nest_.variables[c].element + "* RESTRICT " + nest_.variables[c].name +
                           "_before");
    for (const int s : k_.scalars) arguments_.push_back(nest_.variables[s].element + " " + nest_.variables[s].name);
    if (k_.axes.size() > 3) {
      std::vector<int> shared;
      for (const int l : choice_.chain)
        if (loops_[l].axis == 2) shared.push_back(l);
      top_ += transform::coalesce(loops_, shared);
    }
    for (const int e : k_.expanded)
      arguments_.push_back("GLOBAL " + nest_.variables[e].element + "* RESTRICT " + nest_.variables[e].name);
    for (const int p : privates_) {
      const Variable& v = nest_.variables[p];
      if (!v.loops.empty()) continue;
      top_ += "  " + v.element + " " + v.name + (v.array() ? "[" + std::to_string(v.length) + "]" : "") + ";\n";
    }
    if (!k_.expanded.empty() || !k_.reductions.empty())
      top_ += kItem + "  const uint group = GROUP_ID(0) + GROUPS(0) * (GROUP_ID(1) + GROUPS(1) * GROUP_ID(2));\n";
    if (!k_.expanded.empty())
      top_ +=
          "  const ulong in_group = (ulong)ITEMS(0) * ITEMS(1) * ITEMS(2);\n"
          "  const ulong all_items = in_group * GROUPS(0) * GROUPS(1) * GROUPS(2), this_item = group * in_group + "
          "item;\n";
  }

  bool add_reductions() {
    std::set<int> ordered;
    for (const Reduction& r : k_.reductions) {
      for (const std::string& a : reduction_arguments(r, nest_)) arguments_.push_back(a);
      top_ += reduction_start(r, nest_);
      end_ += reduction_tree(r, nest_);
      if (!r.payload.empty()) ordered.insert(r.target);
    }
    if (ordered.empty()) return true;
    if (choice_.chain.size() > 2) {
      k_.why = "the position of a minimum or maximum is supported over at most two grid loops";
      return false;
    }
    remember_order(root_, ordered, nest_, iteration_number());
    return true;
  }

  // 1 + index of the iteration in source order.
  std::string iteration_number() const {
    std::string at = "0";
    for (std::size_t i = 0; i < choice_.chain.size(); ++i) {
      const Loop& l = nest_.loops[choice_.chain[i]];
      const std::string steps =
          "(ulong)(" + (l.step > 0 ? l.iterator + " - (" + l.start + ")" : "(" + l.start + ") - " + l.iterator) + ")" +
          (std::abs(l.step) == 1 ? "" : " / " + std::to_string(std::abs(l.step)));
      at = i == 0 ? steps : "(" + at + ") * 4294967296UL + " + steps;
    }
    return "1 + " + at;
  }

  bool shape_group() {
    std::vector<long> axis_iterations;
    for (std::size_t i = 0; i < k_.axes.size(); ++i) {
      const long n = text::constant_iterations(nest_.loops[k_.axes[i]]);
      if (i < 3)
        axis_iterations.push_back(n);
      else
        axis_iterations[2] *= n;
    }
    shape_ = criteria::group_shape(axis_iterations, !k_.reductions.empty());
    k_.why = criteria::exceeded_limit(shape_);
    if (!k_.why.empty()) return false;
    for (const int side : shape_) k_.items.push_back(std::to_string(side));
    return true;
  }

  void choose_blocking() {
    if (k_.expanded.empty() && !k_.atomic) blocking_ = find_blocking(nest_, choice_, k_.privates);
    if (!blocking_.blocks()) return;
    k_.copies_of.assign(choice_.chain.size(), "");
    for (std::size_t i = 0; i < choice_.chain.size(); ++i)
      k_.copies_of[loops_[choice_.chain[i]].axis] = std::to_string(blocking_.copies[i]);
  }

  // Memory of the arrays that are only read.
  void choose_memory() {
    if (choice_.threads) return;  // the text of kernels is not used
    std::vector<int> only_read;
    std::vector<long> width;
    for (const KernelArray& a : k_.arrays)
      if (!a.written && !two_names(a.variable)) only_read.push_back(a.variable);
    for (std::size_t i = 0; i < choice_.chain.size(); ++i)
      width.push_back(shape_[static_cast<std::size_t>(loops_[choice_.chain[i]].axis)] *
                      (blocking_.blocks() ? blocking_.copies[i] : 1));
    Memories allowed = memories_;
    if (!boxes(nest_, choice_) || !k_.expanded.empty() || !k_.copies.empty()) allowed.tiles = "never";
    const criteria::Spaces spaces = criteria::choose_spaces(relations_, only_read, choice_.chain, width,
                                                            shape_[0] * shape_[1] * shape_[2], k_.axes[0], allowed);
    k_.memory = spaces.description;
    tiled_ = root_;
    for (const criteria::Tile& t : spaces.tiles) {
      Node changed = tiled_;
      if (!read_from_tile(changed, t, relations_)) continue;
      tiled_ = changed;
      tiles_.push_back(t);
      k_.tiles.push_back(t.description);
    }
    for (KernelArray& a : k_.arrays) {
      for (const criteria::Tile& t : tiles_) a.tiled |= t.variable == a.variable;
      a.constant =
          a.sized && std::find(spaces.constants.begin(), spaces.constants.end(), a.variable) != spaces.constants.end();
      for (const std::string& f : nest_.functions)
        a.constant = a.constant && !text::names(f, nest_.variables[a.variable].name);
    }
  }

  std::string body() const {
    std::string text;
    if (!tiles_.empty())
      text = tiled_text(nest_, root_, tiled_, loops_, choice_, blocking_, tiles_, relations_, k_.items);
    else if (blocking_.blocks())
      text = blocked_text(nest_, loops_, choice_, blocking_, k_.items);
    else
      text = text::node_text(root_, loops_, 1);
    for (const int e : k_.expanded) text = interleaved(text, nest_.variables[e].name);
    return text;
  }

  void write(const std::string& body) {
    std::vector<std::string> arrays;
    for (const KernelArray& a : k_.arrays) {
      const Variable& v = nest_.variables[a.variable];
      arrays.push_back(std::string(a.constant  ? "CONSTANT "
                                   : a.written ? "GLOBAL "
                                               : "GLOBAL const ") +
                       v.element + (two_names(a.variable) ? "* " : "* RESTRICT ") + v.name);
      if (a.tiled) arguments_.push_back("long " + tile_elements(nest_, v));
    }
    arguments_.insert(arguments_.begin(), arrays.begin(), arrays.end());
    std::string tiles;
    for (const criteria::Tile& t : tiles_)
      tiles += "  LOCAL_ARRAY(" + nest_.variables[t.variable].element + ", " + nest_.variables[t.variable].name +
               "_tile, " + std::to_string(t.elements) + ");\n";
    if (!tiles.empty()) tiles += kItem;
    if (body.find("tile_max(") != std::string::npos)
      k_.text = "FUNCTION int tile_max(int a, int b) { return a < b ? b : a; }\n";
    if (body.find("tile_min(") != std::string::npos)
      k_.text += "FUNCTION int tile_min(int a, int b) { return b < a ? b : a; }\n";
    k_.text += "KERNEL WORK_GROUP(" + text::joined(k_.items) + ") void " + k_.name + "(" + text::joined(arguments_) +
               ") {\n" + tiles + top_ + body + end_ + "}\n";
  }

  // The kernel for a strip: the addresses of the arrays' parts are moved back, so that subscripts stay as they are.
  void add_strip() {
    const Loop& l = loops_[outermost()];
    const auto range = analysis::iterator_range(relations_, outermost());
    if (!range || l.step != 1 || !l.exact || k_.axes.size() > 3 || !k_.reductions.empty() || !k_.expanded.empty() ||
        !k_.copies.empty() || !k_.same.empty() || k_.atomic || k_.arrays.empty())
      return;
    const std::string &from = analysis::kStripFrom, &to = analysis::kStripTo;
    Strip made;
    made.name = k_.name + "_strip";
    made.low = host_function("_strip_low", "placed::Int", range->first);
    made.high = host_function("_strip_high", "placed::Int", range->second);
    k_.parameters.insert(k_.parameters.end(), {from, to});
    const auto parts = analysis::footprints(analysis::strip_of(relations_, outermost()), outermost());
    std::vector<std::string> arguments, firsts;
    std::string moved;
    for (const KernelArray& a : k_.arrays) {
      const Variable& v = nest_.variables[a.variable];
      const auto part = std::find_if(parts.begin(), parts.end(),
                                     [&](const analysis::Footprint& f) { return f.variable == a.variable && f.known; });
      const std::string type = std::string(a.written ? "GLOBAL " : "GLOBAL const ") + v.element + "* RESTRICT ";
      const bool cut = part != parts.end() && !part->begins.empty();
      made.first.push_back(cut ? host_function("_strip_" + v.name + "_first", "placed::Int", part->begins)
                               : HostCall{});
      made.end.push_back(cut ? host_function("_strip_" + v.name, "placed::Int", part->elements) : HostCall{});
      arguments.push_back(type + v.name + "_part");
      firsts.push_back("long " + v.name + "_first");
      moved += "  " + type + v.name + " = " + v.name + "_part - " + v.name + "_first;\n";
    }
    k_.parameters.resize(k_.parameters.size() - 2);
    for (const int s : k_.scalars) arguments.push_back(nest_.variables[s].element + " " + nest_.variables[s].name);
    arguments.insert(arguments.end(), {l.type + " " + from, l.type + " " + to});
    arguments.insert(arguments.end(), firsts.begin(), firsts.end());
    std::vector<Loop> loops = loops_;
    loops[outermost()].start = from;
    loops[outermost()].condition = "(" + l.condition + ") && " + l.iterator + " <= " + to;
    k_.text += "KERNEL WORK_GROUP(" + text::joined(k_.items) + ") void " + made.name + "(" + text::joined(arguments) +
               ") {\n" + moved + top_ + text::node_text(root_, loops, 1) + "}\n";
    k_.strip = made;
  }

  inline static const std::string kItem =
      "  const int item = LOCAL_ID(0) + ITEMS(0) * (LOCAL_ID(1) + ITEMS(1) * LOCAL_ID(2));\n";

  const Nest& nest_;
  const analysis::Relations& relations_;
  const std::vector<analysis::Verdict>& verdicts_;
  const criteria::Choice& choice_;
  const Memories& memories_;
  Kernel k_{};
  std::set<int> privates_{}, expanded_{}, atomics_{};
  std::set<int> reduced_{};  // results of reductions: targets and payloads
  std::string inside_{};     // tests that arrays inside structs are not overrun
  std::string starts_{};     // tests that arrays are not accessed before their first element
  std::vector<Loop> loops_;  // with their axes
  Node root_;                // the nest's tree as the kernel runs it
  Node tiled_{};             // the same with reads from tiles
  std::vector<criteria::Tile> tiles_{};
  Blocking blocking_{};
  std::vector<int> shape_{};  // of a work-group
  std::vector<std::string> arguments_{};
  std::string top_{}, end_{};  // text before and after the loops
};

}  // namespace

Kernel make_kernel(const std::string& name, const Nest& nest, const analysis::Relations& relations,
                   const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice,
                   const Memories& memories) {
  return KernelMaker(name, nest, relations, verdicts, choice, memories).make();
}

}  // namespace ridge::place::emit
