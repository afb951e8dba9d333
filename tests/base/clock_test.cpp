// Timing of calls: rounds, limits and interleaving.
#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/aligned.hpp"

namespace ridge::base {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Clock, TheColdCallIsNotCounted) {
  int calls = 0;
  const double best = best_seconds([&] { sleep_ms(calls++ == 0 ? 60 : 2); }, {.seconds = 0, .at_least = 3});
  EXPECT_EQ(calls, 4);
  EXPECT_GE(best, 0.002);
  EXPECT_LT(best, 0.06);
}

TEST(Clock, InterleavedCallsAlternate) {
  std::string order;
  const auto best =
      best_seconds_interleaved({[&] { order += 'a'; }, [&] { order += 'b'; }}, {.seconds = 0, .at_least = 3});
  EXPECT_EQ(order, "abababab");
  EXPECT_EQ(best.size(), 2u);
}

TEST(Clock, EachRoundMayGetNewData) {
  std::string order;
  const auto best = best_seconds_interleaved({[&] { order += 'a'; }, [&] { order += 'b'; }},
                                             {.seconds = 0, .at_least = 2}, [&] { order += '.', sleep_ms(20); });
  EXPECT_EQ(order, "ab.a.b.a.b");
  EXPECT_LT(best[0], 0.02);
}

TEST(Clock, ShortCallsAreRepeatedWithinARound) {
  long calls = 0;
  const double best = best_seconds([&] { ++calls; }, {.seconds = 0, .at_least = 2, .round = 1e-3});
  EXPECT_GT(calls, 100);
  EXPECT_LT(best, 1e-4);
}

TEST(Aligned, StartsAtItsAlignmentAndRefusesImpossibleSizes) {
  for (std::size_t n : {1u, 100u, 1u << 22, (1u << 22) + 1}) {
    AlignedArray<char> a(n);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % kAlignment, 0u);
    a[0] = 1;
    a[n - 1] = 2;
  }
  EXPECT_ANY_THROW(AlignedArray<char>(std::size_t{1} << 62));
  EXPECT_ANY_THROW(AlignedArray<char>(~std::size_t{0} - 5));
}

}  // namespace
}  // namespace ridge::base
