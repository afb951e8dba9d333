// The receiving thread never waits for the output: a second thread writes complete blocks. Without a free block, the
// newest packets are dropped, counted, and their slots are flagged as lost.
//
// Packets are received into the slots that packets in order would have. A message holds one packet, or as many as the
// kernel has joined: header and samples alternate, the samples of each in its slot. From the first message on that is
// not in order, the rest of a batch is copied aside and placed packet by packet.
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
#include "io/capture/packet_ring.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::io {
namespace {

constexpr std::size_t kBatch = 64, kBlockBytes = std::size_t{4} << 20;
constexpr std::size_t kMostSegments = 64, kPackets = 512;  // packets per message; per batch
constexpr std::size_t kSegmentsAlone = 4;                  // packets per message from which on a call gets one message

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Memory of one batch of messages, each with up to `segments` packets.
struct Batch {
  explicit Batch(std::size_t payload)
      : payload_bytes(payload), parts(kBatch + 2 * kPackets), headers(kPackets), aside(kBatch * kMostPacket) {}
  std::size_t payload_bytes, segments = 1;
  std::array<mmsghdr, kBatch> messages{};
  std::vector<iovec> parts;
  std::array<sockaddr_in, kBatch> from{};
  std::vector<std::array<std::byte, kMostPacketHeader>> headers;  // per packet
  std::array<std::array<char, 64>, kBatch> control;
  std::array<std::byte*, kPackets> slots{};  // per packet; null: received aside
  std::vector<std::byte> aside;
  std::byte* whole(std::size_t i) { return aside.data() + i * kMostPacket; }
  // Messages per call. Joined messages differ in their number of packets, so the slots of a second one would be wrong
  // and its samples moved; one message of many packets already makes the call cheap.
  std::size_t most() const { return segments >= kSegmentsAlone ? 1 : std::min(kBatch, kPackets / segments); }
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
  State(const UdpAddress& address, std::size_t buffer, const CaptureOptions& wanted) : options(wanted) {
    if (wanted.ring) {
      ring = std::make_unique<PacketRing>(address, buffer);
    } else {
      socket = std::make_unique<UdpSocket>(address, buffer);
      socket->coalesce();
    }
    report.buffer = ring ? ring->size() : socket->buffer();
  }
  std::unique_ptr<UdpSocket> socket{};  // one of the two
  std::unique_ptr<PacketRing> ring{};
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
  std::size_t peek(std::vector<std::byte>& first);
  void skip();
  bool prepare(Batch& batch, std::size_t i);
  void flatten(Batch& batch, std::size_t i) const;
  std::size_t take_in_order(Batch& batch, std::size_t i);
  void take_packet(std::span<const std::byte> packet, std::uint64_t sender);
  void take(Batch& batch, std::size_t got);
  std::size_t receive_batch(Batch& batch, std::size_t& wanted);
  std::size_t receive_ring();
  void receive(const std::atomic<bool>& stop, const std::function<void(const CaptureReport&)>& shows);
  void write(OutputStream& out, const std::function<void(const LostRun&)>& lost);
  std::uint64_t write_block(OutputStream& out, const Handed& one, std::uint64_t at,
                            const std::function<void(const LostRun&)>& lost);
};

// Copies the next packet, without removing it, and returns its length; 0: none came. Of joined packets, the first.
std::size_t Capture::State::peek(std::vector<std::byte>& first) {
  if (!ring) return socket->peek(first);
  const std::span<const std::byte> packet = ring->peek();
  std::size_t bytes = std::min(packet.size(), first.size());
  const std::size_t length = options.format.header + options.format.payload;
  if (options.format.payload > 0 && bytes % length == 0) bytes = std::min(bytes, length);
  std::copy_n(packet.begin(), bytes, first.begin());
  return bytes;
}

// Removes a packet that is not of the format; of a ring, its whole block.
void Capture::State::skip() {
  if (ring) return void(ring->receive([](std::span<const std::byte>, std::uint64_t) {}));
  std::vector<std::byte> bytes(kMostPacket);
  iovec part{bytes.data(), bytes.size()};
  mmsghdr message{};
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  socket->receive({&message, 1});
}

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

// Sets up message i to be received into the slots that would follow in order, or aside. True if all slots are open.
bool Capture::State::prepare(Batch& batch, std::size_t i) {
  const std::size_t length = options.format.header + batch.payload_bytes, many = batch.segments;
  iovec* parts = &batch.parts[i * (2 * many + 1)];
  bool open = true;
  for (std::size_t j = 0; j < many; ++j) {
    const std::size_t packet = i * many + j;
    const std::uint64_t linear = next_linear + packet;
    std::byte*& slot = batch.slots[packet];
    slot = assembler->begun()
               ? assembler->slot(linear / options.streams, static_cast<std::uint32_t>(linear % options.streams))
               : nullptr;
    open = open && slot != nullptr;
    parts[2 * j] = {batch.headers[packet].data(), options.format.header};
    parts[2 * j + 1] = {slot != nullptr ? slot : batch.whole(i) + j * length + options.format.header,
                        batch.payload_bytes};
  }
  // Longer messages continue in the last part, so that their real length is known.
  parts[2 * many] = {batch.whole(i) + many * length, kMostPacket - many * length};
  batch.messages[i].msg_hdr = {.msg_name = &batch.from[i],
                               .msg_namelen = sizeof batch.from[i],
                               .msg_iov = parts,
                               .msg_iovlen = 2 * many + 1,
                               .msg_control = batch.control[i].data(),
                               .msg_controllen = batch.control[i].size(),
                               .msg_flags = 0};
  return open;
}

// Joins the parts of message i in batch.whole(i).
void Capture::State::flatten(Batch& batch, std::size_t i) const {
  const std::size_t header = options.format.header, length = header + batch.payload_bytes;
  for (std::size_t j = 0; j < batch.segments && j * length < batch.messages[i].msg_len; ++j) {
    const std::size_t packet = i * batch.segments + j;
    std::memcpy(batch.whole(i) + j * length, batch.headers[packet].data(), header);
    if (batch.slots[packet] != nullptr)
      std::memcpy(batch.whole(i) + j * length + header, batch.slots[packet], batch.payload_bytes);
  }
}

// Takes message i if all of its packets are in their slots and in order; returns their number, else 0.
std::size_t Capture::State::take_in_order(Batch& batch, std::size_t i) {
  const PacketFormat& format = options.format;
  const std::size_t length = format.header + batch.payload_bytes, bytes = batch.messages[i].msg_len;
  const std::size_t joined = segment_bytes(batch.messages[i].msg_hdr), count = bytes / length;
  if (bytes % length != 0 || count == 0 || count > batch.segments || (count > 1 && joined != length)) return 0;
  std::array<PacketPlace, kMostSegments> places;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t packet = i * batch.segments + j;
    if (batch.slots[packet] == nullptr) return 0;
    const std::span<const std::byte> front =
        format.header > 0 ? std::span<const std::byte>(batch.headers[packet].data(), format.header)
                          : std::span<const std::byte>(batch.slots[packet], batch.payload_bytes);
    PacketPlace& place = places[j];
    if (format.locate(front, length, place) != nullptr || place.stream >= options.streams ||
        place.counter * options.streams + place.stream != next_linear + j)
      return 0;
  }
  // The slots are still open: a block is delivered only after later packets have arrived in order.
  for (std::size_t j = 0; j < count; ++j)
    assembler->take(places[j], batch.slots[i * batch.segments + j], sender_of(batch.from[i]));
  next_linear += count;
  return count;
}

void Capture::State::take_packet(std::span<const std::byte> packet, std::uint64_t sender) {
  PacketPlace place;
  if (options.format.locate(packet, packet.size(), place) != nullptr) return assembler->take_damaged();
  assembler->take(place, packet.data() + place.begin, sender);
  if (place.stream < options.streams && place.counter == assembler->newest())
    next_linear = place.counter * options.streams + place.stream + 1;
}

void Capture::State::take(Batch& batch, std::size_t got) {
  std::size_t i = 0, most = 1;
  while (i < got) {
    const std::size_t count = take_in_order(batch, i);
    if (count == 0) break;
    most = std::max(most, count);
    ++i;
    if (count < batch.segments) break;  // the slots of the next message are further on
  }
  for (std::size_t j = i; j < got; ++j) flatten(batch, j);
  for (; i < got; ++i) {
    const std::size_t bytes = batch.messages[i].msg_len, joined = segment_bytes(batch.messages[i].msg_hdr);
    const std::size_t each = joined > 0 ? joined : bytes;
    for (std::size_t at = 0; at < std::max<std::size_t>(bytes, 1); at += std::max<std::size_t>(each, 1))
      take_packet({batch.whole(i) + at, std::min(each, bytes - at)}, sender_of(batch.from[i]));
    if (each > 0) most = std::max(most, (bytes + each - 1) / each);
  }
  const std::size_t fit = (kMostPacket - 1) / (options.format.header + batch.payload_bytes);
  batch.segments = got == 0 ? batch.segments : std::clamp<std::size_t>(std::min(most, fit), 1, kMostSegments);
}

// Few messages are prepared while packets arrive one by one, many while the kernel holds a queue of them. A message
// whose slots are not open yet is the only one of its batch: it opens them.
std::size_t Capture::State::receive_batch(Batch& batch, std::size_t& wanted) {
  std::size_t count = 0;
  while (count < std::min(wanted, batch.most())) {
    const bool open = prepare(batch, count);
    if (!open && count > 0) break;
    ++count;
    if (!open && assembler->begun()) break;
  }
  const std::size_t got = socket->receive(std::span(batch.messages).first(count));
  wanted = std::clamp<std::size_t>(2 * got, 4, kBatch);
  for (std::size_t i = 0; i < got; ++i) report.bytes += batch.messages[i].msg_len;
  take(batch, got);
  return got;
}

// Packets of the ring are copied to their slots. The ring does not tell which ones were joined: those that are a
// multiple of the known length are split.
std::size_t Capture::State::receive_ring() {
  const std::size_t length = options.format.header + options.format.payload;
  return ring->receive([&](std::span<const std::byte> packet, std::uint64_t sender) {
    report.bytes += packet.size();
    const bool joined = packet.size() > length && packet.size() % length == 0;
    for (std::size_t at = 0; at < packet.size(); at += length) {
      take_packet(joined ? packet.subspan(at, length) : packet, sender);
      if (!joined) break;
    }
  });
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
    report.kernel_drops = ring ? ring->kernel_drops() : socket->kernel_drops();
    report.seconds = last - begin;
    report.processor_seconds = thread_seconds() - processor;
  };
  while (!stop && !failed && assembler->ended().empty()) {
    if (options.packets > 0 && assembler->counts().received() >= options.packets) break;
    const std::size_t got = ring ? receive_ring() : receive_batch(*batch, wanted);
    const double now = base::now();
    if (got > 0) last = now;
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
    : state_(std::make_unique<State>(address, buffer, options)) {}
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
    const std::size_t got = state.peek(first);
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
    state.skip();
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
