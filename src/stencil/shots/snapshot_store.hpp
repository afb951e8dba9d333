// Snapshots in host memory: a few places on the device hold the ones being written or read, and a thread copies the
// others over the link while the run continues. Snapshots are written in ascending and read in descending order.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <ridge/device.hpp>

#include "base/aligned.hpp"
#include "device/staging.hpp"

namespace ridge::stencil {

// Places of streamed snapshots on a device: one is copied while the other is written or read.
inline constexpr std::size_t kSnapshotPlaces = 2;

// Host memory that the stores of a survey use one after another. The first writes to new memory are several times
// slower than the link of a device, because the system provides its pages.
class SpareMemory {
 public:
  base::AlignedArray<std::byte> take(std::size_t bytes);
  void give_back(base::AlignedArray<std::byte> memory);  // kept if it is longer than what is kept now

 private:
  std::mutex mutex_{};
  base::AlignedArray<std::byte> kept_{};
};

class SnapshotStore {
 public:
  struct Part {  // an array of the device with `bytes` per snapshot
    Buffer buffer{};
    std::size_t bytes = 0;
  };
  SnapshotStore(const Device& device, std::size_t slots, std::vector<Part> parts, std::shared_ptr<SpareMemory> spare);
  ~SnapshotStore();
  SnapshotStore(const SnapshotStore&) = delete;
  SnapshotStore& operator=(const SnapshotStore&) = delete;

  // The place that a snapshot is written to or read from; blocks until the copies that need it are done.
  std::size_t place_to_write(std::size_t slot);
  std::size_t place_to_read(std::size_t slot);
  // The event completes when the snapshot has been written, or when its place is no longer read.
  void written(std::size_t slot, const Event& event);
  void used(std::size_t slot, const Event& event);

 private:
  struct Job {
    std::size_t slot = 0;
    bool upload = false;
    Event after{};
  };
  struct Place {
    static constexpr std::size_t kNone = ~std::size_t{0};
    std::size_t slot = kNone;  // snapshot that it holds, or will hold after the pending jobs
    std::size_t jobs = 0;
    Event used{};
  };
  void fetch(std::size_t slot);  // requires that mutex_ is locked
  void wait_for(std::size_t place, std::unique_lock<std::mutex>& lock);
  void push(const Job& job);
  void copy_jobs();
  void copy(const Job& job);

  Queue queue_;
  PinnedTransfer transfer_;
  std::vector<Part> parts_;
  std::shared_ptr<SpareMemory> spare_;
  base::AlignedArray<std::byte> values_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<Job> jobs_{};
  std::vector<Place> places_;
  std::exception_ptr failure_{};
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ridge::stencil
