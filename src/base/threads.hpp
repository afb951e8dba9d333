// One pool of persistent threads for the whole process.
#pragma once
#include <cstddef>
#include <functional>

namespace ridge::base {

// Cores this process may use (affinity mask respected), or RIDGE_THREADS where it is set.
std::size_t hardware_threads();

// Runs task(thread, threads) on `threads` threads at once, the caller's among them, and returns when all are done.
// Inside the task, thread k of a call always runs on the same worker, so memory first touched by thread k stays near
// it. Nested or concurrent calls run their tasks one after the other on the calling thread. An exception of any task is
// rethrown here once all have ended. 0 means hardware_threads().
void parallel(std::size_t threads, const std::function<void(std::size_t thread, std::size_t threads)>& task);

// The half-open share of `count` items that thread k of `threads` owns; shares differ by at most `grain` items, and
// every share but the last is a multiple of it.
struct Share {
  std::size_t begin, end;
};
Share share(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain = 1);

}  // namespace ridge::base
