// Copies host memory through page-locked buffers to a plan's device and back.
#include "device/staging.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/threads.hpp"

namespace ridge {

void Staging::reserve(Buffer& buffer, std::size_t bytes, const char* what) const {
  if (buffer && buffer.size() >= bytes) return;
  buffer = {};  // frees the old buffer first: memory may not suffice for both
  buffer = device_.buffer(bytes, {.name = name_ + " " + what});
}

void Staging::run(const StagedCall& call,
                  const std::function<void(Queue& queue, const Buffer& in, const Buffer& out)>& enqueue) const {
  const std::lock_guard lock(mutex_);
  if (!queue_) queue_ = device_.queue();
  reserve(in_, call.in_place ? std::max(call.in_bytes, call.out_bytes) : call.in_bytes, "input");
  if (!call.in_place) reserve(out_, call.out_bytes, "output");
  const Buffer& out = call.in_place ? in_ : out_;
  queue_->upload(call.in, in_, call.in_bytes);
  if (!call.in_place && call.output_first) queue_->upload(call.out, out, call.out_bytes);
  enqueue(*queue_, in_, out);
  queue_->download(out, call.out, call.out_bytes);
  queue_->finish();
}

namespace {

// A piece is copied within a millisecond by its thread, and within 40 us by the fastest links.
constexpr std::size_t kPiece = std::size_t{2} << 20, kMostThreads = 8;

// The pieces of one thread's part of an array, and which of its two buffers each of them passes through.
struct Piece {
  std::size_t at = 0, bytes = 0, turn = 0;
};
template <class Work>
void for_pieces(const base::Share& part, const Work& work) {
  for (std::size_t at = part.begin, turn = 0; at < part.end; at += kPiece, turn ^= 1)
    work(Piece{at, std::min(kPiece, part.end - at), turn});
}

}  // namespace

bool PinnedTransfer::pays(std::size_t bytes) {
  if (bytes == 0 || bytes < least_ || device_.is_host() || (device_.info().shares_host_memory && !always_))
    return false;
  while (lanes_.size() < std::min(base::hardware_threads(), kMostThreads)) {
    Lane& lane = lanes_.emplace_back(Lane{device_.queue()});
    for (Buffer& buffer : lane.buffers)
      buffer = device_.buffer(kPiece, {.kind = MemoryKind::pinned, .name = "staging block"});
  }
  return true;
}

// Calls copy(lane, part) in each thread, after the work enqueued so far.
template <class Copy>
void PinnedTransfer::by_threads(Queue& queue, std::size_t bytes, const Copy& copy) {
  const Event ready = queue.record();
  base::parallel(lanes_.size(), [&](std::size_t thread, std::size_t threads) {
    const base::Share part = base::share(bytes, thread, threads, 4096);
    if (part.begin == part.end) return;
    Lane& lane = lanes_[thread];
    lane.queue.wait_for(ready);
    copy(lane, part);
    lane.queue.finish();
  });
}

void PinnedTransfer::upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes,
                            std::size_t to_offset) {
  if (!pays(bytes)) {
    queue.upload(from, to, bytes, to_offset);
    queue.finish();
    return;
  }
  by_threads(queue, bytes, [&](Lane& lane, const base::Share& part) {
    std::array<Event, 2> sent;
    for_pieces(part, [&](const Piece& piece) {
      const Buffer& buffer = lane.buffers[piece.turn];
      if (sent[piece.turn]) sent[piece.turn].wait();
      std::memcpy(buffer.map().data(), static_cast<const std::byte*>(from) + piece.at, piece.bytes);
      lane.queue.copy(buffer, to, piece.bytes, 0, to_offset + piece.at);
      sent[piece.turn] = lane.queue.record();
    });
  });
}

void PinnedTransfer::download(Queue& queue, const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset) {
  if (!pays(bytes)) {
    queue.download(from, to, bytes, from_offset);
    queue.finish();
    return;
  }
  by_threads(queue, bytes, [&](Lane& lane, const base::Share& part) {
    std::array<Event, 2> arrived;
    std::array<Piece, 2> pieces;
    const auto empty = [&](std::size_t turn) {
      if (!arrived[turn]) return;
      arrived[turn].wait();
      std::memcpy(static_cast<std::byte*>(to) + pieces[turn].at, lane.buffers[turn].map().data(), pieces[turn].bytes);
      arrived[turn] = {};
    };
    std::size_t last = 0;
    for_pieces(part, [&](const Piece& piece) {
      empty(piece.turn);
      lane.queue.copy(from, lane.buffers[piece.turn], piece.bytes, from_offset + piece.at, 0);
      arrived[piece.turn] = lane.queue.record();
      pieces[piece.turn] = piece;
      last = piece.turn;
    });
    empty(last ^ 1);
    empty(last);
  });
}

}  // namespace ridge
