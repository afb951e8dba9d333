// Privatization with last values: all iterations but the last use variables of their own, and the last one the user's.
// Trigger: the loop is sequential only because of variables that every iteration sets before it reads them, and they
// are used after the loop. Legal if the last iteration sets every element that any iteration sets. The text declares a
// variable of the same name inside the loop.
#include <algorithm>

#include "place/analysis/footprint.hpp"
#include "place/text/node_text.hpp"
#include "place/text/words.hpp"
#include "place/transform/loops.hpp"

namespace ridge::place::transform {
namespace {

// True if the variable is always accessed by its own name, which a declaration in the loop can then shadow.
bool by_name(const Nest& nest, int variable) {
  const Variable& v = nest.variables[variable];
  const bool identifier = !v.host.empty() && std::all_of(v.host.begin(), v.host.end(), text::letter);
  bool all =
      identifier && !v.captured && !v.shares && !v.scattered && !v.mixed && (!v.global || nest.functions.empty());
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.variable == variable) all = all && (v.array() ? a.source.rfind(v.host + "[", 0) == 0 : a.source == v.host);
  });
  return all;
}

// Declaration of the loop's own variable, and the test that it is long enough; "" if there is none.
std::string declaration(const State& state, int variable, std::string& test) {
  const Nest& nest = state.nest;
  const Variable& v = nest.variables[variable];
  if (!v.array()) return v.storage == Storage::scalar ? v.host_element + " " + v.host + "; " : "";
  const long most = state.on_host ? 65536 : 4096;  // bytes of a thread's stack, or of a work-item's private memory
  long row = 1;
  std::string rows;
  for (const long n : v.inner) row *= n, rows += "[" + std::to_string(n) + "]";
  const long count = most / (row * v.bytes);
  if (count < 1 || v.storage == Storage::object) return "";
  for (const analysis::Footprint& f : analysis::footprints(state.relations, 0)) {
    if (f.variable != variable) continue;
    if (!f.known || !f.first.empty()) return "";
    for (const char* word : {"min", "max", "floord"})
      if (text::names(f.elements, word)) return "";
    std::string needed = f.elements;
    for (const std::string& p : nest.parameters)
      for (const Variable& x : nest.variables)
        if (x.name == p) needed = text::replaced(needed, p, "(long)(" + x.host + ")");
    test += (test.empty() ? "" : " && ") + ("(" + needed + ") <= " + std::to_string(count * row));
    return v.host_element + " " + v.host + "[" + std::to_string(count) + "]" + rows + "; ";
  }
  return "";
}

}  // namespace

std::vector<Proposal> last_values(const State& state) {
  const Nest& nest = state.nest;
  const analysis::Verdict& verdict = state.verdicts[0];
  const auto limits = loop_bounds(nest, 0);
  if (!plain(nest, 0) || verdict.parallel || !verdict.last_sets_all || !limits || !nest.jumps.empty()) return {};
  if (!header_is_invariant(nest, *find(nest.root, 0))) return {};
  Proposal made;
  std::string own, names;
  for (const int x : verdict.set_first) {
    const std::string text = by_name(nest, x) ? declaration(state, x, made.test) : "";
    if (text.empty()) return {};
    own += text;
    names += (names.empty() ? "" : ", ") + nest.variables[x].host;
  }
  // The variables are declared in the innermost of the perfectly nested loops whose iterations all set them first.
  int at = 0;
  for (int inner = only_inside(state, at); inner >= 0 && plain(nest, inner); inner = only_inside(state, at)) {
    const auto& also = state.verdicts[inner].set_first;
    if (!std::all_of(verdict.set_first.begin(), verdict.set_first.end(),
                     [&](int x) { return std::find(also.begin(), also.end(), x) != also.end(); }))
      break;
    at = inner;
  }
  const Loop &l = nest.loops[0], &deep = nest.loops[at];
  const std::string i = l.host_iterator, &low = limits->low_text, &high = limits->high_text,
                    body = state.text.substr(l.body.begin, l.span.end - l.body.begin),
                    before = state.text.substr(l.body.begin, deep.body.begin - l.body.begin),
                    inside = state.text.substr(deep.body.begin, deep.span.end - deep.body.begin),
                    after = state.text.substr(deep.span.end, l.span.end - deep.span.end);
  made.what = l.id + " with its own " + names + " in all iterations but the last";
  made.renames = true;
  made.edits = {{l.span.begin, l.span.end,
                 "{ for (int " + i + " = " + low + "; " + i + " < " + high + "; ++" + i + ") " + before + "{ " + own +
                     inside + " }" + after + "\nfor (int " + i + " = (" + high + " > " + low + " ? " + high + " : " +
                     low + "); " + i + " <= " + high + "; ++" + i + ") " + body + " }"}};
  made.loops = loops_in_order(nest, nest.root);
  const auto once = made.loops;
  made.loops.insert(made.loops.end(), once.begin(), once.end());
  return {made};
}

}  // namespace ridge::place::transform
