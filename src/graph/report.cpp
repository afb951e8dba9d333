// The schedule of a finished graph as a table and as a Gantt chart.
#include <ridge/graph.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"

namespace ridge::graph {
namespace {

constexpr std::size_t kDrawn = 200;  // blocks per worker: more are narrower than a pixel
constexpr double kLabels = 190, kRow = 26, kWidth = 900;

// The end of the part that is drawn.
double drawn_seconds(const Report& report) {
  double end = report.seconds;
  for (const WorkerReport& worker : report.workers) {
    if (worker.spans.size() > kDrawn) end = std::min(end, worker.spans[kDrawn - 1].end);
  }
  return std::max(end, 1e-9);
}

}  // namespace

const WorkerReport& Report::slowest() const {
  return *std::max_element(workers.begin(), workers.end(),
                           [](const WorkerReport& a, const WorkerReport& b) { return a.busy < b.busy; });
}

std::string Report::text() const {
  std::vector<std::vector<std::string>> rows{
      {"stage", "device", "blocks", "busy", "share", "per block", "no input", "no room"}};
  std::string notes;
  for (const WorkerReport& worker : workers) {
    rows.push_back({worker.stage, worker.device, std::to_string(worker.blocks), base::human_seconds(worker.busy),
                    fmt::format("{:.2f}", worker.busy / std::max(seconds, 1e-9)),
                    base::human_seconds(worker.busy / static_cast<double>(std::max<std::uint64_t>(1, worker.blocks))),
                    base::human_seconds(worker.no_input), base::human_seconds(worker.no_room)});
    if (!worker.note.empty()) notes += fmt::format("{} on {}: {}\n", worker.stage, worker.device, worker.note);
  }
  std::string out = base::table(rows);
  if (!out.empty() && out.back() != '\n') out += '\n';
  const WorkerReport& limit = slowest();
  out +=
      fmt::format("{}{} in total{}; {} on {} is the busiest, {:.2f} of the time\n", notes, base::human_seconds(seconds),
                  cancelled ? ", cancelled" : "", limit.stage, limit.device, limit.busy / std::max(seconds, 1e-9));
  return out;
}

std::string Report::svg(bool standalone) const {
  const double end = drawn_seconds(*this);
  const double bottom = 34 + kRow * static_cast<double>(workers.size());
  const base::svg::Axis axis{.low = 0, .high = end * 1e3, .from = kLabels, .to = kWidth - 20};
  std::string out = base::svg::open(kWidth, bottom + 40, "Schedule of the graph", standalone);
  out += fmt::format("<text class=\"title\" x=\"10\" y=\"20\">Schedule: {}{} of {}</text>\n",
                     end < seconds ? "the first " : "", base::human_seconds(end), base::human_seconds(seconds));
  for (const double tick : axis.ticks(8)) {
    out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"30\" y2=\"{1:.1f}\"/>", axis.at(tick),
                       bottom);
    out += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                       axis.at(tick), bottom + 16, axis.text(tick));
  }
  out += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">ms</text>\n", kWidth - 20,
                     bottom + 32);
  double y = 34;
  for (std::size_t i = 0; i < workers.size(); ++i, y += kRow) {
    const WorkerReport& worker = workers[i];
    const std::string label = fmt::format("{}, {}", worker.stage, worker.device);
    out += fmt::format("<text class=\"name\" x=\"10\" y=\"{:.1f}\">{}</text>\n", y + 15,
                       base::svg::escape(base::svg::shortened(label, kLabels - 20, 12)));
    for (std::size_t k = 0; k < std::min(kDrawn, worker.spans.size()); ++k) {
      const Span& span = worker.spans[k];
      if (span.begin > end) break;
      const double from = axis.at(std::max(0.0, span.begin) * 1e3), to = axis.at(std::min(span.end, end) * 1e3);
      out += fmt::format(
          "<rect class=\"f{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"18\"><title>{} block {}: {} to "
          "{}</title></rect>\n",
          k % 2 == 0 ? 0 : 1, from, y, std::max(0.3, to - from), base::svg::escape(worker.stage), k,
          base::human_seconds(span.begin), base::human_seconds(span.end));
    }
  }
  return out + "</svg>\n";
}

}  // namespace ridge::graph
