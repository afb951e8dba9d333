// The work of a queue in a trace: kernels and copies with their times on the device.
#pragma once
#include <string>

#include "base/trace.hpp"
#include "device/backend.hpp"

namespace ridge::detail {

// Encloses the call that enqueues one piece of work. While a trace is recorded it adds a span of the calling thread and
// two events around the work, whose times are read when the queue is next finished.
class TracedWork {
 public:
  template <class Text>
  TracedWork(QueueState& queue, const char* name, const Text& text) : span_(name, text) {
    if (base::trace::recording()) [[unlikely]]
      begin(queue, name, text());
  }
  ~TracedWork();
  TracedWork(const TracedWork&) = delete;
  TracedWork& operator=(const TracedWork&) = delete;

 private:
  void begin(QueueState& queue, const char* name, std::string detail);
  base::trace::Span span_;
  QueueState* queue_ = nullptr;  // null: not recorded on the device
  const char* name_ = nullptr;
  std::string detail_{};
  std::shared_ptr<EventState> first_{};
};

// Adds the completed work of a queue to its track; called after the queue has finished.
void add_finished_work(QueueState& queue);

}  // namespace ridge::detail
