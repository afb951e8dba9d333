// Converts the device times of traced kernels and copies to spans.
#include "device/queue_trace.hpp"

#include <atomic>

#include <fmt/format.h>

namespace ridge::detail {

struct QueueTrace {
  std::shared_ptr<base::trace::Track> track{};
  std::shared_ptr<EventState>
      anchor{};  // completed at `second` of the recording: ties the device's clock to the host's
  double second = 0;
  struct Work {
    std::string name, detail;
    std::shared_ptr<EventState> first, last;
  };
  std::vector<Work> pending{};
};

namespace {

constexpr std::size_t kMostPending = 65536;

std::shared_ptr<QueueTrace> make_trace(QueueState& queue) {
  static std::atomic<int> numbers{0};
  auto made = std::make_shared<QueueTrace>();
  made->track = base::trace::make_track(fmt::format("{} queue {}", queue.device->info.id, ++numbers));
  queue.finish();
  made->anchor = queue.record();
  made->anchor->wait();
  made->second = base::trace::seconds_since_start();
  return made;
}

}  // namespace

void TracedWork::begin(QueueState& queue, const char* name, std::string detail) {
  if (queue.device->info.backend == Backend::host) return;
  if (!queue.trace) queue.trace = make_trace(queue);
  name_ = name;
  detail_ = std::move(detail);
  first_ = queue.record();
  queue_ = &queue;
}

TracedWork::~TracedWork() {
  if (queue_ == nullptr || queue_->trace->pending.size() >= kMostPending) return;
  try {
    queue_->trace->pending.push_back({name_, std::move(detail_), std::move(first_), queue_->record()});
  } catch (const std::exception&) {  // a queue that failed reports its error at its next call
  }
}

void add_finished_work(QueueState& queue) {
  if (!queue.trace) return;
  QueueTrace& trace = *queue.trace;
  for (QueueTrace::Work& work : trace.pending) {
    const double begin = trace.second + trace.anchor->seconds_until(*work.first);
    const bool kernel = work.name == "enqueue";  // a kernel is shown under its own name
    add(*trace.track, kernel ? work.detail : work.name, kernel ? "" : work.detail, begin,
        begin + work.first->seconds_until(*work.last));
  }
  trace.pending.clear();
  if (!base::trace::recording()) queue.trace.reset();
}

}  // namespace ridge::detail
