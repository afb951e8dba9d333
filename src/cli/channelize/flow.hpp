// Reading ahead and writing behind: while one block of samples is worked on, the next ones come and the results before
// go, each in a thread of its own.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <ridge/device.hpp>

#include "base/aligned.hpp"

namespace ridge::cli {

// Memory that devices copy from and to at full speed: page-locked by the first of them that is not the host.
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

// Numbers of blocks that pass from one thread to another, in order.
class BlockQueue {
 public:
  void put(std::size_t block);
  // Waits; nothing once it is closed and empty. The other side's exception, where it failed.
  std::optional<std::size_t> take();
  void close();
  void fail(std::exception_ptr why);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> blocks_;
  bool closed_ = false;
  std::exception_ptr why_;
};

// Fills blocks of `bytes` with what `read` gives, until it gives less than a whole one. A pipe may be silent when
// something else has failed: then the thread is left to itself, so `read` must own what it uses.
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
  Block take();  // rethrows what reading threw
  void give_back(const Block& block);

 private:
  struct State {
    State(Read how, std::size_t block) : read(std::move(how)), bytes(block) {}
    Read read;
    std::size_t bytes;
    std::vector<StagingMemory> memory{};
    std::vector<std::size_t> filled{};  // bytes in each
    BlockQueue empty{}, full{};
    std::atomic<bool> ended = false;
    void run();
  };
  std::shared_ptr<State> state_;
  std::thread thread_;
};

// Hands blocks of floats to `write`, in order.
class WriteBehind {
 public:
  using Write = std::function<void(std::span<const float> values)>;
  WriteBehind(Write write, const std::vector<Device>& devices, std::size_t values, std::size_t blocks);
  ~WriteBehind();

  struct Block {
    std::size_t number = 0;
    std::span<float> values{};
  };
  Block room();  // rethrows what writing threw
  void put(const Block& block, std::size_t values);
  void finish();  // everything is written; rethrows

 private:
  void run();

  Write write_;
  std::vector<StagingMemory> memory_;
  std::vector<std::size_t> filled_;  // values in each
  BlockQueue empty_, full_;
  std::thread thread_;
};

}  // namespace ridge::cli
