// Times copies, caches, arithmetic and launches of a device.
#include "machine/device/probes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "machine/device/kernels.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kVector = 16;  // bytes

Launch memory_launch(const DeviceBench& bench, const CopyShape& shape, std::size_t bytes, std::uint32_t& tiles) {
  tiles = static_cast<std::uint32_t>(bytes / (shape.items * static_cast<std::size_t>(shape.vectors) * kVector));
  const std::size_t groups = shape.resident ? bench.resident_groups(shape.items) : tiles;
  return {.groups = {std::min<std::size_t>(groups, tiles)}, .items = {shape.items}};
}

std::string memory_kernel(const char* what, const CopyShape& shape) {
  return fmt::format("{}_{}{}", what, shape.vectors, shape.once ? "_once" : "");
}

// PoCL compiles a kernel again for every group size and runs one work-item to its end before the next, so that looping
// groups jump through memory: a modest device tries few shapes.
std::vector<CopyShape> shapes(DeviceBench& bench, const char* what) {
  const std::vector<std::size_t> wanted =
      bench.modest() ? std::vector<std::size_t>{256} : std::vector<std::size_t>{256, 512, 1024};
  std::vector<CopyShape> all;
  for (const int vectors : kVectors) {
    if (bench.modest() && vectors != 4) continue;
    for (const bool once : {false, true}) {
      const Kernel kernel = bench.kernel(memory_kernel(what, {.vectors = vectors, .once = once}));
      for (const std::size_t items : bench.group_sizes(kernel, wanted))
        for (const bool resident : {false, true})
          if (!resident || !bench.modest()) all.push_back({items, vectors, once, resident});
    }
  }
  return all;
}

template <class LaunchIt>
std::vector<Tried> try_shapes(DeviceBench& bench, const char* what, double bytes, double seconds,
                              const LaunchIt& launch) {
  std::vector<Tried> tried;
  const auto all = shapes(bench, what);
  for (const CopyShape& shape : all) {
    const double time = bench.time([&] { launch(bench, bench.queue(), shape, bench.large()); },
                                   0.5 * seconds / static_cast<double>(all.size()));
    tried.push_back({shape, bytes / time});
  }
  const auto faster = [](const Tried& a, const Tried& b) { return a.rate > b.rate; };
  std::sort(tried.begin(), tried.end(), faster);
  const std::size_t finalists = std::min<std::size_t>(tried.size(), 4);
  for (std::size_t i = 0; i < finalists; ++i) {
    const double time = bench.time([&] { launch(bench, bench.queue(), tried[i].shape, bench.large()); },
                                   0.5 * seconds / static_cast<double>(finalists));
    tried[i].rate = std::max(tried[i].rate, bytes / time);
  }
  std::sort(tried.begin(), tried.end(), faster);
  return tried;
}

}  // namespace

void launch_copy(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes) {
  std::uint32_t tiles = 0;
  const Launch launch = memory_launch(bench, shape, bytes, tiles);
  queue.launch(bench.kernel(memory_kernel("copy", shape)), launch, {bench.from(), bench.to(), tiles});
}

void launch_write(DeviceBench& bench, Queue& queue, const CopyShape& shape, std::size_t bytes) {
  std::uint32_t tiles = 0;
  const Launch launch = memory_launch(bench, shape, bytes, tiles);
  queue.launch(bench.kernel(memory_kernel("write", shape)), launch, {bench.to(), tiles, 1.5f});
}

std::vector<Tried> try_copies(DeviceBench& bench, double seconds) {
  return try_shapes(bench, "copy", 2 * static_cast<double>(bench.large()), seconds, launch_copy);
}

std::vector<Tried> try_writes(DeviceBench& bench, double seconds) {
  return try_shapes(bench, "write", static_cast<double>(bench.large()), seconds, launch_write);
}

double driver_copy(DeviceBench& bench, double seconds) {
  bench.from();
  bench.to();
  const double time = bench.time([&] { bench.queue().copy(bench.from(), bench.to(), bench.large()); }, seconds);
  return 2 * static_cast<double>(bench.large()) / time;
}

double device_flops(DeviceBench& bench, bool in_double, double seconds) {
  const Kernel kernel = bench.kernel(in_double ? "fma_double" : "fma_float");
  const auto sizes = bench.group_sizes(
      kernel, bench.modest() ? std::vector<std::size_t>{64} : std::vector<std::size_t>{128, 256, 512});
  double best = 0;
  for (const std::size_t items : sizes) {
    // Two waves on a GPU hide the uneven end of a wave; a CPU needs a few groups per core.
    const std::size_t groups = bench.modest() ? 4 * bench.limits().compute_units : 2 * bench.resident_groups(items);
    const double share = seconds / static_cast<double>(sizes.size());
    const std::uint32_t rounds = fma_rounds(bench, in_double, items, groups, std::clamp(share / 8, 5e-4, 2e-2));
    const double time = bench.time([&] { launch_fma(bench, bench.queue(), in_double, items, groups, rounds); }, share);
    best = std::max(best, 2.0 * kFmaChains * kFmaUnrolled * rounds * static_cast<double>(items * groups) / time);
  }
  return best;
}

void launch_fma(DeviceBench& bench, Queue& queue, bool in_double, std::size_t items, std::size_t groups,
                std::uint32_t rounds) {
  queue.launch(bench.kernel(in_double ? "fma_double" : "fma_float"), {.groups = {groups}, .items = {items}},
               {bench.constants(in_double), bench.results(), rounds});
}

std::uint32_t fma_rounds(DeviceBench& bench, bool in_double, std::size_t items, std::size_t groups, double seconds) {
  const auto once = [&](std::uint32_t rounds) {
    const double start = base::now();
    launch_fma(bench, bench.queue(), in_double, items, groups, rounds);
    bench.queue().finish();
    return base::now() - start;
  };
  once(1);
  std::uint32_t rounds = 8;
  double time = once(rounds);
  while (time < seconds / 4 && rounds < (1u << 24)) time = once(rounds *= 4);
  return static_cast<std::uint32_t>(std::clamp(rounds * seconds / time, 1.0, 16777216.0 * 4));
}

double launch_seconds(DeviceBench& bench, double seconds, Sweep& pipelined) {
  const Kernel kernel = bench.kernel("empty");
  const Buffer& out = bench.results();
  const auto train = [&](int launches, double budget) {
    return base::best_seconds(
        [&] {
          for (int i = 0; i < launches; ++i) bench.queue().launch(kernel, {.groups = {1}, .items = {32}}, {out});
          bench.queue().finish();
        },
        {.seconds = budget, .at_least = 3, .at_most = 2000});
  };
  pipelined = {.title = "Launch time against launches in flight",
               .x = "launches before waiting",
               .y = "seconds per launch",
               .lines = {{.name = "empty kernel", .points = {}}}};
  const std::vector<int> lengths = {1, 2, 4, 8, 16, 32, 64, 128};
  for (const int launches : lengths)
    pipelined.lines[0].points.emplace_back(launches,
                                           train(launches, seconds / static_cast<double>(lengths.size())) / launches);
  return pipelined.lines[0].points.front().second;
}

}  // namespace ridge::machine
