// Measures kernel concurrency: one spinning kernel on each of 32 queues. If all run concurrently they take as long as
// one.
#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "machine/studies/studies.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kQueues = 32;
constexpr double kSpinSeconds = 10e-3;

double spin_once(DeviceBench& bench, const Kernel& kernel, std::size_t items, std::uint32_t rounds) {
  const double start = base::now();
  bench.queue().launch(kernel, {.groups = {1}, .items = {items}}, {bench.results(), rounds});
  bench.queue().finish();
  return base::now() - start;
}

// Rounds after which one group of `items` lasts `seconds`, and its actual duration.
std::uint32_t spin_rounds(DeviceBench& bench, const Kernel& kernel, std::size_t items, double seconds, double& lasts) {
  spin_once(bench, kernel, items, 1);
  std::uint32_t rounds = 256;
  double time = spin_once(bench, kernel, items, rounds);
  while (time < seconds / 4 && rounds < (1u << 28)) time = spin_once(bench, kernel, items, rounds *= 2);
  rounds = static_cast<std::uint32_t>(std::clamp(rounds * seconds / time, 1.0, 4e9));
  lasts = std::min(spin_once(bench, kernel, items, rounds), spin_once(bench, kernel, items, rounds));
  return rounds;
}

}  // namespace

std::vector<Sweep> study_concurrency(DeviceBench& bench, double seconds, const Tick& tick) {
  const Kernel kernel = bench.kernel("spin");
  std::vector<std::size_t> items{32, 128, 512, 1024}, groups{1, 2, 4, 8, 16, 32, 64, 128};
  if (bench.modest()) {
    items = {1, 32};
    groups = {1, 2, 4};
  }
  std::erase_if(items, [&](std::size_t count) { return count > bench.most_items(kernel); });

  // In the worst case the kernels run one after another, and kernels larger than the device take longer still. A
  // shorter spin keeps within the time; the figure is a ratio.
  const std::size_t units = std::max<std::size_t>(bench.limits().compute_units, 1);
  double longest = 0;
  for (const std::size_t count : groups)
    longest += std::max(1.0, static_cast<double>(bench.modest() ? count * kQueues : kQueues) /
                                 static_cast<double>(bench.modest() ? units : 4));
  const double spin = std::clamp(0.8 * seconds / (longest * static_cast<double>(items.size())), 5e-4, kSpinSeconds);

  std::vector<Queue> queues;
  for (std::size_t q = 0; q < kQueues; ++q) queues.push_back(bench.device().queue());
  Sweep sweep{
      .title = fmt::format("Concurrent kernels: {} queues, one spinning kernel of {:.3g} ms each", kQueues, spin * 1e3),
      .x = "groups in each kernel",
      .y = "32 x one kernel's time / elapsed",
      .lines = {}};
  double done = 0;
  for (const std::size_t count : items) {
    double alone = 0;
    const std::uint32_t rounds = spin_rounds(bench, kernel, count, spin, alone);
    Sweep::Line line{.name = fmt::format("{} work-items per group", count), .points = {}};
    for (const std::size_t blocks : groups) {
      const double start = base::now();
      std::vector<Event> ends;
      for (Queue& queue : queues) {
        queue.launch(kernel, {.groups = {blocks}, .items = {count}}, {bench.results(), rounds});
        ends.push_back(queue.record());
      }
      for (Queue& queue : queues) queue.finish();
      const double elapsed = base::now() - start;
      line.points.emplace_back(static_cast<double>(blocks), static_cast<double>(kQueues) * alone / elapsed);
      tick(++done / static_cast<double>(items.size() * groups.size()));
    }
    sweep.lines.push_back(std::move(line));
  }
  return {sweep};
}

}  // namespace ridge::machine
