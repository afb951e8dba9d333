// Measures the transfer rates between host and device.
#include <algorithm>
#include <cstring>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "machine/device/kernels.hpp"
#include "machine/device/probes.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kMebibyte = 1u << 20;

// Measured by the host's clock from enqueue to completion, because a caller waits that long and a pageable copy works
// on the host.
double rate(DeviceBench& bench, std::size_t bytes, double seconds, const std::function<void()>& enqueue) {
  const double time = base::best_seconds(
      [&] {
        enqueue();
        bench.queue().finish();
      },
      {.seconds = seconds, .at_least = 3});
  return static_cast<double>(bytes) / time;
}

// Makes every page exist before anything is timed.
void touch(const Buffer& buffer) {
  const Mapping mapping = buffer.map();
  std::memset(mapping.data(), 0x3c, mapping.size());
}

}  // namespace

Transfers transfers(DeviceBench& bench, double seconds) {
  const std::size_t bytes = std::min<std::size_t>(bench.large(), bench.modest() ? 64 * kMebibyte : 256 * kMebibyte);
  const double slice = seconds / 8;
  const auto timed = [&](const std::function<void()>& enqueue) { return rate(bench, bytes, slice, enqueue); };
  Queue& queue = bench.queue();
  const Buffer &from = bench.from(), &to = bench.to();
  Transfers result;
  {
    base::AlignedArray<std::byte> memory(bytes);
    std::memset(memory.data(), 0x3c, bytes);
    result.upload_pageable = timed([&] { queue.upload(memory.data(), to, bytes); });
    result.download_pageable = timed([&] { queue.download(from, memory.data(), bytes); });
  }
  {
    const Buffer pinned = bench.device().buffer(bytes, {.kind = MemoryKind::pinned, .name = "pinned probe"});
    touch(pinned);
    // Uses the host address: a driver may move an OpenCL buffer object to the device, and then no data cross the bus.
    const Mapping mapping = pinned.map();
    result.upload_pinned = timed([&] { queue.upload(mapping.data(), to, bytes); });
    result.download_pinned = timed([&] { queue.download(from, mapping.data(), bytes); });
  }
  // For the same reason, OpenCL on a discrete GPU has no memory that is certainly read in place.
  const DeviceInfo& info = bench.device().info();
  if (info.backend == Backend::cuda || info.shares_host_memory) {
    const Buffer mapped = bench.device().buffer(bytes, {.kind = MemoryKind::mapped, .name = "mapped probe"});
    touch(mapped);
    const Kernel kernel = bench.kernel("copy_4");
    const std::size_t items = std::min<std::size_t>(256, bench.most_items(kernel));
    const auto tiles = static_cast<std::uint32_t>(bytes / (items * 4 * 16));
    const Launch launch{.groups = {tiles}, .items = {items}};
    result.upload_mapped = timed([&] { queue.launch(kernel, launch, {mapped, to, tiles}); });
    result.download_mapped = timed([&] { queue.launch(kernel, launch, {from, mapped, tiles}); });
  }
  return result;
}

}  // namespace ridge::machine
