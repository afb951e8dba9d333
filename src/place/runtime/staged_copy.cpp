// Double-buffered staging of long copies by several threads.
#include "place/runtime/staged_copy.hpp"

#include <algorithm>
#include <cstring>

#include "base/threads.hpp"

namespace ridge::placed {
namespace {

void copy_by_threads(void* to, const void* from, std::size_t bytes) {
  const std::size_t threads = std::min<std::size_t>(8, base::hardware_threads());
  base::parallel(threads, [&](std::size_t thread, std::size_t all) {
    const base::Share part = base::share(bytes, thread, all, 4096);
    std::memcpy(static_cast<char*>(to) + part.begin, static_cast<const char*>(from) + part.begin,
                part.end - part.begin);
  });
}

}  // namespace

StagedCopy::StagedCopy(const Device& device) {
  for (Buffer& slot : slots_) slot = device.buffer(kSlot, {.kind = MemoryKind::pinned, .name = "staging"});
}

void StagedCopy::upload(Queue& queue, const void* from, const Buffer& to, std::size_t bytes) {
  for (std::size_t at = 0, slot = 0; at < bytes; at += kSlot, slot = 1 - slot) {
    const std::size_t n = std::min(kSlot, bytes - at);
    if (passed_[slot]) passed_[slot].wait();
    copy_by_threads(slots_[slot].map().data(), static_cast<const char*>(from) + at, n);
    queue.copy(slots_[slot], to, n, 0, at);
    passed_[slot] = queue.record();
  }
}

void StagedCopy::download(Queue& queue, const Buffer& from, void* to, std::size_t bytes) {
  const auto start = [&](std::size_t at, std::size_t slot) {
    queue.copy(from, slots_[slot], std::min(kSlot, bytes - at), at, 0);
    passed_[slot] = queue.record();
  };
  if (bytes > 0) start(0, 0);
  for (std::size_t at = 0, slot = 0; at < bytes; at += kSlot, slot = 1 - slot) {
    if (at + kSlot < bytes) start(at + kSlot, 1 - slot);  // the next block is transferred while this one is copied out
    passed_[slot].wait();
    copy_by_threads(static_cast<char*>(to) + at, slots_[slot].map().data(), std::min(kSlot, bytes - at));
  }
}

}  // namespace ridge::placed
