// Planning times of transforms on a device: `ridge bench fft --planning`.
#pragma once
#include <vector>

#include "bench/fft.hpp"

namespace ridge::cli {

struct PlanningTimes {
  double quick = 0;         // empty cache: the model's choice, compiled
  double quick_cached = 0;  // its kernels from the cache on disk
  double measured = 0;      // candidates compiled, run and timed
  double saved = 0;         // repeated: from wisdom and the cache
  std::string variant;      // the measured choice
};

// Uses a temporary cache folder. The device's context already exists.
PlanningTimes planning_times(const Device& device, const FftBench& wanted);

// A table with one line per problem.
std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices);

}  // namespace ridge::cli
