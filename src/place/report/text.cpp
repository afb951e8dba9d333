// Report as text for a terminal, and the explanation of a single loop.
#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/place.hpp>

#include "base/text.hpp"
#include "place/report/report.hpp"

namespace ridge::place {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

int depth_of(const Report& report, const LoopVerdict& loop) {
  int depth = 0;
  std::string parent = loop.parent;
  for (bool found = true; found && !parent.empty() && depth < 64;) {
    found = false;
    for (const LoopVerdict& l : report.loops)
      if (l.id == parent) {
        parent = l.parent;
        found = true;
        ++depth;
        break;
      }
  }
  return depth;
}

}  // namespace

std::string to_text(const Report& report) {
  std::string text;
  for (const std::string& error : report.errors) text += error + "\n";
  if (!report.errors.empty()) return text;
  std::string function;
  const bool threads = report.emit == "openmp";
  for (const LoopVerdict& l : report.loops) {
    if (l.function != function) text += fmt::format("{}()\n", l.function);
    function = l.function;
    const std::string pad(static_cast<std::size_t>(2 + 2 * depth_of(report, l)), ' ');
    std::string verdict = l.parallel ? "parallel" : "sequential";
    if (!l.reductions.empty() && l.parallel) verdict += ", reduction into " + listed(l.reductions);
    if (!l.privates.empty()) verdict += ", private " + listed(l.privates);
    text += fmt::format("{}{} line {}: {}\n{}    {}", pad, l.id, l.line, l.source, pad, verdict);
    if (!l.why.empty()) text += ": " + l.why;
    if (!l.claim.empty()) text += " by your claim, which the comparison checks (" + l.claim + ")";
    if (l.axis >= 0)
      text += "; " + (l.transformed.empty() ? "" : listed(l.transformed) + ", ") +
              (threads ? "on threads" : fmt::format("on the device, axis {} of the grid", l.axis));
    else if (l.placed)
      text += threads ? "; inside a thread" : "; inside a work-item";
    else if (!l.not_placed.empty())
      text += (threads     ? "; not placed: "
               : l.threads ? "; on threads of the host: "
                           : "; stays on the host: ") +
              l.not_placed;
    text += "\n";
  }
  if (report.loops.empty()) text += fmt::format("{}() has no loops\n", report.function);
  for (const Diagnostic& d : report.diagnostics) text += fmt::format("{}:{}: {}\n", d.file, d.line, d.text);
  if (report.run_seconds > 0) {
    text += fmt::format("the run took {}:\n", base::human_seconds(report.run_seconds));
    for (const LoopRun& r : report.run) {
      int depth = 1;
      for (int at = r.parent; at >= 0; at = report.run[static_cast<std::size_t>(at)].parent) ++depth;
      const std::string time = r.seconds < 0 ? "not timed"
                                             : fmt::format("{} ({:.1f} %)", base::human_seconds(r.seconds),
                                                           100 * r.seconds / report.run_seconds),
                        pad(2 * static_cast<std::size_t>(depth), ' ');
      text += r.loop.empty() ? fmt::format("{}{}() {}{}, called {:.0f} times\n", pad, r.function, time,
                                           r.own < 0 ? "" : ", own " + base::human_seconds(r.own), r.entries)
                             : fmt::format("{}{} {}, entered {:.0f} times, {:.0f} iterations\n", pad, r.loop, time,
                                           r.entries, r.turns);
    }
    for (const FunctionRun& f : report.functions)
      if (f.calls > 0 && f.seconds < 0)
        text += fmt::format("  {}() called {:.0f} times, not timed: its time is included in its callers'\n", f.function,
                            f.calls);
    for (const BranchRun& b : report.branches)
      text += fmt::format("  {}: taken {:.0f} times, not taken {:.0f}\n", b.branch, b.held, b.failed);
  }
  for (const std::string& n : report.notes) text += "note: " + n + "\n";
  for (const std::string& a : report.assumptions)
    text += std::string(threads ? "tested before the threads start: " : "tested before the kernel runs: ") + a + "\n";
  if (report.varies)
    text += "sums are added in the order in which threads finish: results vary from run to run in their last digits\n";
  return text;
}

std::string to_json(const Report& report) {
  return report_to_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string explain(const Report& report, const std::string& loop) {
  std::string known;
  for (const LoopVerdict& l : report.loops) {
    known += (known.empty() ? "" : ", ") + l.id;
    if (l.id != loop) continue;
    std::string text = fmt::format("{} ({}(), line {}): {}\n", l.id, l.function, l.line, l.source);
    text += fmt::format("  {}{}\n", l.parallel ? "parallel" : "sequential", l.why.empty() ? "" : ": " + l.why);
    if (!l.claim.empty()) text += "  by your claim, which the comparison checks: " + l.claim + "\n";
    if (!l.reads.empty()) text += "  reads " + listed(l.reads) + "\n";
    if (!l.writes.empty()) text += "  writes " + listed(l.writes) + "\n";
    if (!l.privates.empty()) text += "  private: " + listed(l.privates) + "\n";
    if (!l.reductions.empty()) text += "  reduction into " + listed(l.reductions) + "\n";
    for (const CarriedDependence& d : l.dependences)
      text += fmt::format("  {} dependence on {}{}: line {} {} to line {} {}\n    {}\n", d.kind, d.variable,
                          d.certain ? "" : " (possibly)", d.from_line, d.from, d.to_line, d.to, d.example);
    const bool threads = report.emit == "openmp";
    if (l.axis >= 0) text += threads ? "  on threads\n" : fmt::format("  on the device: axis {} of the grid\n", l.axis);
    if (l.placed && l.axis < 0) text += threads ? "  inside a thread\n" : "  on the device: inside a work-item\n";
    if (!l.not_placed.empty())
      text += (threads     ? "  not placed: "
               : l.threads ? "  on threads of the host: "
                           : "  stays on the host: ") +
              l.not_placed + "\n";
    for (const LoopRun& r : report.run)
      if (r.loop == l.id)
        text += fmt::format("  in the run: {}entered {:.0f} times, {:.0f} iterations\n",
                            r.seconds < 0 ? "" : base::human_seconds(r.seconds) + ", ", r.entries, r.turns);
    for (const std::string& t : l.transformed) text += "  applied: " + t + "\n";
    for (const std::string& t : l.tried) text += "  rejected: " + t + "\n";
    for (const KernelReport& k : report.kernels)
      for (const std::string& id : k.loops)
        if (id == l.id) text += "\n" + k.text;
    return text;
  }
  throw Error(
      ErrorKind::invalid_argument,
      "there is no loop " + loop + (known.empty() ? ": the function has no loops" : "; the loops are " + known));
}

}  // namespace ridge::place
