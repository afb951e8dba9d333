// Long copies between pageable host memory and a device with its own memory: through page-locked buffers that several
// threads fill and empty, because one thread's memcpy is slower than the bus.
#pragma once
#include <array>
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::placed {

class StagedCopy {
 public:
  static constexpr std::size_t kLong = std::size_t{8} << 20;  // shorter copies gain nothing

  explicit StagedCopy(const Device& device);
  // The caller may reuse `from` on return; the device has the data when the queue has finished.
  void upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes);
  void download(Queue& queue, const Buffer& from, void* to, std::size_t bytes);

 private:
  static constexpr std::size_t kSlot = std::size_t{16} << 20;
  std::array<Buffer, 2> slots_{};
  std::array<Event, 2> passed_{};
};

}  // namespace ridge::placed
