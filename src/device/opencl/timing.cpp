// Reads timestamps of events, after a test of which timestamps a driver provides.
#include "device/opencl/timing.hpp"

#include <array>

namespace ridge::detail::opencl {
namespace {

constexpr std::size_t kWorkBytes = 1 << 20;
constexpr int kWorkFills = 8;  // together far longer than any clock's step
constexpr std::array<cl_uchar, 16> kZeros{};

Owned<cl_mem> scratch_buffer(cl_context context, std::size_t bytes, const std::string& device) {
  cl_int status = CL_SUCCESS;
  Owned<cl_mem> buffer(api().CreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status));
  check(status, device, "creating a scratch buffer");
  return buffer;
}

struct Observed {
  bool complete = false;
  Stamps before, first_work, last_work, after;
};

// Measures marker, work, marker, and returns the driver's timestamps.
Observed observe(cl_command_queue queue, const Timing& timing, cl_mem work, const std::string& device) {
  Owned<cl_event> before, after;
  std::array<Owned<cl_event>, kWorkFills> fills;
  check(timing.enqueue(queue, before.address()), device, "recording a point in a queue");
  for (Owned<cl_event>& fill : fills) {
    check(api().EnqueueFillBuffer(queue, work, kZeros.data(), kZeros.size(), 0, kWorkBytes, 0, nullptr, fill.address()),
          device, "filling a scratch buffer");
  }
  check(timing.enqueue(queue, after.address()), device, "recording a point in a queue");
  check(api().Finish(queue), device, "waiting for a queue");
  Observed seen;
  seen.complete = stamps_of(before.get(), seen.before) && stamps_of(fills.front().get(), seen.first_work) &&
                  stamps_of(fills.back().get(), seen.last_work) && stamps_of(after.get(), seen.after);
  return seen;
}

bool ends_are_honest(const Observed& seen, cl_ulong step) {
  return seen.complete && seen.before.end != 0 && seen.before.end <= seen.first_work.end + step &&
         seen.last_work.end <= seen.after.end + step;
}

bool starts_are_honest(const Observed& seen, cl_ulong step) {
  return seen.complete && seen.last_work.end <= seen.after.start + step && seen.after.start <= seen.after.end;
}

}  // namespace

cl_int Timing::enqueue(cl_command_queue queue, cl_event* event) const {
  if (!scratch) return api().EnqueueMarkerWithWaitList(queue, 0, nullptr, event);
  return api().EnqueueFillBuffer(queue, scratch.get(), kZeros.data(), 4, 0, 4, 0, nullptr, event);
}

bool stamps_of(cl_event event, Stamps& stamps) {
  const auto read = [&](cl_profiling_info what, cl_ulong& value) {
    return api().GetEventProfilingInfo(event, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  };
  return read(CL_PROFILING_COMMAND_START, stamps.start) && read(CL_PROFILING_COMMAND_END, stamps.end);
}

Timing choose_timing(cl_context context, cl_command_queue queue, cl_ulong step, const std::string& device) {
  const Owned<cl_mem> work = scratch_buffer(context, kWorkBytes, device);
  Timing timing;
  // The first round also makes the buffer resident and compiles the driver's own kernels; it is ignored.
  observe(queue, timing, work.get(), device);
  if (ends_are_honest(observe(queue, timing, work.get(), device), step)) return timing;
  timing.scratch = scratch_buffer(context, 4, device);
  observe(queue, timing, work.get(), device);
  timing.later_at_start = starts_are_honest(observe(queue, timing, work.get(), device), step);
  return timing;
}

}  // namespace ridge::detail::opencl
