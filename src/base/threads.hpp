// A pool of persistent threads shared by the whole process, and the cores they run on.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace ridge::base {

// Number of cores in this process's affinity mask, or RIDGE_THREADS if it is set.
std::size_t hardware_threads();

// Runs task(thread, threads) for every thread index, one of them in the caller, and returns when all have ended;
// threads = 0 means all cores. Index k is usually run by the same worker, so that memory it touched first stays local.
// Concurrent calls share the workers. A call that gets too few workers (nested, or the system refuses threads) runs the
// remaining indices itself, so a task must not wait for another one. The first exception of a task is rethrown. A child
// of fork() gets its own workers; do not fork within a task.
void parallel(std::size_t threads, const std::function<void(std::size_t thread, std::size_t threads)>& task);

// Calls task(item, thread) for the items 0 ... count - 1, scheduled dynamically. After an exception no further items
// begin.
void each_item(std::size_t threads, std::size_t count,
               const std::function<void(std::size_t item, std::size_t thread)>& task);

// While it exists, each_item() calls `look` in this thread between items, about twenty times per second. An exception
// of `look` ends the computation.
class Interruptible {
 public:
  explicit Interruptible(std::function<void()> look);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  static void check();

 private:
  std::function<void()> look_;
  double last_;
  Interruptible* outer_;
};

// The half-open range of `count` items that thread k of `threads` owns. Ranges differ by at most `grain` items, and
// every range but the last is a multiple of it.
struct Share {
  std::size_t begin, end;
};
Share share(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain = 1);

// CPU numbers of the affinity mask. Read once per process, because a pinned thread would see its own core only.
const std::vector<int>& allowed_cores();

// Pins the calling thread to the core with this index among the allowed ones. No effect if RIDGE_NO_PIN is set or there
// are fewer cores.
void pin_to_core(std::size_t core);

// Tells the processor that this is a spin loop (pause on x86, yield on Arm).
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Largest number of threads given to a task.
constexpr std::size_t kMostThreads = 4096;

}  // namespace ridge::base
