// Loops of an OpenMP nest: the schedule clause, and headers rewritten for blocks or counters.
#include "place/emit/openmp_loops.hpp"

#include <algorithm>

#include "place/emit/c_text.hpp"
#include "place/emit/reduction_text.hpp"
#include "place/emit/vectors.hpp"
#include "place/text/node_text.hpp"

namespace ridge::place::emit {
namespace {

bool has_loops(const Node& node) {
  return node.kind == NodeKind::loop || std::any_of(node.children.begin(), node.children.end(), has_loops);
}

// True if neighbouring iterations read the same rows, as in x[(r + k) * columns + c]: then larger chunks reuse them.
bool reads_neighbours(const Kernel& k, const Nest& nest) {
  bool found = false;
  const std::string& outer = nest.loops[k.chain[0]].iterator;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.write || !a.exact) return;
    for (const Poly& p : a.subscripts)
      for (const auto& [term, factor] : p.terms()) {
        const auto at = std::find(term.begin(), term.end(), outer);
        if (at == term.end()) continue;
        for (std::size_t l = 0; l < nest.loops.size(); ++l) {
          if (std::find(k.chain.begin(), k.chain.end(), static_cast<int>(l)) != k.chain.end()) continue;
          auto other = term;
          other[static_cast<std::size_t>(at - term.begin())] = nest.loops[l].iterator;
          std::sort(other.begin(), other.end());
          const auto same = p.terms().find(other);
          found |= same != p.terms().end() && same->second == factor;
        }
      }
  });
  return found;
}

// Iterations of a loop whose written elements share a cache line of 64 bytes; 1 if each has its own.
long iterations_per_line(const Nest& nest, const std::string& iterator) {
  long most = 1;
  text::visit_accesses(nest.root, [&](const Access& a) {
    const Variable& v = nest.variables[a.variable];
    if (!a.write || !v.array() || v.local_memory || !a.exact) return;
    long stride = 0, size = v.bytes;
    for (std::size_t d = a.subscripts.size(); d-- > 0;) {
      for (const auto& [term, factor] : a.subscripts[d].terms())
        if (std::find(term.begin(), term.end(), iterator) != term.end())
          stride += term.size() == 1 ? std::abs(factor) * size : 64;
      if (d > 0) size *= d <= v.inner.size() && v.inner[d - 1] > 0 ? v.inner[d - 1] : 64;
    }
    if (stride > 0) most = std::max(most, 64 / stride);
  });
  return most;
}

HostCall count_of(const Kernel& k, int loop) {
  return k.iterations[static_cast<std::size_t>(std::find(k.axes.begin(), k.axes.end(), loop) - k.axes.begin())];
}

}  // namespace

std::set<std::string> own_images(const Kernel& kernel, const Nest& nest) {
  std::set<std::string> all;
  for (const int e : kernel.expanded)
    if (nest.variables[e].shares) all.insert(nest.variables[e].host);
  return all;
}

int collapsible(const Kernel& kernel, const Nest& nest) {
  if (!own_images(kernel, nest).empty()) return 1;  // declared in the body of the outermost loop
  const Node* at = &nest.root;
  int count = 0;
  std::set<std::string> iterators;
  while (count < static_cast<int>(kernel.chain.size())) {
    while (at->kind == NodeKind::block && at->children.size() == 1) at = &at->children[0];
    if (at->kind != NodeKind::loop || at->loop != kernel.chain[count]) break;
    const Loop& loop = nest.loops[at->loop];
    bool free = !loop.iterator_outside && !loop.host_iterator.empty() && loop.kind == "for" && canonical(loop);
    for (const Constraint& c : loop.bounds)
      for (const std::string& name : c.poly.symbols()) free = free && iterators.count(name) == 0;
    if (!free) break;
    if (count > 0 && !has_loops(at->children[0])) break;
    iterators.insert(loop.iterator);
    ++count;
    at = &at->children[0];
  }
  return count;
}

std::string schedule_clauses(const Kernel& k, const Nest& nest) {
  const int together = std::max(1, collapsible(k, nest));
  std::string count;
  for (int l = 0; l < together; ++l) {
    const auto axis = std::find(k.axes.begin(), k.axes.end(), k.chain[l]) - k.axes.begin();
    count += (l > 0 ? " * " : "") + call_text(k.iterations[static_cast<std::size_t>(axis)], nest);
  }
  return (together > 1 ? " collapse(" + std::to_string(together) + ")" : "") + " schedule(" +
         (reads_neighbours(k, nest) ? "guided" : "dynamic") + ", placed::share(" + count + ", " +
         call_text(k.work, nest) + ", " +
         std::to_string(iterations_per_line(nest, nest.loops[k.chain[together - 1]].iterator)) + "))";
}

std::string first_part(const Program& program, const Loop& loop) {
  if (!loop.span.known || !loop.body.known || loop.kind != "for" || loop.host_iterator.empty()) return "";
  const std::string text = program.text.substr(loop.span.begin, loop.body.begin - loop.span.begin);
  const auto open = text.find('('), end = text.find(';');
  if (open == std::string::npos || end == std::string::npos || end < open) return "";
  const std::string first = text.substr(open + 1, end - open - 1);
  const bool comment = text.find("//") != std::string::npos || text.find("/*") != std::string::npos;
  return !comment && first.find_first_of("\"'{}#") == std::string::npos ? first : "";
}

bool rounds(const Reduction& r, const Nest& nest) {
  return (r.combine == Combine::sum || r.combine == Combine::product) && !nest.variables[r.target].integer;
}

bool blockwise(const Reduction& r, const Nest& nest) { return r.payload.empty() ? rounds(r, nest) : r.strict; }

Rewritten in_blocks(const Kernel& k, const Nest& nest, const std::string& first, const std::string& pragma,
                    const std::string& order, const std::string& pad) {
  const Loop& l = nest.loops[0];
  const std::string &n = k.name, step = std::to_string(l.step), in = pad + "  ", inner = pad + "    ";
  Rewritten made;
  made.open = "{\n" + in + first + ";\n" + in + "const placed::Int " + n + "_starts_at = " + l.host_iterator + ";\n" +
              in + "const placed::Blocks " + n + "_in_blocks = placed::blocks(" + call_text(count_of(k, 0), nest) +
              ");\n";
  std::string start, kept, sum;
  const std::string each =
      "for (placed::Int " + n + "_block_at = 0; " + n + "_block_at < " + n + "_in_blocks.count; ++" + n + "_block_at) ";
  // One element per block of a variable that starts with `from`; returns the element's text.
  const auto keep = [&](const Variable& v, const std::string& from) {
    const std::string part = n + "_" + v.host + "_parts";
    made.open += in + v.host_element + " " + part + "[512];\n";
    start += inner + v.host_element + " " + v.host + " = " + from + ";\n";
    kept += inner + part + "[" + n + "_block_at] = " + v.host + ";\n";
    return part + "[" + n + "_block_at]";
  };
  for (const Reduction& r : k.reductions) {
    if (!blockwise(r, nest)) continue;
    const Variable& v = nest.variables[r.target];
    if (r.payload.empty()) {
      const std::string part = keep(v, identity(r, v));
      sum += in + each + v.host + (r.combine == Combine::sum ? " += " : " *= ") + part + ";\n";
      continue;
    }
    // Every block starts with the extreme found before the loop; the first block with a better one wins.
    std::string better;
    std::set<int> all(r.payload.begin(), r.payload.end());
    all.insert(r.target);
    for (const int x : all) {
      const Variable& p = nest.variables[x];
      const std::string before = n + "_" + p.host + "_before";
      made.open += in + "const " + p.host_element + " " + before + " = " + p.host + ";\n";
      better += p.host + " = " + keep(p, before) + "; ";
    }
    sum += in + each + "if (" + n + "_" + v.host + "_parts[" + n + "_block_at]" +
           (r.combine == Combine::argmin ? " < " : " > ") + v.host + ") { " + better + "}\n";
  }
  made.open += pragma + "\n" + in + "for (placed::Int " + n + "_at = 0; " + n + "_at < " + n + "_in_blocks.count; ++" +
               n + "_at) {\n" + inner + "const placed::Int " + n + "_block_at = " + order + ";\n" + start + inner +
               "const placed::Int " + n + "_ends_at = " + n + "_starts_at + " + "placed::block_to(" + n +
               "_in_blocks, " + n + "_block_at) * " + step + ";\n" + inner + "for (" + l.host_type + " " +
               l.host_iterator + " = static_cast<" + l.host_type + ">(" + n + "_starts_at + " + "placed::block_from(" +
               n + "_in_blocks, " + n + "_block_at) * " + step + "); placed::Int(" + l.host_iterator + ")" +
               (l.step > 0 ? " < " : " > ") + n + "_ends_at; " + l.host_iterator + " += " + step + ")\n" + inner;
  made.close = "\n" + kept + in + "}\n" + sum + pad + "}";
  return made;
}

Rewritten counted(const Kernel& k, const Nest& nest, int loop, const std::string& first, const std::string& pragma,
                  bool permuted) {
  const Loop& l = nest.loops[loop];
  const std::string n = k.name + "_" + l.host_iterator, at = n + "_at";
  return {"{ " + first + "; const placed::Int " + n + "_first = " + l.host_iterator + ", " + n + "_count = " +
              call_text(count_of(k, loop), nest) + ";\n" + pragma + "\nfor (placed::Int " + at + " = 0; " + at + " < " +
              n + "_count; ++" + at + ") { " + l.host_type + " " + l.host_iterator + " = static_cast<" + l.host_type +
              ">(" + n + "_first + " + (permuted ? "placed::permuted(" + at + ", " + n + "_count)" : at) + " * " +
              std::to_string(l.step) + "); ",
          " } }"};
}

}  // namespace ridge::place::emit
