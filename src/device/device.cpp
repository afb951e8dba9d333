// The front end: checks the caller's arguments, then calls the back end.
#include <fmt/format.h>
#include <ridge/device.hpp>

#include "device/backend.hpp"
#include "device/queue_trace.hpp"
#include "device/recording.hpp"
#include "device/tile_map.hpp"

namespace ridge {
namespace {

template <class State>
State& present(const std::shared_ptr<State>& state, const char* what) {
  if (!state) throw Error(ErrorKind::invalid_argument, fmt::format("an empty {} was used", what));
  return *state;
}

void check_range(const detail::MemoryState& memory, std::size_t bytes, std::size_t offset, const char* what) {
  if (bytes > memory.size || offset > memory.size - bytes) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{} of {} bytes at {} reaches past the end of buffer \"{}\" ({} bytes)", what, bytes,
                            offset, memory.name, memory.size));
  }
}

void check_same_device(const detail::MemoryState& memory, const detail::QueueState& queue) {
  if (memory.device != queue.device) {
    throw Error(ErrorKind::invalid_argument, fmt::format("buffer \"{}\" belongs to {}, the queue to {}", memory.name,
                                                         memory.device->info.id, queue.device->info.id));
  }
}

// While `queue` records, appends the call that `make` returns.
template <class Make>
bool records(detail::QueueState& queue, const Make& make) {
  if (!queue.recorded) [[likely]]
    return false;
  queue.recorded->calls.emplace_back(make());
  return true;
}

// A launch that owns its buffers; an Argument refers to the caller's.
class RecordedLaunch {
 public:
  RecordedLaunch(const Kernel& kernel, const Launch& shape, const std::vector<Argument>& arguments)
      : kernel_(kernel), shape_(shape), arguments_(arguments) {
    for (const Argument& argument : arguments) buffers_.push_back(argument.buffer() ? *argument.buffer() : Buffer());
  }
  void operator()(Queue& queue) const {
    std::vector<Argument> arguments = arguments_;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (buffers_[i]) arguments[i] = Argument(buffers_[i]);
    }
    queue.launch(kernel_, shape_, arguments);
  }

 private:
  Kernel kernel_;
  Launch shape_;
  std::vector<Argument> arguments_;
  std::vector<Buffer> buffers_{};
};

// A box with all pitches filled in, in as few rows as possible: a single row is a plain copy.
struct ResolvedBox {
  Pitches from;
  Pitches to;
  ByteBox box;
  std::size_t from_reach;
  std::size_t to_reach;
};

Pitches filled_in(Pitches pitches, const ByteBox& box, const char* what) {
  if (pitches.row == 0) pitches.row = box.bytes;
  if (pitches.slice == 0) pitches.slice = box.rows * pitches.row;
  const bool apart = pitches.row >= box.bytes || box.rows == 1;
  const bool slices_apart = box.slices == 1 || (pitches.slice / box.rows >= pitches.row && pitches.slice >= box.bytes);
  const bool whole = box.slices == 1 || box.rows == 1 || pitches.slice % pitches.row == 0;
  if (apart && slices_apart && whole) return pitches;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} of {} rows of {} bytes and {} slices with rows {} and slices {} bytes apart: rows and "
                          "slices must not overlap, and slices lie a whole number of rows apart",
                          what, box.rows, box.bytes, box.slices, pitches.row, pitches.slice));
}

bool contiguous_rows(const Pitches& pitches, const ByteBox& box) { return pitches.row == box.bytes; }
bool contiguous_slices(const Pitches& pitches, const ByteBox& box) { return pitches.slice == box.rows * pitches.row; }

// Bytes from the first to the last of a box; the largest value if they overflow.
std::size_t reach(const Pitches& pitches, const ByteBox& box) {
  std::size_t rows = 0;
  std::size_t slices = 0;
  std::size_t sum = 0;
  if (__builtin_mul_overflow(box.rows - 1, pitches.row, &rows) ||
      __builtin_mul_overflow(box.slices - 1, pitches.slice, &slices) || __builtin_add_overflow(rows, slices, &sum) ||
      __builtin_add_overflow(sum, box.bytes, &sum)) {
    return static_cast<std::size_t>(-1);
  }
  return sum;
}

ResolvedBox resolve(const Pitches& from, const Pitches& to, const ByteBox& given, const char* what) {
  ByteBox box = given;
  ResolvedBox all{filled_in(from, box, what), filled_in(to, box, what), box, 0, 0};
  all.from_reach = reach(all.from, box);
  all.to_reach = reach(all.to, box);
  if (box.rows == 1 && box.slices > 1) {  // slices of one row are rows
    all.from.row = all.from.slice;
    all.to.row = all.to.slice;
    box = {.bytes = box.bytes, .rows = box.slices};
  } else if (box.slices > 1 && contiguous_slices(all.from, box) && contiguous_slices(all.to, box)) {
    box = {.bytes = box.bytes, .rows = box.rows * box.slices};
  }
  if (box.slices == 1 && contiguous_rows(all.from, box) && contiguous_rows(all.to, box)) {
    box = {.bytes = box.bytes * box.rows};
  }
  if (box.slices == 1) {
    all.from.slice = box.rows * all.from.row;
    all.to.slice = box.rows * all.to.row;
  }
  all.box = box;
  return all;
}

bool nothing_in(const ByteBox& box) { return box.bytes == 0 || box.rows == 0 || box.slices == 0; }

void check_shape(const detail::KernelState& kernel, const Launch& shape, const Limits& limits) {
  const auto refuse = [&](const std::string& reason) {
    throw Error(ErrorKind::invalid_argument, fmt::format("kernel {}: {}", kernel.name, reason));
  };
  std::uint64_t items = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (shape.items[axis] == 0 || shape.groups[axis] == 0)
      refuse("needs at least one work-item and one work-group along every axis");
    if (shape.items[axis] > limits.work_group_sides[axis]) {
      refuse(fmt::format("{} work-items along axis {}, the device allows {}", shape.items[axis], axis,
                         limits.work_group_sides[axis]));
    }
    items *= shape.items[axis];
  }
  if (items > limits.work_group) {
    refuse(fmt::format("a work-group of {}, the device allows {}", items, limits.work_group));
  }
  if (kernel.work_group != 0 && items > kernel.work_group) {
    refuse(fmt::format("a work-group of {}, this kernel's registers allow {}", items, kernel.work_group));
  }
  if (shape.local_bytes > limits.local_memory) {
    refuse(fmt::format("{} bytes of local memory, the device has {}", shape.local_bytes, limits.local_memory));
  }
}

}  // namespace

const char* to_string(Backend backend) {
  switch (backend) {
    case Backend::host:
      return "host";
    case Backend::opencl:
      return "opencl";
    case Backend::cuda:
      return "cuda";
  }
  return "unknown";
}

std::string DeviceInfo::fingerprint() const {
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{} units", to_string(backend), name, vendor, driver, isa, limits.compute_units);
  for (const std::string& change : overrides) text += "|" + change;
  return text;
}

Mapping::Mapping(std::shared_ptr<detail::MemoryState> memory)
    : memory_(std::move(memory)), data_(memory_->allocation->map()), size_(memory_->size) {
  if (data_ == nullptr) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("buffer \"{}\" is in the memory of {}, which the host cannot access; make it pinned or mapped, "
                    "or download it",
                    memory_->name, memory_->device->info.id));
  }
}
Mapping::~Mapping() {
  if (memory_) memory_->allocation->unmap();
}

std::size_t Buffer::size() const { return state().size; }
MemoryKind Buffer::kind() const { return state().kind; }
const std::string& Buffer::name() const { return state().name; }
Device Buffer::device() const { return Device(state().device); }
Mapping Buffer::map() const {
  present(state_, "buffer");
  return Mapping(state_);
}
std::uintptr_t Buffer::native() const { return state().allocation->native(); }
detail::MemoryState& Buffer::state() const { return present(state_, "buffer"); }

void Event::wait() const { state().wait(); }
bool Event::done() const { return state().done(); }
detail::EventState& Event::state() const { return present(state_, "event"); }

double seconds_between(const Event& first, const Event& last) {
  first.wait();
  last.wait();
  return first.state().seconds_until(last.state());
}

const std::string& Kernel::name() const { return state().name; }
std::size_t Kernel::registers() const { return state().registers; }
std::size_t Kernel::private_bytes() const { return state().private_bytes; }
std::size_t Kernel::work_group() const { return state().work_group; }
detail::KernelState& Kernel::state() const { return present(state_, "kernel"); }

Kernel Program::kernel(const std::string& name) const { return Kernel(state().kernel(name)); }
bool Program::from_cache() const { return state().from_cache; }
detail::ProgramState& Program::state() const { return present(state_, "program"); }

void Queue::upload(const void* from, const Buffer& to, std::size_t bytes, std::size_t to_offset) {
  check_range(to.state(), bytes, to_offset, "an upload");
  check_same_device(to.state(), *state_);
  if (bytes == 0) return;
  if (from == nullptr) throw Error(ErrorKind::invalid_argument, "an upload from a null pointer");
  if (records(*state_, [&] { return [=](Queue& queue) { queue.upload(from, to, bytes, to_offset); }; })) return;
  const detail::TracedWork traced(*state_, "upload", [&] { return fmt::format("{} bytes", bytes); });
  state_->upload(from, to.state(), bytes, static_cast<std::ptrdiff_t>(to_offset));
}

void Queue::download(const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset) {
  check_range(from.state(), bytes, from_offset, "a download");
  check_same_device(from.state(), *state_);
  if (bytes == 0) return;
  if (to == nullptr) throw Error(ErrorKind::invalid_argument, "a download to a null pointer");
  if (records(*state_, [&] { return [=](Queue& queue) { queue.download(from, to, bytes, from_offset); }; })) return;
  const detail::TracedWork traced(*state_, "download", [&] { return fmt::format("{} bytes", bytes); });
  state_->download(from.state(), to, bytes, static_cast<std::ptrdiff_t>(from_offset));
}

void Queue::copy(const Buffer& from, const Buffer& to, std::size_t bytes, std::size_t from_offset,
                 std::size_t to_offset) {
  check_range(from.state(), bytes, from_offset, "a copy");
  check_range(to.state(), bytes, to_offset, "a copy");
  check_same_device(from.state(), *state_);
  check_same_device(to.state(), *state_);
  const bool overlap =
      &from.state() == &to.state() && from_offset < to_offset + bytes && to_offset < from_offset + bytes;
  if (overlap && bytes != 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("a copy inside buffer \"{}\" overlaps itself", from.name()));
  }
  if (bytes == 0) return;
  if (records(*state_, [&] { return [=](Queue& queue) { queue.copy(from, to, bytes, from_offset, to_offset); }; }))
    return;
  const detail::TracedWork traced(*state_, "copy", [&] { return fmt::format("{} bytes", bytes); });
  state_->copy(from.state(), to.state(), bytes, static_cast<std::ptrdiff_t>(from_offset),
               static_cast<std::ptrdiff_t>(to_offset));
}

void Queue::upload(const void* from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
                   const ByteBox& box) {
  if (nothing_in(box)) return;
  const ResolvedBox all = resolve(from_pitches, to_pitches, box, "an upload");
  check_range(to.state(), all.to_reach, all.to.offset, "an upload");
  check_same_device(to.state(), *state_);
  if (from == nullptr) throw Error(ErrorKind::invalid_argument, "an upload from a null pointer");
  if (records(*state_, [&] { return [=](Queue& queue) { queue.upload(from, from_pitches, to, to_pitches, box); }; }))
    return;
  const detail::TracedWork traced(
      *state_, "upload", [&] { return fmt::format("{} bytes", all.box.bytes * all.box.rows * all.box.slices); });
  if (all.box.rows > 1 || all.box.slices > 1) {
    state_->upload(from, all.from, to.state(), all.to, all.box);
  } else {
    state_->upload(static_cast<const std::byte*>(from) + all.from.offset, to.state(), all.box.bytes,
                   static_cast<std::ptrdiff_t>(all.to.offset));
  }
}

void Queue::download(const Buffer& from, const Pitches& from_pitches, void* to, const Pitches& to_pitches,
                     const ByteBox& box) {
  if (nothing_in(box)) return;
  const ResolvedBox all = resolve(from_pitches, to_pitches, box, "a download");
  check_range(from.state(), all.from_reach, all.from.offset, "a download");
  check_same_device(from.state(), *state_);
  if (to == nullptr) throw Error(ErrorKind::invalid_argument, "a download to a null pointer");
  if (records(*state_, [&] { return [=](Queue& queue) { queue.download(from, from_pitches, to, to_pitches, box); }; }))
    return;
  const detail::TracedWork traced(
      *state_, "download", [&] { return fmt::format("{} bytes", all.box.bytes * all.box.rows * all.box.slices); });
  if (all.box.rows > 1 || all.box.slices > 1) {
    state_->download(from.state(), all.from, to, all.to, all.box);
  } else {
    state_->download(from.state(), static_cast<std::byte*>(to) + all.to.offset, all.box.bytes,
                     static_cast<std::ptrdiff_t>(all.from.offset));
  }
}

void Queue::copy(const Buffer& from, const Pitches& from_pitches, const Buffer& to, const Pitches& to_pitches,
                 const ByteBox& box) {
  if (nothing_in(box)) return;
  const ResolvedBox all = resolve(from_pitches, to_pitches, box, "a copy");
  check_range(from.state(), all.from_reach, all.from.offset, "a copy");
  check_range(to.state(), all.to_reach, all.to.offset, "a copy");
  check_same_device(from.state(), *state_);
  check_same_device(to.state(), *state_);
  // Disjoint boxes in one buffer would be valid, but back ends disagree about which boxes are disjoint.
  if (&from.state() == &to.state() && all.from.offset < all.to.offset + all.to_reach &&
      all.to.offset < all.from.offset + all.from_reach) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a copy of rows inside buffer \"{}\": source and destination ranges overlap", from.name()));
  }
  if (records(*state_, [&] { return [=](Queue& queue) { queue.copy(from, from_pitches, to, to_pitches, box); }; }))
    return;
  const detail::TracedWork traced(
      *state_, "copy", [&] { return fmt::format("{} bytes", all.box.bytes * all.box.rows * all.box.slices); });
  if (all.box.rows > 1 || all.box.slices > 1) {
    state_->copy(from.state(), all.from, to.state(), all.to, all.box);
  } else {
    state_->copy(from.state(), to.state(), all.box.bytes, static_cast<std::ptrdiff_t>(all.from.offset),
                 static_cast<std::ptrdiff_t>(all.to.offset));
  }
}

void Queue::fill(const Buffer& to, std::byte value) {
  check_same_device(to.state(), *state_);
  if (records(*state_, [&] { return [=](Queue& queue) { queue.fill(to, value); }; })) return;
  const detail::TracedWork traced(*state_, "fill", [&] { return fmt::format("{} bytes", to.size()); });
  state_->fill(to.state(), value, to.size(), 0);
}

void Queue::launch(const Kernel& kernel, const Launch& shape, const std::vector<Argument>& arguments) {
  detail::KernelState& state = kernel.state();
  if (state.device != state_->device) {
    throw Error(ErrorKind::invalid_argument, fmt::format("kernel {} was compiled for {}, the queue belongs to {}",
                                                         state.name, state.device->info.id, state_->device->info.id));
  }
  check_shape(state, shape, state_->device->info.limits);
  for (const Argument& argument : arguments) {
    if (argument.buffer() != nullptr) check_same_device(argument.buffer()->state(), *state_);
  }
  if (records(*state_, [&] { return RecordedLaunch(kernel, shape, arguments); })) return;
  {
    const detail::TracedWork traced(*state_, "enqueue", [&] { return state.name; });
    state_->launch(state, shape, arguments);
  }
  if (checking()) detail::check_fences(*state_->device, *state_, state.name);
}

Event Queue::record() { return Event(state_->record()); }
void Queue::wait_for(const Event& event) {
  const Event real = detail::to_wait_for(event, *state_);
  if (!real) return;
  // Work that precedes a recording is complete before its first replay.
  state_->recorded ? real.wait() : state_->wait_for(real.state());
}
void Queue::finish() {
  const base::trace::Span span("wait", [&] { return state_->device->info.id; });
  state_->finish();
  if (state_->trace) [[unlikely]]
    detail::add_finished_work(*state_);
}
Device Queue::device() const { return Device(state_->device); }
std::uintptr_t Queue::native() const { return state_->native(); }

const DeviceInfo& Device::info() const { return state().info; }
Queue Device::queue() const {
  auto queue = state().queue();
  queue->device = state_;
  return Queue(std::move(queue));
}
Buffer Device::buffer(std::size_t bytes, const BufferOptions& options) const {
  present(state_, "device");
  return Buffer(detail::make_memory(state_, bytes, options));
}
Program Device::compile(const KernelSource& source) const {
  base::trace::Span span("compile", [&] { return source.name; });
  Program program(state().compile(source));
  if (span.active()) span.note(source.name + (program.from_cache() ? ", from the cache" : ""));
  return program;
}
detail::DeviceState& Device::state() const { return present(state_, "device"); }

}  // namespace ridge

namespace ridge::detail {

TileMap tile_map(const Buffer& buffer, const TileMapShape& shape) {
  MemoryState& memory = buffer.state();
  return memory.device->tile_map(memory, shape);
}

}  // namespace ridge::detail
