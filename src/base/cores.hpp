// Pins a thread to a core; pauses in spin loops; limits the number of threads.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::base {

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
