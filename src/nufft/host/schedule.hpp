// Dynamic scheduling of independent units of work.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/threads.hpp"

namespace ridge::nufft {

// Calls task(unit, thread) once per unit; a thread that is free takes the next one.
template <class Task>
void for_units(std::size_t threads, std::size_t units, const Task& task) {
  const std::size_t used = std::min(threads, units);
  if (used <= 1) {
    for (std::size_t unit = 0; unit < units; ++unit) task(unit, std::size_t{0});
    return;
  }
  std::atomic<std::size_t> next{0};
  base::parallel(used, [&](std::size_t thread, std::size_t) {
    for (std::size_t unit = next++; unit < units; unit = next++) task(unit, thread);
  });
}

}  // namespace ridge::nufft
