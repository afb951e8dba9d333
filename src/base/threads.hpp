// One pool of persistent threads for the whole process.
#pragma once
#include <cstddef>
#include <functional>

namespace ridge::base {

// Cores this process may use (affinity mask respected), or RIDGE_THREADS where it is set.
std::size_t hardware_threads();

// Runs task(thread, threads) for every thread, the caller's among them, and returns when all have ended; 0 means all of
// them. Thread k stays with its worker, so memory it touched first is near it. Calls at once share the workers: who
// finds too few, nested or because no more can be started, does the rest himself, so a task must not wait for another.
// What a task throws is rethrown here. A child of fork() gets workers of its own; only within a task nobody may fork.
void parallel(std::size_t threads, const std::function<void(std::size_t thread, std::size_t threads)>& task);

// The half-open share of `count` items that thread k of `threads` owns; shares differ by at most `grain` items, and
// every share but the last is a multiple of it.
struct Share {
  std::size_t begin, end;
};
Share share(std::size_t count, std::size_t thread, std::size_t threads, std::size_t grain = 1);

}  // namespace ridge::base
