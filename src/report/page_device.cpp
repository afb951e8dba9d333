// Section of a device on the page: key figures, roofline, tables and sweeps.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/svg.hpp"
#include "base/text.hpp"
#include "machine/roofline/roofline.hpp"
#include "report/charts.hpp"
#include "report/page_parts.hpp"

namespace ridge::report {
namespace {

using base::svg::escape;

std::string tile(const std::string& what, const std::string& key, double value, const std::string& text) {
  if (!(value > 0) || !std::isfinite(value)) return "";
  return fmt::format("<div class=\"tile\"><div class=\"what\">{}</div><div class=\"number\">{}</div></div>\n",
                     escape(what), marked(key, value, text));
}

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
    out += number("Float per watt", "energy.flops_per_watt", c.energy.flops_per_watt,
                  base::human_rate(c.energy.flops_per_watt, "FLOP/s"));
  }
  for (const auto& [name, value] : device.facts) out += fact(name, escape(value));
  return out.empty() ? "" : "<h3>Limits and more</h3>\n<dl class=\"facts\">\n" + out + "</dl>\n";
}

}  // namespace

std::string device_card(const DeviceSection& device) {
  const machine::DeviceProfile& profile = device.profile;
  const std::string key = "device." + member_name(profile.id);
  std::string out = fmt::format(
      "<section class=\"card\" id=\"device-{}\">\n<h2>{}{}</h2>\n<div class=\"meta\">{}</div>\n", anchor(profile.id),
      escape(profile.name), profile.ceilings.measured ? "" : "<span class=\"flag\">estimated, not measured</span>",
      escape(profile.id));
  out += tiles(device, key);
  const machine::Roofline roofline = roofline_of(device);
  out += figure(machine::svg_of(roofline, key + ".roofline", false),
                machine::svg_of(roofline, key + ".roofline", false, kNarrowWidth));
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

}  // namespace ridge::report
