// Streams panels of arrays in host memory through a device: the next panel is uploaded and the previous one downloaded
// while kernels work on one.
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

// Rows of an array in host memory and their place in the buffer of a panel.
struct PanelRows {
  std::byte* data = nullptr;        // in host memory
  std::size_t bytes = 0, rows = 1;  // bytes per row
  std::size_t pitch = 0;            // between rows in host memory
  std::size_t at = 0;               // first byte in the buffer
  std::size_t at_pitch = 0;         // between rows in the buffer
};

struct PanelWork {
  std::size_t panels = 0;
  std::function<std::vector<PanelRows>(std::size_t panel)> read = {}, written = {};
  // Enqueues the kernels of a panel; `in` and `out` are one buffer if the stream has no output buffers.
  std::function<void(Queue& queue, std::size_t panel, const Buffer& in, const Buffer& out)> enqueue = {};
  // True if the rows read do not fill the buffer, and the kernels need zeros elsewhere. Empty: never.
  std::function<bool(std::size_t panel)> clears = {};
};

// Page-locked arrays are copied by the device itself; threads copy others through page-locked blocks. Buffers are kept;
// runs from several threads are serialized.
class PanelStream {
 public:
  static constexpr std::size_t kAtOnce = 3;  // panels on the device: one per direction of transfer, one computed

  PanelStream(const Device& device, std::string name);
  // Returns when everything is in host memory. Panels must not overlap, except that a panel may overwrite what it read.
  // out_bytes 0: kernels work in place. at_once: panels on the device, 2 or 3. Two buffers per side suffice for panels
  // with an output buffer; in place the link then waits for the kernels.
  void run(const PanelWork& work, std::size_t in_bytes, std::size_t out_bytes, std::size_t at_once = kAtOnce) const;

 private:
  friend class PanelRun;
  static constexpr std::size_t kBlocks = 4;  // per direction

  struct Slot {  // buffers of one panel, reused by the panel `at_once` later
    Buffer in{}, out{};
    Event computed{}, downloaded{};
  };
  struct Block {  // page-locked memory in transfer
    Buffer buffer{};
    std::optional<Mapping> mapping{};
    Event done{};
    PanelRows rows{};  // destination of a download
  };
  void reserve(std::size_t in_bytes, std::size_t out_bytes, std::size_t at_once) const;

  Device device_;
  std::string name_;
  mutable std::mutex mutex_{};
  mutable std::array<Slot, kAtOnce> slots_{};
  mutable std::array<Block, kBlocks> up_{}, down_{};
  mutable std::optional<Queue> upload_{}, compute_{}, download_{};
};

}  // namespace ridge
