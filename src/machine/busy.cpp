// Keeps the host or a device busy on a thread of its own.
#include "machine/busy.hpp"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/threads.hpp"
#include "machine/device/probes.hpp"
#include "machine/host/kernels.hpp"
#include "machine/host/probes.hpp"

namespace ridge::machine {
namespace {

void wait_until(const std::atomic<bool>& flag) {
  while (!flag.load(std::memory_order_acquire)) std::this_thread::yield();
}

// One call of the pool that lasts until `stop`: every core does the same work.
void host_work(LoadKind kind, const std::atomic<bool>& stop, std::atomic<bool>& started) {
  const std::size_t threads = base::hardware_threads();
  // Large enough for main memory, and each pass short enough to stop soon.
  HostPieces pieces(threads, kind == LoadKind::copy ? std::max<std::size_t>((256u << 20) / threads, 4u << 20) : 8192);
  base::parallel(threads, [&](std::size_t thread, std::size_t) {
    std::atomic<double> keep{0};
    while (!stop.load(std::memory_order_relaxed)) {
      if (kind == LoadKind::copy)
        copy_bytes(pieces.from(thread), pieces.to(thread), pieces.half());
      else
        keep.store(fma_chains_float(100'000, 0.75f), std::memory_order_relaxed);
      started.store(true, std::memory_order_release);
    }
  });
}

void device_work(DeviceBench& bench, LoadKind kind, const std::atomic<bool>& stop, std::atomic<bool>& started) {
  Queue queue = bench.device().queue();
  const std::size_t copy_items = bench.group_sizes(bench.kernel("copy_4"), {256}).front();
  const std::size_t items = bench.group_sizes(bench.kernel("fma_float"), {64}).front(),
                    groups = bench.modest() ? 4 * bench.limits().compute_units : bench.resident_groups(items);
  while (!stop.load(std::memory_order_relaxed)) {
    for (int launch = 0; launch < 4; ++launch) {
      if (kind == LoadKind::copy)
        launch_copy(bench, queue, {.items = copy_items}, bench.large());
      else
        launch_fma(bench, queue, false, items, groups, 200);
    }
    queue.finish();
    started.store(true, std::memory_order_release);
  }
}

// A failing load must not abort the measurement nor leave it waiting.
template <class Work>
std::thread run(std::atomic<bool>& started, std::string name, Work work) {
  return std::thread([&started, name = std::move(name), work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      base::warn(fmt::format("keeping {} busy failed: {}", name, error.what()));
    }
    started.store(true, std::memory_order_release);
  });
}

}  // namespace

BusyHost::BusyHost(LoadKind kind) {
  thread_ = run(started_, "the host", [this, kind] { host_work(kind, stop_, started_); });
  wait_until(started_);
}

BusyHost::~BusyHost() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

BusyDevice::BusyDevice(DeviceBench& bench, LoadKind kind) {
  thread_ = run(started_, bench.device().id(), [this, &bench, kind] { device_work(bench, kind, stop_, started_); });
  wait_until(started_);
}

BusyDevice::~BusyDevice() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

}  // namespace ridge::machine
