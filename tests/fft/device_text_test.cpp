// The kernel generator without a device: kernels compile for Hopper, fit its resources, and have no bank conflicts.
#include <map>
#include <set>

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device_support.hpp"
#include "fft/device/pass/exchange_layout.hpp"
#include "fft/device/pass/step.hpp"
#include "fft/device/pass/text/codegen.hpp"
#include "fft/device/problem/radices.hpp"
#include "fft/device/route.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"
#include "support/hopper.hpp"

namespace ridge::fft::device_tests {
namespace {

using namespace on_device;

AxisProblem rows(std::size_t n, bool float64 = false) {
  AxisProblem problem;
  problem.float64 = float64;
  problem.length = n;
  problem.counts = {std::max<std::uint64_t>((std::uint64_t{1} << 24) / n, 1)};
  problem.in.line = problem.out.line = {n};
  return problem;
}

const PassDesign& first_pass(const Route& route) { return *pass_of(route.steps.front()); }

std::vector<Route> allowed(const AxisProblem& problem) {
  const Device hopper = test::hopper();
  std::vector<Route> routes;
  for (Route& route : list_routes(hopper, problem)) {
    if (route.candidate.refusal.empty()) routes.push_back(std::move(route));
  }
  return routes;
}

TEST(RadixPlans, CoverTheLengthAndStayWithinTheRegisters) {
  for (const std::size_t n : {2, 12, 100, 1000, 1001, 4095, 4096, 6561, 8192, 16384}) {
    const auto plans = radix_plans(n, {});
    ASSERT_FALSE(plans.empty()) << n;
    for (const RadixPlan& plan : plans) {
      std::size_t product = 1;
      for (const std::size_t radix : plan.radices) product *= radix;
      EXPECT_EQ(product, n);
      EXPECT_LE(plan.held, 32u);
      EXPECT_LE(plan.threads, 1024u);
    }
  }
  EXPECT_TRUE(radix_plans(37, {}).empty()) << "no butterfly of 37 points";
  EXPECT_TRUE(radix_plans(std::size_t{1} << 20, {}).empty()) << "no group holds a million points";
}

TEST(Exchange, PowersOfTwoHaveNoBankConflicts) {
  for (std::size_t n = 64; n <= 8192; n *= 2) {
    const Route route = allowed(rows(n)).front();
    const PassDesign& design = first_pass(route);
    const auto stages = stages_of(design);
    for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
      const ExchangeLayout layout = exchange_layout(design, stages[i], stages[i + 1], 8);
      // Two half warps per access of 8 bytes, for the first two warps of a group.
      const std::size_t warps = std::min<std::size_t>((design.items() + 31) / 32, 2);
      const std::size_t accesses = stages[i].radix * stages[i].rounds + stages[i + 1].radix * stages[i + 1].rounds;
      EXPECT_EQ(bank_accesses(design, stages[i], stages[i + 1], layout, 8), 2 * warps * accesses) << n;
    }
  }
}

// Bank accesses of the first two warps, every load and store counted: elements of 8 bytes, half a warp at once.
std::size_t counted_accesses(const PassDesign& design, const StageDesign& from, const StageDesign& to,
                             const ExchangeLayout& layout) {
  const auto instruction = [&](const StageDesign& stage, std::size_t half, const auto& point) {
    std::map<std::size_t, std::size_t> banks;
    std::size_t most = 0;
    for (std::size_t item = half * 16; item < std::min(half * 16 + 16, design.items()); ++item) {
      const bool lines = stage.order == Order::lines;
      const std::size_t thread = lines ? item / design.lines : item % design.threads;
      if (thread >= stage.butterflies) continue;
      most =
          std::max(most, ++banks[layout.at(point(thread), lines ? item % design.lines : item / design.threads) % 16]);
    }
    return most * stage.rounds;
  };
  std::size_t sum = 0;
  for (std::size_t half = 0; half < 4 && half / 2 * 32 < design.items(); ++half) {
    for (std::size_t r = 0; r < from.radix; ++r) {
      sum += instruction(from, half, [&](std::size_t i) {
        return i / from.before * from.before * from.radix + i % from.before + r * from.before;
      });
    }
    for (std::size_t r = 0; r < to.radix; ++r)
      sum += instruction(to, half, [&](std::size_t i) { return i + r * to.butterflies; });
  }
  return sum;
}

TEST(Exchange, AccessesAreThoseOfEveryPoint) {
  for (const std::size_t n : {60, 256, 1000, 4095}) {
    std::size_t tried = 0;
    for (const Route& route : allowed(rows(n))) {
      if (++tried > 4) break;
      const PassDesign& design = first_pass(route);
      const auto stages = stages_of(design);
      for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
        for (const bool interleaved : {false, true}) {
          for (const std::size_t more : {0, 1, 5}) {
            const ExchangeLayout layout{.interleaved_lines = interleaved, .lines = design.lines, .pitch = n + more};
            EXPECT_EQ(bank_accesses(design, stages[i], stages[i + 1], layout, 8),
                      counted_accesses(design, stages[i], stages[i + 1], layout))
                << route.candidate.name() << ", exchange " << i;
          }
        }
      }
    }
  }
}

TEST(Exchange, PointsHaveDistinctPositions) {
  for (const std::size_t n : {60, 256, 1000}) {
    std::size_t tried = 0;
    for (const Route& route : allowed(rows(n))) {
      if (++tried > 3) break;
      const PassDesign& design = first_pass(route);
      const auto stages = stages_of(design);
      for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
        const ExchangeLayout layout = exchange_layout(design, stages[i], stages[i + 1], 8);
        std::set<std::size_t> places;
        for (std::size_t line = 0; line < design.lines; ++line) {
          for (std::size_t point = 0; point < n; ++point) {
            places.insert(layout.at(point, line));
          }
        }
        EXPECT_EQ(places.size(), n * design.lines) << route.candidate.name();
        EXPECT_LT(*places.rbegin(), layout.elements) << route.candidate.name();
      }
    }
  }
}

TEST(Text, LiteralsReadBackAsTheSameNumber) {
  for (const double value : {0.1, 1.0, -0.70710678118654752440, 1e-7}) {
    EXPECT_EQ(std::stod(codegen::literal(value, true)), value);
    EXPECT_EQ(std::stof(codegen::literal(value, false)), static_cast<float>(value));
    EXPECT_EQ(codegen::literal(value, false).back(), 'f');
  }
}

// Needs no GPU: the source that a CUDA device would compile. Every route family, both precisions, real and strided.
TEST(Text, EveryKindOfKernelCompilesForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  std::vector<AxisProblem> problems{rows(1),          rows(8),       rows(60),           rows(1000),
                                    rows(1009),       rows(74),      rows(1 << 16),      rows(65537),
                                    rows(2048, true), rows(1 << 22), rows(1 << 18, true)};
  AxisProblem real = rows(240);
  real.kind = Kind::real;
  real.out.line = {121};
  problems.push_back(real);
  real.direction = Direction::inverse;
  std::swap(real.in, real.out);
  problems.push_back(real);
  AxisProblem part = rows(1 << 14);  // part of a spectrum
  part.kind = Kind::real;
  part.kept = 1024;
  part.out.line = {1024};
  problems.push_back(part);
  part.direction = Direction::inverse;
  std::swap(part.in, part.out);
  problems.push_back(part);
  AxisProblem long_real = rows(1 << 16);
  long_real.kind = Kind::real;
  long_real.out.line = {(1 << 15) + 1};
  problems.push_back(long_real);
  AxisProblem columns = rows(512);
  columns.counts = {384, 4};
  columns.in = columns.out = {.point = 384, .line = {1, 512 * 384}};
  columns.in_place = true;
  problems.push_back(columns);
  columns = rows(4096);
  columns.counts = {4096};
  columns.in = columns.out = {.point = 4096, .line = {1}};
  problems.push_back(columns);
  columns.counts = {2049};  // the last set of columns is incomplete
  columns.in = columns.out = {.point = 2049, .line = {1}};
  problems.push_back(columns);
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    AxisProblem folded = rows(1024);
    folded.direction = direction;
    folded.folded = 100;
    folded.counts = {51};
    folded.in.line = folded.out.line = {513};
    problems.push_back(folded);
  }
  std::set<std::string> seen;
  for (const AxisProblem& problem : problems) {
    std::set<std::string> variants;
    for (const Route& route : allowed(problem)) {
      std::string kind = route.candidate.variant;
      for (const auto& [key, value] : route.candidate.parameters) {
        if (key == "exchange" && !problem.float64) kind += value;
      }
      if (!variants.insert(kind).second)
        continue;  // the first of each family, and of each exchange method of a cluster
      for (const KernelSource& source : kernels_of(route)) {
        if (!seen.insert(source.text).second) continue;
        std::vector<std::string> targets{"sm_90a"};  // the device's target, if the compiler knows it
        if (source.text.find("RELEASE_REGISTERS") != std::string::npos) targets.push_back("sm_90");
        for (const std::string& target : targets) {
          EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, target).empty()); })
              << target << " " << route.candidate.name() << "\n"
              << source.text;
        }
      }
    }
    EXPECT_FALSE(variants.empty()) << problem.length;
  }
  EXPECT_GT(seen.size(), 14u);
}

// Lengths above 2^21 with large prime factors, once refused.
TEST(Text, LongLengthsOfLargePrimesHaveARoute) {
  for (const std::size_t n : {2500201, 2965383, 3025003, 3916172}) {
    for (const bool float64 : {false, true}) EXPECT_FALSE(allowed(rows(n, float64)).empty()) << n << " " << float64;
  }
}

TEST(Text, FactorsAndIntegersOnFastRoutes) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const auto& [n, names] :
       {std::pair<std::size_t, std::set<std::string>>{1 << 16, {"cluster", "l2_ring"}}, {1 << 21, {"two_pass_tma"}}}) {
    AxisProblem problem = rows(n);
    problem.load.real = std::vector<double>(n, 0.5);
    problem.store.complex = std::vector<std::complex<double>>(n, {0.5, 0.25});
    problem.load_at = problem.store_at = {.point = 1, .line = {0}};
    if (n == 1 << 16) problem.samples = Samples::int8;
    std::set<std::string> left = names;
    for (const Route& route : allowed(problem)) {
      if (left.erase(route.candidate.variant) == 0) continue;
      for (const KernelSource& source : kernels_of(route)) {
        EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, "sm_90").empty()); }) << source.text;
      }
    }
    EXPECT_TRUE(left.empty()) << n << ": " << *left.begin() << " is refused";
  }
}

// Order of tickets as written by ring_text: every tile that a tile waits for has a smaller ticket.
TEST(L2Ring, ATileWaitsOnlyForSmallerTickets) {
  std::size_t rings = 0;
  for (const std::size_t n : {1 << 15, 1 << 17, 1 << 18, 1 << 20, 1 << 22, 100000, 24576}) {
    for (const Route& route : allowed(rows(n))) {
      const RingDesign* ring = ring_of(route.steps.back());
      if (ring == nullptr) continue;
      ++rings;
      EXPECT_EQ(ring->first.items(), ring->second.items()) << route.candidate.name();
      const std::uint64_t first = ring->first_tiles(), second = ring->second_tiles(), chunks = 2 * ring->slots + 3;
      const std::uint64_t ahead = std::min<std::uint64_t>(ring->lead, (ring->slots - 1) * first);
      std::vector<std::uint64_t> written(chunks), read(chunks);  // tiles issued so far
      for (std::uint64_t ticket = 0; ticket < ahead + chunks * (first + second); ++ticket) {
        bool is_first = true;
        std::uint64_t tile = ticket;
        if (ticket >= ahead) {
          const std::uint64_t round = (ticket - ahead) / (first + second), part = (ticket - ahead) % (first + second);
          const std::uint64_t before = part * first / (first + second);
          is_first = (part + 1) * first / (first + second) > before;
          tile = is_first ? ahead + round * first + before : round * second + (part - before);
        }
        const std::uint64_t chunk = tile / (is_first ? first : second);
        if (is_first && chunk >= chunks) continue;
        ASSERT_LT(chunk, chunks);
        if (is_first && chunk >= ring->slots) {
          ASSERT_EQ(read[chunk - ring->slots], second) << route.candidate.name();
        }
        if (!is_first) {
          ASSERT_EQ(written[chunk], first) << route.candidate.name();
        }
        ++(is_first ? written : read)[chunk];
      }
      for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
        EXPECT_EQ(written[chunk], first);
        EXPECT_EQ(read[chunk], second);
      }
    }
  }
  EXPECT_GT(rings, 14u);
}

#ifdef RIDGE_HAVE_CUDA
TEST(Text, ShufflesCompileAndDoNotSpill) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const std::size_t n : {16, 64, 256, 1024}) {
    std::size_t found = 0;
    for (const Route& route : allowed(rows(n))) {
      if (route.candidate.variant != "one_pass" || !first_pass(route).shuffles) continue;
      ++found;
      const auto resources = detail::resources_for(pass_text(first_pass(route)).source, "sm_90");
      ASSERT_EQ(resources.size(), 1u);
      EXPECT_EQ(resources[0].spilled_bytes, 0) << route.candidate.name();
    }
    EXPECT_EQ(found, 1u) << n;
  }
}

TEST(Text, OnePassPowersOfTwoDoNotSpill) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const std::size_t n : {16, 256, 2048, 4096, 8192, 16384}) {
    const Route route = allowed(rows(n)).front();
    EXPECT_EQ(route.candidate.variant, "one_pass") << n;
    const auto resources = detail::resources_for(pass_text(first_pass(route)).source, "sm_90");
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].spilled_bytes, 0) << route.candidate.name();
  }
}
#endif

}  // namespace
}  // namespace ridge::fft::device_tests
