// Ordinary host memory to a device and back through page-locked pieces: threads copy one piece while the other is on
// its way, which pageable memory cannot be.
#pragma once
#include <array>
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge {

// For one thread at a time. Devices that share the host's memory, and short arrays, are copied plainly.
class PinnedTransfer {
 public:
  explicit PinnedTransfer(const Device& device) : device_(device) {}
  // `from` may change when this returns.
  void upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes);
  // Waits.
  void download(Queue& queue, const Buffer& from, void* to, std::size_t bytes);

 private:
  bool pays(std::size_t bytes);

  Device device_;
  std::array<Buffer, 2> pieces_;
};

}  // namespace ridge
