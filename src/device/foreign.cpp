// Buffers and queues over memory and streams of other libraries.
#include <ridge/error.hpp>
#include <ridge/foreign.hpp>

#include <fmt/format.h>

#include "device/backend.hpp"

namespace ridge {
namespace {

// Memory owned by the caller; it is not freed here.
struct Foreign final : detail::Allocation {
  Foreign(std::uintptr_t where, bool on_host, std::shared_ptr<void> kept)
      : address(where), host(on_host), owner(std::move(kept)) {}
  std::uintptr_t native() const override { return address; }
  std::byte* map() override { return host ? reinterpret_cast<std::byte*>(address) : nullptr; }  // NOLINT: an address
  void unmap() override {}
  std::uintptr_t address;
  bool host;
  std::shared_ptr<void> owner;
};

}  // namespace

Buffer buffer_over(const Device& device, std::uintptr_t address, std::size_t bytes, std::shared_ptr<void> owner) {
  if (device.info().backend == Backend::opencl) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("memory of other libraries needs the host or a CUDA device, got {}", device.id()));
  }
  if (address == 0) throw Error(ErrorKind::invalid_argument, "memory of another library needs an address, got 0");
  auto memory = std::make_shared<detail::MemoryState>();
  memory->allocation = std::make_unique<Foreign>(address, device.is_host(), std::move(owner));
  memory->name = "memory of another library";
  memory->size = bytes;
  memory->device = device.shared_state();
  return Buffer(std::move(memory));
}

Queue queue_over(const Device& device, std::uintptr_t stream) {
  auto queue = device.state().queue_over(stream);
  if (!queue) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("queues of other libraries need a CUDA device, got {}", device.id()));
  }
  queue->device = device.shared_state();
  std::lock_guard lock(queue->device->memory_mutex);
  queue->device->foreign_streams.insert(stream);
  return Queue(std::move(queue));
}

}  // namespace ridge
