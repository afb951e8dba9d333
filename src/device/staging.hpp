// Runs a device plan on host memory (upload, work, download), and copies long arrays through page-locked buffers.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

struct StagedCall {
  const void* in = nullptr;
  std::size_t in_bytes = 0;
  void* out = nullptr;
  std::size_t out_bytes = 0;
  bool in_place = false;      // one buffer, as long as the longer of the two
  bool output_first = false;  // uploads the output too, because not all of it is written: gaps keep their values
};

// Buffers are created by the first call that needs them and kept; calls from several threads are serialized.
class Staging {
 public:
  Staging(Device device, std::string name) : device_(std::move(device)), name_(std::move(name)) {}
  void run(const StagedCall& call,
           const std::function<void(Queue& queue, const Buffer& in, const Buffer& out)>& enqueue) const;

 private:
  void reserve(Buffer& buffer, std::size_t bytes, const char* what) const;

  Device device_;
  std::string name_;  // of the buffers: "transpose"
  mutable std::mutex mutex_;
  mutable std::optional<Queue> queue_;
  mutable Buffer in_, out_;
};

// Copies between pageable host memory and a device through page-locked buffers. Several threads copy a part of the
// array each, with two buffers and a queue of their own: one buffer is filled or emptied while the other is in
// transfer. Not thread-safe. Devices that share the host's memory, and short arrays, are copied directly.
class PinnedTransfer {
 public:
  // `always`: through the buffers also if the device shares the host's memory, for tests.
  explicit PinnedTransfer(const Device& device, std::size_t least = std::size_t{64} << 20, bool always = false)
      : device_(device), least_(least), always_(always) {}
  // `from` may be modified when this returns.
  void upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes, std::size_t to_offset = 0);
  // Blocks until the copy is done.
  void download(Queue& queue, const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset = 0);

 private:
  bool pays(std::size_t bytes);
  template <class Copy>
  void by_threads(Queue& queue, std::size_t bytes, const Copy& copy);

  Device device_;
  std::size_t least_;  // bytes; shorter arrays are copied directly
  bool always_;
  struct Lane {  // of one thread
    Queue queue;
    std::array<Buffer, 2> buffers{};
  };
  std::vector<Lane> lanes_{};
};

}  // namespace ridge
