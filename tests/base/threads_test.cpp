#include "base/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ridge::base {
namespace {

TEST(Threads, EveryShareRunsOnceAndTogether) {
  for (std::size_t threads : {1u, 2u, 3u, 7u, 16u}) {
    std::vector<std::atomic<int>> runs(threads);
    parallel(threads, [&](std::size_t thread, std::size_t count) {
      EXPECT_EQ(count, threads);
      runs[thread]++;
    });
    for (const auto& r : runs) EXPECT_EQ(r, 1);
  }
}

TEST(Threads, ManyCallsOfChangingWidthLoseNothing) {
  std::atomic<long> total{0};
  long expected = 0;
  for (int call = 0; call < 3000; ++call) {
    const std::size_t threads = 1 + static_cast<std::size_t>(call * 7 % 5);
    expected += static_cast<long>(threads * (threads + 1) / 2);
    parallel(threads, [&](std::size_t thread, std::size_t) { total += static_cast<long>(thread) + 1; });
  }
  EXPECT_EQ(total, expected);
}

TEST(Threads, ThreadKStaysOnTheSameWorker) {
  std::vector<std::thread::id> first(4), second(4);
  parallel(4, [&](std::size_t thread, std::size_t) { first[thread] = std::this_thread::get_id(); });
  parallel(4, [&](std::size_t thread, std::size_t) { second[thread] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), 4u);
}

TEST(Threads, NestedCallsRunOnTheCaller) {
  std::atomic<int> inner{0};
  parallel(3, [&](std::size_t, std::size_t) {
    const auto me = std::this_thread::get_id();
    parallel(5, [&](std::size_t, std::size_t) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      inner++;
    });
  });
  EXPECT_EQ(inner, 15);
}

TEST(Threads, ConcurrentCallersBothFinish) {
  std::atomic<int> runs{0};
  const auto caller = [&] {
    for (int i = 0; i < 200; ++i) parallel(3, [&](std::size_t, std::size_t) { runs++; });
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(runs, 2 * 200 * 3);
}

TEST(Threads, AnExceptionReachesTheCallerOnceAllHaveEnded) {
  std::atomic<int> ended{0};
  EXPECT_THROW(parallel(4,
                        [&](std::size_t thread, std::size_t) {
                          ended++;
                          if (thread == 2) throw std::runtime_error("no");
                        }),
               std::runtime_error);
  EXPECT_EQ(ended, 4);
  parallel(4, [&](std::size_t, std::size_t) { ended++; });  // and the pool still works
  EXPECT_EQ(ended, 8);
}

TEST(Threads, SharesCoverEverythingInOrder) {
  for (std::size_t count : {0u, 1u, 5u, 64u, 1000u}) {
    for (std::size_t threads : {1u, 2u, 3u, 16u}) {
      for (std::size_t grain : {1u, 8u, 64u}) {
        std::size_t at = 0;
        for (std::size_t t = 0; t < threads; ++t) {
          const Share s = share(count, t, threads, grain);
          EXPECT_EQ(s.begin, at);
          EXPECT_GE(s.end, s.begin);
          if (s.end != count) {
            EXPECT_EQ(s.end % grain, 0u);
          }
          at = s.end;
        }
        EXPECT_EQ(at, count);
      }
    }
  }
}

}  // namespace
}  // namespace ridge::base
