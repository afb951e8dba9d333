// Cores and threads outside the pool: tying a thread to a core, waiting without sleeping.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::base {

// CPU numbers of the affinity mask. Read once per process: a thread that is tied to a core would see that core only.
const std::vector<int>& allowed_cores();

// Ties the calling thread to the core-th of those this process may use, unless RIDGE_NO_PIN is set or there are fewer.
void pin_to_core(std::size_t core);

// What a loop that waits for another thread does between two looks.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace ridge::base
