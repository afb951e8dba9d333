// Tests the report page: well-formed HTML in which every number matches the JSON data.
#include "report/page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/json.hpp"
#include "report/markup.hpp"
#include "report/overview.hpp"

namespace {

using ridge::base::Json;
using ridge::base::parse_json;
using ridge::machine::Level;
using ridge::machine::Sweep;
using ridge::report::Bench;
using ridge::report::DeviceSection;
using ridge::report::overview;
using ridge::report::overview_text;
using ridge::report::Report;

constexpr const char* kHostile = "</script><script>alert('x')</script> & \"quoted\" <b>";

Report sample() {
  Report report;
  report.title = std::string("Machine ") + kHostile;
  report.pending = {"stencils on host", kHostile};
  report.hardware = kHostile;
  report.measured_at = "2024-06-01 12:00:00";
  report.seconds_taken = 41.25;
  DeviceSection host;
  host.profile.id = "host";
  host.profile.name = kHostile;
  auto& ceilings = host.profile.ceilings;
  ceilings.measured = true;
  ceilings.flops_float = 1.2345678e11;
  ceilings.flops_double = 6.1e10;
  ceilings.flops_float_one = 6.2e10;
  ceilings.launch_seconds = 3.456e-6;
  ceilings.copy_while_others_busy = 2.2e10;
  ceilings.levels = {Level{"L1", 131072, {4e11, 2e11, 3e11, 0, 0}, {2e11, 1e11, 1.5e11, 0, 0}},
                     Level{"memory <&>", 8'123'456'789, {3.9e10, 3e10, 3.51e10, 4.4e10, 4.127e10}, {}}};
  ceilings.transfers = {1e10, 2e10, 3e10, 4e10, 5e10, 6e10};
  ceilings.energy = {"RAPL", "", 12.5, 80.25, 1.5e9};
  ceilings.sweeps = {
      Sweep{"By cores", "cores", "B/s", {{"copy <b>", {{1, 1.7e10}, {2, 4.1e10}}}, {"read", {{1, 2e10}}}}}};
  host.facts = {{"cores", "2"}, {"<b>", kHostile}};
  host.points = {{kHostile, 5e9, 1.6e9, 0.09}, {"turn", 0, 1.07e9, 0.031}, {"registers only", 1e9, 0, 0.01}};
  DeviceSection other = host;
  other.profile.id = "opencl:0";
  other.profile.ceilings = {};
  other.profile.ceilings.levels = {Level{"memory", 0, {}, {}}};
  other.points.clear();
  report.devices = {host, other};
  Bench bench{"The corner turn", kHostile, {}};
  bench.rows = {{kHostile, "host", "simd", 0.031, 0, 34.56, 0.8372, {{"memcpy", 0.026}}, true},
                {kHostile, "host", "naive", 0.45, 0, 2.38, 0.0577, {{"memcpy", 0.026}}},
                {"fft 1024", "host", "stockham", 1.25e-6, 41.2, 13.1, 0.31, {}}};
  bench.missing_peers = {kHostile};
  report.benches = {bench};
  report.notes = {kHostile};
  return report;
}

const Json* at(const Json& data, const std::string& key) {
  const Json* here = &data;
  for (std::size_t start = 0; start <= key.size();) {
    const std::size_t end = std::min(key.find('.', start), key.size());
    const std::string step = key.substr(start, end - start);
    if (here->is_array()) {
      if (step.find_first_not_of("0123456789") != std::string::npos || std::stoul(step) >= here->size()) return nullptr;
      here = &(*here)[std::stoul(step)];
    } else {
      const auto found = here->is_object() ? here->find(step) : here->end();
      if (!here->is_object() || found == here->end()) return nullptr;
      here = &*found;
    }
    start = end + 1;
  }
  return here;
}

// True if the first number of a text such as "41.3 GB/s", "84 %" or "3.46 us" is the value within its rounding.
bool shows(const std::string& text, double value) {
  const auto start = text.find_first_of("0123456789");
  if (start == std::string::npos) return false;
  std::size_t used = 0;
  const double number = std::stod(text.substr(start), &used);
  std::string unit = text.substr(start + used);
  if (!unit.empty() && unit[0] == ' ') unit.erase(0, 1);
  static const std::map<std::string, double> prefixes{{"k", 1e3},     {"M", 1e6},     {"G", 1e9},    {"T", 1e12},
                                                      {"m", 1e-3},    {"u", 1e-6},    {"n", 1e-9},   {"%", 1e-2},
                                                      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}};
  for (const std::size_t length : {2, 1, 0}) {
    const auto prefix = prefixes.find(unit.substr(0, length));
    if (length > 0 && prefix == prefixes.end()) continue;
    const double scale = length == 0 ? 1 : prefix->second;
    if (std::abs(number * scale - value) <= 0.006 * std::abs(value)) return true;
    if (unit[0] == '%' && std::abs(number * scale - value) <= 0.005) return true;
  }
  return false;
}

TEST(Page, ShowReaderIsStrict) {
  EXPECT_TRUE(shows("41.3 GB/s", 4.127e10));
  EXPECT_TRUE(shows("34.6", 34.56));
  EXPECT_TRUE(shows("3.46 us", 3.456e-6));
  EXPECT_FALSE(shows("41.3 MB/s", 4.127e10));
  EXPECT_FALSE(shows("42.3 GB/s", 4.127e10));
  EXPECT_FALSE(shows("none", 0));
}

TEST(Page, EveryNumberEqualsTheJson) {
  const Report report = sample();
  const Json data = parse_json(to_json(report));
  std::set<std::string> keys;
  bool has_data = false;
  for (const auto& element : markup::read(to_html(report))) {
    if (element.attributes.count("id") > 0 && element.attributes.at("id") == "report-data") {
      has_data = true;
      EXPECT_EQ(element.name, "script");
      EXPECT_EQ(element.attributes.at("type"), "application/json");
      EXPECT_EQ(parse_json(element.text), data);
    }
    if (element.attributes.count("data-key") == 0) continue;
    const std::string& key = element.attributes.at("data-key");
    keys.insert(key);
    const Json* value = at(data, key);
    ASSERT_NE(value, nullptr) << key;
    ASSERT_TRUE(value->is_number()) << key;
    EXPECT_EQ(std::stod(element.attributes.at("data-value")), value->get<double>()) << key;
    EXPECT_TRUE(shows(element.text, value->get<double>())) << key << " shown as " << element.text;
  }
  EXPECT_TRUE(has_data);
  for (const char* key :
       {"device.host.flops_float", "device.host.levels.1.all.copy_streaming", "device.host.levels.0.capacity",
        "device.host.transfers.download_mapped", "device.host.energy.load_watts",
        "device.host.sweeps.0.lines.0.points.1.1", "device.host.roofline.points.0.flops_per_second",
        "device.host.roofline.points.1.bytes_per_second", "device.host.roofline.points.1.share",
        "device.host.roofline.ridge_point", "device.host.launch_seconds", "bench.0.rows.0.seconds",
        "bench.0.rows.0.peers.memcpy", "bench.0.rows.2.gflops", "bench.0.summary.memcpy.worst_speedup",
        "seconds_taken"}) {
    EXPECT_EQ(keys.count(key), 1u) << key;
  }
}

TEST(Page, HostileTextStaysText) {
  const std::string html = to_html(sample());
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  std::size_t scripts = 0, headings = 0;
  for (const auto& element : markup::read(html)) {
    scripts += element.name == "script";
    headings += element.name == "h1" && element.text == std::string("Machine ") + kHostile;
  }
  EXPECT_EQ(scripts, 1u);
  EXPECT_EQ(headings, 1u);
}

TEST(Page, NeedsNothingFromOutside) {
  for (const auto& element : markup::read(to_html(sample()))) {
    EXPECT_EQ(element.attributes.count("src"), 0u) << element.name;
    if (element.attributes.count("href") > 0) {
      const std::string& to = element.attributes.at("href");
      EXPECT_TRUE(to == "data:," || to[0] == '#') << to;
    }
    if (element.name == "style") {
      EXPECT_EQ(element.text.find("url("), std::string::npos);
      EXPECT_EQ(element.text.find("@import"), std::string::npos);
      EXPECT_NE(element.text.find("prefers-color-scheme:dark"), std::string::npos);
    }
  }
}

TEST(Page, LinksLeadSomewhere) {
  std::set<std::string> ids, links;
  for (const auto& element : markup::read(to_html(sample()))) {
    if (element.attributes.count("id") > 0) {
      EXPECT_TRUE(ids.insert(element.attributes.at("id")).second) << "an id twice";
    }
    if (element.name == "a") links.insert(element.attributes.at("href").substr(1));
  }
  EXPECT_EQ(links.size(), 3u);  // two devices, twice, and a benchmark
  for (const auto& link : links) EXPECT_EQ(ids.count(link), 1u) << link;
}

TEST(Page, HasARooflineAndChartsPerDevice) {
  std::size_t drawings = 0;
  for (const auto& element : markup::read(to_html(sample()))) drawings += element.name == "svg";
  // Rooflines and bar charts of two problems, each for a wide window and for a phone, and one sweep.
  EXPECT_EQ(drawings, 2 * 2u + 2 * 2u + 1u);
}

TEST(Page, OpensWithATableOfWorkloadsByDevice) {
  const Report report = sample();
  const auto lines = overview(report);
  ASSERT_EQ(lines.size(), 5u);  // three ceilings, two problems
  EXPECT_EQ(lines[0].workload, "Peak, float");
  EXPECT_EQ(lines[0].cells.size(), 2u);
  EXPECT_FALSE(lines[0].cells[1].there);
  EXPECT_EQ(lines[3].detail, kHostile);
  EXPECT_EQ(lines[3].cells[0].variant, "simd");  // the planner's choice
  EXPECT_EQ(lines[3].cells[0].binds, "memory <&>");
  EXPECT_EQ(lines[3].cells[0].unit, "GB/s");
  EXPECT_EQ(lines[4].cells[0].unit, "GFLOP/s");
  EXPECT_DOUBLE_EQ(lines[4].cells[0].share, 0.31);
  const std::string html = to_html(report);
  EXPECT_LT(html.find("class=\"overview\""), html.find("id=\"device-host\""));
  EXPECT_NE(html.find("Still being measured"), std::string::npos);
  const std::string text = overview_text(report);
  EXPECT_NE(text.find("41.2 GFLOP/s [###       ] 31 %"), std::string::npos) << text;
  Report done = report;
  done.pending.clear();
  EXPECT_EQ(to_html(done).find("Still being measured"), std::string::npos);
}

TEST(Page, EmptyReportIsAPage) { EXPECT_NO_THROW(markup::read(to_html(Report{}))); }

}  // namespace
