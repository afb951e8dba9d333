// Checks lengths, devices, queues and overlap of a call's arrays, with messages that name them.
#include "plan/arguments.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::planner {
namespace {

[[noreturn]] void refuse(const char* workload, const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", workload, what));
}

bool same_device(const Device& a, const Device& b) { return &a.state() == &b.state(); }

}  // namespace

void check_length(const char* workload, const char* what, std::size_t bytes, std::size_t needed) {
  if (bytes < needed) refuse(workload, fmt::format("the {} has {} bytes, this plan needs {}", what, bytes, needed));
}

void check_buffer(const char* workload, const char* what, const Buffer& buffer, const Device& device,
                  std::size_t needed, std::size_t alignment) {
  if (!buffer) refuse(workload, fmt::format("the {} buffer is empty", what));
  if (!same_device(buffer.device(), device)) {
    refuse(workload, fmt::format("the {} buffer \"{}\" belongs to {}, the plan to {}", what, buffer.name(),
                                 buffer.device().id(), device.id()));
  }
  if (buffer.size() < needed) {
    refuse(workload, fmt::format("the {} buffer \"{}\" has {} bytes, this plan needs {}", what, buffer.name(),
                                 buffer.size(), needed));
  }
  if (device.info().backend == Backend::cuda && buffer.native() % alignment != 0) {
    refuse(workload,
           fmt::format("the {} buffer \"{}\" begins at an address that is not a multiple of {} bytes: copy it to "
                       "memory that does",
                       what, buffer.name(), alignment));
  }
}

void check_queue(const char* workload, const Queue& queue, const Device& device) {
  if (same_device(queue.device(), device)) return;
  refuse(workload, fmt::format("the queue belongs to {}, the plan to {}", queue.device().id(), device.id()));
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

void check_apart(const char* workload, const void* in, std::size_t in_bytes, const void* out, std::size_t out_bytes,
                 bool in_place) {
  if (in_place) {
    if (in != out) refuse(workload, "this plan works in place: pass the same memory as input and output");
  } else if (overlap(in, in_bytes, out, out_bytes)) {
    refuse(workload, "input and output overlap: plan with in_place or pass separate memory");
  }
}

void check_apart(const char* workload, const Buffer& in, const Buffer& out, bool in_place) {
  const bool same = &in.state() == &out.state();
  if (in_place == same) return;
  refuse(workload, in_place ? "this plan works in place: pass the same buffer as input and output"
                            : "input and output are the same buffer: plan with in_place");
}

}  // namespace ridge::planner
