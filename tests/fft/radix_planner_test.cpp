// The radix planner: shortest paths through measured passes, and the plans that the paper prints.
#include "papers/fft/classic/radix_planner.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <ridge/error.hpp>

#include "support/scratch.hpp"

namespace ridge::fft {
namespace {

// The paper's measurements of one pass in nanoseconds: radix 2, 4, 8 at stages 0, 1, 2, ...
RadixGraph paper(const std::vector<std::vector<double>>& nanoseconds) {
  RadixGraph graph;
  graph.stages = nanoseconds[0].size();
  for (std::size_t r = 0; r < nanoseconds.size(); ++r) {
    for (std::size_t stage = 0; stage < nanoseconds[r].size(); ++stage) {
      graph.edges.push_back({stage, std::size_t{2} << r, nanoseconds[r][stage] * 1e-9});
    }
  }
  return graph;
}

const RadixGraph kIvyBridge = paper({{1600, 2430, 2600, 2658, 2560, 2790, 2600, 2889, 3512, 3913},
                                     {3100, 3660, 3600, 4002, 4213, 3910, 4632, 4510, 5030},
                                     {4135, 4830, 5520, 5988, 6480, 7320, 7896, 7887}});
const RadixGraph kHaswell = paper({{1514, 2295, 2460, 2513, 2427, 2640, 2460, 2737, 3321, 3705},
                                   {2813, 3463, 3407, 3785, 3985, 3695, 4385, 4266, 4240},
                                   {3927, 4569, 5223, 5666, 6129, 6930, 7472, 7445}});

TEST(RadixPlanner, FindsThePapersPlansWithTheirTimes) {
  EXPECT_EQ(to_string(shortest_path(kIvyBridge).radices), "8-8-4-4");
  EXPECT_NEAR(shortest_path(kIvyBridge).seconds, 19785e-9, 1e-12);
  EXPECT_EQ(to_string(shortest_path(kHaswell).radices), "8-8-4-4");
  EXPECT_NEAR(shortest_path(kHaswell).seconds, 18218e-9, 1e-12);
  // 3 log2 N - 3 measurements for radices 2, 4 and 8.
  EXPECT_EQ(kIvyBridge.edges.size(), 27u);
}

TEST(RadixPlanner, CountsCompositions) {
  const std::vector<std::size_t> tribonacci{7, 13, 24, 44, 81, 149, 274, 504, 927, 1705, 3136};
  for (std::size_t i = 0; i < tribonacci.size(); ++i) EXPECT_EQ(compositions(i + 4), tribonacci[i]) << i + 4;
  EXPECT_EQ(compositions(4, {2, 4, 8, 16}), 8u);
  EXPECT_EQ(all_paths(kIvyBridge).size(), 274u);
}

TEST(RadixPlanner, ShortestPathsAreTheBestOfAllPaths) {
  for (const RadixGraph& graph : {kIvyBridge, kHaswell, measure_radix_graph<float>(256, 1e-5)}) {
    const auto all = all_paths(graph);
    const auto best = shortest_paths(graph, 12);
    ASSERT_EQ(best.size(), 12u);
    for (std::size_t i = 0; i < best.size(); ++i) EXPECT_NEAR(best[i].seconds, all[i].seconds, 1e-15) << i;
    EXPECT_EQ(best.front().radices, all.front().radices);
  }
}

TEST(RadixPlanner, RefusesGraphsThatDoNotReachTheEnd) {
  EXPECT_THROW(shortest_path({.stages = 3, .edges = {{0, 4, 1}}}), Error);
  EXPECT_THROW(shortest_path({.stages = 1, .edges = {{0, 4, 1}}}), Error);
  EXPECT_THROW(shortest_path({.stages = 1, .edges = {{0, 3, 1}}}), Error);
  EXPECT_THROW(shortest_path({.stages = 1, .edges = {{0, 2, -1}}}), Error);
  EXPECT_TRUE(shortest_path({.stages = 0, .edges = {}}).radices.empty());
}

std::size_t product(const Radices& radices) {
  return std::accumulate(radices.begin(), radices.end(), std::size_t{1}, std::multiplies<>());
}

TEST(RadixPlanner, EveryPassIsMeasuredAndModelled) {
  for (const RadixGraph& graph : {measure_radix_graph<double>(64, 1e-5), model_radix_graph<double>(host(), 64)}) {
    EXPECT_EQ(graph.stages, 6u);
    EXPECT_EQ(graph.edges.size(), 6u + 5 + 4 + 3);
    for (const auto& edge : graph.edges) EXPECT_GT(edge.seconds, 0);
    EXPECT_EQ(product(shortest_path(graph).radices), 64u);
  }
}

TEST(RadixPlanner, QuickPlansMultiplyToTheLength) {
  for (std::size_t n = 1; n <= std::size_t{1} << 24; n *= 2) EXPECT_EQ(product(quick_radices<float>(n)), n);
  EXPECT_EQ(to_string(quick_radices<float>(1024)), "8-8-4-4");
}

TEST(RadixPlanner, AMeasuredPlanIsKeptAsWisdom) {
  const test::ScratchFolder folder;
  const test::ScopedEnvironment path("RIDGE_WISDOM", (folder / "wisdom.json").string());
  const RadixPlan quick = plan_radices<float>(host(), 512, {.effort = Effort::quick});
  EXPECT_EQ(product(quick.radices), 512u);
  EXPECT_EQ(quick.decision.source, planner::Source::model);
  const RadixPlan measured = plan_radices<float>(host(), 512);
  EXPECT_EQ(product(measured.radices), 512u);
  EXPECT_EQ(measured.decision.source, planner::Source::measurement);
  EXPECT_GT(measured.decision.trials[measured.decision.winner].measured_seconds, 0);
  for (const Effort effort : {Effort::measured, Effort::quick}) {
    const RadixPlan again = plan_radices<float>(host(), 512, {.effort = effort});
    EXPECT_EQ(again.decision.source, planner::Source::wisdom);
    EXPECT_EQ(again.radices, measured.radices);
  }
  const auto entries = wisdom::all();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].workload, "fft-radix");
  EXPECT_EQ(entries[0].winner, to_string(measured.radices));
}

}  // namespace
}  // namespace ridge::fft
