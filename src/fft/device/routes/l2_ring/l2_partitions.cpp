// Measures which L2 partition is next to each compute unit. The L2 of Hopper GPUs consists of two partitions, and the
// link between them limits a ring (H200: link 95 % busy, DRAM 58 %). Data written and read on the same side do not use
// the link. The driver does not report the partition of a compute unit; the latency of a first read shows it.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "device/compile_cache.hpp"
#include "device/kernel_template.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kLines = 64, kLineWords = 32, kGroupItems = 32;
constexpr std::uint32_t kIdleRounds = 3, kRounds = 12;  // warm-up rounds: clocks and TLBs are cold

std::string text() { return "\n" + detail::fill_kernel_text("fft/time_lines"); }

struct UnitPartitions {
  std::vector<std::uint32_t> table = std::vector<std::uint32_t>(kUnitsTable, 0);
  bool clear = false;  // every unit belongs clearly to one of the two
};

// Splits the compute units by two-means clustering of their latencies; one partition if there are no two clusters.
UnitPartitions split_units(const std::vector<std::uint32_t>& sums) {
  UnitPartitions result;
  std::vector<std::uint32_t>& table = result.table;
  double low = 0, high = 0;
  std::uint32_t units = 0, local_units = 0;
  for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
    const double sum = sums[unit];
    if (sum == 0) continue;
    low = units == 0 ? sum : std::min(low, sum);
    high = std::max(high, sum);
    ++units;
  }
  for (int iteration = 0; iteration < 16 && high > low; ++iteration) {
    double below = 0, above = 0;
    local_units = 0;
    for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
      if (sums[unit] == 0) continue;
      const bool is_local = sums[unit] < (low + high) / 2;
      (is_local ? below : above) += sums[unit];
      local_units += is_local ? 1 : 0;
    }
    low = below / local_units;
    high = above / (units - local_units);
  }
  table[0] = 1;
  table[1] = table[2] = 1;
  constexpr double kApart = 1.08;
  if (units == 0 || high < kApart * low || local_units * 4 < units || local_units * 4 > units * 3) return result;
  table[0] = 2;
  table[1] = local_units;
  table[2] = units;
  result.clear = true;
  for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
    table[3 + unit] = sums[unit] > (low + high) / 2 ? 1 : 0;
    result.clear = result.clear && (sums[unit] == 0 || std::abs(sums[unit] - (low + high) / 2) > (high - low) / 4);
  }
  return result;
}

UnitPartitions measured(const Device& device) {
  const std::size_t local_words =
      device.limits().local_memory / 8;  // more than half of the local memory: one group per compute unit
  const Program program = device.compile(unit_partitions_source());
  const Kernel writes = program.kernel("write_lines"), times = program.kernel("time_lines");
  const Buffer lines = device.buffer(kMostUnits * kLines * kLineWords * 4, {.name = "lines"});
  const Buffer sums = device.buffer(2 * kMostUnits * 4, {.name = "sums"});
  Queue queue = device.queue();
  queue.fill(sums, std::byte{0});
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    queue.launch(writes, {.groups = {1}, .items = {kGroupItems}}, {lines});
    queue.launch(
        times,
        {.groups = {device.limits().compute_units}, .items = {kGroupItems}, .local_bytes = (local_words + 1024) * 4},
        {lines, sums, round});
  }
  std::vector<std::uint32_t> found(2 * kMostUnits, 0);
  queue.download(sums, std::span<std::uint32_t>(found));
  queue.finish();
  return split_units(found);
}

// Key of the table in the compile cache, where an earlier process stored it.
std::string kept_key(const Device& device) {
  const DeviceInfo& info = device.info();
  return detail::compile_key(info.fingerprint(), "L2 partitions of compute units", info.bus, text());
}

std::vector<std::uint32_t> kept_or_measured(const Device& device) {
  const std::string key = kept_key(device);
  std::vector<std::uint32_t> table(kUnitsTable, 0);
  if (device.info().recorded) return table;  // a recorded device runs nothing
  const std::size_t bytes = table.size() * sizeof(table.front());
  if (const auto kept = detail::find_compiled(key); kept && kept->size() == bytes) {
    std::memcpy(table.data(), kept->data(), bytes);
    return table;
  }
  const UnitPartitions result = measured(device);
  if (result.clear) {
    detail::store_compiled(key, {reinterpret_cast<const char*>(result.table.data()), bytes});
  }
  return result.table;
}

}  // namespace

KernelSource unit_partitions_source() {
  return {.name = "L2 partitions of compute units",
          .text = text(),
          .defines = {{"UNITS", fmt::format("{}u", kMostUnits)},
                      {"LINES", fmt::format("{}u", kLines)},
                      {"IDLE_ROUNDS", fmt::format("{}u", kIdleRounds)},
                      {"LINE_WORDS", fmt::format("{}u", kLineWords)},
                      {"GROUP_ITEMS", fmt::format("{}", kGroupItems)}}};
}

const std::vector<std::uint32_t>& unit_partitions(const Device& device) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::uint32_t>> known;
  const std::lock_guard lock(mutex);
  const std::string key = device.id() + device.info().bus + device.info().name;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, kept_or_measured(device)).first->second;
}

}  // namespace ridge::fft::on_device
