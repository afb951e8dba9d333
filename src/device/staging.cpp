// Copies host memory through page-locked buffers to a plan's device and back.
#include "device/staging.hpp"

#include <algorithm>
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

constexpr std::size_t kPiece = std::size_t{16} << 20;

void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  base::parallel(std::min<std::size_t>(base::hardware_threads(), 8), [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(bytes, thread, threads, 4096);
    if (share.begin < share.end) {
      std::memcpy(static_cast<std::byte*>(to) + share.begin, static_cast<const std::byte*>(from) + share.begin,
                  share.end - share.begin);
    }
  });
}

}  // namespace

bool PinnedTransfer::pays(std::size_t bytes) {
  if (bytes < least_ || device_.is_host() || device_.info().shares_host_memory) return false;
  for (Buffer& piece : pieces_) {
    if (!piece) piece = device_.buffer(kPiece, {.kind = MemoryKind::pinned, .name = "staging block"});
  }
  return true;
}

void PinnedTransfer::upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes,
                            std::size_t to_offset) {
  if (!pays(bytes)) {
    queue.upload(from, to, bytes, to_offset);
    queue.finish();
    return;
  }
  std::array<Event, 2> sent;
  for (std::size_t at = 0, turn = 0; at < bytes; at += kPiece, turn ^= 1) {
    const std::size_t part = std::min(kPiece, bytes - at);
    if (sent[turn]) sent[turn].wait();
    copy_by_threads(pieces_[turn].map().data(), static_cast<const std::byte*>(from) + at, part);
    queue.copy(pieces_[turn], to, part, 0, to_offset + at);
    sent[turn] = queue.record();
  }
  queue.finish();
}

void PinnedTransfer::download(Queue& queue, const Buffer& from, void* to, std::size_t bytes, std::size_t from_offset) {
  if (!pays(bytes)) {
    queue.download(from, to, bytes, from_offset);
    queue.finish();
    return;
  }
  std::array<Event, 2> arrived;
  const auto fetch = [&](std::size_t at, std::size_t turn) {
    queue.copy(from, pieces_[turn], std::min(kPiece, bytes - at), from_offset + at, 0);
    arrived[turn] = queue.record();
  };
  fetch(0, 0);
  for (std::size_t at = 0, turn = 0; at < bytes; at += kPiece, turn ^= 1) {
    if (at + kPiece < bytes) fetch(at + kPiece, turn ^ 1);
    arrived[turn].wait();
    copy_by_threads(static_cast<std::byte*>(to) + at, pieces_[turn].map().data(), std::min(kPiece, bytes - at));
  }
}

}  // namespace ridge
