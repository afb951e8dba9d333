// Flattens functions into the nodes of the spine.
#include "place/spine/spine.hpp"

#include <functional>

namespace ridge::place {
namespace {

class Drawer {
 public:
  explicit Drawer(std::string prefix) : prefix_(std::move(prefix)) {}
  std::vector<SpineNode> nodes{};

  void part(const Part& p, const Function& f, int depth) {
    switch (p.kind) {
      case PartKind::sequence:
        for (const Part& child : p.children) part(child, f, depth);
        return;
      case PartKind::nest:
        node(f.nests[p.nest].root, f.nests[p.nest], depth);
        return;
      case PartKind::loop:
        add("loop", prefix_ + p.id, depth, p.line, p.source);
        for (const Part& child : p.children) part(child, f, depth + 1);
        return;
      case PartKind::branch:
        add("branch", prefix_ + "c" + std::to_string(++branches_), depth, p.line, p.source, p.span);
        for (const Part& child : p.children) part(child, f, depth + 1);
        return;
      case PartKind::call:
        add("call", p.callee, depth, p.line, p.source);
        return;
      case PartKind::statement:
        block(depth, p.line, p.source);
        return;
    }
  }

 private:
  std::string prefix_;
  int branches_ = 0, blocks_ = 0;

  void add(const std::string& kind, const std::string& id, int depth, int line, const std::string& source,
           const Span& at = {}) {
    nodes.push_back({kind, id, depth, line, source, at.known ? at.begin : 0, at.known ? at.end : 0});
  }

  void block(int depth, int line, const std::string& source) {  // consecutive statements form one block
    if (!nodes.empty() && nodes.back().kind == "block" && nodes.back().depth == depth) return;
    add("block", prefix_ + "b" + std::to_string(++blocks_), depth, line, source);
  }

  void node(const Node& n, const Nest& nest, int depth) {
    switch (n.kind) {
      case NodeKind::block:
        for (const Node& child : n.children) node(child, nest, depth);
        return;
      case NodeKind::statement:
        if (!n.text.empty() || !n.target.empty()) block(depth, n.line, n.source);
        return;
      case NodeKind::branch:
        add("branch", prefix_ + "c" + std::to_string(++branches_), depth, n.line, n.source, n.span);
        for (const Node& child : n.children) node(child, nest, depth + 1);
        return;
      case NodeKind::loop:
        if (nest.loops[n.loop].id.empty()) {  // in a called function, which is drawn by itself
          block(depth, n.line, n.source);
          return;
        }
        add("loop", prefix_ + nest.loops[n.loop].id, depth, n.line, n.source);
        for (const Node& child : n.children) node(child, nest, depth + 1);
        return;
    }
  }
};

}  // namespace

std::vector<SpineNode> spine(const Program& program, bool asked_for) {
  std::vector<SpineNode> all;
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    const Function& function = program.functions[f];
    const bool last = asked_for && f + 1 == program.functions.size();
    Drawer drawer(last ? "" : function.name + ".");
    drawer.nodes.push_back({"function", function.name, 0, function.line,
                            function.result + " " + function.name + "(" + function.parameter_text + ")", 0, 0});
    drawer.part(function.root, function, 1);
    // Only branches of the user's own text can be instrumented by --run.
    if (!program.lines.empty() || function.refused.find("constexpr") != std::string::npos)
      for (SpineNode& n : drawer.nodes) n.begin = n.end = 0;
    all.insert(all.end(), drawer.nodes.begin(), drawer.nodes.end());
  }
  return all;
}

}  // namespace ridge::place
