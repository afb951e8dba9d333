// How long plans of transforms take on a device: `ridge bench fft --planning`.
#pragma once
#include <vector>

#include "cli/bench/fft.hpp"

namespace ridge::cli {

struct PlanningTimes {
  double quick = 0;         // nothing in the cache: the model's choice, compiled
  double quick_cached = 0;  // its kernels from the cache on disk
  double measured = 0;      // candidates compiled, run and timed
  double saved = 0;         // the same problem again: wisdom and the cache
  std::string variant;      // the measured choice
};

// In a cache folder of its own that is removed again. The device is warm: its context has been made.
PlanningTimes planning_times(const Device& device, const FftBench& wanted);

// A table, a line a problem.
std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices);

}  // namespace ridge::cli
