// Buffers and checking mode: fences and poison, the same for every back end.
#pragma once
#include <memory>
#include <string>

#include "device/backend.hpp"

namespace ridge::detail {

std::shared_ptr<MemoryState> make_memory(const std::shared_ptr<DeviceState>& device, std::size_t bytes,
                                         const BufferOptions& options);

// Checks the fences of every buffer of the device (the kernel's own first). Throws Error{device} with the kernel, the
// buffer and the distance of the overrun; the fence is repaired, so that later kernels are not blamed.
void check_fences(DeviceState& device, QueueState& queue, const std::string& kernel);

}  // namespace ridge::detail
