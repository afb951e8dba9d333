// Compiles the kernels of a placed program and runs them on a Ridgeline device, with reuse of buffers.
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <ridge/device.hpp>
#include <ridge/placed.hpp>

#include "base/log.hpp"
#include "device/staging.hpp"

namespace ridge::placed {

struct Kernels::State {
  std::optional<Device> device{};
  std::optional<Program> program{};
  std::mutex mutex{};
  std::map<std::string, Kernel> kernels{};
  std::optional<PinnedTransfer> staged{};
  std::multimap<std::size_t, Buffer> pool{};  // buffers of earlier runs, by size
};

Kernels::Kernels(const char* name, const char* source) : state_(std::make_shared<State>()) {
  try {
    Device device = ridge::device();
    if (device.is_host() || device.limits().work_group < 256) return;
    state_->program.emplace(device.compile({.name = name, .text = source}));
    state_->device.emplace(device);
  } catch (const Error& error) {  // the program runs its original loops
    base::warn(std::string(name) + " runs on the host: " + error.what());
  }
}

struct KernelQueue::State {
  std::shared_ptr<Kernels::State> kernels;   // of the session: its device and its buffers
  std::shared_ptr<Kernels::State> launched;  // whose kernels are launched
  std::optional<Queue> queue{};
  std::optional<PinnedTransfer> staged{};      // created by the first long copy to a device with its own memory
  std::multimap<std::size_t, Buffer> spare{};  // the queue is in order, so later commands may reuse them
  bool uploading = false;
};

KernelQueue::KernelQueue() : state_(std::make_unique<State>()) {
  // One state for all sessions of the process, so that each finds the buffers of earlier ones.
  static const auto shared = [] {
    auto made = std::make_shared<Kernels::State>();
    try {
      Device device = ridge::device();
      if (!device.is_host()) made->device.emplace(device);
    } catch (const Error& error) {  // the programs run their original loops
      base::warn(std::string("a session runs on the host: ") + error.what());
    }
    return made;
  }();
  state_->kernels = state_->launched = shared;
  if (shared->device) state_->queue.emplace(shared->device->queue());
}

KernelQueue::KernelQueue(const Kernels& kernels) : state_(std::make_unique<State>()) {
  state_->kernels = state_->launched = kernels.state();
  if (state_->kernels->device) state_->queue.emplace(state_->kernels->device->queue());
}

KernelQueue::~KernelQueue() {
  if (!state_->queue) return;
  try {
    state_->queue->finish();
    const std::lock_guard lock(state_->kernels->mutex);
    if (state_->staged) state_->kernels->staged.swap(state_->staged);
    auto& pool = state_->kernels->pool;
    pool.merge(state_->spare);
    while (pool.size() > 32) pool.erase(pool.begin());
  } catch (const std::exception& error) {
    base::warn(std::string("placed code: ") + error.what());
  }
}

Kernels KernelQueue::use(const Kernels& kernels) { return Kernels(std::exchange(state_->launched, kernels.state())); }

bool KernelQueue::there() const { return state_->queue && state_->launched->program; }

namespace {
Int known_or_any(std::size_t bytes) { return bytes == 0 ? std::numeric_limits<Int>::max() : static_cast<Int>(bytes); }
}  // namespace

Int KernelQueue::memory() const { return known_or_any(state_->kernels->device->limits().memory); }
Int KernelQueue::largest() const { return known_or_any(state_->kernels->device->limits().allocation); }

Buffer KernelQueue::allocate(Int bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const auto take = [&](std::multimap<std::size_t, Buffer>& from) {
    const auto at = from.find(size);
    if (at == from.end()) return Buffer{};
    Buffer found = at->second;
    from.erase(at);
    return found;
  };
  if (Buffer found = take(state_->spare)) return found;
  {
    const std::lock_guard lock(state_->kernels->mutex);
    if (Buffer found = take(state_->kernels->pool)) return found;
  }
  const Device& device = *state_->kernels->device;
  try {
    return device.buffer(size, {.name = "copy"});
  } catch (const Error&) {  // retry without the spare buffers, once no command uses them
    state_->queue->finish();
    state_->spare.clear();
    const std::lock_guard lock(state_->kernels->mutex);
    state_->kernels->pool.clear();
    return device.buffer(size, {.name = "copy"});
  }
}

void KernelQueue::recycle(Buffer buffer) {
  const std::size_t size = buffer.size();
  state_->spare.emplace(size, std::move(buffer));
}

PinnedTransfer* KernelQueue::staged(Int bytes) {
  constexpr std::size_t kLong = std::size_t{8} << 20;  // shorter copies gain nothing
  const Device& device = *state_->kernels->device;
  if (device.info().backend != Backend::cuda || bytes < static_cast<Int>(kLong)) return nullptr;
  if (!state_->staged) {
    const std::lock_guard lock(state_->kernels->mutex);  // page-locking is slow: sessions share the buffers
    if (state_->kernels->staged)
      state_->staged.swap(state_->kernels->staged);
    else
      state_->staged.emplace(device, kLong);
  }
  return &*state_->staged;
}

void KernelQueue::upload(const void* from, const Buffer& to, Int bytes, Int at) {
  if (PinnedTransfer* copy = staged(bytes)) {
    copy->upload(*state_->queue, from, to, static_cast<std::size_t>(bytes), static_cast<std::size_t>(at));
    return;
  }
  state_->queue->upload(from, to, static_cast<std::size_t>(bytes), static_cast<std::size_t>(at));
  state_->uploading = true;
}

void KernelQueue::download(const Buffer& from, void* to, Int bytes, Int at) {
  if (PinnedTransfer* copy = staged(bytes)) {
    copy->download(*state_->queue, from, to, static_cast<std::size_t>(bytes), static_cast<std::size_t>(at));
    return;
  }
  state_->queue->download(from, to, static_cast<std::size_t>(bytes), static_cast<std::size_t>(at));
  state_->queue->finish();
  state_->uploading = false;
}

void KernelQueue::copy(const Buffer& from, const Buffer& to, Int bytes) {
  state_->queue->copy(from, to, static_cast<std::size_t>(bytes));
}

void KernelQueue::clear(const Buffer& buffer, Int) { state_->queue->fill(buffer, std::byte{0}); }

void KernelQueue::uploaded() {
  if (state_->uploading) state_->queue->finish();
  state_->uploading = false;
}

void KernelQueue::launch_with(const char* kernel, const Grid& grid, const std::vector<Argument>& arguments) {
  Kernel chosen;
  {
    const std::lock_guard lock(state_->launched->mutex);
    auto& known = state_->launched->kernels;
    auto at = known.find(kernel);
    if (at == known.end()) at = known.emplace(kernel, state_->launched->program->kernel(kernel)).first;
    chosen = at->second;
  }
  const auto extent = [](const std::uint64_t* sides) { return Extent(sides[0], sides[1], sides[2]); };
  state_->queue->launch(chosen, {.groups = extent(grid.groups), .items = extent(grid.items)}, arguments);
}

}  // namespace ridge::placed
