// Least-recently-used cache limited by memory.
#include "base/lru_cache.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/aligned.hpp"

namespace ridge::base {
namespace {

TEST(LruCache, dropsTheLeastRecentlyUsedFirst) {
  LruCache<std::string, int> cache(100);
  cache.put("a", 1, 40);
  cache.put("b", 2, 40);
  ASSERT_NE(cache.find("a"), nullptr);  // makes b the least recently used
  cache.put("c", 3, 20);
  EXPECT_EQ(cache.bytes(), 100u);  // the limit itself is allowed
  EXPECT_EQ(cache.size(), 3u);
  cache.put("d", 4, 1);
  EXPECT_EQ(cache.find("b"), nullptr);
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(*cache.find("c"), 3);
  EXPECT_EQ(*cache.find("d"), 4);
  EXPECT_EQ(cache.bytes(), 61u);
}

TEST(LruCache, keepsTheNewestWhateverItsSize) {
  LruCache<int, int, std::map> cache(100);
  cache.put(1, 10, 60);
  cache.put(2, 20, 1000);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(*cache.find(2), 20);
  cache.put(3, 30, 10);
  EXPECT_EQ(cache.find(2), nullptr);
  EXPECT_EQ(cache.bytes(), 10u);
}

TEST(LruCache, keepsTheRequestedNumberAndCountsTheDropped) {
  LruCache<int, int> cache(100, 2);
  EXPECT_EQ(cache.put(1, 10, 500), 0u);
  EXPECT_EQ(cache.put(2, 20, 600), 0u);
  EXPECT_EQ(cache.put(3, 30, 10), 500u);
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_NE(cache.find(2), nullptr);
}

TEST(LruCache, replacesAndClears) {
  LruCache<int, int> cache(100);
  cache.put(1, 10, 60);
  cache.put(1, 11, 30);
  EXPECT_EQ(cache.bytes(), 30u);
  EXPECT_EQ(*cache.find(1), 11);
  cache.clear();
  EXPECT_EQ(cache.find(1), nullptr);
  EXPECT_EQ(cache.bytes(), 0u);
  cache.put(1, 12, 5);
  EXPECT_EQ(*cache.find(1), 12);
}

TEST(AllocationTally, countsBytesNotFreed) {
  const AllocationTally tally;
  EXPECT_EQ(tally.bytes(), 0u);
  const AlignedArray<double> kept(1000);
  { const AlignedArray<double> dropped(100000); }
  EXPECT_GE(tally.bytes(), 8000u);
  EXPECT_LT(tally.bytes(), 9000u);
  const AllocationTally later;
  EXPECT_EQ(later.bytes(), 0u);
}

}  // namespace
}  // namespace ridge::base
