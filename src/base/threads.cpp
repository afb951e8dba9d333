// Starts, pins and wakes the pool's threads, and divides work among them.
#include "base/threads.hpp"

#include "base/trace.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/threads.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace ridge::base {

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

namespace {

using Task = std::function<void(std::size_t, std::size_t)>;

// Polls of a waiting thread before it sleeps or yields, about a millisecond: calls that follow each other start within
// a microsecond. RIDGE_NO_SPIN=1 is for machines with other work for the cores.
const int kSpins = std::getenv("RIDGE_NO_SPIN") != nullptr ? 50 : 20000;

std::atomic<bool> pinning{false};

bool pool_is_pinned() {
  if (std::getenv("RIDGE_NO_PIN") != nullptr) return false;
  return std::getenv("RIDGE_PIN") != nullptr || pinning;
}

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

// True in a worker, and in a caller while its task runs: nested calls run in the calling thread alone.
thread_local bool inside = false;

class Inside {
 public:
  Inside() { inside = true; }
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_ = inside;
};

// One call of parallel(), on its caller's stack.
class Call {
 public:
  Call(std::size_t threads, const Task& task) : threads_(threads), task_(task) {}

  void run(std::size_t thread) {
    const trace::Span span("share");
    try {
      task_(thread, threads_);
    } catch (...) {
      const std::lock_guard guard(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  // Runs the thread indices that no worker was assigned; every finished thread takes the next one.
  void run_the_rest() {
    for (std::size_t thread; (thread = rest_.fetch_add(1, std::memory_order_relaxed)) < threads_;) run(thread);
  }

  // Thread indices 1 to `workers` are assigned to workers.
  void begin(std::size_t workers) {
    rest_.store(workers + 1, std::memory_order_relaxed);
    working_.store(workers, std::memory_order_relaxed);
  }
  void worker_has_ended() { working_.fetch_sub(1, std::memory_order_release); }  // a worker's last access to the call
  void wait() const {
    const int spins = threads_ > hardware_threads() ? 0 : kSpins;  // 0: the others need this core
    for (int spin = 0; working_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin < spins) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::size_t threads_;
  const Task& task_;
  std::atomic<std::size_t> rest_{0}, working_{0};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

// A thread with a one-call mailbox. It spins for a while, then sleeps: starting a call costs about a microsecond in a
// series of calls, and an idle pool uses no CPU time.
class Worker {
 public:
  // Throws if the system refuses a thread. `core` < 0: not pinned.
  explicit Worker(int core) {
    std::thread([this, core] { work(core); }).detach();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool claim() { return !claimed_.exchange(true, std::memory_order_acquire); }
  void release() { claimed_.store(false, std::memory_order_release); }

  // Only the thread that claimed this worker may call it.
  void give(Call& call, std::size_t thread) {
    thread_ = thread;
    // Sequentially consistent: either this thread sees that the worker sleeps, or the worker sees the call before it
    // sleeps.
    call_.store(&call);
    if (!asleep_.load()) return;
    const std::lock_guard guard(mutex_);
    wake_.notify_one();
  }

  Worker* next = nullptr;  // list of the workers claimed by one call

 private:
  void work(int core) {
    inside = true;
    if (core >= 0) pin_to(core);
    for (;;) {
      Call& call = take();
      call.run(thread_);
      call.run_the_rest();
      call.worker_has_ended();
    }
  }

  Call& take() {
    Call* call = nullptr;
    for (int spin = 0; spin < kSpins && (call = call_.load(std::memory_order_acquire)) == nullptr; ++spin) relax();
    if (call == nullptr) {
      std::unique_lock lock(mutex_);
      asleep_.store(true);
      wake_.wait(lock, [&] { return (call = call_.load()) != nullptr; });
      asleep_.store(false);
    }
    call_.store(nullptr, std::memory_order_relaxed);
    return *call;
  }

  std::atomic<bool> claimed_{false}, asleep_{false};
  std::atomic<Call*> call_{nullptr};
  std::size_t thread_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
};

class Pool {
 public:
  static Pool& instance() {
    Pool* pool = current_.load(std::memory_order_acquire);
    if (pool != nullptr) return *pool;
    static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
      // The workers exist only in the parent, and their locks are never released here: abandon the pool and start a new
      // one.
      current_.store(nullptr, std::memory_order_release);
    });
    static_cast<void>(registered);
    auto fresh = std::make_unique<Pool>();
    // Never destroyed: workers may outlive static destructors and end with the process.
    return current_.compare_exchange_strong(pool, fresh.get(), std::memory_order_acq_rel) ? *fresh.release() : *pool;
  }

  void run(std::size_t threads, const Task& task) {
    Call call(threads, task);
    Worker* const workers = claim(call, threads - 1);
    {
      const Inside here;
      call.run(0);
      call.run_the_rest();
    }
    call.wait();
    for (Worker* worker = workers; worker != nullptr;) std::exchange(worker, worker->next)->release();
    call.rethrow();
  }

 private:
  // Claims up to `wanted` idle workers and starts each on its thread index.
  Worker* claim(Call& call, std::size_t wanted) {
    Worker* first = nullptr;
    Worker** end = &first;
    std::size_t count = 0;
    {
      const std::lock_guard guard(mutex_);
      // In order: thread index k runs on worker k unless another call holds it.
      for (std::size_t i = 0; count < wanted && (i < workers_.size() || grow(wanted)); ++i) {
        Worker* const worker = workers_[i].get();
        if (!worker->claim()) continue;
        *end = worker;
        end = &worker->next;
        ++count;
      }
      *end = nullptr;
    }
    call.begin(count);
    std::size_t thread = 0;
    for (Worker* worker = first; worker != nullptr;) {
      Worker* const next = worker->next;
      worker->give(call, ++thread);
      worker = next;
    }
    return first;
  }

  // Adds a worker while there are fewer than this call needs or fewer than cores minus one.
  bool grow(std::size_t wanted) {
    if (workers_.size() >= std::max(wanted, hardware_threads() - 1)) return false;
    if (cores_.empty()) {
      // The caller keeps its current core. A worker pinned to the same core would alternate with it every few
      // milliseconds until the system moves the caller.
      cores_ = allowed_cores();
      const auto here = std::find(cores_.begin(), cores_.end(), sched_getcpu());
      if (here != cores_.end()) std::iter_swap(cores_.begin(), here);
    }
    const std::size_t index = workers_.size() + 1;
    try {
      workers_.reserve(index);
      workers_.push_back(std::make_unique<Worker>(pool_is_pinned() && index < cores_.size() ? cores_[index] : -1));
    } catch (const std::exception& error) {
      warn(fmt::format("thread {} could not be started ({}): fewer threads are used", index + 1, error.what()));
      return false;
    }
    return true;
  }

  static std::atomic<Pool*> current_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> cores_;  // core of thread k
};

std::atomic<Pool*> Pool::current_{nullptr};

// The loop that the host program installed. The flag avoids the lock if there is none.
std::atomic<bool> have_loop{false};
struct HostLoop {
  std::mutex mutex;
  std::shared_ptr<const ParallelLoop> loop;
};
HostLoop& host_loop() {
  static HostLoop* const the_one = new HostLoop;  // never destroyed, like the pool
  return *the_one;
}

std::shared_ptr<const ParallelLoop> callers_loop() {
  if (!have_loop.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard guard(host_loop().mutex);
  return host_loop().loop;
}

void run_in_loop(const ParallelLoop& loop, std::size_t threads, const Task& task) {
  Call call(threads, task);  // keeps exceptions out of the host program's loop
  loop(threads, [&](std::size_t job) {
    const Inside here;
    call.run(job);
  });
  call.rethrow();
}

}  // namespace

std::size_t hardware_threads() {
  static const std::size_t count = [] {
    if (const char* text = std::getenv("RIDGE_THREADS")) {
      char* end = nullptr;
      const long wanted = std::strtol(text, &end, 10);
      if (*end == '\0' && wanted >= 1 && wanted <= static_cast<long>(kMostThreads))
        return static_cast<std::size_t>(wanted);
      if (*text != '\0')
        warn(fmt::format("RIDGE_THREADS={:.40}: needs a number from 1 to {}; all cores are used", text, kMostThreads));
    }
    return allowed_cores().size();
  }();
  return count;
}

void pin_to_core(std::size_t core) {
  if (std::getenv("RIDGE_NO_PIN") != nullptr) return;
  const std::vector<int>& cores = allowed_cores();
  if (core < cores.size()) pin_to(cores[core]);
}

void parallel(std::size_t threads, const Task& task) {
  threads = std::min(threads == 0 ? hardware_threads() : threads, kMostThreads);
  if (threads == 1 || inside) {
    for (std::size_t thread = 0; thread < threads; ++thread) task(thread, threads);
  } else if (const auto loop = callers_loop()) {
    run_in_loop(*loop, threads, task);
  } else {
    Pool::instance().run(threads, task);
  }
}

void each_item(std::size_t threads, std::size_t count,
               const std::function<void(std::size_t item, std::size_t thread)>& task) {
  if (count == 0) return;
  std::atomic<std::size_t> next{0};
  parallel(std::min(threads == 0 ? hardware_threads() : threads, count), [&](std::size_t thread, std::size_t) {
    try {
      for (std::size_t item = next++; item < count; item = next++) {
        Interruptible::check();
        task(item, thread);
      }
    } catch (...) {
      next = count;
      throw;
    }
  });
}

namespace {
thread_local Interruptible* innermost = nullptr;
}

Interruptible::Interruptible(std::function<void()> look) : look_(std::move(look)), last_(now()), outer_(innermost) {
  innermost = this;
}

Interruptible::~Interruptible() { innermost = outer_; }

void Interruptible::check() {
  constexpr double kSeconds = 0.05;
  if (innermost == nullptr) return;
  const double time = now();
  if (time - innermost->last_ < kSeconds) return;
  innermost->last_ = time;
  innermost->look_();
}

Share share(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain) {
  const std::size_t grains = count / grain + (count % grain != 0);
  const std::size_t low = grains / threads, extra = grains % threads;
  const std::size_t begin = thread * low + std::min(thread, extra);
  const std::size_t end = begin + low + (thread < extra);
  return {std::min(begin * grain, count), std::min(end * grain, count)};
}

}  // namespace ridge::base

namespace ridge {

void set_parallel_loop(ParallelLoop loop) {
  base::HostLoop& host = base::host_loop();
  const std::lock_guard guard(host.mutex);
  host.loop = loop ? std::make_shared<const ParallelLoop>(std::move(loop)) : nullptr;
  base::have_loop.store(host.loop != nullptr, std::memory_order_release);
}

void set_pinning(bool on) { base::pinning = on; }

}  // namespace ridge
