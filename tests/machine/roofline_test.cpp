// Rooflines as figures, text, JSON and SVG.
#include "machine/roofline/roofline.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "base/json.hpp"
#include "report/markup.hpp"

namespace {

using ridge::base::Json;
using ridge::base::parse_json;
using ridge::machine::frame_of;
using ridge::machine::Level;
using ridge::machine::plot_point;
using ridge::machine::Point;
using ridge::machine::roof_share;
using ridge::machine::Roofline;
using ridge::machine::to_json;
using ridge::machine::to_svg;
using ridge::machine::to_text;

Roofline sample_roofline() {
  Roofline roofline;
  roofline.device = "host";
  roofline.peak_float = 100e9;
  roofline.peak_double = 50e9;
  roofline.roofs = {{"L1", 200e9}, {"L2", 100e9}, {"memory", 20e9}};
  return roofline;
}

TEST(Roofline, TakesItsRoofsFromTheProfile) {
  ridge::machine::DeviceProfile device;
  device.id = "cuda:0";
  device.name = "a board";
  device.ceilings.flops_float = 9;
  device.ceilings.flops_double = 4;
  device.ceilings.levels = {Level{"local", 0, {7, 0, 0, 0, 0}, {}}, Level{"L2", 0, {}, {}},
                            Level{"memory", 0, {5, 4, 3, 4, 3.5}, {}}};
  const Roofline roofline = ridge::machine::roofline(device);
  EXPECT_EQ(roofline.device, "cuda:0, a board");
  EXPECT_EQ(roofline.peak_float, 9);
  EXPECT_EQ(roofline.peak_double, 4);
  using Roofs = std::vector<std::pair<std::string, double>>;
  // Read bandwidth if there is no copy; an unmeasured level is omitted; the better of the two copies.
  EXPECT_EQ(roofline.roofs, (Roofs{{"local", 7}, {"memory", 3.5}}));
}

TEST(Roofline, ShareIsOfTheLowerRoof) {
  const Roofline roofline = sample_roofline();
  // 1 FLOP/byte: memory allows 20 GFLOP/s.
  EXPECT_DOUBLE_EQ(roof_share(roofline, {"bound by memory", 1e9, 1e9, 0.1}), 0.5);
  EXPECT_EQ(plot_point(roofline, {"", 1e9, 1e9, 0.1}).roof, "memory");
  // 50 FLOP/byte: the peak limits.
  EXPECT_DOUBLE_EQ(roof_share(roofline, {"bound by arithmetic", 50e9, 1e9, 1}), 0.5);
  EXPECT_EQ(plot_point(roofline, {"", 50e9, 1e9, 1}).roof, "peak float");
  EXPECT_DOUBLE_EQ(roof_share(roofline, {"moves only", 0, 1e9, 0.1}), 0.5);
  EXPECT_DOUBLE_EQ(roof_share(roofline, {"registers only", 1e9, 0, 0.1}), 0.1);
  EXPECT_DOUBLE_EQ(roof_share(roofline, {"from cache", 0, 1e9, 0.025}), 2);
  EXPECT_EQ(roof_share(roofline, {"never run", 1e9, 1e9, 0}), 0);
  EXPECT_EQ(roof_share(Roofline{}, {"no roofs", 1e9, 1e9, 1}), 0);
}

TEST(Roofline, FrameHoldsRoofsAndPoints) {
  Roofline roofline = sample_roofline();
  roofline.points = {{"low", 1e6, 1e9, 1}, {"high", 1e12, 1e6, 20}, {"stray", 1, 1e18, 1e6}};
  const auto frame = frame_of(roofline);
  EXPECT_LT(frame.x_low, 1e-3);
  EXPECT_GT(frame.x_high, 1e6);
  EXPECT_GT(frame.y_high, roofline.peak_float);
  EXPECT_LT(frame.x_high / frame.x_low, 1e13) << "a stray point must not flatten the rest";
  for (const double value : {frame.x_low, frame.y_low}) EXPECT_GT(value, 0);
  for (const auto& element : markup::read(to_svg(roofline))) {
    if (element.name != "circle") continue;
    EXPECT_GE(std::stod(element.attributes.at("cx")), 60);
    EXPECT_LE(std::stod(element.attributes.at("cx")), 750);
    EXPECT_LE(std::stod(element.attributes.at("cy")), 420);
  }
  const auto empty = frame_of(Roofline{});
  EXPECT_LT(empty.x_low, empty.x_high);
}

TEST(Roofline, TextDrawsAndNamesTheRoof) {
  Roofline roofline = sample_roofline();
  roofline.points = {{"heat naive", 1e9, 1e9, 0.1}, {"corner turn", 0, 1e9, 0.1}};
  const std::string text = to_text(roofline);
  for (const char* part : {"Roofline of host", "a  heat naive", "50 %", "FLOP/byte", "20.0 GB/s", "100 GFLOP/s"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  // The point is below the memory roof in its column.
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::size_t roof = 0, mark = 0, column = 0;
  for (std::size_t i = 0; i < lines.size() && lines[i].find("+--") == std::string::npos; ++i) {
    const auto found = lines[i].find('a', 16);
    if (i > 0 && found != std::string::npos) mark = i, column = found;
  }
  for (std::size_t i = 1; i < mark; ++i) {
    if (lines[i].size() > column && lines[i][column] == '/') roof = i;
  }
  EXPECT_GT(roof, 0u) << text;
  EXPECT_LT(roof, mark) << text;
}

TEST(Roofline, JsonHoldsEveryNumber) {
  Roofline roofline = sample_roofline();
  roofline.points = {{"heat", 1e9, 1e9, 0.1}, {"registers", 1e9, 0, 0.1}};
  const Json json = parse_json(to_json(roofline));
  EXPECT_EQ(json["peak_float"], 100e9);
  EXPECT_EQ(json["ridge_point"], 5);
  EXPECT_EQ(json["roofs"][2]["name"], "memory");
  EXPECT_EQ(json["roofs"][2]["bytes_per_second"], 20e9);
  EXPECT_EQ(json["points"][0]["share"], 0.5);
  EXPECT_EQ(json["points"][0]["intensity"], 1);
  EXPECT_EQ(json["points"][0]["flops_per_second"], 1e10);
  EXPECT_EQ(json["points"][0]["roof"], "memory");
  EXPECT_TRUE(json["points"][1]["intensity"].is_null());
}

TEST(Roofline, SvgIsWellFormedAndCarriesItsNumbers) {
  Roofline roofline = sample_roofline();
  roofline.device = "<evil> & \"co\"";
  roofline.points = {{"heat </svg>", 1e9, 1e9, 0.1}, {"turn & turn", 0, 1e9, 0.1}};
  const Json json = parse_json(to_json(roofline));
  std::map<std::string, std::string> texts;
  std::size_t roofs = 0;
  for (const auto& element : markup::read(to_svg(roofline))) {
    if (element.name == "path" && element.attributes.at("class").rfind("roof r", 0) == 0) ++roofs;
    if (element.attributes.count("data-key") == 0) continue;
    texts[element.attributes.at("data-key")] = element.text;
    std::string pointer = element.attributes.at("data-key").substr(std::string("roofline").size());
    for (char& c : pointer) c = c == '.' ? '/' : c;
    EXPECT_EQ(std::stod(element.attributes.at("data-value")), json[Json::json_pointer(pointer)].get<double>());
  }
  EXPECT_EQ(roofs, 3u);
  EXPECT_EQ(texts.at("roofline.peak_float"), "100 GFLOP/s");
  EXPECT_EQ(texts.at("roofline.roofs.0.bytes_per_second"), "200 GB/s");
  EXPECT_EQ(texts.at("roofline.points.0.flops_per_second").substr(0, 12), "10.0 GFLOP/s");
  EXPECT_EQ(texts.at("roofline.points.1.bytes_per_second"), "10.0 GB/s");
  EXPECT_EQ(texts.at("roofline.points.1.share"), "50 %");
}

TEST(Roofline, SvgNumbersEveryPointAndNamesItInTheList) {
  Roofline roofline = sample_roofline();
  for (int i = 0; i < 10; ++i)
    roofline.points.push_back({"variant number " + std::to_string(i), 1e9, 0.5e9, 0.1 + 0.001 * i});
  for (const double width : {760.0, 330.0}) {
    std::vector<std::pair<double, double>> places;  // centre and baseline of each number on the plane
    std::set<std::string> numbers, names;
    for (const auto& element : markup::read(ridge::machine::svg_of(roofline, "roofline", true, width))) {
      if (element.attributes.count("x") > 0 && element.name == "text") {
        EXPECT_LE(std::stod(element.attributes.at("x")), width) << element.text;
      }
      if (element.name != "text" || element.attributes.count("class") == 0) continue;
      if (element.text.rfind("variant number", 0) == 0) names.insert(element.text);
      if (element.attributes.at("class") != "name halo" || std::isdigit(element.text[0]) == 0) continue;
      numbers.insert(element.text);
      places.emplace_back(std::stod(element.attributes.at("x")), std::stod(element.attributes.at("y")));
    }
    EXPECT_EQ(names.size(), 10u) << width;
    EXPECT_EQ(numbers, (std::set<std::string>{"1", "10", "2", "3", "4", "5", "6", "7", "8", "9"})) << width;
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_TRUE(std::abs(places[i].first - places[j].first) > 7 ||
                    std::abs(places[i].second - places[j].second) > 11);
    }
  }
}

TEST(Roofline, UnusualPointsAreDrawn) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  Roofline odd = sample_roofline();
  odd.points = {{"nan", nan, nan, nan}, {"inf", infinity, 1, 1}, {"zero", 0, 0, 0}, {"negative", -1, -1, -1}};
  for (const Roofline& roofline : {Roofline{}, odd}) {
    EXPECT_NO_THROW(markup::read(to_svg(roofline)));
    EXPECT_NO_THROW(parse_json(to_json(roofline)));
    EXPECT_FALSE(to_text(roofline).empty());
  }
}

}  // namespace
