// Buffers of any back end, and checking mode: fences around buffers, poison in new memory.
#include "device/backend.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridge {
namespace {

std::atomic<bool>& checking_flag() {
  static std::atomic<bool> flag = [] {
    const char* value = std::getenv("RIDGE_CHECK");
    return value != nullptr && *value != 0 && *value != '0';
  }();
  return flag;
}

}  // namespace

void set_checking(bool on) { checking_flag() = on; }
bool checking() { return checking_flag(); }

namespace detail {
namespace {

constexpr std::size_t kFence = 4096;  // a multiple of every device's sub-buffer alignment
constexpr std::byte kFenceValue{0xA5};
constexpr std::byte kPoison{0xFF};  // NaN in float and in double, -1 in integers

using Bytes = std::span<const std::byte>;

// First byte of a fence that differs, as an offset from the fence's start; its size when it is whole.
std::size_t first_damage(Bytes fence) {
  if (fence.empty()) return 0;
  if (fence[0] == kFenceValue && std::memcmp(fence.data(), fence.data() + 1, fence.size() - 1) == 0)
    return fence.size();
  return static_cast<std::size_t>(
      std::find_if(fence.begin(), fence.end(), [](std::byte b) { return b != kFenceValue; }) - fence.begin());
}

// Both fences of a buffer: read in place if the device computes in this process, else downloaded.
struct Fences {
  MemoryState* memory;
  std::vector<std::byte> downloaded;
  Bytes before, after;
};

// The fences may be read once the queue has finished.
Fences fetch(MemoryState& memory, QueueState& queue) {
  Fences fences{.memory = &memory, .downloaded = {}, .before = {}, .after = {}};
  const std::size_t before = memory.fence, after = memory.fence_after();
  if (const GuardedMemory* const guard = memory.allocation->guard()) {
    fences.before = {guard->data(), before};
    fences.after = {guard->data() + before + memory.size, after};
    return fences;
  }
  fences.downloaded.resize(before + after);
  std::byte* const to = fences.downloaded.data();
  queue.download(memory, to, before, -static_cast<std::ptrdiff_t>(before));
  if (after != 0) queue.download(memory, to + before, after, static_cast<std::ptrdiff_t>(memory.size));
  fences.before = {to, before};
  fences.after = {to + before, after};
  return fences;
}

void check_one(const Fences& fences, QueueState& queue, const std::string& kernel) {
  MemoryState& memory = *fences.memory;
  const auto [before, after] = std::pair(fences.before, fences.after);
  GuardedMemory* const guard = memory.allocation->guard();
  const std::optional<GuardedTouch> touch = guard != nullptr ? guard->touched() : std::nullopt;
  const std::size_t past = first_damage(after);
  const std::size_t front = first_damage(before);
  if (past == after.size() && front == before.size() && !touch) return;
  const bool wrote = past != after.size() || front != before.size();
  const std::string where = past != after.size() ? fmt::format("{} bytes past its end", past + 1)
                            : touch              ? fmt::format("{} bytes past its end", touch->past + 1)
                                    : fmt::format("up to {} bytes before its start", before.size() - front);
  queue.fill(memory, kFenceValue, before.size(), -static_cast<std::ptrdiff_t>(before.size()));
  if (!after.empty()) queue.fill(memory, kFenceValue, after.size(), static_cast<std::ptrdiff_t>(memory.size));
  queue.finish();
  throw Error(ErrorKind::device,
              fmt::format("kernel {} {} outside buffer \"{}\" ({} bytes) on {}: {}", kernel,
                          wrote ? "wrote" : "read or wrote", memory.name, memory.size, memory.device->info.id, where));
}

}  // namespace

std::size_t MemoryState::fence_after() const {
  GuardedMemory* const guard = allocation->guard();
  return fence != 0 && guard != nullptr ? guard->slack() : fence;
}

MemoryState::~MemoryState() {
  if (!device) return;
  std::lock_guard lock(device->memory_mutex);
  std::erase(device->memory, this);
}

std::shared_ptr<MemoryState> make_memory(const std::shared_ptr<DeviceState>& device, std::size_t bytes,
                                         const BufferOptions& options) {
  const DeviceInfo& info = device->info;
  if (bytes == 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("buffer \"{}\": needs at least 1 byte, got 0", options.name));
  }
  const std::size_t most = options.kind == MemoryKind::device && info.limits.allocation != 0
                               ? info.limits.allocation
                               : std::numeric_limits<std::size_t>::max() - 4 * kFence;
  if (bytes > most) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("buffer \"{}\" of {} is larger than the {} that {} ({}) gives to one buffer", options.name,
                            base::human_bytes(static_cast<double>(bytes)), base::human_bytes(static_cast<double>(most)),
                            info.id, info.name));
  }
  auto memory = std::make_shared<MemoryState>();
  memory->fence = checking() ? kFence : 0;
  memory->allocation = device->allocate(bytes, memory->fence, options);
  memory->name = options.name;
  memory->size = bytes;
  memory->kind = options.kind;
  memory->device = device;
  if (memory->fence != 0) {
    auto queue = device->queue();
    queue->fill(*memory, kPoison, bytes, 0);
    queue->fill(*memory, kFenceValue, memory->fence, -static_cast<std::ptrdiff_t>(memory->fence));
    if (const std::size_t after = memory->fence_after(); after > 0) {
      queue->fill(*memory, kFenceValue, after, static_cast<std::ptrdiff_t>(bytes));
    }
    queue->finish();
  }
  std::lock_guard lock(device->memory_mutex);
  device->memory.push_back(memory.get());
  return memory;
}

void check_fences(DeviceState& device, QueueState& queue, const std::string& kernel) {
  std::lock_guard lock(device.memory_mutex);
  std::vector<Fences> all;
  all.reserve(device.memory.size());
  for (MemoryState* memory : device.memory) {
    if (memory->fence != 0) all.push_back(fetch(*memory, queue));
  }
  queue.finish();  // once: one wait per buffer would take longer than most kernels
  for (const Fences& fences : all) check_one(fences, queue, kernel);
}

}  // namespace detail
}  // namespace ridge
