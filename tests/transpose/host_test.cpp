// Tests the transpose variants on the host.
#include <gtest/gtest.h>

#include <complex>
#include <set>
#include <thread>

#include "reference.hpp"

namespace ridge::transpose::testing {
namespace {

// Checks every allowed candidate of every problem at two alignments; returns the variants that ran.
std::set<std::string> check_all(const std::vector<Problem>& problems, std::size_t bytes) {
  std::set<std::string> ran;
  for (Problem problem : problems) {
    problem.threads = 3;
    const Layout layout = resolve(problem, bytes);
    for (const Entry& entry : list_variants(host(), layout)) {
      if (!entry.candidate.refusal.empty()) continue;
      ran.insert(entry.candidate.variant);
      const auto variant = entry.build();
      for (const std::size_t shift : {std::size_t{0}, bytes}) {
        EXPECT_EQ(check(layout, *variant, shift), "") << entry.candidate.name() << " on " << layout.key();
      }
    }
  }
  return ran;
}

const std::set<std::string> kAll{"naive", "cache_blocked", "simd", "non_temporal"};

class HostVariants : public ::testing::TestWithParam<std::size_t> {};

TEST_P(HostVariants, PackedMatchTheLoop) { EXPECT_EQ(check_all(packed_problems(), GetParam()), kAll); }
TEST_P(HostVariants, StridedMatchTheLoop) { EXPECT_EQ(check_all(strided_problems(), GetParam()), kAll); }
TEST_P(HostVariants, InPlaceMatchTheLoop) { EXPECT_EQ(check_all(in_place_problems(), GetParam()), kAll); }

INSTANTIATE_TEST_SUITE_P(ElementBytes, HostVariants, ::testing::ValuesIn(kElementSizes));

TEST(HostVariant, ElementsOfAnyAlignment) {
  // Four-byte elements aligned to one byte, such as RGBA pixels.
  const Layout layout = resolve({.rows = 70, .columns = 90}, 4);
  for (const Entry& entry : list_variants(host(), layout)) {
    EXPECT_EQ(check(layout, *entry.build(), 1), "") << entry.candidate.name();
  }
}

TEST(HostVariant, ColumnStridesAreRefusedWithAReason) {
  const auto listed = candidates(host(), {.rows = 4, .columns = 4, .input = {.column = 2}}, 8);
  for (const planner::Candidate& candidate : listed) {
    const bool vectors = candidate.variant == "simd" || candidate.variant == "non_temporal";
    EXPECT_EQ(!candidate.refusal.empty(), vectors) << candidate.name();
    if (vectors) {
      EXPECT_NE(candidate.refusal.find("column stride"), std::string::npos) << candidate.refusal;
    }
  }
}

TEST(HostVariant, RunFromSeveralThreadsAtOnce) {
  const Layout layout = resolve({.rows = 130, .columns = 70, .threads = 2}, 8);
  for (const Entry& entry : list_variants(host(), layout)) {
    const auto variant = entry.build();
    std::vector<std::string> results(4);
    std::vector<std::thread> threads;
    for (std::string& result : results) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5 && result.empty(); ++i) result = check(layout, *variant);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& result : results) EXPECT_EQ(result, "") << entry.candidate.name();
  }
}

}  // namespace
}  // namespace ridge::transpose::testing
