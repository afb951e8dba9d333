// Largest number of threads given to a task.
#pragma once
#include <cstddef>

namespace ridge::base {

constexpr std::size_t kMostThreads = 4096;

}  // namespace ridge::base
