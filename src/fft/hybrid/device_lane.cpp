#include <algorithm>
#include <map>
#include <vector>

#include "fft/hybrid/lane.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kQueues = 3;
constexpr std::size_t kPieces = 24;                        // of a share, where they do not become too small
constexpr std::size_t kLeastBytes = std::size_t{4} << 20;  // a piece that keeps the bus busy

template <class T>
class DeviceLane : public Lane {
 public:
  DeviceLane(const Device& device, const Problem& problem, const planner::Options& planning)
      : device_(device), problem_(problem), planning_(planning) {
    for (std::size_t i = 0; i < kQueues; ++i) slots_.push_back({device.queue(), {}, {}, {}});
  }

  void assign(std::size_t count) override {
    count_ = count;
    if (count == 0) return;
    const auto [from, to] = batch_bytes<T>(problem_, Direction::forward);
    const std::size_t least = (kLeastBytes + from - 1) / from;
    piece_ = std::min(count, std::max(least, (count + kPieces - 1) / kPieces));
    const std::size_t bytes = piece_ * std::max(from, to);
    for (Slot& slot : slots_) {
      prepare(slot, piece_);
      if (count % piece_ != 0) prepare(slot, count % piece_);
      if (!slot.in || slot.in.size() < bytes) {
        slot.in = device_.buffer(bytes, {.name = "hybrid input"});
        slot.out = device_.buffer(bytes, {.name = "hybrid output"});
      }
    }
  }

  void run(Direction direction, const std::byte* in, std::byte* out, std::size_t first) const override {
    if (count_ == 0) return;
    const auto [from, to] = batch_bytes<T>(problem_, direction);
    std::size_t turn = 0;
    for (std::size_t done = 0; done < count_; done += piece_, ++turn) {
      const std::size_t now = std::min(piece_, count_ - done);
      const Slot& slot = slots_[turn % kQueues];
      Queue queue = slot.queue;
      const Plan<T>& plan = slot.plans.at(now);
      queue.upload(in + (first + done) * from, slot.in, now * from);
      direction == Direction::forward ? plan.forward(slot.in, slot.out, queue) : plan.inverse(slot.in, slot.out, queue);
      queue.download(slot.out, out + (first + done) * to, now * to);
    }
    for (const Slot& slot : slots_) Queue(slot.queue).finish();
  }

 private:
  struct Slot {  // its own plans, whose work buffers no other queue touches
    Queue queue;
    Buffer in, out;
    std::map<std::size_t, Plan<T>> plans;  // by the size of the batch
  };

  void prepare(Slot& slot, std::size_t batch) {
    if (slot.plans.contains(batch)) return;
    Problem problem = problem_;
    problem.batch = batch;
    slot.plans.emplace(batch, Plan<T>(device_, problem, planning_));
  }

  Device device_;
  Problem problem_;
  planner::Options planning_;
  std::size_t count_ = 0, piece_ = 1;
  std::vector<Slot> slots_;
};

}  // namespace

template <class T>
std::unique_ptr<Lane> device_lane(const Device& device, const Problem& problem, const planner::Options& planning) {
  return std::make_unique<DeviceLane<T>>(device, problem, planning);
}

template std::unique_ptr<Lane> device_lane<float>(const Device&, const Problem&, const planner::Options&);
template std::unique_ptr<Lane> device_lane<double>(const Device&, const Problem&, const planner::Options&);

}  // namespace ridge::fft
