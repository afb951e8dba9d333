// The largest number of threads that a task is given.
#pragma once
#include <cstddef>

namespace ridge::base {

constexpr std::size_t kMostThreads = 4096;

}  // namespace ridge::base
