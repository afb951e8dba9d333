// The cache that all compute units share may be two, with a link between them that rings fill (H200: 95 % busy, memory
// 58): what a unit wrote is read without it by units of the same half. Which unit has which half no driver tells, but
// the time of a first read does.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "device/compile_cache.hpp"
#include "fft/device/persistent_two_pass/persistent_two_pass.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kLines = 64, kLineWords = 32, kGroupItems = 32;
constexpr std::uint32_t kIdleRounds = 3, kRounds = 12;  // the first ones find clocks and address tables cold

// Lines of every unit are written by one of them; then each reads its own for the first time.
constexpr const char* kText = R"(
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void write_lines(GLOBAL uint* lines) {
  for (uint i = LOCAL_ID(0); i < UNITS * LINES; i += GROUP_ITEMS) lines[i * LINE_WORDS] = i;
}
KERNEL WORK_GROUP(GROUP_ITEMS, 1, 1) void time_lines(GLOBAL const uint* lines, GLOBAL uint* sums, uint round) {
  LOCAL_BLOCK(uint, seen, 1);
  if (LOCAL_ID(0) != 0) return;
  const uint unit = UNIT_ID() % UNITS;
  uint sum = 0;
  for (uint i = 0; i < LINES; ++i) sum += TIMED_LOAD(lines + (unit * LINES + i) * LINE_WORDS, seen);
  const uint before = ATOMIC_ADD(sums + UNITS + unit, 1u);
  if (round >= IDLE_ROUNDS && before == round) sums[unit] += sum;  // the first group there
}
)";

struct Halves {
  std::vector<std::uint32_t> table = std::vector<std::uint32_t>(kUnitsTable, 0);
  bool clear = false;  // no unit lies between the two
};

// Two means of what was summed up; one half where there are no two.
Halves parted(const std::vector<std::uint32_t>& sums) {
  Halves halves;
  std::vector<std::uint32_t>& table = halves.table;
  double low = 0, high = 0;
  std::uint32_t units = 0, near = 0;
  for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
    const double sum = sums[unit];
    if (sum == 0) continue;
    low = units == 0 ? sum : std::min(low, sum);
    high = std::max(high, sum);
    ++units;
  }
  for (int turn = 0; turn < 16 && high > low; ++turn) {
    double below = 0, above = 0;
    near = 0;
    for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
      if (sums[unit] == 0) continue;
      const bool is_near = sums[unit] < (low + high) / 2;
      (is_near ? below : above) += sums[unit];
      near += is_near ? 1 : 0;
    }
    low = below / near;
    high = above / (units - near);
  }
  table[0] = 1;
  table[1] = table[2] = 1;
  constexpr double kApart = 1.08;
  if (units == 0 || high < kApart * low || near * 4 < units || near * 4 > units * 3) return halves;
  table[0] = 2;
  table[1] = near;
  table[2] = units;
  halves.clear = true;
  for (std::size_t unit = 0; unit < kMostUnits; ++unit) {
    table[3 + unit] = sums[unit] > (low + high) / 2 ? 1 : 0;
    halves.clear = halves.clear && (sums[unit] == 0 || std::abs(sums[unit] - (low + high) / 2) > (high - low) / 4);
  }
  return halves;
}

Halves measured(const Device& device) {
  const std::size_t local_words = device.limits().local_memory / 8;  // more than half: one group a unit
  const Program program = device.compile(unit_halves_source());
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
  return parted(found);
}

// What was found in an earlier process, kept beside the kernels.
std::string kept_key(const Device& device) {
  const DeviceInfo& info = device.info();
  return detail::compile_key(info.fingerprint(), "halves of the shared cache", info.bus, kText);
}

std::vector<std::uint32_t> kept_or_measured(const Device& device) {
  const std::string key = kept_key(device);
  std::vector<std::uint32_t> table(kUnitsTable, 0);
  const std::size_t bytes = table.size() * sizeof(table.front());
  if (const auto kept = detail::find_compiled(key); kept && kept->size() == bytes) {
    std::memcpy(table.data(), kept->data(), bytes);
    return table;
  }
  const Halves halves = measured(device);
  if (halves.clear) {
    detail::store_compiled(key, {reinterpret_cast<const char*>(halves.table.data()), bytes});
  }
  return halves.table;
}

}  // namespace

KernelSource unit_halves_source() {
  return {.name = "halves of the shared cache",
          .text = kText,
          .defines = {{"UNITS", fmt::format("{}u", kMostUnits)},
                      {"LINES", fmt::format("{}u", kLines)},
                      {"IDLE_ROUNDS", fmt::format("{}u", kIdleRounds)},
                      {"LINE_WORDS", fmt::format("{}u", kLineWords)},
                      {"GROUP_ITEMS", fmt::format("{}", kGroupItems)}}};
}

const std::vector<std::uint32_t>& unit_halves(const Device& device) {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::uint32_t>> known;
  const std::lock_guard lock(mutex);
  const std::string key = device.id() + device.info().bus + device.info().name;
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, kept_or_measured(device)).first->second;
}

}  // namespace ridge::fft::on_device
