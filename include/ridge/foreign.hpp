// Memory and CUDA streams of other libraries, used without copies.
//
//   auto gpu = ridge::device("cuda:0");
//   auto buffer = ridge::buffer_over(gpu, address_of_their_array, bytes, their_array);
//   auto queue = ridge::queue_over(gpu, their_stream);
//   fft.enqueue_forward(queue, buffer, out);          // ordered with their work in that stream
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <ridge/device.hpp>

namespace ridge {

// A buffer over existing memory: a CUdeviceptr of the device's primary context, or a host address. `owner` is released
// with the last copy of the buffer; without one the caller keeps the memory alive. Error{invalid_argument} for a null
// address, and on OpenCL devices, whose memory has no address.
Buffer buffer_over(const Device& device, std::uintptr_t address, std::size_t bytes,
                   std::shared_ptr<void> owner = nullptr);

// A queue that enqueues into a CUstream of the device's primary context (0: the legacy default stream). The stream is
// not destroyed and must outlive the queue. Error{invalid_argument} on other devices.
Queue queue_over(const Device& device, std::uintptr_t stream);

}  // namespace ridge
