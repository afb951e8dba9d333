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

// Page-locked host memory for one block on its way to or from the device.
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
    while (stations_.size() < stations) stations_.push_back(std::make_unique<Station>(device_));
    used_ = stations;
    const std::size_t bytes = piece_ * std::max(from, to);
    for (std::size_t i = 0; i < used_; ++i) prepare(*stations_[i], bytes);
    if (count % piece_ != 0) plan_for(*stations_[0], count % piece_);
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
  struct Station {  // a queue with the buffers and plans used by its blocks only
    explicit Station(const Device& device) : queue(device.queue()) {}
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

  void prepare(Station& station, std::size_t bytes) {
    plan_for(station, piece_);
    if (station.in && station.in.size() >= bytes) return;
    station.in = device_.buffer(bytes, {.name = "hybrid input"});
    station.out = device_.buffer(bytes, {.name = "hybrid output"});
    if (!staged()) return;
    for (Slot& slot : station.slots) {
      slot.in.emplace(device_, bytes);
      slot.out.emplace(device_, bytes);
    }
  }

  void plan_for(Station& station, std::size_t batch) {
    if (station.plans.contains(batch)) return;
    Problem problem = problem_;
    problem.batch = batch;
    station.plans.emplace(batch, Plan<T>(device_, problem, options_.planning));
  }

  void enqueue(Station& station, const Job& job, std::size_t count, const std::byte* from, std::byte* to) const {
    const Plan<T>& plan = station.plans.at(count);
    Queue& queue = station.queue;
    queue.upload(from, station.in, count * job.from);
    job.direction == Direction::forward ? plan.enqueue_forward(queue, station.in, station.out)
                                        : plan.enqueue_inverse(queue, station.in, station.out);
    queue.download(station.out, to, count * job.to);
  }

  // The incomplete block runs first, on the first station, which alone has a plan for it.
  std::size_t odd() const { return count_ % piece_; }
  std::size_t pieces() const { return count_ / piece_; }

  void run_direct(const Job& job) const {
    if (options_.pin) base::pin_to_core(cores_.first);
    if (odd() > 0) enqueue(*stations_[0], job, odd(), job.in, job.out);
    for (std::size_t i = 0; i < pieces(); ++i) {
      const std::size_t at = odd() + i * piece_;
      Station& station = *stations_[(i + 1) % used_];
      enqueue(station, job, piece_, job.in + at * job.from, job.out + at * job.to);
      if (device_.info().backend == Backend::opencl)
        station.queue.record();  // flushes the queue: the device starts now
    }
    for (std::size_t i = 0; i < used_; ++i) stations_[i]->queue.finish();
  }

  void run_staged(const Job& job) const {
    std::atomic<std::size_t> next{0};
    pool_->run([&](std::size_t member) {
      if (options_.pin) base::pin_to_core(cores_.first + member);
      Station& station = *stations_[member];
      for (Slot& slot : station.slots) forget(station, slot);
      std::size_t turn = 0;
      if (member == 0 && odd() > 0) pass(station, turn++, job, 0, odd());
      for (std::size_t i = next++; i < pieces(); i = next++) pass(station, turn++, job, odd() + i * piece_, piece_);
      for (std::size_t i = 0; i < 2; ++i) collect(station.slots[(turn + i) % 2]);
    });
  }

  void pass(Station& station, std::size_t turn, const Job& job, std::size_t at, std::size_t count) const {
    Slot& slot = station.slots[turn % 2];
    collect(slot);
    std::memcpy(slot.in->data(), job.in + at * job.from, count * job.from);
    enqueue(station, job, count, slot.in->data(), slot.out->data());
    slot.done = station.queue.record();
    slot.to = job.out + at * job.to;
    slot.bytes = count * job.to;
  }

  // Drops the state left by a failed run.
  static void forget(Station& station, Slot& slot) {
    if (slot.to == nullptr) return;
    station.queue.finish();
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
  std::vector<std::unique_ptr<Station>> stations_;
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
