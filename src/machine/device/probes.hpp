// Measures the ceilings of an OpenCL or CUDA device.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/device/bench.hpp"

namespace ridge::machine {

// Launch shape of a main-memory kernel.
struct CopyShape {
  std::size_t items = 256;  // per group
  int vectors = 4;          // 16-byte vectors in flight per work-item
  bool once = false;        // streaming loads and stores
  bool resident = false;    // persistent groups that loop over the tiles; otherwise one group per tile
};

void launch_copy(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes);
void launch_write(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes);
struct Tried {
  CopyShape shape;
  double rate = 0;  // bytes per second
};

// Every shape tried, fastest first; the fastest few are measured again for longer.
std::vector<Tried> try_copies(DeviceBench& bench, double seconds);
std::vector<Tried> try_writes(DeviceBench& bench, double seconds);
double driver_copy(DeviceBench& bench, double seconds);  // the driver's device-to-device copy

// A walk over tiles of the cache kernels (kernels.hpp); bytes count all groups.
struct Walk {
  std::size_t items = 256, groups = 1;
  std::size_t base_step = 0, start_step = 1, range = 1, step = 1, rounds = 1;
  bool one_round = false;  // groups do not continue to further tiles
  double bytes() const;
};
enum class WalkKind { read, read_l2, write, copy };
double walk_rate(DeviceBench& bench, WalkKind kind, const Walk& walk, double seconds);

double read_bandwidth(DeviceBench& bench, double seconds);
// Detectable levels above main memory: L1 (each group reads its own block), local memory, L2 (all groups read one
// block). `sweep` receives the read bandwidth against the working set.
std::vector<Level> cache_levels(DeviceBench& bench, double memory_read, double seconds, Sweep& sweep);

double device_flops(DeviceBench& bench, bool in_double, double seconds);
void launch_fma(DeviceBench& bench, Queue& queue, bool in_double, std::size_t items, std::size_t groups,
                std::uint32_t rounds);
// Rounds after which a launch of the FMA kernel has lasted about `seconds`.
std::uint32_t fma_rounds(DeviceBench& bench, bool in_double, std::size_t items, std::size_t groups, double seconds);

double launch_seconds(DeviceBench& bench, double seconds, Sweep& pipelined);
Transfers transfers(DeviceBench& bench, double seconds);

}  // namespace ridge::machine
