// A device's share of a batch: blocks are uploaded, transformed and downloaded in a pipeline.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "base/threads.hpp"
#include "fft/multi_device/spinning_pool.hpp"
#include "fft/multi_device/worker.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kQueues = 4;  // for transfers from pinned memory
// Large enough to keep the bus busy, small enough for a short start and end of the pipeline; measured on an H200
// (docs/measurements/h200.md).
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
constexpr std::size_t kCopiedPieceBytes = std::size_t{2} << 20;
constexpr std::size_t kLeastPieces = 16;  // at least, per batch: transfers and transforms overlap

// Page-locked host memory for one block in transit to or from the device.
class Staging {
 public:
  Staging(const Device& device, std::size_t bytes)
      : buffer_(device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "hybrid staging"})),
        mapping_(buffer_.map()) {}
  std::byte* data() const { return mapping_.data(); }

 private:
  Buffer buffer_;
  Mapping mapping_;
};

template <class T>
class DeviceWorker : public Worker {
 public:
  DeviceWorker(const Device& device, const Problem& problem, const HybridOptions& options)
      : device_(device), problem_(problem), options_(options) {
    const auto [from, to] = batch_bytes<T>(problem_, Direction::forward);
    const std::size_t wanted = options_.piece_bytes > 0 ? options_.piece_bytes
                               : staged()               ? kCopiedPieceBytes
                                                        : kPieceBytes;
    const std::size_t most = std::max<std::size_t>(1, problem_.batch / kLeastPieces);
    piece_ = std::clamp<std::size_t>(wanted / std::max(from, to), 1, most);
    if (options_.units > 0) piece_ = std::min(piece_, std::max<std::size_t>(1, options_.units / kQueues));
  }

  std::size_t grain() const override { return piece_; }

  void assign(std::size_t count, const Cores& cores) override {
    count_ = count;
    cores_ = cores;
    if (count == 0) return;
    const auto [from, to] = batch_bytes<T>(problem_, Direction::forward);
    std::size_t stations = staged() ? std::max<std::size_t>(1, cores.count) : kQueues;
    if (options_.units > 0) stations = std::min(stations, std::max<std::size_t>(1, options_.units / piece_));
    while (lanes_.size() < stations) lanes_.push_back(std::make_unique<Lane>(device_));
    used_ = stations;
    const std::size_t bytes = piece_ * std::max(from, to);
    for (std::size_t i = 0; i < used_; ++i) prepare(*lanes_[i], bytes);
    if (count % piece_ != 0) plan_for(*lanes_[0], count % piece_);
    if (staged() && (!pool_ || pool_->members() != used_)) pool_ = std::make_unique<SpinningPool>(used_);
  }

  void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const override {
    if (count_ == 0) return;
    const auto [from, to] = batch_bytes<T>(problem_, direction);
    const Job job{direction, in + first * from, out + first * to, from, to};
    if (staged()) {
      run_staged(job);
    } else {
      run_direct(job);
    }
  }

 private:
  struct Slot {  // a block in transit through page-locked memory
    std::optional<Staging> in, out;
    Event done;
    std::byte* to = nullptr;  // destination of the result; null: nothing in transit
    std::size_t bytes = 0;
  };
  struct Lane {  // a queue with the buffers and plans used by its blocks only
    explicit Lane(const Device& device) : queue(device.queue()) {}
    Queue queue;
    Buffer in, out;
    std::map<std::size_t, Plan<T>> plans;  // by batch size
    std::array<Slot, 2> slots;
  };
  struct Job {
    Direction direction;
    const std::byte* in;
    std::byte* out;
    std::size_t from, to;  // bytes per transform
  };

  bool staged() const { return copies_through_staging(device_, options_); }

  void prepare(Lane& lane, std::size_t bytes) {
    plan_for(lane, piece_);
    if (lane.in && lane.in.size() >= bytes) return;
    lane.in = device_.buffer(bytes, {.name = "hybrid input"});
    lane.out = device_.buffer(bytes, {.name = "hybrid output"});
    if (!staged()) return;
    for (Slot& slot : lane.slots) {
      slot.in.emplace(device_, bytes);
      slot.out.emplace(device_, bytes);
    }
  }

  void plan_for(Lane& lane, std::size_t batch) {
    if (lane.plans.contains(batch)) return;
    Problem problem = problem_;
    problem.batch = batch;
    lane.plans.emplace(batch, Plan<T>(device_, problem, options_.planning));
  }

  void enqueue(Lane& lane, const Job& job, std::size_t count, const std::byte* from, std::byte* to) const {
    const Plan<T>& plan = lane.plans.at(count);
    Queue& queue = lane.queue;
    queue.upload(from, lane.in, count * job.from);
    job.direction == Direction::forward ? plan.enqueue_forward(queue, lane.in, lane.out)
                                        : plan.enqueue_inverse(queue, lane.in, lane.out);
    queue.download(lane.out, to, count * job.to);
  }

  // The incomplete block runs first, on the first lane, which alone has a plan for it.
  std::size_t remainder() const { return count_ % piece_; }
  std::size_t pieces() const { return count_ / piece_; }

  void run_direct(const Job& job) const {
    if (options_.pin) base::pin_to_core(cores_.first);
    if (remainder() > 0) enqueue(*lanes_[0], job, remainder(), job.in, job.out);
    for (std::size_t i = 0; i < pieces(); ++i) {
      const std::size_t at = remainder() + i * piece_;
      Lane& lane = *lanes_[(i + 1) % used_];
      enqueue(lane, job, piece_, job.in + at * job.from, job.out + at * job.to);
      if (device_.info().backend == Backend::opencl) lane.queue.record();  // flushes the queue: the device starts now
    }
    for (std::size_t i = 0; i < used_; ++i) lanes_[i]->queue.finish();
  }

  void run_staged(const Job& job) const {
    std::atomic<std::size_t> next{0};
    pool_->run([&](std::size_t member) {
      if (options_.pin) base::pin_to_core(cores_.first + member);
      Lane& lane = *lanes_[member];
      for (Slot& slot : lane.slots) discard(lane, slot);
      std::size_t number = 0;
      if (member == 0 && remainder() > 0) run_block(lane, number++, job, 0, remainder());
      for (std::size_t i = next++; i < pieces(); i = next++)
        run_block(lane, number++, job, remainder() + i * piece_, piece_);
      for (std::size_t i = 0; i < 2; ++i) collect(lane.slots[(number + i) % 2]);
    });
  }

  void run_block(Lane& lane, std::size_t number, const Job& job, std::size_t at, std::size_t count) const {
    Slot& slot = lane.slots[number % 2];
    collect(slot);
    std::memcpy(slot.in->data(), job.in + at * job.from, count * job.from);
    enqueue(lane, job, count, slot.in->data(), slot.out->data());
    slot.done = lane.queue.record();
    slot.to = job.out + at * job.to;
    slot.bytes = count * job.to;
  }

  // Drops the state left by a failed run.
  static void discard(Lane& lane, Slot& slot) {
    if (slot.to == nullptr) return;
    lane.queue.finish();
    slot.to = nullptr;
  }

  static void collect(Slot& slot) {
    if (slot.to == nullptr) return;
    slot.done.wait();
    std::memcpy(slot.to, slot.out->data(), slot.bytes);
    slot.to = nullptr;
  }

  Device device_;
  Problem problem_;
  HybridOptions options_;
  std::size_t count_ = 0, piece_ = 1, used_ = 0;
  Cores cores_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<SpinningPool> pool_;
};

}  // namespace

bool copies_through_staging(const Device& device, const HybridOptions& options) {
  return !device.is_host() && options.memory == CallersMemory::pageable;
}

template <class T>
std::unique_ptr<Worker> device_worker(const Device& device, const Problem& problem, const HybridOptions& options) {
  return std::make_unique<DeviceWorker<T>>(device, problem, options);
}

template std::unique_ptr<Worker> device_worker<float>(const Device&, const Problem&, const HybridOptions&);
template std::unique_ptr<Worker> device_worker<double>(const Device&, const Problem&, const HybridOptions&);

}  // namespace ridge::fft
