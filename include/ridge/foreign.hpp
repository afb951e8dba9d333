// Memory and queues of other libraries, used where they are.
//
//   auto gpu = ridge::device("cuda:0");
//   auto buffer = ridge::buffer_over(gpu, address_of_their_array, bytes, their_array);
//   auto queue = ridge::queue_over(gpu, their_stream);
//   fft.enqueue_forward(queue, buffer, out);          // in order with what they put into that stream
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <ridge/device.hpp>

namespace ridge {

// A buffer over memory that is there already: a CUdeviceptr of the device's primary context, or an address of the
// host. `owner` is let go when the last copy of the buffer is; without one the caller keeps the memory alive.
// Error{invalid_argument} without an address, and on OpenCL devices, whose memory has no address.
Buffer buffer_over(const Device& device, std::uintptr_t address, std::size_t bytes,
                   std::shared_ptr<void> owner = nullptr);

// A queue that puts its work into a CUstream of the device's primary context (0: the legacy default stream). The stream
// is not destroyed, and must live as long as the queue. Error{invalid_argument} on other devices.
Queue queue_over(const Device& device, std::uintptr_t stream);

}  // namespace ridge
