// Counts the threads that hold a gate, and makes fork() wait for them (pthread_atfork).
#include "base/fork_gate.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <ridge/error.hpp>

namespace ridge::base {
namespace {

thread_local std::size_t depth = 0;  // gates held by this thread
thread_local bool gave_up = false;   // this thread's fork stopped waiting

std::atomic<std::size_t> holders{0};  // threads that hold at least one gate
std::atomic<std::size_t> forks{0};    // forks in progress: no thread may enter
std::atomic<bool> orphaned{false};    // this process is the child of a fork that stopped waiting
std::atomic<double> wait_limit{10};

void pause() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

// The forking thread may itself be planning: it starts a compiler as another process.
std::size_t own() { return depth > 0 ? 1 : 0; }

void before_fork() {
  using Clock = std::chrono::steady_clock;
  forks.fetch_add(1);
  const auto end = Clock::now() + std::chrono::duration<double>(wait_limit.load());
  // A thread that enters from now on sees `forks` and leaves again.
  while ((gave_up = holders.load() > own()) && Clock::now() < end) pause();
}

void in_parent() { forks.fetch_sub(1); }

void in_child() {
  if (gave_up) orphaned.store(true);
  holders.store(own());
  forks.store(0);
}

void enter() {
  for (;;) {
    holders.fetch_add(1);
    if (forks.load() == 0) return;
    holders.fetch_sub(1);
    while (forks.load() != 0) pause();
  }
}

// Registered when the library is loaded, not at the first use: a fork during the registration would not wait for it.
[[maybe_unused]] const int registered = ::pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

ForkGate::ForkGate() {
  if (orphaned.load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::unavailable,
                "this process was forked while another thread of its parent was planning, so it cannot plan: "
                "fork before planning, or exec another program in the child");
  }
  if (depth == 0) enter();
  ++depth;
}

ForkGate::~ForkGate() {
  if (--depth == 0) holders.fetch_sub(1);
}

bool fork_waits() { return forks.load() != 0; }

void set_fork_wait_limit(double seconds) { wait_limit.store(seconds); }

}  // namespace ridge::base
