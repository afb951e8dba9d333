// The ceilings of an OpenCL or CUDA device.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/device_bench.hpp"

namespace ridge::machine {

// How a main-memory kernel was launched.
struct CopyShape {
  std::size_t items = 256;  // in a group
  int vectors = 4;          // 16-byte vectors an item has in flight
  bool once = false;        // streaming loads and stores
  bool resident = false;    // as many groups as the device holds at once, each walking on; else a group a tile
};

void launch_copy(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes);
void launch_write(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes);
struct Tried {
  CopyShape shape;
  double rate = 0;  // bytes per second
};

// Every shape tried, best first; the best few measured again for longer.
std::vector<Tried> try_copies(DeviceBench& bench, double seconds);
std::vector<Tried> try_writes(DeviceBench& bench, double seconds);
double driver_copy(DeviceBench& bench, double seconds);  // the driver's own device-to-device copy

// A walk over tiles of the cache kernels (device_kernels.hpp); bytes of all groups together.
struct Walk {
  std::size_t items = 256, groups = 1;
  std::size_t base_step = 0, start_step = 1, range = 1, step = 1, rounds = 1;
  bool one_round = false;  // groups do not walk on
  double bytes() const;
};
enum class WalkKind { read, read_far, write, copy };
double walk_rate(DeviceBench& bench, WalkKind kind, const Walk& walk, double seconds);

double read_bandwidth(DeviceBench& bench, double seconds);
// Levels nearer than main memory that show: L1 (each group walks its own piece), local memory, L2 (all groups walk one
// piece); `sweep` receives read bandwidth against the working set.
std::vector<Level> cache_levels(DeviceBench& bench, double memory_read, double seconds, Sweep& sweep);

double device_flops(DeviceBench& bench, bool in_double, double seconds);
void launch_fma(DeviceBench& bench, Queue& queue, bool in_double, std::size_t items, std::size_t groups,
                std::uint32_t rounds);
// Rounds that make a launch of the FMA kernel last about `seconds`.
std::uint32_t fma_rounds(DeviceBench& bench, bool in_double, std::size_t items, std::size_t groups, double seconds);

double launch_seconds(DeviceBench& bench, double seconds, Sweep& pipelined);
Transfers transfers(DeviceBench& bench, double seconds);

}  // namespace ridge::machine
