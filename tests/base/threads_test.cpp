// The thread pool: shares, exceptions, nested and concurrent calls, forks, host loops.
#include "base/threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ridge/threads.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/no_threads.hpp"
#include "support/scratch.hpp"

namespace ridge::base {
namespace {

using std::chrono::seconds;

// Tests whether a number of threads are inside at the same time.
class Rendezvous {
 public:
  explicit Rendezvous(int members) : missing_(members) {}
  bool meet() {
    --missing_;
    const auto late = std::chrono::steady_clock::now() + seconds(10);
    while (missing_ > 0 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    return missing_ <= 0;
  }

 private:
  std::atomic<int> missing_;
};

// Runs `work` in a child, which has no workers yet, and returns its exit code.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a child that waits forever fails
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(Threads, NoItemBeginsAfterAnException) {
  for (std::size_t threads : {1u, 3u}) {
    std::atomic<std::size_t> runs{0};
    EXPECT_THROW(each_item(threads, 100'000'000,
                           [&](std::size_t item, std::size_t) {
                             ++runs;
                             if (item == 7) throw std::runtime_error("seven");
                           }),
                 std::runtime_error);
    EXPECT_LT(runs, 100'000'000u);
  }
  each_item(3, 0, [](std::size_t, std::size_t) { ADD_FAILURE(); });
}

TEST(Threads, InterruptibleEndsItemsOfItsThread) {
  const auto item = [](std::size_t, std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  std::atomic<int> looks{0};
  {
    const Interruptible outer([&] { looks = 1000; });
    const Interruptible interrupted([&] {
      if (++looks == 2) throw std::runtime_error("interrupted");
    });
    std::thread([&] { each_item(1, 80, item); }).join();  // another thread is not watched
    EXPECT_EQ(looks, 0);
    EXPECT_THROW(each_item(2, 100'000, item), std::runtime_error);
    EXPECT_EQ(looks, 2);
  }
  each_item(1, 80, item);
  EXPECT_EQ(looks, 2);
}

TEST(Threads, EveryThreadIndexRunsOnce) {
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
  parallel(4, [&](std::size_t, std::size_t) { ended++; });  // the pool still works
  EXPECT_EQ(ended, 8);
}

TEST(Threads, RunsWithoutThreadsThatCannotStart) {
  EXPECT_EQ(in_child([] {
              const test::Warnings warnings;
              const test::NoMoreThreads none;
              if (!none.worked()) return 2;
              for (int call = 0; call < 3; ++call) {
                std::atomic<int> runs{0};
                parallel(5, [&](std::size_t, std::size_t) { runs++; });
                if (runs != 5) return 3;
              }
              return warnings.messages.size() == 3 && warnings.messages[0].find("thread 2") != std::string::npos ? 0
                                                                                                                 : 4;
            }),
            0);
}

TEST(Threads, UsesTheThreadsThatStartedIfOthersFail) {
  EXPECT_EQ(in_child([] {
              const test::Warnings warnings;
              parallel(3, [](std::size_t, std::size_t) {});
              const test::NoMoreThreads none;
              for (int call = 0; call < 3; ++call) {
                Rendezvous three(3);
                std::atomic<int> runs{0};
                parallel(9, [&](std::size_t thread, std::size_t) {
                  if (thread < 3 && !three.meet()) runs += 100;
                  runs++;
                });
                if (runs != 9) return 3;
              }
              std::atomic<int> runs{0};
              parallel(3, [&](std::size_t, std::size_t) { runs++; });
              return runs == 3 ? 0 : 4;
            }),
            0);
}

TEST(Threads, AChildOfForkHasWorkersOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer loses count of threads in a child of a process that has some";
#endif
  parallel(4, [](std::size_t, std::size_t) {});
  const auto work = [] {
    Rendezvous all(4);
    std::atomic<int> met{0};
    parallel(4, [&](std::size_t, std::size_t) { met += all.meet(); });
    return met == 4 ? 0 : 1;
  };
  EXPECT_EQ(in_child(work), 0);
  // Forks while the workers are busy in the parent; the child inherits the locks in their current state.
  std::atomic<bool> enough{false};
  std::thread busy([&] {
    while (!enough) parallel(4, [](std::size_t, std::size_t) {});
  });
  for (int round = 0; round < 20; ++round) EXPECT_EQ(in_child(work), 0);
  enough = true;
  busy.join();
  EXPECT_EQ(work(), 0);
}

TEST(Threads, ACallWithOneThreadBlocksNoOtherCall) {
  std::promise<void> begun, end;
  std::thread other([&] {
    parallel(1, [&](std::size_t, std::size_t) {
      begun.set_value();
      end.get_future().wait();
    });
  });
  begun.get_future().wait();
  Rendezvous both(2);
  std::atomic<int> met{0};
  parallel(2, [&](std::size_t, std::size_t) { met += both.meet(); });
  EXPECT_EQ(met, 2);
  end.set_value();
  other.join();
}

TEST(Threads, ConcurrentCallersShareTheWorkers) {
  parallel(8, [](std::size_t, std::size_t) {});  // creates seven workers
  Rendezvous all(4);
  std::atomic<int> met{0};
  const auto caller = [&] { parallel(2, [&](std::size_t, std::size_t) { met += all.meet(); }); };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(met, 4);
}

TEST(Threads, RunThroughTheHostProgramsLoop) {
  std::atomic<int> loops{0}, runs{0}, nested{0};
  set_parallel_loop([&](std::size_t jobs, const std::function<void(std::size_t)>& run) {
    ++loops;
    std::vector<std::thread> threads;
    for (std::size_t job = jobs; job-- > 0;) threads.emplace_back([&run, job] { run(job); });
    for (auto& thread : threads) thread.join();
  });
  parallel(3, [&](std::size_t thread, std::size_t threads) {
    EXPECT_EQ(threads, 3u);
    runs += 1 << (4 * thread);
    parallel(2, [&](std::size_t, std::size_t) { nested++; });
  });
  parallel(1, [&](std::size_t, std::size_t) { nested++; });
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(runs, 0x111);
  EXPECT_EQ(nested, 7);
  EXPECT_THROW(parallel(2, [](std::size_t, std::size_t) { throw std::runtime_error("no"); }), std::runtime_error);
  set_parallel_loop({});
  parallel(3, [&](std::size_t, std::size_t) { runs++; });
  EXPECT_EQ(loops, 2);
  EXPECT_EQ(runs, 0x114);
}

TEST(Threads, AreNotPinnedInAnotherProgram) {
  if (hardware_threads() < 2) GTEST_SKIP() << "one core: no pinning";
  const auto pinned = [] {  // true if the worker is pinned to one core
    std::atomic<int> cores{0};
    parallel(2, [&](std::size_t thread, std::size_t) {
      cpu_set_t set;
      CPU_ZERO(&set);
      if (thread == 1 && sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
    });
    return cores == 1 ? 1 : 0;
  };
  const test::ScopedEnvironment no("RIDGE_NO_PIN", std::nullopt);
  const test::ScopedEnvironment yes("RIDGE_PIN", std::nullopt);
  EXPECT_EQ(in_child(pinned), 0);
  set_pinning(true);
  EXPECT_EQ(in_child(pinned), 1);
  {
    const test::ScopedEnvironment never("RIDGE_NO_PIN", "1");
    EXPECT_EQ(in_child(pinned), 0);
  }
  set_pinning(false);
  const test::ScopedEnvironment always("RIDGE_PIN", "1");
  EXPECT_EQ(in_child(pinned), 1);
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
