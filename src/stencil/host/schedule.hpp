// Division of numbered items (rows, tiles, blocks) among threads by a schedule.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>

#include <ridge/stencil.hpp>

#include "base/threads.hpp"

namespace ridge::stencil {

// Every item is given to one thread, once between two calls of refill().
class Shares {
 public:
  Shares(Schedule schedule, std::size_t count, std::size_t threads)
      : schedule_(schedule), count_(count), threads_(threads) {}
  void refill() { next_.store(0, std::memory_order_relaxed); }
  // Calls work(Share) for the parts of this thread.
  template <class Work>
  void take(std::size_t thread, const Work& work) {
    if (schedule_ == Schedule::fixed) return work(base::share(count_, thread, threads_));
    std::size_t begin = next_.load(std::memory_order_relaxed);
    while (begin < count_) {
      const std::size_t left = count_ - begin;
      const std::size_t size = schedule_ == Schedule::guided ? std::max<std::size_t>(1, left / (2 * threads_)) : 1;
      if (!next_.compare_exchange_weak(begin, begin + size, std::memory_order_relaxed)) continue;
      work(base::Share{begin, begin + size});
      begin = next_.load(std::memory_order_relaxed);
    }
  }

 private:
  Schedule schedule_;
  std::size_t count_, threads_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace ridge::stencil
