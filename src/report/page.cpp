#include "report/page.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "machine/profile_json.hpp"
#include "machine/roofline.hpp"
#include "report/bar_chart.hpp"
#include "report/line_chart.hpp"
#include "report/page_style.hpp"

namespace ridge::report {
namespace {

using base::Json;
using base::svg::escape;

// Dots separate the steps of a data-key.
std::string member_name(std::string id) {
  std::replace(id.begin(), id.end(), '.', '_');
  return id;
}

machine::Roofline roofline_of(const DeviceSection& device) {
  machine::Roofline roofline = machine::roofline(device.profile);
  roofline.points = device.points;
  return roofline;
}

// --- numbers
// ----------------------------------------------------------------------------------------------------------

std::string marked(const std::string& key, double value, const std::string& text) {
  return fmt::format("<span{}>{}</span>", base::svg::data(key, value), escape(text));
}

// A cell that carries its number, or a dash where there is none.
std::string cell(const std::string& key, double value, const std::string& text) {
  if (!(value > 0) || !std::isfinite(value)) return "<td class=\"n none\">–</td>";
  return fmt::format("<td class=\"n\"{}>{}</td>", base::svg::data(key, value), escape(text));
}

std::string digits(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.3g}", value);
}
std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string tile(const std::string& what, const std::string& key, double value, const std::string& text) {
  if (!(value > 0) || !std::isfinite(value)) return "";
  return fmt::format("<div class=\"tile\"><div class=\"what\">{}</div><div class=\"number\">{}</div></div>\n",
                     escape(what), marked(key, value, text));
}

// --- a device
// ---------------------------------------------------------------------------------------------------------

std::string tiles(const DeviceSection& device, const std::string& key) {
  const machine::Ceilings& c = device.profile.ceilings;
  const machine::Roofline roofline = roofline_of(device);
  std::string out = "<div class=\"tiles\">\n";
  out += tile("Peak, float", key + ".flops_float", c.flops_float, base::human_rate(c.flops_float, "FLOP/s"));
  out += tile("Peak, double", key + ".flops_double", c.flops_double, base::human_rate(c.flops_double, "FLOP/s"));
  if (!roofline.roofs.empty())
    out += tile("Memory, copy", fmt::format("{}.roofline.roofs.{}.bytes_per_second", key, roofline.roofs.size() - 1),
                machine::main_memory(roofline), base::human_rate(machine::main_memory(roofline), "B/s"));
  const double ridge = machine::ridge_point(roofline);
  out += tile("Ridge", key + ".roofline.ridge_point", ridge, digits(ridge) + " FLOP/byte");
  out += tile("Launch", key + ".launch_seconds", c.launch_seconds, base::human_seconds(c.launch_seconds));
  return out + "</div>\n";
}

std::string levels_table(const machine::Ceilings& c, const std::string& key) {
  struct Column {
    const char* title;
    const char* path;
    double machine::Bandwidth::*field;
    machine::Bandwidth machine::Level::*cores;
  };
  static constexpr Column columns[] = {
      {"read", "all.read", &machine::Bandwidth::read, &machine::Level::all},
      {"write", "all.write", &machine::Bandwidth::write, &machine::Level::all},
      {"copy", "all.copy", &machine::Bandwidth::copy, &machine::Level::all},
      {"write, streaming", "all.write_streaming", &machine::Bandwidth::write_streaming, &machine::Level::all},
      {"copy, streaming", "all.copy_streaming", &machine::Bandwidth::copy_streaming, &machine::Level::all},
      {"read, one core", "one.read", &machine::Bandwidth::read, &machine::Level::one},
      {"copy, one core", "one.copy", &machine::Bandwidth::copy, &machine::Level::one},
  };
  std::vector<Column> shown;
  for (const Column& column : columns) {
    const auto measured = [&](const machine::Level& level) { return (level.*column.cores).*column.field > 0; };
    if (std::any_of(c.levels.begin(), c.levels.end(), measured)) shown.push_back(column);
  }
  std::string out = "<div class=\"scroll\"><table><tr><th>Level</th><th class=\"n\">holds</th>";
  for (const Column& column : shown) out += fmt::format("<th class=\"n\">{}</th>", column.title);
  out += "</tr>\n";
  for (std::size_t i = 0; i < c.levels.size(); ++i) {
    const machine::Level& level = c.levels[i];
    const std::string at = fmt::format("{}.levels.{}", key, i);
    const double capacity = static_cast<double>(level.capacity);
    out += fmt::format("<tr><td>{}</td>{}", escape(level.name),
                       cell(at + ".capacity", capacity, base::human_bytes(capacity)));
    for (const Column& column : shown) {
      const double rate = (level.*column.cores).*column.field;
      out += cell(at + "." + column.path, rate, base::human_rate(rate, "B/s"));
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string transfers_table(const machine::Transfers& t, const std::string& key) {
  const double sum = t.upload_pageable + t.download_pageable + t.upload_pinned + t.download_pinned + t.upload_mapped +
                     t.download_mapped;
  if (!(sum > 0)) return "";
  const auto rate = [&](const char* field, double value) {
    return cell(key + ".transfers." + field, value, base::human_rate(value, "B/s"));
  };
  return "<h3>Between host and device</h3>\n<div class=\"scroll\"><table><tr><th></th><th class=\"n\">pageable</th>"
         "<th class=\"n\">pinned</th><th class=\"n\">mapped</th></tr>\n<tr><td>to the device</td>" +
         rate("upload_pageable", t.upload_pageable) + rate("upload_pinned", t.upload_pinned) +
         rate("upload_mapped", t.upload_mapped) + "</tr>\n<tr><td>from the device</td>" +
         rate("download_pageable", t.download_pageable) + rate("download_pinned", t.download_pinned) +
         rate("download_mapped", t.download_mapped) + "</tr></table></div>\n";
}

std::string fact(const std::string& name, const std::string& value_html) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), value_html);
}

std::string facts(const DeviceSection& device, const std::string& key) {
  const machine::Ceilings& c = device.profile.ceilings;
  const auto number = [&](const char* name, const std::string& path, double value, const std::string& text) {
    return value > 0 && std::isfinite(value) ? fact(name, marked(key + "." + path, value, text)) : "";
  };
  std::string out;
  out += number("Float, one core", "flops_float_one", c.flops_float_one, base::human_rate(c.flops_float_one, "FLOP/s"));
  out += number("Double, one core", "flops_double_one", c.flops_double_one,
                base::human_rate(c.flops_double_one, "FLOP/s"));
  out += number("Copy, others busy", "copy_while_others_busy", c.copy_while_others_busy,
                base::human_rate(c.copy_while_others_busy, "B/s"));
  out += number("Float, others busy", "flops_float_while_others_busy", c.flops_float_while_others_busy,
                base::human_rate(c.flops_float_while_others_busy, "FLOP/s"));
  if (c.energy.counter.empty()) {
    out += fact("Energy", escape(c.energy.why_not.empty() ? "no counter" : "no counter: " + c.energy.why_not));
  } else {
    out += fact("Energy counter", escape(c.energy.counter));
    out += number("Idle", "energy.idle_watts", c.energy.idle_watts, fmt::format("{:.1f} W", c.energy.idle_watts));
    out += number("Under load", "energy.load_watts", c.energy.load_watts, fmt::format("{:.1f} W", c.energy.load_watts));
    out += number("Float a watt", "energy.flops_per_watt", c.energy.flops_per_watt,
                  base::human_rate(c.energy.flops_per_watt, "FLOP/s"));
  }
  for (const auto& [name, value] : device.facts) out += fact(name, escape(value));
  return out.empty() ? "" : "<h3>Limits and more</h3>\n<dl class=\"facts\">\n" + out + "</dl>\n";
}

std::string anchor(std::string text) {
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return text;
}

std::string device_card(const DeviceSection& device) {
  const machine::DeviceProfile& profile = device.profile;
  const std::string key = "device." + member_name(profile.id);
  std::string out = fmt::format(
      "<section class=\"card\" id=\"device-{}\">\n<h2>{}{}</h2>\n<div class=\"meta\">{}</div>\n", anchor(profile.id),
      escape(profile.name), profile.ceilings.measured ? "" : "<span class=\"flag\">estimated, not measured</span>",
      escape(profile.id));
  out += tiles(device, key);
  out += "<div class=\"figure\">\n" + machine::svg_of(roofline_of(device), key + ".roofline", false) + "</div>\n";
  out += "<h3>Bandwidth of each level</h3>\n" + levels_table(profile.ceilings, key);
  out += transfers_table(profile.ceilings.transfers, key);
  out += facts(device, key);
  const auto& sweeps = profile.ceilings.sweeps;
  if (!sweeps.empty()) out += "<h3>Sweeps</h3>\n<div class=\"figures\">\n";
  for (std::size_t i = 0; i < sweeps.size(); ++i)
    out += "<div>" + svg_of(sweeps[i], fmt::format("{}.sweeps.{}", key, i), false) + "</div>\n";
  if (!sweeps.empty()) out += "</div>\n";
  return out + "</section>\n";
}

// --- a benchmark
// ------------------------------------------------------------------------------------------------------

struct Measure {
  const char* field;
  const char* unit;
  double BenchRow::*value;
};
constexpr Measure kArithmetic{"gflops", "GFLOP/s", &BenchRow::gflops};
constexpr Measure kTraffic{"gbytes_per_s", "GB/s", &BenchRow::gbytes_per_s};

// One chart a problem and device, the variants in it, fastest first.
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
      const std::string at = fmt::format("{}.rows.{}", key, i);
      if (row.roof_share > 0 && chart.roof == 0) chart.roof = row.*measure.value / row.roof_share;
      chart.bars.push_back(
          {row.variant, row.*measure.value, at + "." + measure.field, row.roof_share, at + ".roof_share", row.chosen});
    }
    out += "<div class=\"figure\">\n" + svg_of(chart, false) + "</div>\n";
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

std::string bench_card(const Bench& bench, std::size_t index) {
  const std::string key = fmt::format("bench.{}", index);
  std::string out = fmt::format("<section class=\"card\" id=\"bench-{}\">\n<h2>{}</h2>\n", index, escape(bench.title));
  if (!bench.note.empty()) out += fmt::format("<div class=\"meta\">{}</div>\n", escape(bench.note));
  const bool chosen = std::any_of(bench.rows.begin(), bench.rows.end(), [](const BenchRow& row) { return row.chosen; });
  if (chosen) out += "<p class=\"meta\"><span class=\"key\"></span>what the planner picks</p>\n";
  out += bar_charts(bench, key);
  out += "<h3>All measurements</h3>\n" + rows_table(bench, key) + summary_table(bench, key);
  return out + "</section>\n";
}

// --- the page
// ---------------------------------------------------------------------------------------------------------

// Nothing in it can end the script element or start a comment; still the same JSON.
std::string json_for_script(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string header(const Report& report) {
  std::string out = fmt::format("<header class=\"top\">\n<div class=\"mark\">Ridgeline report</div>\n<h1>{}</h1>\n",
                                escape(report.title));
  if (!report.measured_at.empty()) {
    out += fmt::format("<div class=\"meta\">measured {}", escape(report.measured_at));
    if (report.seconds_taken > 0)
      out += " in " + marked("seconds_taken", report.seconds_taken, base::human_seconds(report.seconds_taken));
    out += "</div>\n";
  }
  out += "<nav>";
  for (const DeviceSection& device : report.devices)
    out += fmt::format("<a href=\"#device-{}\">{}</a>", anchor(device.profile.id), escape(device.profile.id));
  for (std::size_t i = 0; i < report.benches.size(); ++i)
    out += fmt::format("<a href=\"#bench-{}\">{}</a>", i, escape(report.benches[i].title));
  return out + "</nav>\n</header>\n";
}

std::string list_card(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("<section class=\"card\">\n<h2>{}</h2>\n<ul class=\"summary\">\n", escape(title));
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escape(line));
  return out + "</ul>\n</section>\n";
}

}  // namespace

Json json_of(const Report& report) {
  Json devices = Json::object();
  for (const DeviceSection& device : report.devices) {
    Json json = machine::json_of(device.profile);
    json["roofline"] = machine::json_of(roofline_of(device));
    Json words = Json::object();
    for (const auto& [name, value] : device.facts) words[name] = value;
    json["facts"] = std::move(words);
    devices[member_name(device.profile.id)] = std::move(json);
  }
  Json benches = Json::array();
  for (const Bench& bench : report.benches) benches.push_back(json_of(bench));
  return {{"title", report.title},
          {"summary", report.summary},
          {"hardware", report.hardware},
          {"measured_at", report.measured_at},
          {"seconds_taken", report.seconds_taken},
          {"device", std::move(devices)},
          {"bench", std::move(benches)},
          {"notes", report.notes}};
}

std::string to_json(const Report& report) { return machine::readable(json_of(report)); }

std::string to_html(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  out += fmt::format("<title>{} – Ridgeline</title>\n", escape(report.title));
  // An icon of its own, so that no browser asks for one.
  out += "<link rel=\"icon\" href=\"data:,\">\n";
  out +=
      fmt::format("<style>\n{}{}</style>\n</head>\n<body>\n<div class=\"wrap\">\n", base::svg::style(), page_style());
  out += header(report);
  out += list_card("What this machine can do", report.summary);
  for (const DeviceSection& device : report.devices) out += device_card(device);
  for (std::size_t i = 0; i < report.benches.size(); ++i) out += bench_card(report.benches[i], i);
  out += list_card("Not here", report.notes);
  out += fmt::format("<footer>{}</footer>\n</div>\n", escape(report.hardware));
  out += fmt::format("<script type=\"application/json\" id=\"report-data\">{}</script>\n",
                     json_for_script(json_of(report)));
  return out + "</body>\n</html>\n";
}

}  // namespace ridge::report
