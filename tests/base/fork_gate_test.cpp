// fork() while other threads hold the gate.
#include "base/fork_gate.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <ridge/error.hpp>

namespace ridge::base {
namespace {

enum Outcome { kEntered = 0, kRefused = 3, kWrong = 4 };

// The outcome of entering the gate in a child. The alarm ends a child that hangs.
int outcome_in_child() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    try {
      const ForkGate gate;
      const ForkGate again;
      _exit(kEntered);
    } catch (const Error&) {
      _exit(kRefused);
    } catch (...) {
      _exit(kWrong);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// A thread that holds the gate until leave() is called.
class Holder {
 public:
  Holder()
      : thread_([this] {
          const ForkGate gate;
          holds_ = true;
          while (!leave_) std::this_thread::yield();
        }) {
    while (!holds_) std::this_thread::yield();
  }
  void leave() { leave_ = true; }
  ~Holder() {
    leave();
    thread_.join();
  }

 private:
  std::atomic<bool> holds_{false}, leave_{false};
  std::thread thread_;
};

TEST(ForkGate, ChildrenCanEnterAfterAFork) {
  { const ForkGate before; }
  EXPECT_EQ(outcome_in_child(), kEntered);
}

TEST(ForkGate, ForkByTheHoldingThreadDoesNotWait) {
  const ForkGate gate;  // a planning thread starts a compiler
  EXPECT_EQ(outcome_in_child(), kEntered);
}

TEST(ForkGate, AForkWaitsForTheThreadInside) {
  std::optional<Holder> holder(std::in_place);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    holder->leave();
  });
  EXPECT_EQ(outcome_in_child(), kEntered);
  later.join();
}

TEST(ForkGate, ThrowsInTheChildIfTheWaitTimedOut) {
  const Holder holder;
  set_fork_wait_limit(0.02);
  EXPECT_EQ(outcome_in_child(), kRefused);
  set_fork_wait_limit(10);
}

TEST(ForkGate, ParentCanEnterAfterAFork) {
  std::atomic<bool> stop{false};
  std::atomic<long> entered{0};
  std::thread other([&] {
    while (!stop) {
      const ForkGate gate;
      ++entered;
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_EQ(outcome_in_child(), kEntered);
  const long before = entered;
  while (entered == before) std::this_thread::yield();
  stop = true;
  other.join();
}

}  // namespace
}  // namespace ridge::base
