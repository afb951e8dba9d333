// Tests the summary, the warnings and the text and JSON forms of benchmark rows.
#include "report/bench_rows.hpp"

#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace {

using ridge::base::Json;
using ridge::base::parse_json;
using ridge::report::Bench;
using ridge::report::BenchRow;
using ridge::report::summarize;

std::vector<BenchRow> rows() {
  return {
      {"a", "host", "slow", 4.0, 0, 1.5, 0.1, {{"fftw", 2.0}}},
      {"a", "host", "fast", 1.0, 0, 6.0, 0.4, {{"fftw", 2.0}}},
      {"b", "host", "fastest", 1.0, 3.5, 6.0, 0.4, {{"fftw", 0.5}, {"kiss", 3.0}}},
      {"b", "host", "picked", 2.0, 3.5, 6.0, 0.4, {{"fftw", 0.5}, {"kiss", 3.0}}, true},
      {"a", "cuda:0", "only", 0.5, 0, 9.0, 0.9, {}},
  };
}

TEST(BenchRows, SummaryTakesTheChosenElseTheFastest) {
  const auto summary = summarize(rows());
  ASSERT_EQ(summary.size(), 2u);
  const auto& fftw = summary.at("fftw");
  EXPECT_DOUBLE_EQ(fftw.geomean_speedup, std::sqrt(2.0 * 0.25));  // 2.0 / 1.0 on a, 0.5 / 2.0 on b
  EXPECT_DOUBLE_EQ(fftw.worst_speedup, 0.25);
  EXPECT_EQ(fftw.worst_problem, "b on host");
  EXPECT_EQ(fftw.problems, 2u);
  EXPECT_DOUBLE_EQ(summary.at("kiss").geomean_speedup, 1.5);
}

TEST(BenchRows, RowsWithoutAPeersTimeAreLeftOut) {
  const double nan = std::nan("");
  EXPECT_TRUE(summarize({{"a", "host", "v", 0, 0, 0, 0, {{"fftw", 1.0}}}}).empty());
  EXPECT_TRUE(summarize({{"a", "host", "v", 1, 0, 0, 0, {{"fftw", 0.0}, {"kiss", nan}}}}).empty());
  EXPECT_TRUE(summarize({}).empty());
}

TEST(BenchRows, SharesAboveTheRoofAreExplained) {
  ridge::machine::Profile profile;
  profile.measured_at = "2024-06-01";
  ridge::machine::DeviceProfile host{.id = "host", .name = "n", .fingerprint = "f", .ceilings = {}};
  host.ceilings.measured = true;
  host.ceilings.levels = {{"L2", 1 << 20, {}, {}}, {"memory", 1u << 30, {20e9, 10e9, 10e9, 0, 0}, {}}};
  profile.devices = {host};
  // Problem, device, variant, seconds, GFLOP/s, GB/s, share.
  const BenchRow below{"a", "host", "v", 1, 0, 10.04, 1.004, {}}, small{"a", "host", "v", 1e-5, 0, 20, 2, {}},
      large{"b", "host", "w", 1, 30, 17.3, 1.73, {}}, nobody{"c", "host", "v", 1, 0, 1, std::nan(""), {}};
  const auto warned = [&](std::vector<BenchRow> rows, const std::optional<ridge::machine::Profile>& of) {
    Bench bench{"t", "", std::move(rows)};
    const auto found = roof_warnings(bench, of);
    return found.empty() ? std::string() : found.front();
  };
  EXPECT_EQ(warned({below, nobody}, profile), "") << "rounds to 100 %";
  EXPECT_EQ(warned({small}, profile),
            "host: a row is above 100 % of the roof, at most 200 % (a, v): the data fit in L2, and the roof is that of "
            "main memory");
  EXPECT_EQ(warned({below, small, large, {"d", "host", "x", 1, 0, 30, 3, {}}}, profile),
            "host: 3 rows are above 100 % of the roof, at most 300 % (d, x): the profile of 2024-06-01 is lower than "
            "what this machine does now; measure again while it is quiet with `ridge machine --refresh`");
  EXPECT_NE(warned({large}, std::nullopt).find("estimates; measure them with `ridge machine`"), std::string::npos);
  profile.devices[0].ceilings.measured = false;
  EXPECT_NE(warned({large}, profile).find("estimates"), std::string::npos);
  Bench stencils{"t", "", {large}};
  stencils.beyond_roof = ridge::report::kSeveralSteps;
  EXPECT_NE(roof_warnings(stencils, profile).at(0).find("several time steps"), std::string::npos);
}

TEST(BenchRows, BecomePointsOfTheirDevice) {
  auto all = rows();
  const auto points = points_of(all, "host", 1);
  ASSERT_EQ(points.size(), 3u) << "the fastest of a, the fastest and the chosen of b";
  EXPECT_EQ(points[0].label, "a fast");
  EXPECT_DOUBLE_EQ(points[0].bytes, 6e9);
  EXPECT_EQ(points[0].flops, 0);
  EXPECT_EQ(points[1].label, "b fastest");
  EXPECT_DOUBLE_EQ(points[1].flops, 3.5e9);
  EXPECT_EQ(points[2].label, "b picked");
  EXPECT_DOUBLE_EQ(points[2].bytes, 12e9);
  EXPECT_EQ(points_of(all, "host").size(), 4u);
  EXPECT_EQ(points_of(all, "cuda:0").size(), 1u);
  EXPECT_TRUE(points_of(all, "opencl:0").empty());
}

TEST(BenchRows, JsonHasTheFormatOfEveryBench) {
  Bench bench{"t", "n", rows()};
  const Json json = parse_json(to_json(bench, Json{{"hardware", "here"}}));
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"machine", "rows", "summary"}));
  EXPECT_EQ(json["machine"]["hardware"], "here");
  ASSERT_EQ(json["rows"].size(), 5u);
  const Json& row = json["rows"][2];
  EXPECT_EQ(row["problem"], "b");
  EXPECT_EQ(row["device"], "host");
  EXPECT_EQ(row["variant"], "fastest");
  EXPECT_EQ(row["seconds"], 1.0);
  EXPECT_EQ(row["gflops"], 3.5);
  EXPECT_EQ(row["gbytes_per_s"], 6.0);
  EXPECT_EQ(row["roof_share"], 0.4);
  EXPECT_EQ(row["peers"]["kiss"], 3.0);
  EXPECT_EQ(json["rows"][3]["chosen"], true);
  EXPECT_EQ(json["summary"]["fftw"]["worst_problem"], "b on host");
  EXPECT_EQ(json["summary"]["fftw"]["worst_speedup"], 0.25);
  EXPECT_NEAR(json["summary"]["fftw"]["geomean_speedup"].get<double>(), 0.7071, 1e-4);
}

TEST(BenchRows, JsonStaysJsonWithInfinitiesAndOddText) {
  Bench bench{"t", "", {{"a\"\n<", "host", "\xff", std::numeric_limits<double>::infinity(), 0, 0, 0, {}}}};
  bench.missing_peers = {"fftw: not installed"};
  const Json json = parse_json(to_json(bench, Json::object()));
  EXPECT_TRUE(json["rows"][0]["seconds"].is_null());
  EXPECT_EQ(json["rows"][0]["problem"], "a\"\n<");
  EXPECT_EQ(json["missing_peers"][0], "fftw: not installed");
}

TEST(BenchRows, TextShowsSpeedups) {
  Bench bench{"t", "", rows()};
  bench.missing_peers = {"ne10: not an ARM machine"};
  const std::string text = to_text(bench);
  EXPECT_NE(text.find("picked *"), std::string::npos) << text;
  EXPECT_NE(text.find("0.25x"), std::string::npos) << text;
  EXPECT_NE(text.find(" 90 %"), std::string::npos) << text;  // roof_share 0.9
  EXPECT_NE(text.find("against fftw: 0.71x in the geometric mean of 2, at worst 0.25x (b on host)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("not compared with ne10: not an ARM machine"), std::string::npos) << text;
}

}  // namespace
