// Reading and writing in separate threads: while one block of samples is processed, the next ones are read and finished
// results are written.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <ridge/device.hpp>

#include "base/aligned.hpp"
#include "base/bounded_queue.hpp"

namespace ridge::cli {

// Staging memory, page-locked by the first device that is not the host, for fast transfers.
class StagingMemory {
 public:
  StagingMemory(const std::vector<Device>& devices, std::size_t bytes);
  std::byte* data();
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  base::AlignedArray<std::byte> plain_;
  std::optional<Mapping> locked_;
};

using BlockNumbers = base::BoundedQueue<std::size_t>;

// Fills blocks of `bytes` bytes by `read` until it returns less than a whole block. After a failure elsewhere a silent
// pipe may block the thread for ever; it is then detached, so `read` must own its resources.
class ReadAhead {
 public:
  using Read = std::function<std::size_t(std::byte* to, std::size_t bytes)>;
  ReadAhead(Read read, const std::vector<Device>& devices, std::size_t bytes, std::size_t blocks);
  ~ReadAhead();

  struct Block {
    std::size_t number = 0;
    std::span<const std::byte> bytes{};
    bool last = false;
  };
  Block take();  // rethrows exceptions of `read`
  void give_back(const Block& block);

 private:
  struct State {
    State(Read how, std::size_t block) : read(std::move(how)), bytes(block) {}
    Read read;
    std::size_t bytes;
    std::vector<StagingMemory> memory{};
    std::vector<std::size_t> filled{};  // bytes per block
    BlockNumbers empty{}, full{};
    std::atomic<bool> ended = false;
    void run();
  };
  std::shared_ptr<State> state_;
  std::thread thread_;
};

// Passes blocks of floats to `write`, in order.
class WriteBehind {
 public:
  using Write = std::function<void(std::span<const float> values)>;
  WriteBehind(Write write, const std::vector<Device>& devices, std::size_t values, std::size_t blocks);
  ~WriteBehind();

  struct Block {
    std::size_t number = 0;
    std::span<float> values{};
  };
  Block room();  // rethrows exceptions of `write`
  void put(const Block& block, std::size_t values);
  void finish();  // waits until everything is written; rethrows

 private:
  void run();

  Write write_;
  std::vector<StagingMemory> memory_;
  std::vector<std::size_t> filled_;  // values per block
  BlockNumbers empty_, full_;
  std::thread thread_;
};

}  // namespace ridge::cli
