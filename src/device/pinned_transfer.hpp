// Copies between pageable host memory and a device through page-locked buffers: threads fill one buffer while the other
// is in transfer.
#pragma once
#include <array>
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge {

// Not thread-safe. Devices that share the host's memory, and short arrays, are copied directly.
class PinnedTransfer {
 public:
  explicit PinnedTransfer(const Device& device) : device_(device) {}
  // `from` may be modified when this returns.
  void upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes);
  // Blocks until the copy is done.
  void download(Queue& queue, const Buffer& from, void* to, std::size_t bytes);

 private:
  bool pays(std::size_t bytes);

  Device device_;
  std::array<Buffer, 2> pieces_;
};

}  // namespace ridge
