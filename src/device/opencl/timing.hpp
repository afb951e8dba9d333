// Device timestamps of points in a queue. A marker should have one, but drivers differ: some give none, some zero, some
// the time of submission. A self-test decides once per device.
#pragma once
#include <string>

#include "device/opencl/status.hpp"

namespace ridge::detail::opencl {

struct Stamps {
  cl_ulong start = 0;  // ns
  cl_ulong end = 0;
};

struct Timing {
  // Markers if they work, else a fill of these four bytes, which every driver times.
  Owned<cl_mem> scratch;
  // The fill's own duration must not count: if its start time is as reliable as its end, the later point uses the
  // start.
  bool later_at_start = false;

  cl_int enqueue(cl_command_queue queue, cl_event* event) const;
};

// False if the driver has no timestamps for this event.
bool stamps_of(cl_event event, Stamps& stamps);

Timing choose_timing(cl_context context, cl_command_queue queue, cl_ulong step, const std::string& device);

}  // namespace ridge::detail::opencl
