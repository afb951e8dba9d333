// Writes the report as one HTML page and as JSON.
#include "report/page.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/svg.hpp"
#include "base/text.hpp"
#include "machine/profile.hpp"
#include "machine/roofline/roofline.hpp"
#include "report/overview.hpp"
#include "report/page_parts.hpp"

namespace ridge::report {
namespace {

using base::Json;
using base::svg::escape;

// Escapes <, > and &, so that the text cannot end the script element or start a comment. The JSON value is unchanged.
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
  Json lines = Json::array();
  for (const OverviewLine& line : overview(report)) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      const OverviewCell& cell = line.cells[i];
      if (!cell.there) continue;
      Json json{{"rate", cell.value}, {"unit", cell.unit}};
      if (cell.share > 0) json["share"] = cell.share;
      if (!cell.binds.empty()) json["binds"] = cell.binds;
      if (!cell.problem.empty()) json["problem"] = cell.problem, json["variant"] = cell.variant;
      cells[member_name(report.devices[i].profile.id)] = std::move(json);
    }
    lines.push_back({{"workload", line.workload}, {"detail", line.detail}, {"device", std::move(cells)}});
  }
  return {{"title", report.title},        {"overview", std::move(lines)},      {"pending", report.pending},
          {"hardware", report.hardware},  {"measured_at", report.measured_at}, {"seconds_taken", report.seconds_taken},
          {"device", std::move(devices)}, {"bench", std::move(benches)},       {"notes", report.notes},
          {"doubts", report.doubts}};
}

std::string to_json(const Report& report) { return machine::readable(json_of(report)); }

std::string to_html(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
  out += fmt::format("<title>{} – Ridgeline</title>\n", escape(report.title));
  // An empty icon stops browsers from requesting favicon.ico.
  out += "<link rel=\"icon\" href=\"data:,\">\n";
  out +=
      fmt::format("<style>\n{}{}</style>\n</head>\n<body>\n<div class=\"wrap\">\n", base::svg::style(), page_style());
  out += header(report);
  out += list_card("Still being measured: open this page again in a minute", report.pending);
  out += list_card("The machine was busy while it was measured: do not trust these figures", report.doubts);
  out += overview_card(report);
  for (const DeviceSection& device : report.devices) out += device_card(device);
  machine::Profile profile;
  profile.measured_at = report.measured_at;
  for (const DeviceSection& device : report.devices) profile.devices.push_back(device.profile);
  for (std::size_t i = 0; i < report.benches.size(); ++i)
    out += bench_card(report.benches[i], i, roof_warnings(report.benches[i], profile));
  out += list_card("Not available", report.notes);
  out += fmt::format("<footer>{}</footer>\n</div>\n", escape(report.hardware));
  out += fmt::format("<script type=\"application/json\" id=\"report-data\">{}</script>\n",
                     json_for_script(json_of(report)));
  return out + "</body>\n</html>\n";
}

}  // namespace ridge::report
