// Thread settings for programs that have threads of their own: the parallel loop and thread pinning.
#pragma once
#include <cstddef>
#include <functional>

namespace ridge {

// Calls run(0) ... run(jobs - 1) in any order and on any threads, and returns when all have finished. `run` never
// throws.
using ParallelLoop = std::function<void(std::size_t jobs, const std::function<void(std::size_t job)>& run)>;

// Runs all parallel work through `loop` from now on; the library then starts no threads. An empty function restores the
// library's own pool. Calls in progress keep their loop.
void set_parallel_loop(ParallelLoop loop);

// Pins the pool's threads to their cores. Off by default; a program that owns the machine, such as `ridge`, enables it
// before the first parallel work. RIDGE_PIN=1 and RIDGE_NO_PIN=1 take precedence.
void set_pinning(bool on);

}  // namespace ridge
