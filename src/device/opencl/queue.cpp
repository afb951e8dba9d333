// Enqueues copies, fills and launches on an OpenCL queue.
#include "device/opencl/queue.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "device/opencl/device.hpp"
#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"

namespace ridge::detail::opencl {
namespace {

ClAllocation& allocation_of(MemoryState& memory) { return static_cast<ClAllocation&>(*memory.allocation); }

void check_memory(cl_int status, const DeviceInfo& info, const MemoryState& memory, const char* doing) {
  if (status != CL_SUCCESS) throw_memory_error(status, info, memory.name, memory.size, doing);
}

Stamps required_stamps(cl_event event, const DeviceInfo& info) {
  Stamps stamps;
  if (stamps_of(event, stamps)) return stamps;
  throw Error(ErrorKind::device, fmt::format("{}: the driver has no timestamps for an event", info.id));
}

// Origin or extent of a box: bytes, rows, slices.
using Corner = std::array<std::size_t, 3>;
Corner corner(const ClAllocation& memory, const Pitches& pitches) {
  return {memory.origin(static_cast<std::ptrdiff_t>(pitches.offset)), 0, 0};
}

}  // namespace

ClEvent::ClEvent(std::shared_ptr<ClDevice> device, Owned<cl_event> event)
    : device_(std::move(device)), event_(std::move(event)) {}

void ClEvent::wait() {
  const cl_event event = event_.get();
  const cl_int status = api().WaitForEvents(1, &event);
  if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) done();  // throws the error of that event
  check(status, device_->info.id, "waiting for an event");
}

bool ClEvent::done() {
  cl_int state = CL_QUEUED;
  const cl_int status =
      api().GetEventInfo(event_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  check(status, device_->info.id, "reading the state of an event");
  if (state < 0) check(state, device_->info.id, "work before an event");
  return state == CL_COMPLETE;
}

double ClEvent::seconds_until(EventState& later) {
  if (&later == this) return 0;
  const Stamps first = required_stamps(event_.get(), device_->info);
  const Stamps last = required_stamps(static_cast<ClEvent&>(later).event_.get(), device_->info);
  const cl_ulong end = device_->timing().later_at_start ? last.start : last.end;
  return 1e-9 * static_cast<double>(static_cast<cl_long>(end - first.end));
}

ClQueue::ClQueue(std::shared_ptr<ClDevice> opencl_device)
    : owner_(std::move(opencl_device)), queue_(owner_->make_queue()) {
  device = owner_;
  owner_->timing();  // the self-test runs now, before other work can disturb it
}

// Waits for uploads and downloads that still use host memory before the queue is destroyed.
ClQueue::~ClQueue() { api().Finish(queue_->get()); }

void ClQueue::upload(const void* from, MemoryState& to, std::size_t bytes, std::ptrdiff_t offset) {
  const ClAllocation& target = allocation_of(to);
  check_memory(api().EnqueueWriteBuffer(queue_->get(), target.whole(), CL_FALSE, target.origin(offset), bytes, from, 0,
                                        nullptr, nullptr),
               owner_->info, to, "uploading to");
}

void ClQueue::download(MemoryState& from, void* to, std::size_t bytes, std::ptrdiff_t offset) {
  const ClAllocation& source = allocation_of(from);
  check_memory(api().EnqueueReadBuffer(queue_->get(), source.whole(), CL_FALSE, source.origin(offset), bytes, to, 0,
                                       nullptr, nullptr),
               owner_->info, from, "downloading from");
}

void ClQueue::copy(MemoryState& from, MemoryState& to, std::size_t bytes, std::ptrdiff_t from_offset,
                   std::ptrdiff_t to_offset) {
  const ClAllocation& source = allocation_of(from);
  const ClAllocation& target = allocation_of(to);
  check_memory(api().EnqueueCopyBuffer(queue_->get(), source.whole(), target.whole(), source.origin(from_offset),
                                       target.origin(to_offset), bytes, 0, nullptr, nullptr),
               owner_->info, to, "copying to");
}

void ClQueue::upload(const void* from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                     const ByteBox& box) {
  const ClAllocation& target = allocation_of(to);
  const Corner there = corner(target, to_pitches);
  const Corner here{from_pitches.offset, 0, 0};
  const Corner extent{box.bytes, box.rows, box.slices};
  check_memory(api().EnqueueWriteBufferRect(queue_->get(), target.whole(), CL_FALSE, there.data(), here.data(),
                                            extent.data(), to_pitches.row, to_pitches.slice, from_pitches.row,
                                            from_pitches.slice, from, 0, nullptr, nullptr),
               owner_->info, to, "uploading rows to");
}

void ClQueue::download(MemoryState& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                       const ByteBox& box) {
  const ClAllocation& source = allocation_of(from);
  const Corner there = corner(source, from_pitches);
  const Corner here{to_pitches.offset, 0, 0};
  const Corner extent{box.bytes, box.rows, box.slices};
  check_memory(api().EnqueueReadBufferRect(queue_->get(), source.whole(), CL_FALSE, there.data(), here.data(),
                                           extent.data(), from_pitches.row, from_pitches.slice, to_pitches.row,
                                           to_pitches.slice, to, 0, nullptr, nullptr),
               owner_->info, from, "downloading rows from");
}

void ClQueue::copy(MemoryState& from, const Pitches& from_pitches, MemoryState& to, const Pitches& to_pitches,
                   const ByteBox& box) {
  const ClAllocation& source = allocation_of(from);
  const ClAllocation& target = allocation_of(to);
  const Corner first = corner(source, from_pitches);
  const Corner last = corner(target, to_pitches);
  const Corner extent{box.bytes, box.rows, box.slices};
  check_memory(api().EnqueueCopyBufferRect(queue_->get(), source.whole(), target.whole(), first.data(), last.data(),
                                           extent.data(), from_pitches.row, from_pitches.slice, to_pitches.row,
                                           to_pitches.slice, 0, nullptr, nullptr),
               owner_->info, to, "copying rows to");
}

// A pattern must divide offset and size. Drivers write byte patterns slowly, so the aligned part uses a wide pattern.
void ClQueue::fill(MemoryState& to, std::byte value, std::size_t bytes, std::ptrdiff_t offset) {
  constexpr std::size_t wide = 16;
  const std::size_t origin = allocation_of(to).origin(offset);
  const std::size_t head = std::min(bytes, (wide - origin % wide) % wide);
  const std::size_t body = (bytes - head) / wide * wide;
  fill_part(to, value, 1, head, origin);
  fill_part(to, value, wide, body, origin + head);
  fill_part(to, value, 1, bytes - head - body, origin + head + body);
}

void ClQueue::fill_part(MemoryState& to, std::byte value, std::size_t pattern, std::size_t bytes, std::size_t origin) {
  if (bytes == 0) return;
  std::array<std::byte, 16> values;
  values.fill(value);
  check_memory(api().EnqueueFillBuffer(queue_->get(), allocation_of(to).whole(), values.data(), pattern, origin, bytes,
                                       0, nullptr, nullptr),
               owner_->info, to, "filling");
}

void ClQueue::launch(KernelState& kernel, const Launch& shape, const std::vector<Argument>& arguments) {
  static_cast<ClKernel&>(kernel).launch(queue_->get(), shape, arguments);
}

std::shared_ptr<EventState> ClQueue::record() {
  Owned<cl_event> event;
  check(owner_->timing().enqueue(queue_->get(), event.address()), owner_->info.id, "recording an event");
  // Another queue, or a loop around done(), may wait for it without using this queue again.
  check(api().Flush(queue_->get()), owner_->info.id, "flushing a queue");
  return std::make_shared<ClEvent>(owner_, std::move(event));
}

void ClQueue::wait_for(EventState& event) {
  const cl_event handle = static_cast<ClEvent&>(event).get();
  check(api().EnqueueBarrierWithWaitList(queue_->get(), 1, &handle, nullptr), owner_->info.id,
        "making a queue wait for an event");
}

void ClQueue::finish() {
  check(api().Finish(queue_->get()), owner_->info.id, "finishing a queue (a launch or copy before it failed)");
}

}  // namespace ridge::detail::opencl
