// Factors and integers on the routes that need Hopper: clusters, L2 rings, TMA tiles. Run on a GPU; without one the
// kernels are compiled by g++ and their work-items run one after another, which takes seconds per kernel.
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <tuple>

#include <ridge/machine.hpp>

#include "device_support.hpp"
#include "fft/device/route.hpp"
#include "fft/device/trials.hpp"
#include "plan/predict.hpp"
#include "support/emulated_cuda.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::device_tests {
namespace {

using namespace on_device;

struct RouteCase {
  const char* name;
  const char* variant;
  std::size_t points;
  std::uint64_t lines = 2;
  std::function<void(AxisProblem&)> change = [](AxisProblem&) {};
  friend void PrintTo(const RouteCase& each, std::ostream* out) { *out << each.name; }
};

// Neighbouring factors differ, so that a wrong index is detected.
double uneven(std::size_t i) { return 1 + 0.4 * std::sin(static_cast<double>(i) * 0.7); }
void add_window(AxisProblem& problem) {
  std::vector<double> window(problem.length);
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = uneven(i);
  problem.load.real = window;
  problem.load_at = {.point = 1, .line = {0}};
}
void add_phases(AxisProblem& problem) {
  std::vector<std::complex<double>> phases(problem.length);
  for (std::size_t i = 0; i < phases.size(); ++i) phases[i] = std::polar(2 * uneven(i), 0.1 * static_cast<double>(i));
  problem.store.complex = phases;
  problem.store_at = {.point = 1, .line = {0}};
}
void make_columns(AxisProblem& problem) {
  const std::uint64_t across = problem.counts.front();
  problem.in = problem.out = {.point = across, .line = {1}};
}
// A distinct factor for every point of every line.
void add_own_factors(AxisProblem& problem) {
  const std::size_t all = problem.length * problem.counts.front();
  std::vector<double> window(all);
  std::vector<std::complex<double>> phases(all);
  for (std::size_t i = 0; i < all; ++i) {
    window[i] = uneven(i);
    phases[i] = std::polar(uneven(i), static_cast<double>(i));
  }
  problem.load.real = window;
  problem.store.complex = phases;
  problem.load_at = problem.store_at = problem.in;
}
void make_integers(AxisProblem& problem, Samples samples) {
  problem.samples = samples;
  add_window(problem);
  add_phases(problem);
}
void make_real(AxisProblem& problem) {
  problem.kind = Kind::real;
  problem.out.line = {problem.length / 2 + 1};
}
void make_real_back(AxisProblem& problem) {
  problem.kind = Kind::real;
  problem.direction = Direction::inverse;
  problem.in.line = {problem.length / 2 + 1};
  problem.scale = 0.5;
}
void make_inverse(AxisProblem& problem) {
  problem.direction = Direction::inverse;
  add_window(problem);
  add_phases(problem);
  std::swap(problem.load, problem.store);
}

std::vector<Device> with_clusters() {
  std::vector<Device> found;
  for (const Device& device : accelerators()) {
    if (device.limits().clusters) found.push_back(device);
  }
  if (found.empty() && std::getenv("RIDGE_SLOW") != nullptr) found.emplace_back(std::make_shared<test::EmulatedCuda>());
  return found;
}

class FastRoutes : public testing::TestWithParam<RouteCase> {};

TEST_P(FastRoutes, EqualTheReference) {
  const RouteCase& which = GetParam();
  const std::vector<Device> devices = with_clusters();
  if (devices.empty()) GTEST_SKIP() << "no device with clusters of work-groups; RIDGE_SLOW=1 emulates one";
  for (const Device& device : devices) {
    AxisProblem problem;
    problem.length = which.points;
    problem.counts = {which.lines};
    problem.in.line = problem.out.line = {which.points};
    which.change(problem);
    normalize(problem);
    AxisTrials trials(device, problem);
    std::set<std::string> kinds;
    for (const Route& route : list_routes(device, problem)) {
      if (route.candidate.variant != which.variant) continue;
      ASSERT_EQ(route.candidate.refusal, "");
      std::string kind;  // one route of each exchange and transfer method
      for (const auto& [key, value] : route.candidate.parameters) {
        if (key == "exchange" || key == "tiles") kind += value;
        if (key == "l2_partitions" || key == "blocks") kind += key;
      }
      if (!kinds.insert(kind).second) continue;
      const CompiledRoute compiled(device, route, problem.float64);
      const planner::Comparison result = trials.compare(compiled);
      EXPECT_TRUE(result.right()) << route.candidate.name() << " on " << device.id() << ": " << result.worst << " at "
                                  << result.where << ", allowed " << result.allowed;
    }
    EXPECT_FALSE(kinds.empty()) << which.variant;
  }
}

AxisProblem packed_lines_of(std::size_t points, std::uint64_t lines) {
  AxisProblem problem;
  problem.length = points;
  problem.counts = {lines};
  problem.in.line = problem.out.line = {points};
  normalize(problem);
  return problem;
}

// The small work-groups that a large GPU gets for few lines, run by the devices of this machine.
TEST(FewLines, SmallGroupsEqualTheReference) {
  for (const Device& device : accelerators()) {
    for (const auto& [points, lines, float64] :
         {std::tuple(4096u, 1u, false), std::tuple(3000u, 3u, false), std::tuple(2048u, 2u, true)}) {
      if (float64 && !device.limits().float64) continue;
      AxisProblem problem = packed_lines_of(points, lines);
      problem.float64 = float64;
      AxisTrials trials(device, problem);
      std::set<std::string> widths;
      for (const Route& route : list_routes(test::hopper(), problem)) {
        if (route.candidate.variant != "two_pass" || widths.size() == 3) continue;
        if (!widths.insert(route.candidate.parameters.at(3).second).second) continue;  // lines per group
        const CompiledRoute compiled(device, route, float64);
        const planner::Comparison result = trials.compare(compiled);
        EXPECT_TRUE(result.right()) << route.candidate.name() << " on " << device.id() << ": " << result.worst << " at "
                                    << result.where << ", allowed " << result.allowed;
      }
      EXPECT_GE(widths.size(), 3u) << points;
    }
  }
}

// As measured on an H200 (docs/measurements/h200.md): groups enough for every compute unit before few launches.
TEST(FewLines, TheModelChoosesRoutesThatOccupyTheDevice) {
  const auto best = [](std::size_t points, std::uint64_t lines) {
    const Device device = test::hopper();
    const AxisProblem problem = packed_lines_of(points, lines);
    std::pair<double, std::string> least{1e9, ""};
    for (const Route& route : list_routes(device, problem)) {
      if (!route.candidate.refusal.empty()) continue;
      const double seconds =
          planner::predict(machine::ceilings(device), planner_problem(problem), route.candidate.cost).seconds;
      if (seconds < least.first) least = {seconds, route.candidate.variant};
    }
    return least.second;
  };
  EXPECT_EQ(best(1 << 10, 1), "one_pass");
  EXPECT_EQ(best(1 << 14, 1), "cluster");
  for (const std::size_t log : {16, 18, 20}) EXPECT_EQ(best(std::size_t{1} << log, 1), "two_pass") << log;
  EXPECT_EQ(best(1 << 16, 16), "two_pass");
  EXPECT_NE(best(1 << 16, 1024), "two_pass");
}

constexpr std::size_t kCluster = 1 << 15, kShortRing = 1 << 14, kRing = 1 << 16, kTiles = 1 << 18, kRows = 1 << 22;
const RouteCase kRouteCases[] = {
    {"cluster_window", "cluster", kCluster, 2, add_window},
    {"cluster_multiply", "cluster", kCluster, 2, add_phases},
    {"cluster_int16", "cluster", kCluster, 2, [](AxisProblem& p) { make_integers(p, Samples::int16); }},
    {"cluster_short", "cluster", 1 << 13, 1, add_window},
    {"cluster_int8", "cluster", kCluster, 2, [](AxisProblem& p) { make_integers(p, Samples::int8); }},
    {"cluster_inverse", "cluster", kCluster, 2, make_inverse},
    {"cluster_own_factors", "cluster", kCluster, 2, add_own_factors},
    {"cluster_real_window", "cluster", 2 * kCluster, 2, [](AxisProblem& p) { make_real(p), add_window(p); }},
    {"cluster_real_int16", "cluster", 2 * kCluster, 2,
     [](AxisProblem& p) { make_real(p), add_window(p), p.samples = Samples::int16; }},
    {"ring_window", "l2_ring", kRing, 3, add_window},
    {"ring_multiply", "l2_ring", kRing, 3, add_phases},
    {"ring_int16", "l2_ring", kRing, 3, [](AxisProblem& p) { make_integers(p, Samples::int16); }},
    {"ring_int8", "l2_ring", kRing, 3, [](AxisProblem& p) { make_integers(p, Samples::int8); }},
    {"ring_inverse", "l2_ring", kRing, 3, make_inverse},
    {"ring_slots_again", "l2_ring", kShortRing, 40, make_inverse},
    {"ring_partitions", "l2_ring", kRing, 20, make_inverse},
    {"ring_partitions_double", "l2_ring", kRing, 17, [](AxisProblem& p) { p.float64 = true, add_window(p); }},
    {"ring_tiles_again", "l2_ring", kTiles, 16, make_inverse},
    {"ring_tiles_partition_local", "l2_ring", 4 * kTiles, 5, add_phases},
    {"ring_tiles_double", "l2_ring", kTiles, 1, [](AxisProblem& p) { p.float64 = true, add_window(p); }},
    {"ring_real", "real_ring", 2 * kRing, 5, make_real},
    {"ring_real_again", "real_ring", kRing, 20, make_real},
    {"ring_real_back", "real_ring", kRing, 20, make_real_back},
    {"ring_real_longer", "real_ring", 8 * kRing, 3, [](AxisProblem& p) { make_real(p), p.scale = 0.25; }},
    {"ring_columns", "l2_ring", 2048, 64, [](AxisProblem& p) { make_columns(p), add_window(p), add_phases(p); }},
    {"tiles_window", "two_pass_tma", kTiles, 2, add_window},
    {"tiles_multiply", "two_pass_tma", kTiles, 2, add_phases},
    {"tiles_inverse", "two_pass_tma", kTiles, 2, make_inverse},
    {"tiles_columns", "two_pass_tma", 256, 256, [](AxisProblem& p) { make_columns(p), add_own_factors(p); }},
    {"rows_window_multiply", "l2_ring", kRows, 1, [](AxisProblem& p) { add_window(p), add_phases(p); }},
};
INSTANTIATE_TEST_SUITE_P(Cases, FastRoutes, testing::ValuesIn(kRouteCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace ridge::fft::device_tests
