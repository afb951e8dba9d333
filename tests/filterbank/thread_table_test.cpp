// Tests families of threads: every index runs once, block and table sizes are respected, and nested families are waited
// for.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "filterbank/host/thread_table.hpp"

namespace ridge::filterbank {
namespace {

TEST(ThreadTable, EveryIndexOnceWithinItsBlock) {
  for (const std::size_t cores : {1ul, 3ul}) {
    for (const std::size_t entries : {1ul, 5ul, 64ul}) {
      ThreadTable table(cores, entries);
      std::vector<std::atomic<int>> runs(100 * 37);
      std::atomic<bool> too_long{false};
      table.run(100, 4, [&](std::size_t core, std::size_t begin, std::size_t end) {
        if (end - begin > 4) too_long = true;
        for (std::size_t i = begin; i < end; ++i) {
          std::atomic<std::size_t> ended{0};
          table.create(core, 37, 8, [&](std::size_t, std::size_t b, std::size_t e) {
            if (e - b > 8) too_long = true;
            for (std::size_t j = b; j < e; ++j) ++runs[i * 37 + j], ++ended;
          });
          if (ended != 37) too_long = true;  // the creator waits for all of them
        }
      });
      for (const auto& count : runs) ASSERT_EQ(count, 1);
      EXPECT_FALSE(too_long);
      EXPECT_LE(table.most_used(), entries);
      EXPECT_GE(table.most_used(), 1u);
    }
  }
}

TEST(ThreadTable, AnExceptionReachesTheCreator) {
  ThreadTable table(2, 8);
  EXPECT_THROW(table.run(3, 1,
                         [&](std::size_t core, std::size_t, std::size_t) {
                           table.create(core, 4, 2, [](std::size_t, std::size_t begin, std::size_t) {
                             if (begin == 2) throw std::runtime_error("a thread failed");
                           });
                         }),
               std::runtime_error);
}

}  // namespace
}  // namespace ridge::filterbank
