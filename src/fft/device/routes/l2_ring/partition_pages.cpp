// Measures which blocks of a ring belong to which L2 partition. Within a 2 MB page the address bits decide; between
// pages only the latency of a first read shows it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "device/kernel_template.hpp"
#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/routes/l2_ring/l2_ring.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr int kAttempts = 4;
constexpr double kApartShare = 0.08;  // remote reads take 440 to 500 cycles, local ones 265 to 310: 0.22 of the sum
constexpr std::uint32_t kPageRounds = 3, kPageBlocks = 32, kPageItems = 32;

// Rank of each unit in its partition, then the number of units per partition.
std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& units) {
  std::vector<std::uint32_t> ranks(kMostUnits + 2, 0);
  const std::uint32_t all = units[2];
  std::uint32_t seen[2] = {0, 0};
  for (std::uint32_t unit = 0; unit < all && unit < kMostUnits; ++unit) ranks[unit] = seen[units[3 + unit] & 1]++;
  ranks[kMostUnits] = std::max(seen[0], 1u);
  ranks[kMostUnits + 1] = std::max(seen[1], 1u);
  return ranks;
}

}  // namespace

KernelSource partition_pages_source() {
  return {.name = "pages of L2 partitions",
          .text = "\n" + detail::fill_kernel_text("fft/time_pages"),
          .defines = {{"UNITS", fmt::format("{}u", kMostUnits)},
                      {"BLOCKS", fmt::format("{}u", kPageBlocks)},
                      {"GROUP_ITEMS", fmt::format("{}", kPageItems)}}};
}

std::vector<std::uint32_t> partition_pages(const Device& device, const Buffer& ring, std::uint64_t slot_bytes,
                                           std::size_t slots) {
  std::vector<std::uint32_t> bits(slots, 0);
  const std::vector<std::uint32_t>& units = unit_partitions(device);
  const auto pages = static_cast<std::uint32_t>(ring.size() / kPartitionPage);
  if (units[0] != 2 || pages == 0) return bits;
  static std::mutex one_at_a_time;  // two measurements at once would occupy each other's compute units
  const std::lock_guard lock(one_at_a_time);
  const std::vector<std::uint32_t> ranks = ranks_of(units);
  const Program program = device.compile(partition_pages_source());
  const Kernel writes = program.kernel("write_pages"), times = program.kernel("time_pages");
  const auto words = [&](std::size_t count) { return device.buffer(count * sizeof(std::uint32_t), {.name = "units"}); };
  const Buffer all_units = words(units.size()), all_ranks = words(ranks.size()), sums = words(2 * pages);
  Queue queue = device.queue();
  queue.upload(std::span<const std::uint32_t>(units), all_units);
  queue.upload(std::span<const std::uint32_t>(ranks), all_ranks);
  const std::size_t local = device.limits().local_memory / 2 + 4096;  // one group per compute unit
  const Launch launch{.groups = {device.limits().compute_units}, .items = {kPageItems}, .local_bytes = local};
  std::vector<std::uint32_t> found(2 * pages, 0), second(pages, 0);
  std::vector<bool> clear(pages, false);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {  // other work may have disturbed an attempt
    queue.fill(sums, std::byte{0});
    for (std::uint32_t round = 0; round < kPageRounds; ++round) {
      queue.launch(writes, launch, {ring, all_units, all_ranks, pages, round});
      queue.launch(times, launch, {ring, all_units, all_ranks, pages, round, sums});
    }
    queue.download(sums, std::span<std::uint32_t>(found));
    queue.finish();
    bool all = true;
    for (std::uint32_t page = 0; page < pages; ++page) {
      const double even = found[2 * page], odd = found[2 * page + 1];
      if (!clear[page]) second[page] = even < odd ? 1 : 0;  // blocks that the second partition reads fast are its own
      clear[page] = clear[page] || std::abs(even - odd) > kApartShare * (even + odd);
      all = all && clear[page];
    }
    if (all) break;
  }
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t first = slot * slot_bytes / kPartitionPage,
                        last = ((slot + 1) * slot_bytes - 1) / kPartitionPage;
    const std::uint32_t odd_slot =
        std::popcount(slot * slot_bytes & kPartitionBits) % 2;  // parity of the slot's offset within its page
    for (std::uint64_t page = first; page <= last && page < pages; ++page) {
      bits[slot] |= (second[page] ^ odd_slot) << (page - first);
    }
  }
  return bits;
}

}  // namespace ridge::fft::on_device
