#include "base/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/cores.hpp"

namespace ridge::base {
namespace {

using Task = std::function<void(std::size_t, std::size_t)>;

// Asked once: a thread started by one that is tied to a core inherits that one core.
const std::vector<int>& allowed_cores() {
  static const std::vector<int> cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
      for (int c = 0; c < CPU_SETSIZE; ++c) {
        if (CPU_ISSET(c, &set)) found.push_back(c);
      }
    }
    if (found.empty()) found.push_back(0);
    return found;
  }();
  return cores;
}

// Workers wait by spinning for a while, then by sleeping: a fork costs about a microsecond in a row of calls and an
// idle pool costs nothing.
class Pool {
 public:
  static Pool& instance() {
    // Never destroyed: workers may outlive static destructors, and the process's end takes them.
    static Pool* pool = new Pool;
    return *pool;
  }

  void run(std::size_t threads, const Task& task) {
    std::unique_lock lock(run_mutex_, std::try_to_lock);
    if (threads == 1 || inside_ || !lock.owns_lock()) {
      for (std::size_t t = 0; t < threads; ++t) task(t, threads);
      return;
    }
    grow(threads - 1);
    task_ = &task;
    failure_ = nullptr;
    remaining_.store(threads - 1, std::memory_order_relaxed);
    {
      // Under the lock, so that a worker about to sleep cannot miss it.
      std::lock_guard guard(sleep_mutex_);
      const std::uint64_t generation = (call_.load(std::memory_order_relaxed) >> kThreadBits) + 1;
      call_.store(generation << kThreadBits | threads, std::memory_order_release);
    }
    wake_.notify_all();
    inside_ = true;
    execute(0, threads);
    inside_ = false;
    for (int spin = 0; remaining_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin < kSpins) {
        relax();
      } else {
        std::this_thread::yield();  // more threads than cores: let them finish
      }
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static constexpr int kSpins = 20000;
  static constexpr int kThreadBits = 16;

  void grow(std::size_t workers) {
    while (workers_ < workers) {
      const std::size_t index = ++workers_;
      const std::uint64_t call = call_.load(std::memory_order_relaxed);
      std::thread([this, index, call] { work(index, call); }).detach();
    }
  }

  void work(std::size_t index, std::uint64_t seen) {
    inside_ = true;
    pin_to_core(index);
    for (;;) {
      for (int spin = 0; spin < kSpins && call_.load(std::memory_order_acquire) == seen; ++spin) relax();
      if (call_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(sleep_mutex_);
        wake_.wait(lock, [&] { return call_.load(std::memory_order_acquire) != seen; });
      }
      seen = call_.load(std::memory_order_acquire);
      // A worker beyond this call's threads sits it out, and nobody waits for it: it may wake during a later call. That
      // is why number and thread count of a call are one word: they can never be of two different calls.
      const std::size_t threads = seen & ((std::uint64_t{1} << kThreadBits) - 1);
      if (index < threads) {
        execute(index, threads);
        remaining_.fetch_sub(1, std::memory_order_release);
      }
    }
  }

  void execute(std::size_t index, std::size_t threads) {
    try {
      (*task_)(index, threads);
    } catch (...) {
      std::lock_guard guard(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  static thread_local bool inside_;
  std::mutex run_mutex_, sleep_mutex_, failure_mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> call_{0};  // number of the call, and its threads in the low bits
  std::atomic<std::size_t> remaining_{0};
  const Task* task_ = nullptr;
  std::exception_ptr failure_;
  std::size_t workers_ = 0;
};

thread_local bool Pool::inside_ = false;

}  // namespace

std::size_t hardware_threads() {
  static const std::size_t count = [] {
    if (const char* text = std::getenv("RIDGE_THREADS")) {
      const long wanted = std::strtol(text, nullptr, 10);
      if (wanted >= 1 && wanted <= 4096) return static_cast<std::size_t>(wanted);
    }
    return allowed_cores().size();
  }();
  return count;
}

void pin_to_core(std::size_t core) {
  const std::vector<int>& cores = allowed_cores();
  if (core >= cores.size() || std::getenv("RIDGE_NO_PIN") != nullptr) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cores[core], &set);
  sched_setaffinity(0, sizeof set, &set);
}

void parallel(std::size_t threads, const Task& task) {
  Pool::instance().run(std::min<std::size_t>(threads == 0 ? hardware_threads() : threads, 4096), task);
}

Share share(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain) {
  const std::size_t grains = count / grain + (count % grain != 0);
  const std::size_t low = grains / threads, extra = grains % threads;
  const std::size_t begin = thread * low + std::min(thread, extra);
  const std::size_t end = begin + low + (thread < extra);
  return {std::min(begin * grain, count), std::min(end * grain, count)};
}

}  // namespace ridge::base
