// Section of a benchmark on the page: a bar chart per problem, the table of all rows, the summary against other
// libraries.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "report/charts.hpp"
#include "report/page_parts.hpp"

namespace ridge::report {
namespace {

using base::svg::escape;

struct Measure {
  const char* field;
  const char* unit;
  double BenchRow::*value;
};
constexpr Measure kArithmetic{"gflops", "GFLOP/s", &BenchRow::gflops};
constexpr Measure kTraffic{"gbytes_per_s", "GB/s", &BenchRow::gbytes_per_s};

// One chart per problem and device with its variants, fastest first.
std::string bar_charts(const Bench& bench, const std::string& key) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const BenchRow& row : bench.rows) {
    const std::pair group{row.problem, row.device};
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  std::string out;
  for (const auto& [problem, device] : groups) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < bench.rows.size(); ++i) {
      if (bench.rows[i].problem == problem && bench.rows[i].device == device) members.push_back(i);
    }
    const bool computes =
        std::any_of(members.begin(), members.end(), [&](std::size_t i) { return bench.rows[i].gflops > 0; });
    const Measure measure = computes ? kArithmetic : kTraffic;
    std::stable_sort(members.begin(), members.end(), [&](std::size_t a, std::size_t b) {
      return bench.rows[a].*measure.value > bench.rows[b].*measure.value;
    });
    BarChart chart{problem + " on " + device, measure.unit, {}};
    for (const std::size_t i : members) {
      const BenchRow& row = bench.rows[i];
      if (!std::isfinite(row.*measure.value)) continue;
      const std::string at = fmt::format("{}.rows.{}", key, i);
      if (row.roof_share > 0 && chart.roof == 0) chart.roof = row.*measure.value / row.roof_share;
      chart.bars.push_back(
          {row.variant, row.*measure.value, at + "." + measure.field, row.roof_share, at + ".roof_share", row.chosen});
    }
    out += figure(svg_of(chart, false), svg_of(chart, false, kNarrowWidth));
  }
  return out;
}

std::string rows_table(const Bench& bench, const std::string& key) {
  std::set<std::string> peers;
  for (const BenchRow& row : bench.rows) {
    for (const auto& [peer, seconds] : row.peers) peers.insert(peer);
  }
  std::string out =
      "<div class=\"scroll\"><table><tr><th>Problem</th><th>device</th><th>variant</th><th class=\"n\">time</th>"
      "<th class=\"n\">GFLOP/s</th><th class=\"n\">GB/s</th><th class=\"n\">of roof</th>";
  for (const std::string& peer : peers) out += fmt::format("<th class=\"n\">{}</th>", escape(peer));
  out += "</tr>\n";
  for (std::size_t i = 0; i < bench.rows.size(); ++i) {
    const BenchRow& row = bench.rows[i];
    const std::string at = fmt::format("{}.rows.{}", key, i);
    out += fmt::format("<tr{}><td>{}</td><td>{}</td><td>{}</td>", row.chosen ? " class=\"chosen\"" : "",
                       escape(row.problem), escape(row.device), escape(row.variant));
    out += cell(at + ".seconds", row.seconds, base::human_seconds(row.seconds));
    out += cell(at + ".gflops", row.gflops, digits(row.gflops));
    out += cell(at + ".gbytes_per_s", row.gbytes_per_s, digits(row.gbytes_per_s));
    out += cell(at + ".roof_share", row.roof_share, percent(row.roof_share));
    for (const std::string& peer : peers) {
      const auto found = row.peers.find(peer);
      const double seconds = found == row.peers.end() ? 0 : found->second;
      out += cell(at + ".peers." + peer, seconds, base::human_seconds(seconds));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string summary_table(const Bench& bench, const std::string& key) {
  const auto summaries = summarize(bench.rows);
  std::string out;
  if (!summaries.empty()) {
    out +=
        "<h3>Against other libraries</h3>\n<div class=\"scroll\"><table><tr><th>Library</th>"
        "<th class=\"n\">speedup, geometric mean</th><th class=\"n\">worst</th><th>worst at</th></tr>\n";
    for (const auto& [peer, numbers] : summaries) {
      const std::string at = fmt::format("{}.summary.{}", key, peer);
      out += fmt::format(
          "<tr><td>{}</td>{}{}<td>{}</td></tr>\n", escape(peer),
          cell(at + ".geomean_speedup", numbers.geomean_speedup, fmt::format("{:.2f}×", numbers.geomean_speedup)),
          cell(at + ".worst_speedup", numbers.worst_speedup, fmt::format("{:.2f}×", numbers.worst_speedup)),
          escape(numbers.worst_problem));
    }
    out += "</table></div>\n";
  }
  for (const std::string& missing : bench.missing_peers)
    out += fmt::format("<p class=\"meta\">Not compared with {}</p>\n", escape(missing));
  return out;
}

}  // namespace

std::string bench_card(const Bench& bench, std::size_t index, const std::vector<std::string>& warnings) {
  const std::string key = fmt::format("bench.{}", index);
  std::string out = fmt::format("<section class=\"card\" id=\"bench-{}\">\n<h2>{}</h2>\n", index, escape(bench.title));
  if (!bench.note.empty()) out += fmt::format("<div class=\"meta\">{}</div>\n", escape(bench.note));
  for (const std::string& warning : warnings) out += fmt::format("<p class=\"meta\">{}</p>\n", escape(warning));
  const bool chosen = std::any_of(bench.rows.begin(), bench.rows.end(), [](const BenchRow& row) { return row.chosen; });
  if (chosen) out += "<p class=\"meta\"><span class=\"key\"></span>chosen by the planner</p>\n";
  for (const Illustration& one : bench.illustrations) {
    out += fmt::format(
        "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption "
        "class=\"meta\">{0}</figcaption></figure>\n",
        escape(one.caption), one.png_base64);
  }
  const std::vector<HeatMap> maps = heat_maps(bench, key);
  for (const HeatMap& map : maps) out += "<div class=\"scroll\">" + svg_of(map, false) + "</div>\n";
  if (maps.empty()) out += bar_charts(bench, key);
  out += "<h3>All measurements</h3>\n" + rows_table(bench, key) + summary_table(bench, key);
  return out + "</section>\n";
}

}  // namespace ridge::report
