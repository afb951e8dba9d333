// The receiving thread never waits for the output: a second thread writes complete blocks. Without a free block, the
// newest packets are dropped, counted, and their slots are flagged as lost.
//
// Packets are received into the slots that packets in order would have (header, samples: two parts of one message).
// From the first packet out of order on, the rest of a batch is copied aside and placed one by one.
#include "io/capture/capture.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kBatch = 64, kBlockBytes = std::size_t{4} << 20;

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Memory of one batch of packets.
struct Batch {
  explicit Batch(std::size_t payload) : payload_bytes(payload), aside(kBatch * kMostPacket) {}
  std::size_t payload_bytes;
  std::array<mmsghdr, kBatch> messages{};
  std::array<iovec, 3 * kBatch> parts{};
  std::array<sockaddr_in, kBatch> from{};
  std::array<std::array<std::byte, kMostPacketHeader>, kBatch> headers;
  std::array<std::array<char, 64>, kBatch> control;
  std::array<std::byte*, kBatch> slots{};  // null: received aside
  std::vector<std::byte> aside;
  std::byte* whole(std::size_t i) { return aside.data() + i * kMostPacket; }
};

struct Handed {
  std::uint64_t first = 0;
  std::size_t counters = 0;
  CaptureBlock* block = nullptr;
};

// The free blocks.
class BlockPool {
 public:
  void put(CaptureBlock* block) {
    const std::lock_guard lock(mutex_);
    free_.push_back(block);
  }
  CaptureBlock* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    CaptureBlock* block = free_.back();
    free_.pop_back();
    return block;
  }

 private:
  std::mutex mutex_;
  std::vector<CaptureBlock*> free_;
};

}  // namespace

StartTime utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double seconds = std::chrono::duration<double>(now).count();
  const auto day = static_cast<std::int64_t>(seconds / 86400);
  return {40587 + day, seconds - 86400 * static_cast<double>(day)};
}

struct Capture::State {
  State(const UdpAddress& address, std::size_t buffer, const CaptureOptions& wanted)
      : socket(address, buffer), options(wanted) {}
  UdpSocket socket;
  CaptureOptions options;
  CaptureReport report{};
  std::vector<std::byte> model{};  // header of the first packet
  std::vector<std::unique_ptr<CaptureBlock>> blocks{};
  BlockPool pool{};
  base::BoundedQueue<Handed> full{};
  std::unique_ptr<Assembler> assembler{};
  std::atomic<bool> failed = false;
  std::uint64_t next_linear = 0;  // slot after the last packet in order, counter * streams + stream

  void make_blocks();
  void prepare(Batch& batch, std::size_t i);
  void place(Batch& batch, std::size_t i);
  void take(Batch& batch, std::size_t got);
  void receive(const std::atomic<bool>& stop, const std::function<void(const CaptureReport&)>& shows);
  void write(OutputStream& out, const std::function<void(const LostRun&)>& lost);
  std::uint64_t write_block(OutputStream& out, const Handed& one, std::uint64_t at,
                            const std::function<void(const LostRun&)>& lost);
};

void Capture::State::make_blocks() {
  const std::size_t row = options.streams * options.format.payload;
  if (options.slots == 0) options.slots = std::clamp<std::size_t>(kBlockBytes / row, 1, 65536);
  const std::size_t open = static_cast<std::size_t>(options.window) / options.slots + 2;
  const std::size_t count = options.memory / (row * options.slots);
  if (count < open + 1) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("--memory: {} blocks of {} packets of {} bytes and {} streams are open at once and one is "
                    "written: needs at least {} bytes",
                    open, options.slots, options.format.payload, options.streams, (open + 1) * row * options.slots));
  }
  for (std::size_t i = 0; i < count; ++i) {
    blocks.push_back(std::make_unique<CaptureBlock>(options.slots * options.streams, options.format.payload));
    pool.put(blocks.back().get());
  }
  assembler = std::make_unique<Assembler>(
      AssemblerOptions{.streams = options.streams,
                       .slots = options.slots,
                       .payload = options.format.payload,
                       .window = options.window,
                       .longest_gap = options.longest_gap},
      [this] {
        CaptureBlock* block = pool.take();
        report.dropped_blocks += block == nullptr ? 1 : 0;
        return block;
      },
      [this](std::uint64_t first, std::size_t counters, CaptureBlock* block) {
        full.put({first, counters, block});
      });
}

// Sets up message i to be received into the slot that would follow in order, or aside.
void Capture::State::prepare(Batch& batch, std::size_t i) {
  const std::uint64_t linear = next_linear + i;
  batch.slots[i] = assembler->begun()
                       ? assembler->slot(linear / options.streams, static_cast<std::uint32_t>(linear % options.streams))
                       : nullptr;
  iovec* parts = &batch.parts[3 * i];
  std::byte* to = batch.slots[i] != nullptr ? batch.slots[i] : batch.whole(i) + options.format.header;
  // Longer packets continue in the third part, so that their real length is known.
  const std::size_t used = options.format.header + batch.payload_bytes;
  parts[0] = {batch.headers[i].data(), options.format.header};
  parts[1] = {to, batch.payload_bytes};
  parts[2] = {batch.whole(i) + used, kMostPacket - used};
  batch.messages[i].msg_hdr = {.msg_name = &batch.from[i],
                               .msg_namelen = sizeof batch.from[i],
                               .msg_iov = parts,
                               .msg_iovlen = 3,
                               .msg_control = batch.control[i].data(),
                               .msg_controllen = batch.control[i].size(),
                               .msg_flags = 0};
}

// Joins the parts of packet i in batch.whole(i).
void Capture::State::place(Batch& batch, std::size_t i) {
  std::memcpy(batch.whole(i), batch.headers[i].data(), options.format.header);
  if (batch.slots[i] != nullptr)
    std::memcpy(batch.whole(i) + options.format.header, batch.slots[i], batch.payload_bytes);
}

void Capture::State::take(Batch& batch, std::size_t got) {
  const PacketFormat& format = options.format;
  std::size_t i = 0;
  for (; i < got && batch.slots[i] != nullptr; ++i) {
    PacketPlace place;
    const std::span<const std::byte> front = format.header > 0
                                                 ? std::span<const std::byte>(batch.headers[i].data(), format.header)
                                                 : std::span<const std::byte>(batch.slots[i], batch.payload_bytes);
    if (format.locate(front, batch.messages[i].msg_len, place) != nullptr ||
        place.counter * options.streams + place.stream != next_linear + i || place.stream >= options.streams)
      break;
    // The slot is still open: blocks are handed on only behind the packets in order.
    assembler->take(place, batch.slots[i], sender_of(batch.from[i]));
  }
  next_linear += i;
  for (std::size_t j = i; j < got; ++j) this->place(batch, j);
  for (; i < got; ++i) {
    PacketPlace place;
    const std::size_t bytes = batch.messages[i].msg_len;
    if (format.locate({batch.whole(i), bytes}, bytes, place) != nullptr) {
      assembler->take_damaged();
      continue;
    }
    assembler->take(place, batch.whole(i) + place.begin, sender_of(batch.from[i]));
    if (place.stream < options.streams && place.counter == assembler->newest())
      next_linear = place.counter * options.streams + place.stream + 1;
  }
}

void Capture::State::receive(const std::atomic<bool>& stop, const std::function<void(const CaptureReport&)>& shows) {
  const auto batch = std::make_unique<Batch>(options.format.payload);
  const double begin = base::now(), processor = thread_seconds();
  double last = begin, shown = begin;
  std::size_t wanted = kBatch;
  const auto update = [&] {
    report.counts = assembler->counts();
    report.first = assembler->first();
    report.last = assembler->newest();
    report.kernel_drops = socket.kernel_drops();
    report.seconds = last - begin;
    report.processor_seconds = thread_seconds() - processor;
  };
  while (!stop && !failed && assembler->ended().empty()) {
    if (options.packets > 0 && assembler->counts().received() >= options.packets) break;
    // Few messages are prepared while packets arrive one by one, many while the kernel holds a queue of them.
    for (std::size_t i = 0; i < wanted; ++i) prepare(*batch, i);
    const std::size_t got = socket.receive(std::span(batch->messages).first(wanted));
    wanted = std::clamp<std::size_t>(2 * got, 4, kBatch);
    const double now = base::now();
    if (got > 0) last = now;
    for (std::size_t i = 0; i < got; ++i) report.bytes += batch->messages[i].msg_len;
    take(*batch, got);
    if (now - last >= options.idle || (options.seconds > 0 && now - begin >= options.seconds)) break;
    if (now - shown >= 0.5) {
      shown = now;
      update();
      shows(report);
    }
  }
  assembler->finish();
  update();
  report.ended = assembler->ended();
}

std::uint64_t Capture::State::write_block(OutputStream& out, const Handed& one, std::uint64_t at,
                                          const std::function<void(const LostRun&)>& lost) {
  const std::size_t bytes = options.format.payload, slots = one.counters * options.streams;
  std::vector<std::byte> empty(one.block == nullptr ? bytes * slots : 0);
  std::byte* data = one.block == nullptr ? empty.data() : one.block->data.data();
  LostRun run;
  const auto end_run = [&] {
    if (run.bytes == 0) return;
    out.mark_lost(run.byte - at, run.bytes);
    lost(run);
    run = {};
  };
  for (std::size_t i = 0; i < slots; ++i) {
    if (one.block != nullptr && one.block->states[i] == SlotState::stored) {
      end_run();
      continue;
    }
    const std::uint64_t counter = one.first + i / options.streams;
    const auto stream = static_cast<std::uint32_t>(i % options.streams);
    options.format.fill_lost({data + i * bytes, bytes}, model, counter, stream);
    if (run.bytes == 0) run = {at + i * bytes, 0, counter, stream};
    run.bytes += bytes;
  }
  end_run();
  out.write(data, slots * bytes);
  return at + slots * bytes;
}

void Capture::State::write(OutputStream& out, const std::function<void(const LostRun&)>& lost) {
  std::uint64_t at = 0;
  while (const auto one = full.take()) {
    at = write_block(out, *one, at, lost);
    report.written = at;
    if (one->block != nullptr) pool.put(one->block);
  }
}

Capture::Capture(const UdpAddress& address, std::size_t buffer, const CaptureOptions& options)
    : state_(std::make_unique<State>(address, buffer, options)) {
  state_->report.buffer = state_->socket.buffer();
}
Capture::~Capture() = default;
const PacketFormat& Capture::format() const { return state_->options.format; }
StartTime Capture::start() const { return state_->report.start; }
const CaptureReport& Capture::report() const { return state_->report; }

bool Capture::begin() {
  State& state = *state_;
  std::vector<std::byte> first(kMostPacket);
  const double begin = base::now();
  std::string reason;
  while (base::now() - begin < state.options.idle) {
    const std::size_t got = state.socket.peek(first);
    if (got == 0) continue;
    PacketFormat& format = state.options.format;
    reason = format.learn({first.data(), got});
    if (reason.empty() && format.kind == PacketKind::vdif && format.per_second == 0) {
      throw Error(ErrorKind::invalid_argument,
                  "the VDIF headers have no sample rate: give --frames-per-second (per thread)");
    }
    if (reason.empty()) {
      state.model.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(got, 32)));
      state.report.start = utc_now();
      if (format.kind == PacketKind::vdif) {
        PacketPlace place;
        format.locate({first.data(), got}, got, place);
        VdifHeader header;
        header.epoch = format.epoch;
        header.seconds = static_cast<std::uint32_t>(place.counter / format.per_second);
        state.report.start = header.start().after(static_cast<double>(place.counter % format.per_second) /
                                                  static_cast<double>(format.per_second));
      }
      state.make_blocks();
      return true;
    }
    iovec part{first.data(), first.size()};
    mmsghdr message{};
    message.msg_hdr.msg_iov = &part;
    message.msg_hdr.msg_iovlen = 1;
    state.socket.receive({&message, 1});
    ++state.report.counts.damaged;
  }
  if (!reason.empty()) {
    throw Error(ErrorKind::io,
                fmt::format("{} packets arrived, none of the format: {}", state.report.counts.damaged, reason));
  }
  return false;
}

void Capture::run(OutputStream& out, const std::atomic<bool>& stop, const std::function<void(const LostRun&)>& lost,
                  const std::function<void(const CaptureReport&)>& shows) {
  State& state = *state_;
  const std::uint64_t before = state.report.counts.damaged;
  std::exception_ptr failure;
  std::thread writer([&] {
    try {
      state.write(out, lost);
    } catch (...) {
      failure = std::current_exception();
      state.failed = true;
      state.full.fail(failure);
    }
  });
  try {
    state.receive(stop, shows);
  } catch (...) {
    state.full.end();
    writer.join();
    throw;
  }
  state.report.counts.damaged += before;
  state.full.end();
  writer.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ridge::io
