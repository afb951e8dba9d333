// How the library behaves as a guest in a program that has threads of its own.
#pragma once
#include <cstddef>
#include <functional>

namespace ridge {

// Calls run(0) ... run(jobs - 1), in any order and on any threads, and returns when all have ended. `run` never throws.
using ParallelLoop = std::function<void(std::size_t jobs, const std::function<void(std::size_t job)>& run)>;

// From now on every parallel piece of work goes through `loop` and the library starts no threads of its own; an empty
// one brings its own pool back. Calls that are running keep what they began with.
void set_parallel_loop(ParallelLoop loop);

// Whether the pool's threads stay on their cores. Off unless a program that owns the machine, as `ridge` does, switches
// it on before the first parallel work; RIDGE_PIN=1 and RIDGE_NO_PIN=1 decide before anyone else.
void set_pinning(bool on);

}  // namespace ridge
