// SVG of the ring chart, and the tables of loops, functions and branches below it.
#include "place/report/report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"

namespace ridge::place {
namespace {

using base::svg::escape;

constexpr double kTwoPi = 6.283185307179586, kHole = 46, kWidth = 22, kCenter = 200;
const char* const kColours[] = {"#2b6cb0", "#2a9d4a", "#b7791f", "#9b2c2c", "#6b46c1", "#2c7a7b"};

std::string arc(double from, double to, double inside, double outside) {
  to = std::min(to, from + kTwoPi * 0.99999);
  const auto point = [](double angle, double radius) {
    return fmt::format("{:.2f} {:.2f}", kCenter + radius * std::sin(angle), kCenter - radius * std::cos(angle));
  };
  const int large = to - from > kTwoPi / 2 ? 1 : 0;
  return fmt::format("M{} A{} {} 0 {} 1 {} L{} A{} {} 0 {} 0 {}Z", point(from, outside), outside, outside, large,
                     point(to, outside), point(to, inside), inside, inside, large, point(from, inside));
}

class Drawing {
 public:
  explicit Drawing(const Report& report) : report_(report) {}

  std::string run() {
    draw(-1, 0, kTwoPi, 0);
    return text_;
  }

 private:
  const Report& report_;
  std::string text_{};

  void draw(int parent, double from, double to, int level) {
    const double whole = parent < 0 ? report_.run_seconds : report_.run[static_cast<std::size_t>(parent)].seconds;
    if (whole <= 0 || level > 6) return;
    double at = from;
    for (std::size_t k = 0; k < report_.run.size(); ++k) {
      const LoopRun& r = report_.run[k];
      if (r.parent != parent || r.seconds <= 0) continue;
      const double width = std::min((to - from) * r.seconds / whole, to - at);
      if (width < 0.004) continue;
      const double inside = kHole + kWidth * level;
      const bool loop = !r.loop.empty();
      const std::string name = loop ? r.loop : r.function + "()",
                        share = fmt::format("{} of {} ({:.1f} %)", base::human_seconds(r.seconds),
                                            base::human_seconds(report_.run_seconds),
                                            100 * r.seconds / report_.run_seconds);
      int line = 0;
      for (const LoopVerdict& l : report_.loops)
        if (loop && l.id == r.loop) line = l.line;
      text_ += loop ? fmt::format(
                          "<g class='loop segment' data-loop='{0}' tabindex='0'><title>{0}, line {1}: {2}, entered "
                          "{3:.0f} times, {4:.0f} iterations</title>",
                          escape(r.loop), line, share, r.entries, r.turns)
                    : fmt::format("<g class='function segment'><title>{}: {}, own {}, called {:.0f} times</title>",
                                  escape(name), share, base::human_seconds(std::max(r.own, 0.0)), r.entries);
      text_ +=
          fmt::format("<path fill='{}' stroke='Canvas' d='{}'/>", loop ? kColours[k % std::size(kColours)] : "#718096",
                      arc(at, at + width, inside, inside + kWidth - 2));
      if (width > 0.25) {
        const double middle = at + width / 2, radius = inside + kWidth / 2;
        text_ +=
            fmt::format("<text text-anchor='middle' x='{:.1f}' y='{:.1f}'>{}</text>",
                        kCenter + radius * std::sin(middle), kCenter - radius * std::cos(middle) + 4, escape(name));
      }
      text_ += "</g>";
      draw(static_cast<int>(k), at, at + width, level + 1);
      at += width;
    }
  }
};

}  // namespace

std::string ring_chart(const Report& report) {
  if (report.run.empty() || report.run_seconds <= 0) return "";
  std::string rows;
  for (const LoopRun& r : report.run) {
    if (r.loop.empty()) continue;
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{:.0f}</td><td>{:.0f}</td></tr>", escape(r.loop),
                        r.seconds < 0 ? "counted only" : base::human_seconds(r.seconds), r.entries, r.turns);
  }
  std::string functions;
  const auto took = [](double seconds) { return seconds < 0 ? "counted only" : base::human_seconds(seconds); };
  for (const FunctionRun& f : report.functions)
    if (f.calls > 0)
      functions += fmt::format("<tr><td>{}()</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0f}</td></tr>",
                               escape(f.function), f.line, took(f.seconds), f.own < 0 ? "" : took(f.own), f.calls);
  if (!functions.empty())
    functions =
        "<table class='functions'><tr><th>function</th><th>line</th><th>time</th><th>own</th><th>calls</th></tr>" +
        functions + "</table>\n";
  std::string branches;
  for (const BranchRun& b : report.branches)
    branches += fmt::format("<tr><td>{}</td><td>{:.0f}</td><td>{:.0f}</td></tr>", escape(b.branch), b.held, b.failed);
  if (!branches.empty())
    branches = "<table><tr><th>branch</th><th>taken</th><th>not taken</th></tr>" + branches + "</table>\n";
  return fmt::format(
      "<h2>Where the time goes: {}</h2><figure><svg width='400' height='400' role='img' aria-label='time of each "
      "loop and function'>{}<text text-anchor='middle' x='200' "
      "y='204'>{}</text></svg></figure>\n<table><tr><th>loop</th><th>time</th>"
      "<th>entered</th><th>iterations</th></tr>{}</table>\n{}{}",
      base::human_seconds(report.run_seconds), Drawing(report).run(), base::human_seconds(report.run_seconds), rows,
      functions, branches);
}

}  // namespace ridge::place
