// Distributes the units of a stage over threads, and the planes of an array over two stages.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/threads.hpp"

namespace ridge::fft {

// Runs all units on all threads; `bytes` is the data moved in total. Static shares if the data fit the private caches,
// so that each thread finds its share again; dynamic blocks otherwise, because on a shared machine one core may be half
// as fast as another.
template <class Units>
void run_all(std::size_t threads, std::size_t count, double bytes, const Units& units) {
  constexpr double kOwnBytes = 2 << 20;
  constexpr std::size_t kPieces = 16;
  struct Call {
    std::size_t count, piece;
    const Units& units;
    std::atomic<std::size_t> next{0};
  };
  const bool large = threads > 1 && bytes > kOwnBytes * static_cast<double>(threads);
  Call call{count, large ? std::max<std::size_t>(count / (kPieces * threads), 1) : 0, units};
  // A task may capture one pointer: a larger capture would be allocated.
  base::parallel(threads, [&call](std::size_t thread, std::size_t number) {
    if (call.piece == 0) {
      const base::Share share = base::share(call.count, thread, number);
      return call.units(thread, share.begin, share.end);
    }
    for (std::size_t at; (at = call.next.fetch_add(call.piece, std::memory_order_relaxed)) < call.count;)
      call.units(thread, at, std::min(at + call.piece, call.count));
  });
}

// Runs both stages plane by plane: `first` has `units` per plane, `second` likewise.
template <class First, class Second>
void run_by_planes(std::size_t threads, std::size_t planes, double bytes, std::size_t in_first, const First& first,
                   std::size_t in_second, const Second& second) {
  run_all(threads, planes, bytes, [&](std::size_t thread, std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
      first(thread, plane * in_first, (plane + 1) * in_first);
      second(thread, plane * in_second, (plane + 1) * in_second);
    }
  });
}

template <class AnyStage>
std::size_t units_per_plane(const AnyStage& stage) {
  return stage.units() / stage.planes();
}

}  // namespace ridge::fft
