// Runs a graph: one thread per stage and worker, a ring of blocks per edge.
//
// Block k of an edge is stored in slot k % slots. The producer claims slots in order and publishes them when it has
// enqueued its work; readers take blocks in order. On devices a block is published before its work is complete: it
// carries an event. Queues of the same device wait for the event; other stages wait for it in their threads.
#include <ridge/graph.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"

namespace ridge::graph {
namespace {

constexpr std::size_t kSpans = 4096;
constexpr std::size_t kPending = 64;  // device steps whose times are not yet read; exceeds the blocks in flight
constexpr std::size_t kTrials = 4;    // blocks per worker before one may be dropped; the least time counts

[[noreturn]] void refuse_graph(const std::string& message) {
  throw Error(ErrorKind::invalid_argument, "graph: " + message);
}

// The end of a step on a device.
struct Mark {
  Event event{};
  std::string device{};
};

// Waits in the queue if the event is of its device, otherwise in this thread.
void await(const Mark& mark, Queue* queue, const std::string& device) {
  if (!mark.event) return;
  if (queue != nullptr && mark.device == device) {
    queue->wait_for(mark.event);
  } else {
    mark.event.wait();
  }
}

enum class SlotState { free, filling, ready, skipped };

struct Slot {
  Block block{};
  base::AlignedArray<std::byte> plain{};
  std::optional<Mapping> pinned{};
  SlotState state = SlotState::free;
  std::size_t readers = 0;  // number that still need the block
  Mark ready{};
  std::vector<Mark> released{};
};

struct Reader {
  std::size_t stage = 0;
  std::uint64_t next = 0;
  bool gone = false;
};

struct Ring {
  std::size_t producer = 0, bytes = 0, blocks = 0;
  Device home;
  std::vector<Reader> readers{};
  std::deque<Slot> slots{};
  std::uint64_t head = 0;  // blocks claimed by the producer
  bool ended = false;
  Slot& at(std::uint64_t block) { return slots[block % slots.size()]; }
};

struct Input {
  std::size_t ring = 0, reader = 0;
};

struct Worker {
  Device device;
  std::size_t index = 0;
  std::optional<Queue> queue{};
  std::vector<Buffer> inputs{};  // of workers that transfer their blocks themselves
  Buffer output{};
  std::thread thread{};
  WorkerReport report{};
  double best = 0;  // seconds per block
  bool active = true, done = false;
  Event origin{};
  double origin_at = 0;
  std::deque<std::pair<Event, Event>> pending{};  // steps whose times are not yet read
};

struct Stage {
  std::string name{};
  std::vector<Input> inputs{};
  std::size_t output = 0;  // ring
  StageOptions options{};
  Work work{};
  std::deque<Worker> workers{};
  std::size_t active = 0;
  std::uint64_t steps = 0;
  std::condition_variable changed{};
  bool shared() const { return options.devices.size() > 1; }
  Device place() const { return options.devices.size() == 1 ? options.devices[0] : host(); }
};

struct Claim {
  std::vector<Slot*> in{};
  Slot* out = nullptr;
  std::uint64_t number = 0;
  bool ended = false;
};

enum class Attempt { claimed, no_input, no_room, ended };

}  // namespace

struct Graph::State : std::enable_shared_from_this<State> {
  std::mutex mutex{};
  std::condition_variable left{};
  std::deque<Stage> stages{};
  std::deque<Ring> rings{};
  bool lowered = false, stopping = false, cancelled = false, started = false;
  std::exception_ptr failure{};
  std::string failed{};
  double begun = 0;

  std::size_t add(const std::string& name, std::vector<Input> inputs, const StageOptions& options, Work work);
  void lower();
  std::size_t moved(std::size_t ring, const Device& to,
                    std::map<std::pair<std::size_t, std::string>, std::size_t>& made);
  void allocate(Ring& ring);
  void prepare(Stage& stage);

  void stop(std::exception_ptr why, const std::string& stage);
  Attempt attempt(Stage& stage, Claim& claim);
  bool claim(Stage& stage, Worker& worker, Claim& claim);
  bool delays_others(Stage& stage, Worker& worker);
  void release(Ring& ring, Slot& slot, const Mark& mark);
  std::size_t run_step(Stage& stage, Worker& worker, Claim& claim);
  std::size_t run_with_transfers(Stage& stage, Worker& worker, Step& step);
  void complete(Stage& stage, Worker& worker, Claim& claim, std::size_t filled, Span span);
  void read_times(Worker& worker, std::size_t keep);
  void leave(Stage& stage, Worker& worker);
  void work(Stage& stage, Worker& worker);
  void start_all();
  void wait_for_all();
};

std::size_t Graph::State::add(const std::string& name, std::vector<Input> inputs, const StageOptions& options,
                              Work work) {
  Stage& stage = stages.emplace_back();
  stage.name = name;
  stage.inputs = std::move(inputs);
  stage.options = options;
  if (stage.options.devices.empty()) stage.options.devices.push_back(host());
  stage.work = std::move(work);
  stage.output = rings.size();
  rings.push_back({.producer = stages.size() - 1,
                   .bytes = options.bytes,
                   .blocks = std::max<std::size_t>(options.blocks, stage.shared() ? options.devices.size() + 1 : 1),
                   .home = stage.place()});
  return stage.output;
}

// The ring with the blocks of `ring` in the memory of `to`, filled by a transfer stage. Blocks move between two devices
// through host memory.
std::size_t Graph::State::moved(std::size_t ring, const Device& to,
                                std::map<std::pair<std::size_t, std::string>, std::size_t>& made) {
  if (rings[ring].home.id() == to.id()) return ring;
  if (!rings[ring].home.is_host() && !to.is_host()) ring = moved(ring, host(), made);
  if (const auto found = made.find({ring, to.id()}); found != made.end()) return found->second;
  const bool up = !to.is_host();
  const Device device = up ? to : rings[ring].home;
  const Work work = [up](Step& step) {
    const Block& from = *step.in[0];
    step.out->value = from.value;
    if (from.bytes.empty() && !from.buffer) return from.filled;  // an object
    if (up) {
      step.queue->upload(from.bytes.data(), step.out->buffer, from.filled);
    } else {
      step.queue->download(from.buffer, step.out->bytes.data(), from.filled);
    }
    return from.filled;
  };
  const std::string name = fmt::format("{} {}", up ? "upload" : "download", stages[rings[ring].producer].name);
  const std::size_t out =
      add(name, {{ring}}, {.bytes = rings[ring].bytes, .blocks = rings[ring].blocks, .devices = {device}}, work);
  rings[out].home = to;
  made[{ring, to.id()}] = out;
  return out;
}

void Graph::State::lower() {
  if (std::exchange(lowered, true)) return;
  std::map<std::pair<std::size_t, std::string>, std::size_t> made;
  const std::size_t given = stages.size();
  for (std::size_t i = 0; i < given; ++i) {
    for (Input& input : stages[i].inputs) input.ring = moved(input.ring, stages[i].place(), made);
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (Input& input : stages[i].inputs) {
      input.reader = rings[input.ring].readers.size();
      rings[input.ring].readers.push_back({.stage = i});
    }
  }
}

// Host memory that a device reads or writes is page-locked by that device.
void Graph::State::allocate(Ring& ring) {
  std::optional<Device> locks = stages[ring.producer].options.locked_by;
  const auto look = [&](std::size_t stage) {
    for (const Device& device : stages[stage].options.devices) {
      if (!device.is_host() && !locks) locks = device;
    }
  };
  look(ring.producer);
  for (const Reader& reader : ring.readers) look(reader.stage);
  const std::string& name = stages[ring.producer].name;
  for (std::size_t i = 0; i < ring.blocks; ++i) {
    Slot& slot = ring.slots.emplace_back();
    if (ring.bytes == 0) continue;
    if (!ring.home.is_host()) {
      slot.block.buffer = ring.home.buffer(ring.bytes, {.name = name});
    } else if (locks) {
      slot.pinned.emplace(locks->buffer(ring.bytes, {.kind = MemoryKind::pinned, .name = name}).map());
      slot.block.bytes = {slot.pinned->data(), ring.bytes};
    } else {
      slot.plain = base::AlignedArray<std::byte>(ring.bytes);
      slot.block.bytes = slot.plain.span();
    }
  }
}

void Graph::State::prepare(Stage& stage) {
  for (const Device& device : stage.options.devices) {
    Worker& worker = stage.workers.emplace_back(Worker{.device = device, .index = stage.workers.size()});
    worker.report.stage = stage.name;
    worker.report.device = device.id();
    if (device.is_host()) continue;
    worker.queue = device.queue();
    if (!stage.shared()) continue;
    for (const Input& input : stage.inputs) {
      const std::size_t bytes = rings[input.ring].bytes;
      worker.inputs.push_back(bytes == 0 ? Buffer{} : device.buffer(bytes, {.name = stage.name + " input"}));
    }
    const std::size_t bytes = rings[stage.output].bytes;
    if (bytes > 0) worker.output = device.buffer(bytes, {.name = stage.name + " output"});
  }
  stage.active = stage.workers.size();
}

// Called without the lock.
void Graph::State::stop(std::exception_ptr why, const std::string& stage) {
  const std::lock_guard lock(mutex);
  if (why && !failure) {
    failure = std::move(why);
    failed = stage;
  }
  stopping = true;
  for (Stage& each : stages) each.changed.notify_all();
  left.notify_all();
}

void Graph::State::release(Ring& ring, Slot& slot, const Mark& mark) {
  if (mark.event) slot.released.push_back(mark);
  if (--slot.readers > 0) return;
  slot.state = SlotState::free;
  stages[ring.producer].changed.notify_all();
}

Attempt Graph::State::attempt(Stage& stage, Claim& claim) {
  bool ended = false, missing = false;
  for (const Input& input : stage.inputs) {
    Ring& ring = rings[input.ring];
    Reader& reader = ring.readers[input.reader];
    while (reader.next < ring.head && ring.at(reader.next).state == SlotState::skipped)
      release(ring, ring.at(reader.next++), {});
    if (reader.next == ring.head) {
      (ring.ended ? ended : missing) = true;
    } else if (ring.at(reader.next).state != SlotState::ready) {
      missing = true;
    }
  }
  if (ended && !stage.options.finish) return Attempt::ended;
  if (missing && !ended) return Attempt::no_input;
  Ring& out = rings[stage.output];
  if (out.at(out.head).state != SlotState::free) return Attempt::no_room;
  claim = {.out = &out.at(out.head++), .number = stage.steps++, .ended = ended};
  claim.out->state = SlotState::filling;
  for (const Input& input : stage.inputs) {
    if (ended) break;
    Ring& ring = rings[input.ring];
    claim.in.push_back(&ring.at(ring.readers[input.reader].next++));
  }
  return Attempt::claimed;
}

// While this worker processes a block, the others finish at most `further` blocks and then wait for it. Without this
// worker they finish best * rate blocks in the same time.
bool Graph::State::delays_others(Stage& stage, Worker& worker) {
  if (!stage.shared() || worker.report.blocks < kTrials) return false;
  double rate = 0;
  for (const Worker& other : stage.workers) {
    if (&other != &worker && other.active && other.report.blocks >= kTrials) rate += 1 / other.best;
  }
  const std::size_t further = rings[stage.output].slots.size() - 1;
  if (!(worker.best * rate > static_cast<double>(further + 1))) return false;
  worker.report.note =
      fmt::format("dropped after {} blocks: {} per block, the other workers finish {} in {}", worker.report.blocks,
                  base::human_seconds(worker.best), further, base::human_seconds(static_cast<double>(further) / rate));
  return true;
}

bool Graph::State::claim(Stage& stage, Worker& worker, Claim& claim) {
  std::unique_lock lock(mutex);
  for (;;) {
    if (stopping || delays_others(stage, worker)) return false;
    const Attempt result = attempt(stage, claim);
    if (result == Attempt::claimed) return true;
    if (result == Attempt::ended) return false;
    const double from = base::now();
    stage.changed.wait(lock);
    (result == Attempt::no_input ? worker.report.no_input : worker.report.no_room) += base::now() - from;
  }
}

// Runs a step of a stage with several workers: its blocks are in host memory, and the worker transfers them itself.
std::size_t Graph::State::run_with_transfers(Stage& stage, Worker& worker, Step& step) {
  std::vector<Block> in;
  for (std::size_t i = 0; i < step.in.size(); ++i) {
    const Block& from = *step.in[i];
    in.push_back({.buffer = worker.inputs[i], .filled = from.filled, .value = from.value});
    if (!from.bytes.empty()) step.queue->upload(from.bytes.data(), worker.inputs[i], from.filled);
  }
  Block out{.buffer = worker.output};
  Step there = step;
  for (std::size_t i = 0; i < in.size(); ++i) there.in[i] = &in[i];
  there.out = &out;
  const std::size_t filled = stage.work(there);
  if (worker.output)
    step.queue->download(worker.output, step.out->bytes.data(), std::min(filled, step.out->bytes.size()));
  step.queue->finish();
  step.out->value = std::move(out.value);
  return filled;
}

std::size_t Graph::State::run_step(Stage& stage, Worker& worker, Claim& claim) {
  const base::trace::Span traced("stage", [&] { return stage.name; });
  Queue* queue = worker.queue ? &*worker.queue : nullptr;
  Queue* waits = stage.shared() ? nullptr : queue;
  Step step{
      .out = &claim.out->block, .queue = queue, .worker = worker.index, .number = claim.number, .ended = claim.ended};
  for (Slot* slot : claim.in) {
    step.in.push_back(&slot->block);
    await(slot->ready, waits, worker.device.id());
  }
  for (const Mark& mark : claim.out->released) await(mark, waits, worker.device.id());
  step.out->value.reset();
  Span span{.begin = base::now() - begun};
  Event first;
  if (waits != nullptr) first = waits->record();
  const std::size_t filled =
      stage.shared() && queue != nullptr ? run_with_transfers(stage, worker, step) : stage.work(step);
  const std::size_t most = rings[stage.output].bytes;
  if (most > 0 && filled > most) {
    refuse_graph(fmt::format("stage {} returned {} bytes, but its output blocks have {}: raise StageOptions::bytes",
                             stage.name, filled, most));
  }
  if (waits != nullptr) worker.pending.emplace_back(first, waits->record());
  span.end = base::now() - begun;
  complete(stage, worker, claim, filled, span);
  if (waits != nullptr) read_times(worker, kPending);
  return filled;
}

// Publishes the output, releases the inputs.
void Graph::State::complete(Stage& stage, Worker& worker, Claim& claim, std::size_t filled, Span span) {
  const std::lock_guard lock(mutex);
  Mark mark;
  if (worker.queue && !stage.shared()) {
    mark = {worker.pending.back().second, worker.device.id()};
  } else if (filled > 0 || !claim.in.empty()) {
    const double seconds = span.end - span.begin;
    worker.report.busy += seconds;
    worker.best = worker.best > 0 ? std::min(worker.best, seconds) : seconds;
    if (worker.report.spans.size() < kSpans) worker.report.spans.push_back(span);
  }
  if (filled > 0 || !claim.in.empty()) ++worker.report.blocks;
  Ring& out = rings[stage.output];
  Slot& slot = *claim.out;
  slot.block.filled = filled;
  slot.ready = mark;
  slot.released.clear();
  slot.readers = 0;
  for (const Reader& reader : out.readers) slot.readers += reader.gone ? 0 : 1;
  slot.state = slot.readers == 0 ? SlotState::free : filled > 0 ? SlotState::ready : SlotState::skipped;
  if (slot.state == SlotState::free && mark.event) slot.released.push_back(mark);
  for (const Reader& reader : out.readers) stages[reader.stage].changed.notify_all();
  for (std::size_t i = 0; i < claim.in.size(); ++i) release(rings[stage.inputs[i].ring], *claim.in[i], mark);
  if (stage.workers.size() > 1) stage.changed.notify_all();
}

// Reads the device's clock for the oldest steps, until `keep` are left.
void Graph::State::read_times(Worker& worker, std::size_t keep) {
  while (worker.pending.size() > keep) {
    const auto& [first, last] = worker.pending.front();
    Span span{.begin = worker.origin_at + seconds_between(worker.origin, first)};
    const double seconds = seconds_between(first, last);
    span.end = span.begin + seconds;
    worker.pending.pop_front();
    const std::lock_guard lock(mutex);
    worker.report.busy += seconds;
    if (worker.report.spans.size() < kSpans) worker.report.spans.push_back(span);
  }
}

void Graph::State::leave(Stage& stage, Worker& worker) {
  const std::lock_guard lock(mutex);
  worker.active = false;
  worker.done = true;
  left.notify_all();
  if (--stage.active > 0) return;
  for (const Input& input : stage.inputs) {
    Ring& ring = rings[input.ring];
    Reader& reader = ring.readers[input.reader];
    reader.gone = true;
    for (; reader.next < ring.head; ++reader.next) {
      Slot& slot = ring.at(reader.next);
      if (slot.state == SlotState::ready || slot.state == SlotState::skipped) release(ring, slot, {});
    }
  }
  Ring& out = rings[stage.output];
  out.ended = true;
  for (const Reader& reader : out.readers) stages[reader.stage].changed.notify_all();
}

void Graph::State::work(Stage& stage, Worker& worker) {
  try {
    if (worker.queue) {
      worker.origin = worker.queue->record();
      worker.origin.wait();
      worker.origin_at = base::now() - begun;
    }
    for (Claim now; claim(stage, worker, now);) {
      const std::size_t filled = run_step(stage, worker, now);
      if (filled == 0 && now.in.empty()) break;  // the end of a source or of a finishing stage
    }
    read_times(worker, 0);
  } catch (...) {
    stop(std::current_exception(), stage.name);
  }
  try {
    if (worker.queue) worker.queue->finish();  // buffers must outlive the work on them
  } catch (...) {
    stop(std::current_exception(), stage.name);
  }
  leave(stage, worker);
}

void Graph::State::start_all() {
  Stage* own = nullptr;
  const std::string* starting = nullptr;
  try {
    for (Stage& stage : stages) {
      starting = &stage.name;
      for (Worker& worker : stage.workers) {
        if (stage.options.in_caller) {
          own = &stage;
        } else {
          worker.thread = std::thread([self = shared_from_this(), &stage, &worker] { self->work(stage, worker); });
        }
      }
    }
  } catch (...) {
    stop(std::current_exception(), *starting);
  }
  if (own != nullptr) work(*own, own->workers[0]);
}

// After a failure or a cancellation, threads of stages that may block are left behind; they own this state.
void Graph::State::wait_for_all() {
  std::unique_lock lock(mutex);
  left.wait(lock, [&] {
    for (const Stage& stage : stages) {
      for (const Worker& worker : stage.workers) {
        if (worker.thread.joinable() && !worker.done && !(stopping && stage.options.may_block)) return false;
      }
    }
    return true;
  });
  for (Stage& stage : stages) {
    for (Worker& worker : stage.workers) {
      if (!worker.thread.joinable()) continue;
      if (worker.done) {
        lock.unlock();
        worker.thread.join();
        lock.lock();
      } else {
        worker.thread.detach();
      }
    }
  }
}

Graph::Graph() : state_(std::make_shared<State>()) {}
Graph::~Graph() = default;

Graph::Edge Graph::stage(const std::string& name, const std::vector<Edge>& inputs, const StageOptions& options,
                         Work work) {
  if (state_->lowered) refuse_graph(fmt::format("stage {} was added after run() or explain(): add it before", name));
  if (options.blocks == 0) refuse_graph(fmt::format("stage {} needs at least 1 output block, got 0", name));
  if (!work) refuse_graph(fmt::format("stage {} needs a function", name));
  const bool several = options.devices.size() > 1;
  if (several && (inputs.empty() || options.finish || options.in_caller)) {
    refuse_graph(fmt::format("stage {} has {} devices: needs an input, and neither finish nor in_caller", name,
                             options.devices.size()));
  }
  std::vector<Input> edges;
  for (const Edge& edge : inputs) {
    if (edge.index >= state_->rings.size())
      refuse_graph(fmt::format("stage {}: input {} is not an edge of this graph", name, edge.index));
    edges.push_back({.ring = edge.index});
  }
  if (options.in_caller) {
    for (const Stage& other : state_->stages) {
      if (other.options.in_caller)
        refuse_graph(fmt::format("stages {} and {} cannot both run in the caller", other.name, name));
    }
  }
  return {state_->add(name, std::move(edges), options, std::move(work))};
}

Report Graph::run() {
  State& state = *state_;
  if (std::exchange(state.started, true)) refuse_graph("run() was called before: make another graph");
  state.lower();
  for (Ring& ring : state.rings) state.allocate(ring);
  for (Stage& stage : state.stages) state.prepare(stage);
  state.begun = base::now();
  state.start_all();
  state.wait_for_all();
  const std::lock_guard lock(state.mutex);
  if (state.failure) std::rethrow_exception(state.failure);
  Report report{.seconds = base::now() - state.begun, .cancelled = state.cancelled};
  for (const Stage& stage : state.stages) {
    for (const Worker& worker : stage.workers) report.workers.push_back(worker.report);
  }
  return report;
}

void Graph::cancel() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->cancelled = true;
  }
  state_->stop({}, {});
}

const std::string& Graph::failed_stage() const { return state_->failed; }

std::string Graph::explain() const {
  state_->lower();
  std::vector<std::vector<std::string>> rows{{"stage", "reads", "runs on", "output blocks", "memory of"}};
  for (const Stage& stage : state_->stages) {
    const Ring& out = state_->rings[stage.output];
    std::string reads, runs;
    for (const Input& input : stage.inputs)
      reads += (reads.empty() ? "" : ", ") + state_->stages[state_->rings[input.ring].producer].name;
    for (const Device& device : stage.options.devices) runs += (runs.empty() ? "" : ", ") + device.id();
    rows.push_back({stage.name, reads.empty() ? "-" : reads, runs,
                    out.readers.empty() ? "-"
                    : out.bytes == 0
                        ? fmt::format("{} objects", out.blocks)
                        : fmt::format("{} x {}", out.blocks, base::human_bytes(static_cast<double>(out.bytes))),
                    out.bytes == 0 || out.readers.empty() ? "-" : out.home.id()});
  }
  return base::table(rows);
}

}  // namespace ridge::graph
