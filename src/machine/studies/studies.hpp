// Parameter sweeps for reports, and studies of the host's cores under load.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/device/bench.hpp"

namespace ridge::machine {

using Tick = std::function<void(double share)>;  // completed fraction of the study

std::vector<Sweep> study_host_cores(double seconds, const Tick& tick);
std::vector<Sweep> study_group_size(DeviceBench& bench, double seconds, const Tick& tick);
std::vector<Sweep> study_items(DeviceBench& bench, double seconds, const Tick& tick);
std::vector<Sweep> study_units(DeviceBench& bench, double seconds, const Tick& tick);

// Memory spaces under cyclic and blocked access; the caches are overwritten before every run.
std::vector<Sweep> study_access(DeviceBench& bench, double seconds, const Tick& tick);

// Spinning kernels on many queues, one each: how many run concurrently.
std::vector<Sweep> study_concurrency(DeviceBench& bench, double seconds, const Tick& tick);

// Cores under load (core_controls.cpp): hyperthreads, distance of cores, temperature and clock frequency.
// They read and set the files of Linux under /sys. Each study returns a table, or one line with the missing condition.

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
