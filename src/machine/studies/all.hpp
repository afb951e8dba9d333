// Parameter sweeps for a person to look at: rates against cores, group size, work-items and compute units.
#pragma once
#include <functional>
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

}  // namespace ridge::machine
