// Interface of a back end; each back end is one folder. device.cpp checks every argument before it calls a back end, so
// a back end only translates. Fences and poison (memory.cpp) are common to all of them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/error.hpp>

#include "device/guarded_memory.hpp"
#include "device/tile_map.hpp"

namespace ridge::detail {

// The back end's own allocation, including fences.
struct Allocation {
  virtual ~Allocation() = default;
  // Handle of the caller's first byte for kernel arguments and copies: CUdeviceptr, cl_mem (a sub-buffer if the offset
  // is not 0), host address.
  virtual std::uintptr_t native() const = 0;
  virtual std::byte* map() = 0;  // host address of the caller's first byte; nullptr if the host cannot access it
  virtual void unmap() = 0;
  // True if inaccessible pages follow the caller's bytes instead of a fence.
  virtual GuardedMemory* guard() { return nullptr; }
};

struct EventState {
  virtual ~EventState() = default;
  virtual void wait() = 0;
  virtual bool done() = 0;
  virtual double seconds_until(EventState& later) = 0;  // both events must be complete
};

struct KernelState {
  virtual ~KernelState() = default;
  std::string name;
  std::shared_ptr<DeviceState> device;
  std::size_t registers = 0;
  std::size_t private_bytes = 0;
  std::size_t work_group = 0;
};

struct ProgramState {
  virtual ~ProgramState() = default;
  virtual std::shared_ptr<KernelState> kernel(const std::string& name) = 0;
  std::string name;
  bool from_cache = false;
};

struct MemoryState {
  std::shared_ptr<DeviceState> device;
  std::unique_ptr<Allocation> allocation;
  std::string name;
  std::size_t size = 0;   // the caller's bytes
  std::size_t fence = 0;  // bytes of fence before them; 0 outside checking mode
  // Bytes of fence after them: as many, or the few before a guarded page.
  std::size_t fence_after() const;
  MemoryKind kind = MemoryKind::device;
  ~MemoryState();
};

struct QueueTrace;    // src/device/queue_trace.cpp
struct RecordedWork;  // src/device/recording.hpp
struct GraphState;    // src/device/recording.hpp

struct QueueState {
  virtual ~QueueState() = default;
  std::shared_ptr<DeviceState> device;
  std::shared_ptr<QueueTrace> trace{};  // work of this queue while a trace is recorded; else null
  std::shared_ptr<RecordedWork>
      recorded{};  // not null: the front end appends work to it instead of calling the back end
  // Offsets count from the caller's first byte and may reach into the fences (negative or past size).
  virtual void upload(const void* from, MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) = 0;
  virtual void download(MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) = 0;
  virtual void copy(MemoryState& from, MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
                    std::ptrdiff_t to_offset) = 0;
  // Boxes of more than one row; pitches are filled in and inside the buffers.
  virtual void upload(const void* from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                      const ByteBox& box) = 0;
  virtual void download(MemoryState& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                        const ByteBox& box) = 0;
  virtual void copy(MemoryState& from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                    const ByteBox& box) = 0;
  virtual void fill(MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) = 0;
  virtual void launch(KernelState& kernel, const Launch& shape, const std::vector<Argument>& arguments) = 0;
  virtual std::shared_ptr<EventState> record() = 0;
  virtual void wait_for(EventState& event) = 0;
  virtual void finish() = 0;
  virtual std::uintptr_t native() const = 0;
};

struct DeviceState {
  virtual ~DeviceState() = default;
  DeviceInfo info;
  virtual std::unique_ptr<Allocation> allocate(std::size_t bytes, std::size_t fence, const BufferOptions& options) = 0;
  virtual std::shared_ptr<QueueState> queue() = 0;
  virtual std::shared_ptr<QueueState> queue_over(std::uintptr_t /*native*/) { return nullptr; }  // null: not supported
  // The work that `calls` enqueues on a queue and on others that join it, to be enqueued as a whole. Queues are given
  // by native(). Null: not supported.
  virtual std::shared_ptr<GraphState> graph_of(std::uintptr_t /*queue*/, const std::function<void()>& /*calls*/) {
    return nullptr;
  }
  virtual void enqueue(GraphState& /*graph*/, std::uintptr_t /*queue*/) {}
  // Back ends without kernels of the dialect (the host) throw Error{unavailable}.
  virtual std::shared_ptr<ProgramState> compile(const KernelSource& source) = 0;
  // True if the host memory is page-locked: the device then copies it without blocking the calling thread.
  virtual bool page_locked(const void* /*host*/) { return false; }
  virtual TileMap tile_map(MemoryState& /*memory*/, const TileMapShape& /*shape*/) {
    throw Error(ErrorKind::unavailable, info.id + ": needs TMA (a CUDA device from Hopper on)");
  }

  // Streams of other libraries, which may destroy them at any time (owned by the front end).
  bool is_foreign(std::uintptr_t stream) {
    std::lock_guard lock(memory_mutex);
    return foreign_streams.contains(stream);
  }
  std::set<std::uintptr_t> foreign_streams;

  // Live buffers, for checking mode (owned by the front end).
  std::mutex memory_mutex;
  std::vector<MemoryState*> memory;
};

// Lists the devices of a back end; `notes` says why there are none. Never throws for a missing driver or library.
using Enumerate = std::vector<std::shared_ptr<DeviceState>> (*)(std::vector<std::string>& notes);
std::vector<std::shared_ptr<DeviceState>> enumerate_host(std::vector<std::string>& notes);
std::vector<std::shared_ptr<DeviceState>> enumerate_opencl(std::vector<std::string>& notes);
std::vector<std::shared_ptr<DeviceState>> enumerate_cuda(std::vector<std::string>& notes);

// Buffers and checking mode: fences and poison, the same for every back end.

std::shared_ptr<MemoryState> make_memory(const std::shared_ptr<DeviceState>& device, std::size_t bytes,
                                         const BufferOptions& options);

// Checks the fences of every buffer of the device (the kernel's own first). Throws Error{device} with the kernel, the
// buffer and the distance of the overrun; the fence is repaired, so that later kernels are not blamed.
void check_fences(DeviceState& device, QueueState& queue, const std::string& kernel);

}  // namespace ridge::detail
