// Tests the SVG helpers, bar charts and line charts.
#include "base/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "report/charts.hpp"
#include "report/markup.hpp"

namespace {

namespace svg = ridge::base::svg;
using ridge::machine::Sweep;
using ridge::report::BarChart;
using ridge::report::svg_of;
using testing::ElementsAre;

std::vector<markup::Element> with_key(const std::string& source) {
  std::vector<markup::Element> found;
  for (const auto& element : markup::read(source)) {
    if (element.attributes.count("data-key") > 0) found.push_back(element);
  }
  return found;
}

TEST(Markup, ReaderFindsFaults) {
  EXPECT_EQ(markup::read("<a b=\"1 &lt; 2\">x<c/>y &amp; z</a>").at(0).text, "xy & z");
  for (const char* bad : {"<a>", "<a></b>", "<a>1 < 2</a>", "<a>1 > 2</a>", "<a>&nope;</a>", "<a b=\"<\"></a>",
                          "<a b=1></a>", "<a b=\"1\" b=\"2\"></a>", "</a>"}) {
    EXPECT_THROW(markup::read(bad), std::runtime_error) << bad;
  }
}

TEST(Svg, EscapesEverything) {
  EXPECT_EQ(svg::escape("<a href=\"x\" b='y'>&"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(svg::escape(std::string("a\x1b[31m\0b", 8)), "a [31m b");
  EXPECT_EQ(svg::escape("µ"), "µ");
}

TEST(Svg, AxesMapAndTick) {
  const svg::Axis decades{svg::Spacing::decades, 0.1, 1000, 0, 400};
  EXPECT_NEAR(decades.at(10), 200, 1e-9);
  EXPECT_THAT(decades.ticks(8),
              ElementsAre(testing::DoubleNear(0.1, 1e-9), 1, 10, 100, testing::DoubleNear(1000, 1e-6)));
  const svg::Axis few{svg::Spacing::decades, 3, 70, 0, 1};
  EXPECT_THAT(few.ticks(8), ElementsAre(5, 10, 20, 50));
  const svg::Axis doublings{svg::Spacing::doublings, 1, 1024, 0, 100};
  EXPECT_NEAR(doublings.at(32), 50, 1e-9);
  EXPECT_EQ(doublings.ticks(5).size(), 6u);
  EXPECT_EQ(doublings.text(4096), "4Ki");
  const svg::Axis linear = svg::linear_axis(87, 0, 100);
  EXPECT_EQ(linear.high, 100);
  EXPECT_EQ(linear.ticks(5).front(), 0);
  EXPECT_FALSE(std::signbit(linear.ticks(5).front()));
  EXPECT_EQ(svg::linear_axis(0, 0, 1).high, 1);
  EXPECT_EQ(svg::tick_text(1.5e9), "1.5G");
  EXPECT_EQ(svg::tick_text(0.25), "0.25");
}

TEST(Svg, ShortensWithoutCuttingLetters) {
  EXPECT_EQ(svg::shortened("naive", 200, 12), "naive");
  const std::string cut = svg::shortened("größer größer größer größer", 80, 12);
  EXPECT_LE(svg::text_width(cut, 12), 80);
  EXPECT_EQ(cut.substr(cut.size() - 3), "…");
  for (std::size_t i = 0; i + 1 < cut.size(); ++i) {
    if (static_cast<unsigned char>(cut[i]) >= 0xC0) {
      EXPECT_EQ(static_cast<unsigned char>(cut[i + 1]) & 0xC0, 0x80);
    }
  }
}

TEST(Svg, LabelsNeverOverlap) {
  std::mt19937 random(7);
  const svg::Box inside{0, 0, 700, 340};
  const auto share = [&] { return static_cast<double>(random() % 1000) / 1000; };
  std::size_t shown = 0, all = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<svg::Label> labels(1 + random() % 16);
    const double spread = round % 2 ? 600 : 40;  // half of the rounds put all points into a corner
    for (auto& label : labels) {
      label = {50 + spread * share(), 50 + spread / 2.5 * share(), std::string(3 + random() % 20, 'n')};
    }
    const svg::Box obstacle{300, 100, 60, 60};
    const auto placed = svg::place_labels(labels, 12, inside, {obstacle});
    ASSERT_EQ(placed.size(), labels.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
      ++all;
      if (!placed[i].shown) continue;
      ++shown;
      EXPECT_FALSE(svg::overlap(placed[i].box, obstacle));
      EXPECT_GE(placed[i].box.x, inside.x);
      EXPECT_LE(placed[i].box.x + placed[i].box.width, inside.width);
      for (std::size_t j = 0; j < i; ++j) {
        if (placed[j].shown) {
          EXPECT_FALSE(svg::overlap(placed[i].box, placed[j].box));
        }
      }
    }
  }
  EXPECT_GT(shown * 10, all * 9) << "labels are hidden too readily";
}

TEST(BarChart, IsWellFormedAndCarriesItsNumbers) {
  BarChart chart{"<turn> & \"more\"", "GB/s", {}};
  chart.bars = {{"naive</svg>", 12.345, "bench.0.rows.0.gbytes_per_s", 0.25, "bench.0.rows.0.roof_share"},
                {"zero", 0, "k", 0, ""},
                {"broken", std::nan(""), "n", 0, ""}};
  chart.roof = 49.38;
  for (const bool standalone : {false, true}) {
    const std::string source = svg_of(chart, standalone);
    const auto marked = with_key(source);
    ASSERT_GE(marked.size(), 3u);
    EXPECT_EQ(marked[0].attributes.at("data-value"), "12.345");
    EXPECT_EQ(marked[1].text, "12.3 GB/s");
    EXPECT_EQ(marked[2].text, "25 %");
    EXPECT_EQ(source.find("nan"), std::string::npos);
  }
}

// A bar as long as the roof ends at the roof's line.
TEST(BarChart, BarsAreAsLongAsTheirValues) {
  BarChart chart{"t", "GB/s", {}};
  chart.bars = {{"a", 8, "k", 0, ""}};
  chart.roof = 8;
  const std::string source = svg_of(chart, true);
  const auto bar = source.find(" d=\"M"), roof = source.find("<line class=\"roof peak2\" x1=\"");
  ASSERT_NE(bar, std::string::npos);
  ASSERT_NE(roof, std::string::npos);
  double x = 0, y = 0, flat = 0, radius = 0, line = 0;
  ASSERT_EQ(std::sscanf(source.c_str() + bar, " d=\"M%lf %lfh%lfq%lf", &x, &y, &flat, &radius), 4);
  ASSERT_EQ(std::sscanf(source.c_str() + roof, "<line class=\"roof peak2\" x1=\"%lf", &line), 1);
  EXPECT_NEAR(x + flat + radius, line, 0.3);
}

TEST(HeatMap, HasOneCellPerLengthAndBatch) {
  ridge::report::Bench bench{.title = "a <b>", .rows = {}};
  const auto add = [&](double length, double batch, double seconds, double peer) {
    bench.rows.push_back({.problem = "p",
                          .device = "host",
                          .variant = "v",
                          .seconds = seconds,
                          .peers = {{"fftw", peer}},
                          .chosen = true,
                          .more = {{"length", length}, {"batch", batch}}});
  };
  add(16, 1, 2, 1);
  add(16, 4, 2, 4);
  add(1 << 20, 1, 2, 2.5);
  add(1 << 20, 4, 2, std::nan(""));
  const auto maps = ridge::report::heat_maps(bench, "bench.0");
  ASSERT_EQ(maps.size(), 1u);
  for (const bool standalone : {false, true}) {
    const std::string source = svg_of(maps[0], standalone);
    const auto marked = with_key(source);
    ASSERT_EQ(marked.size(), 3u);
    EXPECT_EQ(marked[1].attributes.at("data-key"), "bench.0.rows.1.vs_fftw");
    EXPECT_EQ(marked[0].text, "0.50");
    EXPECT_EQ(marked[1].text, "2.00");
    EXPECT_EQ(marked[2].text, "1.25");
    EXPECT_NE(source.find(">2^20<"), std::string::npos);
    EXPECT_EQ(source.find("nan"), std::string::npos);
  }
  bench.rows.resize(2);  // a single length
  EXPECT_TRUE(ridge::report::heat_maps(bench, "bench.0").empty());
}

TEST(HeatMap, ManyLengthsOfOneBatchAreSmallCells) {
  ridge::report::Bench bench{.title = "t", .rows = {}};
  for (int n = 1; n <= 200; ++n) {
    bench.rows.push_back({.problem = "p",
                          .device = "host",
                          .variant = "v",
                          .seconds = 2,
                          .peers = {{"fftw", n % 2 == 0 ? 1.0 : 4.0}},
                          .chosen = true,
                          .more = {{"length", n}, {"batch", 1}}});
  }
  const auto maps = ridge::report::heat_maps(bench, "bench.0");
  ASSERT_EQ(maps.size(), 1u);
  const std::string source = svg_of(maps[0], true);
  const auto marked = with_key(source);
  ASSERT_EQ(marked.size(), 200u);
  EXPECT_EQ(marked[63].attributes.at("x"), marked[127].attributes.at("x"));  // lengths 64 and 128
  bench.rows.resize(20);
  EXPECT_TRUE(ridge::report::heat_maps(bench, "bench.0").empty());
}

TEST(LineChart, IsWellFormedAndCarriesItsNumbers) {
  Sweep sweep{
      "Bandwidth <by> size", "bytes", "B/s", {{"read & write", {{1024, 1e9}, {4096, 2.5e9}, {16384, 3e9}}}, {"b", {}}}};
  const auto marked = with_key(svg_of(sweep, "device.host.sweeps.0", true));
  ASSERT_EQ(marked.size(), 3u);
  EXPECT_EQ(marked[1].attributes.at("data-key"), "device.host.sweeps.0.lines.0.points.1.1");
  EXPECT_EQ(std::stod(marked[1].attributes.at("data-value")), 2.5e9);
  EXPECT_EQ(marked[1].text.substr(0, 8), "2.5G B/s");
}

TEST(LineChart, SurvivesOddSweeps) {
  const double nan = std::nan("");
  for (const Sweep& sweep :
       {Sweep{"", "", "", {}}, Sweep{"one", "x", "y", {{"l", {{5, 5}}}}},
        Sweep{"same", "x", "y", {{"l", {{5, 0}, {5, 0}}}}}, Sweep{"below", "x", "y", {{"l", {{-5, -3}, {5, 4}}}}},
        Sweep{"not numbers", "x", "y", {{"l", {{nan, 1}, {1, nan}, {2, 3}}}}},
        Sweep{"wide", "x", "y", {{"l", {{1e-9, 1e-9}, {1e12, 1e15}}}}}}) {
    const std::string source = svg_of(sweep, "s", false);
    EXPECT_NO_THROW(markup::read(source)) << sweep.title;
    EXPECT_EQ(source.find("nan"), std::string::npos) << sweep.title;
    EXPECT_EQ(source.find("inf"), std::string::npos) << sweep.title;
  }
}

}  // namespace
