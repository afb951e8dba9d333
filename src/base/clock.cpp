// Times calls in alternating rounds and keeps the least time of each.
#include "base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ridge::base {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double best_seconds(const std::function<void()>& call, const Repeat& repeat) {
  return best_seconds_interleaved({call}, repeat).front();
}

std::vector<double> best_seconds_interleaved(const std::vector<std::function<void()>>& calls, const Repeat& repeat,
                                             const std::function<void()>& before_round) {
  std::vector<double> best(calls.size(), std::numeric_limits<double>::infinity());
  std::vector<double> spent(calls.size(), 0);
  std::vector<long> calls_per_round(calls.size(), 1);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i]();  // cold
    if (repeat.round <= 0) continue;
    const double start = now();
    calls[i]();
    const double once = std::max(now() - start, 1e-9);
    calls_per_round[i] = std::clamp(static_cast<long>(repeat.round / once), 1L, 100'000'000L);
  }
  for (int round = 0; round < repeat.at_most; ++round) {
    bool all_done = true;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (round >= repeat.at_least && spent[i] >= repeat.seconds) continue;
      all_done = false;
      if (before_round) before_round();
      const double start = now();
      for (long k = 0; k < calls_per_round[i]; ++k) calls[i]();
      const double seconds = now() - start;
      spent[i] += seconds;
      best[i] = std::min(best[i], seconds / static_cast<double>(calls_per_round[i]));
    }
    if (all_done) break;
  }
  return best;
}

}  // namespace ridge::base
