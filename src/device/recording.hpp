// Work recorded by a queue that runs nothing.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <ridge/device.hpp>

#include "device/backend.hpp"

namespace ridge::detail {

// The last replay of a recording.
class Replays {
 public:
  explicit Replays(const Device& device) : device_(device) {}
  void add(const Queue& queue);
  Event after_last();  // complete if there was no replay

 private:
  Device device_;
  std::mutex mutex_{};
  std::optional<Queue> last_{};
  Event last_event_{};  // if the queue is another library's, which may destroy it at any time
};

struct RecordedWork {
  std::shared_ptr<Replays> replays;
  std::vector<std::function<void(Queue&)>> calls{};
  bool complete = false;  // recording has ended; waiting for this work means waiting for its replays
};

// The end of the last replay.
struct RecordedEvent : EventState {
  explicit RecordedEvent(std::shared_ptr<RecordedWork> recorded) : work(std::move(recorded)) {}
  void wait() override { work->replays->after_last().wait(); }
  bool done() override { return work->replays->after_last().done(); }
  double seconds_until(EventState& later) override { return work->replays->after_last().state().seconds_until(later); }
  std::shared_ptr<RecordedWork> work;
};

// The event to wait for: `event`, or the end of the last replay. Empty if the recording orders the work by itself.
// Error if one of the independent works of a recording would have to wait for another one.
Event to_wait_for(const Event& event, const QueueState& queue);

// Work that the driver enqueues as a whole.
struct GraphState {
  virtual ~GraphState() = default;
};

}  // namespace ridge::detail
