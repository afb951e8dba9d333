// Overview table of the report: builds its lines, and prints them as HTML and as text.
#include "report/overview.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "machine/roofline/roofline.hpp"
#include "report/page_parts.hpp"

namespace ridge::report {
namespace {

using base::svg::escape;

// The rate that represents a workload, with the JSON field it comes from.
struct Rate {
  const char* field;
  const char* unit;
  double value;
};
Rate rate_of(const BenchRow& row) {
  if (const auto cells = row.more.find("gcells_per_s"); cells != row.more.end()) {
    return {"gcells_per_s", "Gcell/s", cells->second};
  }
  if (const auto pairs = row.more.find("pairs_per_s"); pairs != row.more.end()) {
    return {"pairs_per_s", "pairs/s", pairs->second};
  }
  if (row.gflops > 0) return {"gflops", "GFLOP/s", row.gflops};
  return {"gbytes_per_s", "GB/s", row.gbytes_per_s};
}

OverviewLine ceiling(const Report& report, const char* name, double machine::Ceilings::*value, const char* field,
                     const char* unit) {
  OverviewLine line{name, "ceiling", {}};
  for (const DeviceSection& device : report.devices) {
    OverviewCell cell;
    cell.value = device.profile.ceilings.*value;
    cell.there = cell.value > 0 && std::isfinite(cell.value);
    cell.key = "device." + member_name(device.profile.id) + "." + field;
    cell.unit = unit;
    line.cells.push_back(cell);
  }
  return line;
}

OverviewLine memory_ceiling(const Report& report) {
  OverviewLine line{"Memory, copy", "ceiling", {}};
  for (const DeviceSection& device : report.devices) {
    const machine::Roofline roofline = machine::roofline(device.profile);
    OverviewCell cell;
    cell.value = machine::main_memory(roofline);
    cell.there = cell.value > 0;
    if (cell.there) {
      cell.key = fmt::format("device.{}.roofline.roofs.{}.bytes_per_second", member_name(device.profile.id),
                             roofline.roofs.size() - 1);
    }
    cell.unit = "B/s";
    line.cells.push_back(cell);
  }
  return line;
}

OverviewCell cell_of(const DeviceSection& device, const BenchRow& row, const std::string& at) {
  const Rate rate = rate_of(row);
  const machine::Point point{row.problem, row.gflops * 1e9 * row.seconds, row.gbytes_per_s * 1e9 * row.seconds,
                             row.seconds};
  return {.there = rate.value > 0 && std::isfinite(rate.value),
          .key = at + "." + rate.field,
          .value = rate.value,
          .unit = rate.unit,
          .share_key = at + ".roof_share",
          .share = std::isfinite(row.roof_share) ? row.roof_share : 0,
          .binds = machine::plot_point(machine::roofline(device.profile), point).roof,
          .problem = row.problem,
          .variant = row.variant};
}

// Places the n-th problem of every device in one line, because devices may be measured at different sizes.
void add_bench_lines(const Report& report, std::size_t index, std::vector<OverviewLine>& lines) {
  const Bench& bench = report.benches[index];
  std::vector<std::vector<OverviewCell>> columns(report.devices.size());
  std::size_t most = 0;
  for (const std::size_t i : best_rows(bench.rows)) {
    for (std::size_t d = 0; d < report.devices.size(); ++d) {
      if (report.devices[d].profile.id != bench.rows[i].device) continue;
      columns[d].push_back(cell_of(report.devices[d], bench.rows[i], fmt::format("bench.{}.rows.{}", index, i)));
      most = std::max(most, columns[d].size());
    }
  }
  for (std::size_t n = 0; n < most; ++n) {
    OverviewLine line{bench.title, "", {}};
    for (const auto& column : columns) {
      line.cells.push_back(n < column.size() ? column[n] : OverviewCell{});
      if (line.detail.empty() && line.cells.back().there) line.detail = line.cells.back().problem;
    }
    if (!line.detail.empty()) lines.push_back(line);
  }
}

std::string rate_text(const OverviewCell& cell) {
  // Rates of a benchmark are already in units with a prefix (GFLOP/s, GB/s).
  if (cell.unit[0] == 'G') return digits(cell.value) + " " + cell.unit;
  return base::human_rate(cell.value, cell.unit);
}

// data-device is shown on a phone, where the cells of a line are placed below each other.
std::string html_of(const OverviewCell& cell, const std::string& detail, const std::string& device) {
  if (!cell.there) return "<td class=\"none\">–</td>";
  std::string out = fmt::format("<td data-device=\"{}\"><div class=\"rate\" title=\"{}\">{}</div>", escape(device),
                                escape(cell.variant), marked(cell.key, cell.value, rate_text(cell)));
  if (cell.share > 0) {
    out += fmt::format(
        "<div class=\"bar\"><span style=\"width:{:.1f}%\"></span></div><div class=\"meta\">{} of the roof{}</div>",
        100 * std::min(cell.share, 1.0), marked(cell.share_key, cell.share, percent(cell.share)),
        cell.binds.empty() ? "" : ": " + escape(cell.binds));
  }
  if (!cell.problem.empty() && cell.problem != detail) {
    out += fmt::format("<div class=\"meta\">{}</div>", escape(cell.problem));
  }
  return out + "</td>";
}

std::string text_of(const OverviewCell& cell) {
  if (!cell.there) return "-";
  std::string out = rate_text(cell);
  if (cell.share > 0) {
    const auto full = static_cast<std::size_t>(std::lround(10 * std::min(cell.share, 1.0)));
    out += fmt::format(" [{}{}] {:.0f} %", std::string(full, '#'), std::string(10 - full, ' '), 100 * cell.share);
    if (!cell.binds.empty()) out += " " + cell.binds;
  }
  return out;
}

}  // namespace

std::vector<OverviewLine> overview(const Report& report) {
  std::vector<OverviewLine> lines{
      ceiling(report, "Peak, float", &machine::Ceilings::flops_float, "flops_float", "FLOP/s"),
      ceiling(report, "Peak, double", &machine::Ceilings::flops_double, "flops_double", "FLOP/s"),
      memory_ceiling(report)};
  std::erase_if(lines, [](const OverviewLine& line) {
    return std::none_of(line.cells.begin(), line.cells.end(), [](const OverviewCell& cell) { return cell.there; });
  });
  for (std::size_t i = 0; i < report.benches.size(); ++i) add_bench_lines(report, i, lines);
  return lines;
}

std::string overview_card(const Report& report) {
  const auto lines = overview(report);
  if (lines.empty()) return "";
  std::string out =
      "<section class=\"card\" id=\"overview\">\n<h2>What this machine can do</h2>\n<div class=\"scroll\"><table "
      "class=\"overview\"><tr><th>Workload</th>";
  for (const DeviceSection& device : report.devices) {
    out += fmt::format("<th><a href=\"#device-{}\">{}</a><div class=\"meta\">{}</div></th>", anchor(device.profile.id),
                       escape(device.profile.id), escape(device.profile.name));
  }
  out += "</tr>\n";
  for (const OverviewLine& line : lines) {
    out += fmt::format("<tr><td>{}<div class=\"meta\">{}</div></td>", escape(line.workload), escape(line.detail));
    for (std::size_t i = 0; i < line.cells.size(); ++i)
      out += html_of(line.cells[i], line.detail, report.devices[i].profile.id);
    out += "</tr>\n";
  }
  return out +
         "</table></div>\n<p class=\"meta\">The roof is the rate that the named ceiling allows. Above 100 % the data "
         "stayed in a "
         "cache, or several steps took one pass over memory. Number types: f32 and f64 are real, of 32 and 64 bits; "
         "c64 is "
         "complex, two f32; c128 is two f64.</p>\n</section>\n";
}

std::string overview_text(const Report& report) {
  std::vector<std::vector<std::string>> rows{{"workload"}};
  for (const DeviceSection& device : report.devices) rows[0].push_back(device.profile.id);
  for (const OverviewLine& line : overview(report)) {
    rows.push_back({line.detail == "ceiling" ? line.workload : line.detail});
    for (const OverviewCell& cell : line.cells) rows.back().push_back(text_of(cell));
  }
  return base::table(rows) +
         "Bars and percentages: share of the rate that the named ceiling allows; above 100 % the data stayed in a "
         "cache, or\n"
         "several steps took one pass over memory. f32, f64: real numbers of 32, 64 bits; c64, c128: complex, two of "
         "these.\n";
}

}  // namespace ridge::report
