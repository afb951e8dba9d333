// Checks the arrays and buffers passed to a plan. Each check throws Error{invalid_argument} whose text begins with the
// workload: "fft: the input buffer "x" belongs to cuda:0, the plan to host".
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::planner {

// `what` is "input" or "output".
void check_length(const char* workload, const char* what, std::size_t bytes, std::size_t needed);

// Kernels access up to 16 bytes at once. A CUDA buffer over another library's memory may begin anywhere; `alignment` is
// what the workload needs.
inline constexpr std::size_t kWidestAccess = 16;
void check_buffer(const char* workload, const char* what, const Buffer& buffer, const Device& device,
                  std::size_t needed, std::size_t alignment = kWidestAccess);
void check_queue(const char* workload, const Queue& queue, const Device& device);

// In place, both must be the same memory; otherwise they must not overlap.
void check_apart(const char* workload, const void* in, std::size_t in_bytes, const void* out, std::size_t out_bytes,
                 bool in_place);
void check_apart(const char* workload, const Buffer& in, const Buffer& out, bool in_place);

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes);

}  // namespace ridge::planner
