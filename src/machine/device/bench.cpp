// Creates the queue, kernels and buffers of the device probes, and times launches.
#include "machine/device/bench.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/clock.hpp"
#include "device/timing.hpp"
#include "device/traits.hpp"
#include "machine/device/kernels.hpp"
#include "machine/host/caches.hpp"

namespace ridge::machine {
namespace {

constexpr std::size_t kMega = 1u << 20;
constexpr std::size_t kTile = 1024 * 8 * 16;  // bytes of the largest tile of the memory kernels

std::size_t large_bytes(const Device& device, bool quick) {
  const Limits& limits = device.limits();
  std::size_t bytes = 0;
  if (device.info().shares_host_memory) {
    bytes = std::clamp<std::size_t>(4 * host_caches().back().size, 64 * kMega, 256 * kMega);
    if (const std::size_t free = free_host_memory(); free != 0) bytes = std::min(bytes, free / 8);
  } else {
    bytes = std::min<std::size_t>(limits.memory / 16, 2048 * kMega);
  }
  if (quick) bytes = std::min<std::size_t>(bytes, 32 * kMega);
  if (limits.allocation != 0) bytes = std::min(bytes, limits.allocation / 2);
  return std::max<std::size_t>(bytes / kTile * kTile, kTile);
}

KernelSource source_of(const std::string& kernel, const Limits& limits) {
  const auto starts = [&](const char* prefix) { return kernel.rfind(prefix, 0) == 0; };
  if (starts("copy_") || starts("write_")) return memory_kernels();
  if (starts("window_") || starts("local_") || starts("empty")) return cache_kernels();
  if (starts("fma_")) return fma_kernels(kernel == "fma_double");
  if (starts("access_") || starts("poison"))
    return access_kernels(std::min<std::size_t>(kAccessItems, limits.work_group));
  return spin_kernels();
}

template <class T>
void upload_factors(Queue& queue, const Buffer& buffer) {
  const std::array<T, 2> factors{static_cast<T>(kFmaFactors[0]), static_cast<T>(kFmaFactors[1])};
  queue.upload(factors.data(), buffer, sizeof factors);
  queue.finish();
}

}  // namespace

DeviceBench::DeviceBench(const Device& device, bool quick)
    : device_(device),
      queue_(device.queue()),
      modest_(quick || device.info().shares_host_memory),
      large_(large_bytes(device, quick)) {}

Kernel DeviceBench::kernel(const std::string& name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  const KernelSource source = source_of(name, limits());
  auto program = programs_.find(source.name);
  if (program == programs_.end()) program = programs_.emplace(source.name, device_.compile(source)).first;
  return kernels_.emplace(name, program->second.kernel(name)).first->second;
}

// Filled once, so that every page exists and no measurement includes the first touch. The data are not zero, which
// hardware may treat specially.
const Buffer& DeviceBench::from() {
  if (!from_) {
    from_ = device_.buffer(large_, {.name = "probe source"});
    queue_.fill(from_, std::byte{0x3c});
    queue_.finish();
  }
  return from_;
}

const Buffer& DeviceBench::to() {
  if (!to_) {
    to_ = device_.buffer(large_, {.name = "probe target"});
    queue_.fill(to_, std::byte{0x3d});
    queue_.finish();
  }
  return to_;
}

const Buffer& DeviceBench::results() {
  if (!results_) {
    // The FMA probe in double has the largest output: two waves of work-items, one double per chain.
    const std::size_t items = std::max(2 * resident_groups(1), 512 * limits().compute_units);
    // On a modest device the cache walks use one group per tile of `large` bytes and one word per work-item.
    const std::size_t walks = modest_ ? large_ / 16 : 0;
    const std::size_t bytes = std::max<std::size_t>({items * kFmaChains * sizeof(double), walks, 4 * kMega});
    results_ = device_.buffer(bytes, {.name = "probe results"});
    queue_.fill(results_, std::byte{0});
    queue_.finish();
  }
  return results_;
}

const Buffer& DeviceBench::constants(bool in_double) {
  Buffer& buffer = in_double ? constants_double_ : constants_float_;
  if (!buffer) {
    buffer = device_.buffer(2 * sizeof(double), {.name = "probe factors"});
    if (in_double)
      upload_factors<double>(queue_, buffer);
    else
      upload_factors<float>(queue_, buffer);
  }
  return buffer;
}

std::size_t DeviceBench::resident_groups(std::size_t items) const {
  const std::size_t units = std::max<std::size_t>(limits().compute_units, 1);
  return units * std::max<std::size_t>(detail::unit_capacity(limits()).items / std::max<std::size_t>(items, 1), 1);
}

std::size_t DeviceBench::most_items(const Kernel& kernel) const {
  const std::size_t allowed = std::min(limits().work_group, limits().work_group_sides[0]);
  return kernel.work_group() == 0 ? allowed : std::min(allowed, kernel.work_group());
}

std::vector<std::size_t> DeviceBench::group_sizes(const Kernel& kernel, const std::vector<std::size_t>& wanted) const {
  const std::size_t most = std::max<std::size_t>(most_items(kernel), 1);
  std::vector<std::size_t> sizes;
  for (const std::size_t size : wanted)
    if (size <= most) sizes.push_back(size);
  if (sizes.empty()) sizes.push_back(std::bit_floor(most));  // a power of two, so that tiles divide the buffers
  return sizes;
}

double DeviceBench::time(const std::function<void()>& enqueue, double seconds) {
  // Several rounds, each long enough to hide launch gaps and the resolution of timestamps.
  const double round = std::clamp(seconds / 6, 2e-4, modest_ ? 2e-3 : 1e-2);
  return best_device_seconds(queue_, {enqueue}, {.seconds = seconds, .at_least = 2, .round = round}).front();
}

}  // namespace ridge::machine
