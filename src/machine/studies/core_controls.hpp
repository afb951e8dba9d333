// Studies of the host's cores under load: hyperthreads, distance of cores, temperature and clock frequency.
//
// They read and set what Linux offers under /sys. Each study returns a table, or one line that says what is missing.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ridge::machine {

// Runs a load on these CPUs, one thread each, and returns its rate (GFLOP/s).
using CoreLoad = std::function<double(const std::vector<int>& cpus)>;

struct CoreStudy {
  std::filesystem::path system = "/sys";
  std::vector<int> allowed{};  // CPUs of this process
  CoreLoad load{};
};

std::string study_hyperthreads(const CoreStudy& study);  // one thread per core against all threads
std::string study_far_cores(const CoreStudy& study);     // two neighbouring cores against the two farthest ones
// Rate, hottest sensor and power after each of `rounds` loads on all cores: throttling lowers the rate.
std::string study_temperature(const CoreStudy& study, std::size_t rounds = 10);
// Rate for clock limits from the lowest to the highest; the limits are restored.
std::string study_clock(const CoreStudy& study, std::size_t steps = 5);

}  // namespace ridge::machine
