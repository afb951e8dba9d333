// HTML page of the spine: execution from left to right, one level down per loop and branch, scalars above, arrays below
// with their readers, writers and the dependences between nests. One self-contained file.
#include <algorithm>
#include <climits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <ridge/place.hpp>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "place/report/report.hpp"

namespace ridge::place {
namespace {

using base::svg::escape;

constexpr double kStep = 34, kLevel = 44, kLeft = 120, kRow = 22;

const LoopVerdict* find(const Report& report, const std::string& id) {
  const auto at =
      std::find_if(report.loops.begin(), report.loops.end(), [&](const LoopVerdict& l) { return l.id == id; });
  return at == report.loops.end() ? nullptr : &*at;
}

std::string mark(const SpineNode& n, const LoopVerdict* loop, double x, double y) {
  if (n.kind == "function")
    return fmt::format("<rect class='call' x='{:.0f}' y='{:.0f}' width='12' height='12'/>", x - 6, y - 6);
  if (n.kind == "call")
    return fmt::format("<rect class='call' x='{:.0f}' y='{:.0f}' width='10' height='10'/>", x - 5, y - 5);
  if (n.kind == "branch") return fmt::format("<path class='branch' d='M{0:.0f} {1:.0f}l7 7l-7 7l-7 -7z'/>", x, y - 7);
  if (n.kind == "block") return fmt::format("<circle class='block' cx='{:.0f}' cy='{:.0f}' r='4'/>", x, y);
  // Loops: a green triangle pointing up if parallel, a blue one pointing right if sequential.
  return loop != nullptr && loop->parallel
             ? fmt::format("<path class='parallel' d='M{:.0f} {:.0f}l9 16h-18z'/>", x, y - 9)
             : fmt::format("<path class='sequential' d='M{:.0f} {:.0f}l16 9l-16 9z'/>", x - 7, y - 9);
}

std::string details(const Report& report, const LoopVerdict& l) {
  std::string text = fmt::format(
      "<section class='verdict' id='v-{0}' hidden><h2>{0}, line {1}</h2><pre>{2}</pre><p>{3}{4}</p>", escape(l.id),
      l.line, escape(l.source), l.parallel ? "parallel" : "sequential", l.why.empty() ? "" : ": " + escape(l.why));
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += fmt::format("<p>{} ", what);
    for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + escape(names[i]);
    text += "</p>";
  };
  list("reads", l.reads);
  list("writes", l.writes);
  list("private:", l.privates);
  list("reduction into", l.reductions);
  for (const CarriedDependence& d : l.dependences)
    text += fmt::format("<p class='{}'>{} dependence on {}{}, line {} to line {}: {}</p>", d.kind, d.kind,
                        escape(d.variable), d.certain ? "" : " (possibly)", d.from_line, d.to_line, escape(d.example));
  for (const LoopRun& r : report.run)
    if (r.loop == l.id)
      text += fmt::format("<p>in the run: {}entered {:.0f} times, {:.0f} iterations</p>",
                          r.seconds < 0 ? "" : base::human_seconds(r.seconds) + ", ", r.entries, r.turns);
  if (l.axis >= 0) text += fmt::format("<p>on the device, axis {} of the grid</p>", l.axis);
  if (l.placed && l.axis < 0) text += "<p>on the device, inside a work-item</p>";
  if (!l.not_placed.empty()) text += "<p>stays on the host: " + escape(l.not_placed) + "</p>";
  list("applied:", l.transformed);
  for (const std::string& t : l.tried) text += "<p>rejected: " + escape(t) + "</p>";
  for (const KernelReport& k : report.kernels)
    if (!k.loops.empty() && k.loops[0] == l.id) text += "<pre>" + escape(k.text) + "</pre>";
  return text + "</section>";
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) > 0;
}

struct Touch {  // access of a nest to an array
  const LoopVerdict* loop = nullptr;
  double x = 0;
  bool unsure = false;  // runs only if a branch is taken
};
struct Touches {
  Touch writer{}, reader{};  // most recent ones
};

std::string tie(const char* kind, const char* name, const std::string& array, const Touch& from, const Touch& to,
                double y) {
  if (from.loop == nullptr) return "";
  return fmt::format(
      "<path class='tie {}{}' d='M{:.0f} {:.0f}Q{:.0f} {:.0f} {:.0f} {:.0f}'><title>{} on {}: {} to {}</title></path>",
      kind, from.unsure || to.unsure ? " unsure" : "", from.x, y - 5, (from.x + to.x) / 2, y - 18, to.x, y - 5, name,
      escape(array), escape(from.loop->id), escape(to.loop->id));
}

// Arcs from earlier nests that access the array to this one.
std::string ties(const std::string& array, const Touch& now, double y, Touches& last) {
  std::string text;
  const Touches before = last;
  if (has(now.loop->reads, array)) {
    text += before.writer.loop != nullptr ? tie("flow", "flow", array, before.writer, now, y)
                                          : tie("shared", "common read", array, before.reader, now, y);
    last.reader = now;
  }
  if (has(now.loop->writes, array)) {
    text += before.reader.loop != nullptr ? tie("anti", "anti", array, before.reader, now, y)
                                          : tie("output", "output", array, before.writer, now, y);
    last = {now, {}};
  }
  return text;
}

std::string node_text(const SpineNode& n, const LoopVerdict* loop, double x, double y) {
  std::string text =
      fmt::format("<g class='node{}' {}data-line='{}'><title>{}</title>{}", loop != nullptr ? " loop" : "",
                  loop != nullptr ? fmt::format("data-loop='{}' tabindex='0' ", escape(n.id)) : "", n.line,
                  escape(fmt::format("line {}: {}", n.line, n.source)), mark(n, loop, x, y));
  if (n.kind != "block" && n.kind != "function")
    text += fmt::format("<text x='{:.0f}' y='{:.0f}'>{}</text>", x - 8, y + 24,
                        escape(n.id.substr(n.id.find('.') == std::string::npos ? 0 : n.id.find('.') + 1)));
  return text + "</g>";
}

std::string row_text(const std::string& name, double y, double width) {
  return fmt::format(
      "<text class='array' x='8' y='{0:.0f}'>{1}</text><line class='array' x1='{2:.0f}' y1='{3:.0f}' x2='{4:.0f}' "
      "y2='{3:.0f}'/>",
      y + 4, escape(name), kLeft - 10, y, width - kStep);
}

std::string marks(bool reads, bool writes, double x, double y) {
  return (reads ? fmt::format("<circle class='reads' cx='{:.0f}' cy='{:.0f}' r='5'/>", x, y) : "") +
         (writes ? fmt::format("<circle class='writes' cx='{:.0f}' cy='{:.0f}' r='3'/>", x, y) : "");
}

// The subscripts of the array that the loop's iterator moves along, beside its marks.
std::string axes_text(const LoopVerdict& loop, const std::string& array, double x, double y) {
  std::string axes;
  for (const std::string& s : loop.scans)
    if (s.substr(0, s.rfind(' ')) == array) axes += (axes.empty() ? "" : ",") + s.substr(s.rfind(' ') + 1);
  if (axes.empty()) return "";
  return fmt::format("<text class='axis' x='{:.0f}' y='{:.0f}'>{}<title>{}: subscript {} of {}</title></text>", x + 7,
                     y + 9, axes, escape(loop.id), axes, escape(array));
}

// Names of the arrays and of the private and reduced numbers: one row each.
std::pair<std::vector<std::string>, std::vector<std::string>> rows_of(const Report& report) {
  std::set<std::string> touched, numbers;
  for (const LoopVerdict& l : report.loops) {
    touched.insert(l.reads.begin(), l.reads.end());
    touched.insert(l.writes.begin(), l.writes.end());
  }
  for (const LoopVerdict& l : report.loops)
    for (const auto* list : {&l.privates, &l.reductions})
      for (const std::string& name : *list)
        if (touched.count(name) == 0) numbers.insert(name);
  return {{touched.begin(), touched.end()}, {numbers.begin(), numbers.end()}};
}

// `compact`: functions, calls and loops only.
std::string spine_text(const Report& report, bool compact) {
  const auto [arrays, scalars] = rows_of(report);
  std::vector<const SpineNode*> nodes;
  std::vector<bool> decided;  // inside a branch
  int branch = INT_MAX, deepest = 1;
  for (const SpineNode& n : report.spine) {
    if (n.depth <= branch) branch = INT_MAX;
    deepest = std::max(deepest, n.depth);
    if (!compact || (n.kind != "block" && n.kind != "branch")) {
      nodes.push_back(&n);
      decided.push_back(branch < INT_MAX);
    }
    if (n.kind == "branch") branch = std::min(branch, n.depth);
  }
  const double top = 70 + kRow * static_cast<double>(scalars.size()), bottom = top + kLevel * (deepest + 1),
               width = kLeft + kStep * (static_cast<double>(nodes.size()) + 2),
               height = bottom + kRow * static_cast<double>(arrays.size()) + 40;
  const auto scalar_row = [&](std::size_t k) { return 58 + kRow * static_cast<double>(k); };
  const auto array_row = [&](std::size_t k) { return bottom + kRow * static_cast<double>(k) + 12; };
  std::string drawing, trace;
  std::map<std::string, Touches> last;
  double x = kLeft, last_x = 0, last_y = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i, x += kStep) {
    const SpineNode& n = *nodes[i];
    const double y = top + kLevel * n.depth;
    const LoopVerdict* loop = n.kind == "loop" ? find(report, n.id) : nullptr;
    if (n.kind == "function") {  // bar over the nodes of the function
      std::size_t end = i + 1;
      while (end < nodes.size() && nodes[end]->kind != "function") ++end;
      drawing += fmt::format(
          "<rect class='bar' x='{:.0f}' y='24' width='{:.0f}' height='16' rx='3'/><text class='bar' x='{:.0f}' "
          "y='36'>{}</text>",
          x - 8, kStep * static_cast<double>(end - i) - 8, x, escape(n.id));
      last.clear();
    } else if (i > 0) {
      const LoopVerdict* before = nodes[i - 1]->kind == "loop" ? find(report, nodes[i - 1]->id) : nullptr;
      const bool twice = before != nullptr && before->kind != "for";  // drawn double: while and do loops
      for (const double aside : {0.0, 3.0})
        if (aside == 0 || twice)
          trace +=
              fmt::format("<path class='{}' d='M{:.0f} {:.0f}H{:.0f}V{:.0f}H{:.0f}'/>", decided[i] ? "arm" : "trace",
                          last_x, last_y + aside, (last_x + x) / 2 + aside, y + aside, x);
    }
    last_x = x;
    last_y = y;
    if (loop != nullptr) {
      if (loop->placed) {
        std::size_t end = i + 1;
        while (end < nodes.size() && nodes[end]->depth > n.depth) ++end;
        drawing = fmt::format("<rect class='placed' x='{:.0f}' y='{:.0f}' width='{:.0f}' height='{:.0f}' rx='6'/>",
                              x - 14, y - 16, kStep * static_cast<double>(end - i), bottom - y) +
                  drawing;
      }
      for (std::size_t k = 0; k < scalars.size(); ++k)
        drawing += marks(has(loop->privates, scalars[k]), has(loop->reductions, scalars[k]), x, scalar_row(k));
      for (std::size_t k = 0; k < arrays.size(); ++k) {
        drawing += marks(has(loop->reads, arrays[k]), has(loop->writes, arrays[k]), x, array_row(k)) +
                   axes_text(*loop, arrays[k], x, array_row(k));
        if (loop->parent.empty()) drawing += ties(arrays[k], {loop, x, decided[i]}, array_row(k), last[arrays[k]]);
      }
      if (!loop->dependences.empty()) {
        const CarriedDependence& d = loop->dependences[0];
        drawing += fmt::format("<path class='cycle {}{}' d='M{:.0f} {:.0f}a10 10 0 1 1 12 0'/>", d.kind,
                               d.certain ? "" : " unsure", x - 6, y - 12);
      }
    }
    drawing += node_text(n, loop, x, y);
  }
  for (std::size_t k = 0; k < scalars.size(); ++k) drawing += row_text(scalars[k], scalar_row(k), width);
  for (std::size_t k = 0; k < arrays.size(); ++k) drawing += row_text(arrays[k], array_row(k), width);
  return fmt::format("<svg width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\" aria-label=\"the spine of {}\">{}{}</svg>",
                     width, height, escape(report.function), trace, drawing);
}

}  // namespace

std::string to_page(const Report& report) {
  std::string verdicts;
  for (const LoopVerdict& l : report.loops) verdicts += details(report, l);
  return fmt::format(R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}() of {1}</title><style>
body {{ font: 14px system-ui, sans-serif; margin: 1.5em; color-scheme: light dark; }}
figure {{ overflow-x: auto; margin: 0; }}
text {{ font: 11px system-ui, sans-serif; fill: currentColor; }}
.trace, .arm {{ fill: none; stroke: currentColor; stroke-width: 1.5; }}
.arm {{ stroke-dasharray: 3 3; }}
.parallel {{ fill: #2a9d4a; }} .sequential {{ fill: #2b6cb0; }}
.block, .branch, .call {{ fill: none; stroke: currentColor; }}
.bar {{ fill: #8884; }} text.bar {{ fill: currentColor; font-weight: 600; }} text.axis {{ font-size: 8px; }}
.placed {{ fill: #2a9d4a22; stroke: #2a9d4a66; }}
.reads {{ fill: none; stroke: currentColor; }} .writes {{ fill: #c0392b; }} line.array {{ stroke: #8884; }}
.cycle, .tie {{ fill: none; stroke-width: 2; }} .tie.shared {{ stroke: #8888; }} .flow {{ stroke: #c0392b; color: #c0392b; }} .anti {{ stroke: #e67e22; color: #b35c00; }} .output {{ stroke: currentColor; }}
p.flow, p.anti, p.output {{ stroke: none; }} .unsure {{ stroke-dasharray: 2 2; }}
.loop {{ cursor: pointer; }} .loop:hover, .loop:focus {{ outline: 1px dotted; }}
td, th {{ text-align: right; padding: 0 1em 0 0; }} .segment text {{ fill: white; }}
pre {{ overflow-x: auto; background: #8881; padding: .6em; }}
</style></head><body>
<h1>{0}() of {1}</h1>
<p>{2} loops, {3} kernels. Green: parallel loops; blue: sequential loops. Shaded: on the device. Dotted: depends on a branch. Double: while and do loops.
Above: private scalars (rings) and reductions (dots). Below: arrays, read (rings) and written (dots), with the subscripts that the loop moves along (0: the first); arcs between nests are flow (red), anti (orange)
and output (black) dependences, and common reads (grey). Click a loop for its verdict.</p>
<p><label><input type="checkbox" id="compact"> compact: functions, calls and loops only</label></p>
<figure>{4}</figure><figure hidden>{5}</figure>
{7}{6}
<script>
document.getElementById("compact").addEventListener("change", () => {{
  for (const figure of document.querySelectorAll("figure")) if (figure.querySelector("[aria-label^='the spine']")) figure.hidden = !figure.hidden;
}});
for (const node of document.querySelectorAll(".loop")) {{
  const show = () => {{
    for (const v of document.querySelectorAll(".verdict")) v.hidden = v.id !== "v-" + node.dataset.loop;
  }};
  node.addEventListener("click", show);
  node.addEventListener("keydown", (e) => {{ if (e.key === "Enter") show(); }});
}}
</script></body></html>
)",
                     escape(report.function), escape(report.file), report.loops.size(), report.kernels.size(),
                     spine_text(report, false), spine_text(report, true), verdicts, ring_chart(report));
}

}  // namespace ridge::place
