// Long copies between a program's own memory and a device that has memory of its own: through page-locked buffers that
// several threads fill and empty, since one thread's copy is slower than the bus.
#pragma once
#include <array>
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::placed {

class StagedCopy {
 public:
  static constexpr std::size_t kLong = std::size_t{8} << 20;  // shorter ones gain nothing

  explicit StagedCopy(const Device& device);
  // The caller's memory is free again when it returns; the device has the bytes when the queue has passed.
  void upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes);
  void download(Queue& queue, const Buffer& from, void* to, std::size_t bytes);

 private:
  static constexpr std::size_t kSlot = std::size_t{16} << 20;
  std::array<Buffer, 2> slots_{};
  std::array<Event, 2> passed_{};
};

}  // namespace ridge::placed
