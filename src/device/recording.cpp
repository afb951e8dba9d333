// Recordings: queues that record, and replays.
#include <ridge/recording.hpp>

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/trace.hpp"
#include "device/recording.hpp"

namespace ridge {
namespace {

constexpr std::size_t kMostBranches = 16;  // kernels of independent works that a graph may run at the same time

// Handles of the queues that record.
struct Recorders {
  std::mutex mutex{};
  std::set<std::uintptr_t> handles{};
};
Recorders& recorders() {
  static Recorders& all = *new Recorders;  // never destroyed: plans with static storage may hold such queues
  return all;
}
bool is_recorder(const Queue& queue) {
  Recorders& all = recorders();
  const std::lock_guard lock(all.mutex);
  return all.handles.contains(queue.native());
}

// The front end appends calls to `recorded` before it would call any of these.
struct RecordingQueue : detail::QueueState {
  using Memory = detail::MemoryState;
  RecordingQueue() {
    const std::lock_guard lock(recorders().mutex);
    recorders().handles.insert(handle());
  }
  ~RecordingQueue() override {
    const std::lock_guard lock(recorders().mutex);
    recorders().handles.erase(handle());
  }
  void upload(const void*, Memory&, std::size_t, std::ptrdiff_t) override {}
  void download(Memory&, void*, std::size_t, std::ptrdiff_t) override {}
  void copy(Memory&, Memory&, std::size_t, std::ptrdiff_t, std::ptrdiff_t) override {}
  void upload(const void*, const Pitches&, Memory&, const Pitches&, const ByteBox&) override {}
  void download(Memory&, const Pitches&, void*, const Pitches&, const ByteBox&) override {}
  void copy(Memory&, const Pitches&, Memory&, const Pitches&, const ByteBox&) override {}
  void fill(Memory&, std::byte, std::size_t, std::ptrdiff_t) override {}
  void launch(detail::KernelState&, const Launch&, const std::vector<Argument>&) override {}
  std::shared_ptr<detail::EventState> record() override { return std::make_shared<detail::RecordedEvent>(recorded); }
  void wait_for(detail::EventState&) override {}
  void finish() override {
    throw Error(ErrorKind::invalid_argument,
                "a recording cannot wait: record only calls that enqueue work, not finish() or transfers that wait");
  }
  std::uintptr_t native() const override { return handle(); }
  std::uintptr_t handle() const { return reinterpret_cast<std::uintptr_t>(this); }
};

using Calls = std::vector<Recording::Work>;

std::shared_ptr<detail::RecordedWork> record(const Device& device, const Recording::Work& work,
                                             const std::shared_ptr<detail::Replays>& replays) {
  const auto state = std::make_shared<RecordingQueue>();
  state->device = device.shared_state();
  state->recorded = std::make_shared<detail::RecordedWork>(detail::RecordedWork{.replays = replays});
  Queue queue(state);
  work(queue);
  return state->recorded;
}

}  // namespace

void detail::Replays::add(const Queue& queue) {
  const std::lock_guard lock(mutex_);
  last_ = queue;
  last_event_ = device_.state().is_foreign(queue.native()) ? last_->record() : Event();
}

Event detail::Replays::after_last() {
  const std::lock_guard lock(mutex_);
  if (last_event_) return last_event_;
  return last_ ? last_->record() : device_.queue().record();
}

Event detail::to_wait_for(const Event& event, const QueueState& queue) {
  const auto* recorded = dynamic_cast<RecordedEvent*>(&event.state());
  if (recorded == nullptr) return event;
  if (recorded->work == queue.recorded) return {};
  if (recorded->work->complete) return recorded->work->replays->after_last();
  throw Error(ErrorKind::invalid_argument,
              "independent works of a recording share the work area of a plan: make one plan for each, or record them "
              "as one work");
}

struct Recording::State {
  Device device;
  std::shared_ptr<detail::Replays> replays;
  std::vector<Calls> works{};
  std::shared_ptr<detail::GraphState> graph{};

  void replay(Queue& queue) const {
    for (const Calls& calls : works) {
      for (const Work& call : calls) call(queue);
    }
  }
  // Works on several queues, between the same two points of the first one. `events` are those of the graph's edges.
  void replay_side_by_side(std::vector<Queue>& queues, std::vector<Event>& events) const {
    events.push_back(queues[0].record());
    for (std::size_t i = 1; i < queues.size(); ++i) queues[i].wait_for(events[0]);
    for (std::size_t i = 0; i < works.size(); ++i) {
      for (const Work& call : works[i]) call(queues[i % queues.size()]);
    }
    for (std::size_t i = 1; i < queues.size(); ++i) {
      events.push_back(queues[i].record());
      queues[0].wait_for(events.back());
    }
  }
};

Recording::Recording(const Device& device, const Work& work) : Recording(device, std::vector<Work>{work}) {}

Recording::Recording(const Device& device, const std::vector<Work>& independent)
    : state_(std::make_shared<State>(State{.device = device, .replays = std::make_shared<detail::Replays>(device)})) {
  if (device.is_host()) {
    throw Error(ErrorKind::invalid_argument,
                "a recording needs an OpenCL or CUDA device, got host: host plans run when they are called");
  }
  std::vector<std::shared_ptr<detail::RecordedWork>> recorded;
  for (const Work& work : independent) recorded.push_back(record(device, work, state_->replays));
  for (const auto& work : recorded) {
    work->complete = true;
    state_->works.push_back(std::move(work->calls));
  }
  // Checks and traces add events and copies to every launch, which a graph cannot contain.
  if (size() == 0 || checking() || base::trace::recording()) return;
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < std::min(independent.size(), kMostBranches); ++i) queues.push_back(device.queue());
  std::vector<Event> events;
  state_->graph = device.state().graph_of(queues[0].native(), [&] { state_->replay_side_by_side(queues, events); });
}

void Recording::enqueue(Queue& queue) const {
  if (queue.device().shared_state() != state_->device.shared_state()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a recording of {} needs a queue of this device, got one of {}", state_->device.id(),
                            queue.device().id()));
  }
  // Another recording gets the calls, not the graph.
  if (state_->graph && !is_recorder(queue)) {
    const base::trace::Span span("enqueue", [&] { return fmt::format("graph of {} calls", size()); });
    state_->device.state().enqueue(*state_->graph, queue.native());
  } else {
    state_->replay(queue);
  }
  state_->replays->add(queue);
}

std::size_t Recording::size() const {
  std::size_t all = 0;
  for (const Calls& calls : state_->works) all += calls.size();
  return all;
}

bool Recording::is_graph() const { return state_->graph != nullptr; }

}  // namespace ridge
