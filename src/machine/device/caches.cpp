// Measures the cache levels and local memory of a device by walks over working sets of growing size.
#include <algorithm>

#include <fmt/format.h>

#include "machine/device/kernels.hpp"
#include "machine/device/probes.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kItems = 256;
constexpr std::size_t kWalkTile = kItems * kWindowVectors * 16;  // bytes

const char* kernel_name(WalkKind kind) {
  switch (kind) {
    case WalkKind::read:
      return "window_read";
    case WalkKind::read_l2:
      return "window_read_l2";
    case WalkKind::write:
      return "window_write";
    case WalkKind::copy:
      return "window_copy";
  }
  return "";
}

// Rounds after which a launch lasts about `seconds` at the given rate.
std::size_t rounds_for(double bytes_per_round, double rate, double seconds) {
  return static_cast<std::size_t>(std::clamp(seconds * rate / bytes_per_round, 16.0, 1e6));
}

// All groups together sweep the same `bytes` repeatedly: a tile is read again only after all others. Reads bypass L1,
// which could hold a compute unit's part of a small set.
Walk shared_walk(const DeviceBench& bench, std::size_t bytes) {
  Walk walk;
  walk.items = kItems;
  walk.range = std::max<std::size_t>(bytes / kWalkTile, 1);
  walk.groups = bench.modest() ? bench.large() / kWalkTile : bench.resident_groups(kItems);
  walk.start_step = bench.modest() ? 1 : std::max<std::size_t>(walk.range / walk.groups, 1);
  walk.one_round = bench.modest();
  return walk;
}

// Each group reads its own `tiles` repeatedly.
Walk private_walk(const DeviceBench& bench, std::size_t tiles) {
  Walk walk;
  walk.items = kItems;
  walk.groups = bench.limits().compute_units * (bench.modest() ? 1 : 4);
  walk.base_step = walk.range = tiles;
  walk.start_step = 0;
  return walk;
}

// The rate of a walk, with the number of rounds adjusted to the launch time.
double settled_rate(DeviceBench& bench, WalkKind kind, Walk walk, double guess, double seconds) {
  const double a_round = static_cast<double>(walk.groups * kWalkTile) * (kind == WalkKind::copy ? 2 : 1);
  if (walk.one_round) return walk_rate(bench, kind, walk, seconds);
  const double launch = std::clamp(seconds / 8, 3e-4, 5e-3);
  walk.rounds = rounds_for(a_round, guess, launch / 2);
  const double first = walk_rate(bench, kind, walk, seconds / 4);
  walk.rounds = rounds_for(a_round, first, launch);
  return std::max(first, walk_rate(bench, kind, walk, seconds * 3 / 4));
}

// Read, write and copy rates of one level; a copy covers half the bytes twice.
Bandwidth level_bandwidth(DeviceBench& bench, const Walk& walk, double read, double seconds) {
  Bandwidth result;
  result.read = read;
  Walk half = walk;
  half.range = std::max<std::size_t>(walk.range / 2, 1);
  if (walk.base_step != 0) half.base_step = half.range;
  result.copy = settled_rate(bench, WalkKind::copy, half, read, seconds / 2);
  result.write = settled_rate(bench, WalkKind::write, walk, read, seconds / 2);
  return result;
}

double local_rate(DeviceBench& bench, const std::string& what, double bytes_a_visit, double seconds) {
  const Kernel kernel = bench.kernel("local_" + what);
  const std::size_t items = kItems;
  if (items > bench.most_items(kernel)) return 0;
  const std::size_t groups = bench.modest() ? 2 * bench.limits().compute_units : bench.resident_groups(items);
  const auto rate = [&](std::uint32_t rounds, double budget) {
    const double time = bench.time(
        [&] {
          bench.queue().launch(kernel, {.groups = {groups}, .items = {items}}, {bench.results(), rounds});
        },
        budget);
    return bytes_a_visit * kLocalVisits * rounds * static_cast<double>(groups * items) / time;
  };
  std::uint32_t rounds = 16;
  const double first = rate(rounds, seconds / 4);
  const double a_round = bytes_a_visit * kLocalVisits * static_cast<double>(groups * items);
  rounds = static_cast<std::uint32_t>(std::clamp(2e-3 * first / a_round, 16.0, 1e6));
  return std::max(first, rate(rounds, seconds * 3 / 4));
}

// The last working set whose rate is closer, by ratio, to `inside` than to `outside`.
std::size_t capacity_of(const std::vector<std::pair<double, double>>& points, double inside, double outside) {
  double bytes = 0;
  for (const auto& [size, rate] : points)
    if (rate * rate >= inside * outside) bytes = std::max(bytes, size);
  return static_cast<std::size_t>(bytes);
}

double best_rate(const std::vector<std::pair<double, double>>& points) {
  double best = 0;
  for (const auto& point : points) best = std::max(best, point.second);
  return best;
}

}  // namespace

double Walk::bytes() const {
  return static_cast<double>(groups) * static_cast<double>(rounds) * static_cast<double>(items * kWindowVectors * 16);
}

double walk_rate(DeviceBench& bench, WalkKind kind, const Walk& walk, double seconds) {
  const Kernel kernel = bench.kernel(kernel_name(kind));
  const auto word = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  std::vector<Argument> arguments;
  if (kind != WalkKind::write) arguments.emplace_back(bench.from());
  arguments.emplace_back(kind == WalkKind::read || kind == WalkKind::read_l2 ? bench.results() : bench.to());
  for (const std::size_t value : {walk.base_step, walk.start_step, walk.range, walk.step, walk.rounds})
    arguments.emplace_back(word(value));
  const Launch launch{.groups = {walk.groups}, .items = {walk.items}};
  const double time = bench.time([&] { bench.queue().launch(kernel, launch, arguments); }, seconds);
  return walk.bytes() * (kind == WalkKind::copy ? 2 : 1) / time;
}

double read_bandwidth(DeviceBench& bench, double seconds) {
  double best = 0;
  const auto sizes =
      bench.group_sizes(bench.kernel("window_read"),
                        bench.modest() ? std::vector<std::size_t>{256} : std::vector<std::size_t>{256, 512, 1024});
  const std::vector<std::size_t> waves =
      bench.modest() ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, 4, 16};
  for (const std::size_t items : sizes) {
    for (const std::size_t wave : waves) {
      const std::size_t tiles = bench.large() / (items * kWindowVectors * 16);
      Walk walk;
      walk.items = items;
      walk.groups = bench.modest() ? tiles : std::min(tiles, wave * bench.resident_groups(items));
      walk.range = tiles;
      walk.step = walk.groups % tiles;
      walk.rounds = tiles / walk.groups;
      best = std::max(
          best, walk_rate(bench, WalkKind::read, walk, seconds / static_cast<double>(sizes.size() * waves.size())));
    }
  }
  return best;
}

std::vector<Level> cache_levels(DeviceBench& bench, double memory_read, double seconds, Sweep& sweep) {
  sweep = {.title = "Read bandwidth against working set", .x = "bytes", .y = "bytes/s", .lines = {}};
  std::vector<Level> levels;
  if (kItems > bench.most_items(bench.kernel("window_read"))) return levels;
  const std::size_t units = bench.limits().compute_units;

  std::vector<std::size_t> pieces, sets;
  for (std::size_t tiles = 1; tiles <= (bench.modest() ? 8u : 64u); tiles *= 2) pieces.push_back(tiles);
  for (std::size_t bytes = 4u << 20; bytes <= std::min<std::size_t>(bench.large(), 512u << 20); bytes *= 2) {
    sets.push_back(bytes);
    if (!bench.modest() && bytes * 3 / 2 <= bench.large()) sets.push_back(bytes * 3 / 2);
  }
  const double slice = 0.4 * seconds / static_cast<double>(pieces.size() + sets.size());

  Sweep::Line own{.name = "each group its own", .points = {}}, common{.name = "shared by all groups", .points = {}};
  double guess = memory_read;
  for (const std::size_t tiles : pieces) {
    const Walk walk = private_walk(bench, tiles);
    if (walk.groups * tiles * kWalkTile > bench.large()) break;
    guess = settled_rate(bench, WalkKind::read, walk, guess, slice);
    own.points.emplace_back(static_cast<double>(walk.groups * tiles * kWalkTile), guess);
  }
  // Two groups on one tile at the same time would share its fetch.
  const std::size_t least = bench.modest() ? 0 : bench.resident_groups(kItems) * kWalkTile;
  for (const std::size_t bytes : sets) {
    if (bytes < least) continue;
    guess = settled_rate(bench, WalkKind::read_l2, shared_walk(bench, bytes), guess, slice);
    common.points.emplace_back(static_cast<double>(bytes), guess);
  }

  const double shared_best = std::max(best_rate(common.points), memory_read);
  if (const double best = best_rate(own.points); best > 1.2 * shared_best) {
    const std::size_t capacity = capacity_of(own.points, best, shared_best);
    const Walk walk =
        private_walk(bench, std::max<std::size_t>(capacity / (private_walk(bench, 1).groups * kWalkTile) / 2, 1));
    levels.push_back({"L1", capacity, level_bandwidth(bench, walk, best, 0.2 * seconds), {}});
  }
  Level local{"local", bench.limits().local_memory * units, {}, {}};
  local.all.read = local_rate(bench, "read", 16, 0.07 * seconds);
  local.all.write = local_rate(bench, "write", 16, 0.07 * seconds);
  local.all.copy = local_rate(bench, "copy", 32, 0.06 * seconds);
  if (local.all.read > 0) levels.push_back(local);
  if (shared_best > 1.2 * memory_read) {
    const std::size_t capacity = capacity_of(common.points, shared_best, memory_read);
    levels.push_back({bench.device().info().shares_host_memory ? "L3" : "L2",
                      capacity,
                      level_bandwidth(bench, shared_walk(bench, std::max<std::size_t>(capacity / 2, kWalkTile)),
                                      shared_best, 0.2 * seconds),
                      {}});
  }
  for (const auto& line : {own, common})
    if (!line.points.empty()) sweep.lines.push_back(line);
  return levels;
}

}  // namespace ridge::machine
