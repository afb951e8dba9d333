// Sweeps of copy and arithmetic rates over cores, group sizes, work-items and compute units.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "machine/device/kernels.hpp"
#include "machine/device/probes.hpp"
#include "machine/host/probes.hpp"
#include "machine/studies/studies.hpp"

namespace ridge::machine {
namespace {

// 1, 2, 4, ... and `most` itself.
std::vector<std::size_t> doubling(std::size_t first, std::size_t most) {
  std::vector<std::size_t> values;
  for (std::size_t value = first; value < most; value *= 2) values.push_back(value);
  if (most >= first) values.push_back(most);
  return values;
}

struct Pair {  // the two rates of one launch shape
  double copy = 0, flops = 0;
};

// Copy and arithmetic rates with `groups` groups of `items`. The work grows with the shape, so that neither one group
// takes too long nor many end at once.
Pair rates_of(DeviceBench& bench, std::size_t items, std::size_t groups, double seconds) {
  Pair result;
  const Kernel copy = bench.kernel("copy_4");
  const std::size_t tile = items * 4 * 16;
  const std::size_t tiles = std::min(std::max((groups * items << 12) / tile, groups), bench.large() / tile);
  const auto count = static_cast<std::uint32_t>(tiles);
  const Launch launch{.groups = {std::min(groups, tiles)}, .items = {items}};
  const double copy_time = bench.time(
      [&] {
        bench.queue().launch(copy, launch, {bench.from(), bench.to(), count});
      },
      seconds / 2);
  result.copy = 2.0 * static_cast<double>(tiles * tile) / copy_time;

  const std::size_t room = bench.results().size() / (kFmaChains * sizeof(float) * items);
  const std::size_t fma_groups = std::max<std::size_t>(std::min(groups, room), 1);
  const std::uint32_t rounds = fma_rounds(bench, false, items, fma_groups, std::clamp(seconds / 16, 2e-4, 2e-3));
  const double fma_time =
      bench.time([&] { launch_fma(bench, bench.queue(), false, items, fma_groups, rounds); }, seconds / 4);
  result.flops = 2.0 * kFmaChains * kFmaUnrolled * rounds * static_cast<double>(items * fma_groups) / fma_time;
  return result;
}

std::vector<Sweep> two_sweeps(const std::string& against, const std::string& x) {
  return {
      {.title = "Copy bandwidth against " + against, .x = x, .y = "bytes/s", .lines = {{.name = "copy", .points = {}}}},
      {.title = "Compute against " + against, .x = x, .y = "FLOP/s", .lines = {{.name = "float FMA", .points = {}}}}};
}

void add(std::vector<Sweep>& sweeps, std::size_t x, const Pair& rates) {
  sweeps[0].lines[0].points.emplace_back(static_cast<double>(x), rates.copy);
  sweeps[1].lines[0].points.emplace_back(static_cast<double>(x), rates.flops);
}

std::size_t most_items(DeviceBench& bench) {
  return std::min<std::size_t>(
      {1024, bench.most_items(bench.kernel("copy_4")), bench.most_items(bench.kernel("fma_float"))});
}

}  // namespace

std::vector<Sweep> study_host_cores(double seconds, const Tick& tick) {
  const std::size_t cores = base::hardware_threads();
  std::set<std::size_t> counts;
  for (std::size_t i = 1; i <= 12; ++i) counts.insert(std::max<std::size_t>(cores * i / 12, 1));
  for (const std::size_t count : doubling(1, cores)) counts.insert(count);
  const std::size_t bytes = host_memory_probe_bytes(host_caches(), seconds < 0.5);
  auto sweeps = two_sweeps("cores", "threads");
  double done = 0;
  for (const std::size_t count : counts) {
    const double slice = seconds / static_cast<double>(counts.size());
    Pair rates;
    {
      HostPieces pieces(count, bytes / cores);
      rates.copy = host_copy_bandwidth(pieces, slice * 0.6);
    }
    rates.flops = host_flops_float(count, slice * 0.3);
    add(sweeps, count, rates);
    tick(++done / static_cast<double>(counts.size()));
  }
  return sweeps;
}

std::vector<Sweep> study_group_size(DeviceBench& bench, double seconds, const Tick& tick) {
  auto sweeps = two_sweeps("work-group size", "work-items in a group");
  // PoCL compiles a kernel again for each size, which takes longer than running it.
  std::vector<std::size_t> sizes = doubling(bench.modest() ? 1 : 8, most_items(bench));
  if (bench.modest()) std::erase_if(sizes, [](std::size_t size) { return size != 1 && size != 16 && size != 256; });
  for (const std::size_t items : sizes) {
    const std::size_t groups = std::max<std::size_t>(2 * bench.resident_groups(1) / items, 1);
    add(sweeps, items, rates_of(bench, items, groups, seconds / static_cast<double>(sizes.size())));
    tick(static_cast<double>(sweeps[0].lines[0].points.size()) / static_cast<double>(sizes.size()));
  }
  return sweeps;
}

std::vector<Sweep> study_items(DeviceBench& bench, double seconds, const Tick& tick) {
  auto sweeps = two_sweeps("number of work-items", "work-items");
  const std::size_t items = std::min<std::size_t>(256, most_items(bench));
  const std::size_t most = std::max<std::size_t>(2 * bench.resident_groups(items), 64);
  const auto counts = doubling(1, most);
  for (const std::size_t groups : counts) {
    add(sweeps, groups * items, rates_of(bench, items, groups, seconds / static_cast<double>(counts.size())));
    tick(static_cast<double>(sweeps[0].lines[0].points.size()) / static_cast<double>(counts.size()));
  }
  return sweeps;
}

// One group of the largest size per compute unit: the scheduler assigns each to a free unit.
std::vector<Sweep> study_units(DeviceBench& bench, double seconds, const Tick& tick) {
  auto sweeps = two_sweeps("compute units", "compute units (one group each)");
  const std::size_t items = bench.modest() ? std::min<std::size_t>(256, most_items(bench)) : most_items(bench);
  const std::size_t units = bench.limits().compute_units;
  std::set<std::size_t> counts;
  for (std::size_t i = 1; i <= 12; ++i) counts.insert(std::max<std::size_t>(units * i / 12, 1));
  for (const std::size_t count : doubling(1, units)) counts.insert(count);
  for (const std::size_t groups : counts) {
    add(sweeps, groups, rates_of(bench, items, groups, seconds / static_cast<double>(counts.size())));
    tick(static_cast<double>(sweeps[0].lines[0].points.size()) / static_cast<double>(counts.size()));
  }
  return sweeps;
}

}  // namespace ridge::machine
