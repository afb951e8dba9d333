#include "device/pinned_transfer.hpp"

#include <algorithm>
#include <cstring>

#include "base/threads.hpp"

namespace ridge {
namespace {

constexpr std::size_t kPiece = std::size_t{16} << 20, kWorthPinning = 4 * kPiece;

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
  if (bytes < kWorthPinning || device_.is_host() || device_.info().shares_host_memory) return false;
  for (Buffer& piece : pieces_) {
    if (!piece) piece = device_.buffer(kPiece, {.kind = MemoryKind::pinned, .name = "piece on its way"});
  }
  return true;
}

void PinnedTransfer::upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes) {
  if (!pays(bytes)) {
    queue.upload(from, to, bytes);
    queue.finish();
    return;
  }
  std::array<Event, 2> sent;
  for (std::size_t at = 0, turn = 0; at < bytes; at += kPiece, turn ^= 1) {
    const std::size_t part = std::min(kPiece, bytes - at);
    if (sent[turn]) sent[turn].wait();
    copy_by_threads(pieces_[turn].map().data(), static_cast<const std::byte*>(from) + at, part);
    queue.copy(pieces_[turn], to, part, 0, at);
    sent[turn] = queue.record();
  }
  queue.finish();
}

void PinnedTransfer::download(Queue& queue, const Buffer& from, void* to, std::size_t bytes) {
  if (!pays(bytes)) {
    queue.download(from, to, bytes);
    queue.finish();
    return;
  }
  std::array<Event, 2> arrived;
  const auto fetch = [&](std::size_t at, std::size_t turn) {
    queue.copy(from, pieces_[turn], std::min(kPiece, bytes - at), at, 0);
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
