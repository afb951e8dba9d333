#include "base/threads.hpp"

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

#include "base/cores.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"

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

constexpr int kSpins = 20000;

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

// True in a worker, and in a caller while its task runs: calls within are done by the thread that makes them.
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
    try {
      task_(thread, threads_);
    } catch (...) {
      const std::lock_guard guard(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  // What no worker was given, by whoever is through with his own.
  void run_the_rest() {
    for (std::size_t thread; (thread = rest_.fetch_add(1, std::memory_order_relaxed)) < threads_;) run(thread);
  }

  // Threads 1 to `workers` have been given away.
  void begin(std::size_t workers) {
    rest_.store(workers + 1, std::memory_order_relaxed);
    working_.store(workers, std::memory_order_relaxed);
  }
  void worker_has_ended() { working_.fetch_sub(1, std::memory_order_release); }  // the last a worker does with a call
  void wait() const {
    for (int spin = 0; working_.load(std::memory_order_acquire) != 0; ++spin) {
      if (spin < kSpins) {
        relax();
      } else {
        std::this_thread::yield();  // more threads than cores: let them finish
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

// A thread and its letter box. It waits by spinning for a while, then by sleeping: a fork costs about a microsecond in
// a row of calls and an idle pool costs nothing.
class Worker {
 public:
  // Throws where the system refuses a thread; then there is no worker either. `core` < 0: wherever it likes.
  explicit Worker(int core) {
    std::thread([this, core] { work(core); }).detach();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool claim() { return !claimed_.exchange(true, std::memory_order_acquire); }
  void release() { claimed_.store(false, std::memory_order_release); }

  // Only by who has claimed it.
  void give(Call& call, std::size_t thread) {
    thread_ = thread;
    // Either this sees that the worker sleeps or the worker, before it does, sees the call: both orders are total.
    call_.store(&call);
    if (!asleep_.load()) return;
    const std::lock_guard guard(mutex_);
    wake_.notify_one();
  }

  Worker* next = nullptr;  // of those one call has claimed

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
      // The workers stayed with the parent, and nobody will ever unlock what they held: start anew, and let it be.
      current_.store(nullptr, std::memory_order_release);
    });
    static_cast<void>(registered);
    auto fresh = std::make_unique<Pool>();
    // Never destroyed: workers may outlive static destructors, and the process's end takes them.
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
  // As many idle workers as there are, up to `wanted`, each at work on its thread already.
  Worker* claim(Call& call, std::size_t wanted) {
    Worker* first = nullptr;
    Worker** end = &first;
    std::size_t count = 0;
    {
      const std::lock_guard guard(mutex_);
      // The first ones first: thread k is worker k's unless another call has it.
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

  // One more, as long as there are fewer than a single call wants or than there are cores.
  bool grow(std::size_t wanted) {
    if (workers_.size() >= std::max(wanted, hardware_threads() - 1)) return false;
    if (cores_.empty()) {
      // The caller keeps the core it is on. A worker held to that one would take turns with it, milliseconds each,
      // until the system moves the caller.
      cores_ = allowed_cores();
      const auto here = std::find(cores_.begin(), cores_.end(), sched_getcpu());
      if (here != cores_.end()) std::iter_swap(cores_.begin(), here);
    }
    const std::size_t index = workers_.size() + 1;
    try {
      workers_.reserve(index);
      workers_.push_back(std::make_unique<Worker>(pool_is_pinned() && index < cores_.size() ? cores_[index] : -1));
    } catch (const std::exception& error) {
      warn(fmt::format("thread {} could not be started ({}): the work is done by fewer", index + 1, error.what()));
      return false;
    }
    return true;
  }

  static std::atomic<Pool*> current_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<int> cores_;  // thread k's
};

std::atomic<Pool*> Pool::current_{nullptr};

// The host program's own loop. The flag spares calls the lock where there is none.
std::atomic<bool> have_loop{false};
struct HostLoop {
  std::mutex mutex;
  std::shared_ptr<const ParallelLoop> loop;
};
HostLoop& host_loop() {
  static HostLoop* const the_one = new HostLoop;  // never destroyed, as the pool is not
  return *the_one;
}

std::shared_ptr<const ParallelLoop> callers_loop() {
  if (!have_loop.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard guard(host_loop().mutex);
  return host_loop().loop;
}

void run_in_loop(const ParallelLoop& loop, std::size_t threads, const Task& task) {
  Call call(threads, task);  // keeps exceptions out of a foreign loop
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
        warn(fmt::format("RIDGE_THREADS={:.40}: 1 to {} threads; all cores are used", text, kMostThreads));
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
