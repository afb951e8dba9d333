// Sweeps for a person to look at: how rates grow with cores, group size, items and compute units.
#pragma once
#include <functional>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/device_bench.hpp"

namespace ridge::machine {

using Tick = std::function<void(double share)>;  // of the study that is done

std::vector<Sweep> study_host_cores(double seconds, const Tick& tick);
std::vector<Sweep> study_group_size(DeviceBench& bench, double seconds, const Tick& tick);
std::vector<Sweep> study_items(DeviceBench& bench, double seconds, const Tick& tick);
std::vector<Sweep> study_units(DeviceBench& bench, double seconds, const Tick& tick);

// Memory spaces under cyclic and blocked access, caches poisoned before every run.
std::vector<Sweep> study_access(DeviceBench& bench, double seconds, const Tick& tick);

// Kernels that spin, one on each of many queues: how many run at once.
std::vector<Sweep> study_concurrency(DeviceBench& bench, double seconds, const Tick& tick);

}  // namespace ridge::machine
