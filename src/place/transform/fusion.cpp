// Text of two fused nests, and the legality test on the fused nest.
#include <cctype>

#include "place/transform/loops.hpp"

namespace ridge::place::transform {

std::optional<Proposal> fusion(const State& first, const State& second, int levels) {
  const Span &a = first.nest.span, &b = second.nest.span;
  if (!a.known || !b.known || a.end > b.begin) return {};
  for (unsigned i = a.end; i < b.begin; ++i)
    if (std::isspace(static_cast<unsigned char>(first.text[i])) == 0) return {};
  std::string text;
  int one = 0, two = 0;
  Proposal made;
  for (int level = 0; level < levels; ++level) {
    if (one < 0 || two < 0 || !plain(first.nest, one) || !plain(second.nest, two)) return {};
    const auto x = loop_bounds(first.nest, one), y = loop_bounds(second.nest, two);
    const Loop &l = first.nest.loops[one], &m = second.nest.loops[two];
    if (!x || !y || x->low_text != y->low_text || x->high_text != y->high_text || l.host_iterator != m.host_iterator)
      return {};
    text += header(first, one) + " ";
    made.what += (made.what.empty() ? "" : ", ") + l.id + " and " + m.id;
    made.loops.push_back(l.id + "," + m.id);
    if (level + 1 < levels) {
      one = only_inside(first, one);
      two = only_inside(second, two);
    }
  }
  const auto body = [](const State& s, int loop) {
    const Loop& l = s.nest.loops[loop];
    const std::string inside = s.text.substr(l.body.begin, l.span.end - l.body.begin);
    return inside[0] == '{' ? inside : "{ " + inside + " }";
  };
  made.what += " fused";
  made.edits = {{a.begin, b.end, text + "{\n" + body(first, one) + "\n" + body(second, two) + "\n}"}};
  for (const auto& [state, loop] : {std::pair(&first, one), std::pair(&second, two)}) {
    const auto inside = loops_in_order(state->nest, *find(state->nest.root, loop));
    made.loops.insert(made.loops.end(), inside.begin() + 1, inside.end());
  }
  return made;
}

std::string fusion_illegal(const State& fused, int levels) {
  int loop = 0;
  for (int level = 1; level < levels; ++level) loop = loop < 0 ? loop : only_inside(fused, loop);
  if (loop < 0) return "the fused loops are not recognized as one nest";
  const Node& block = body_block(*find(fused.nest.root, loop));
  if (block.children.size() != 2) return "the two bodies are not recognized in the fused nest";
  Proposal apart;
  for (std::size_t k = 0; k < fused.relations.instances.size(); ++k) {
    const auto& instance = fused.relations.instances[k];
    apart.order[k] = instance.order;
    apart.order[k].insert(apart.order[k].begin() + 1, contains(block.children[1], instance.node) ? "1" : "0");
  }
  return Legality(fused).broken_by(apart);
}

}  // namespace ridge::place::transform
