// Buffers and checking mode: fences and poison, the same for every back end.
#pragma once
#include <memory>
#include <string>

#include "device/backend.hpp"

namespace ridge::detail {

std::shared_ptr<MemoryState> make_memory(const std::shared_ptr<DeviceState>& device, std::size_t bytes,
                                         const BufferOptions& options);

// Looks at the fences of every buffer of the device (the kernel's own first). Error{device} that names the kernel and
// the buffer whose fence is broken, and how far; the fence is mended so that the next kernel is judged for itself.
void check_fences(DeviceState& device, QueueState& queue, const std::string& kernel);

}  // namespace ridge::detail
