// Times work by pairs of events around it, in alternating rounds.
#include "device/timing.hpp"

#include <algorithm>
#include <limits>

namespace ridge {

std::vector<double> best_device_seconds(Queue& queue, const std::vector<std::function<void()>>& enqueue,
                                        const base::Repeat& repeat) {
  const auto round_seconds = [&](const std::function<void()>& call, int calls) {
    const Event first = queue.record();
    for (int k = 0; k < calls; ++k) call();
    const Event last = queue.record();
    return seconds_between(first, last);
  };
  const std::size_t count = enqueue.size();
  std::vector<double> best(count, std::numeric_limits<double>::infinity()), spent(count, 0);
  std::vector<int> calls_per_round(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    enqueue[i]();  // cold
    queue.finish();
    const double once = std::max(round_seconds(enqueue[i], 1), 1e-7);
    const double round = repeat.round > 0 ? repeat.round : 1e-3;
    calls_per_round[i] = static_cast<int>(std::clamp(round / once, 1.0, 1e4));
  }
  for (int round = 0; round < repeat.at_most; ++round) {
    bool all_done = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (round >= repeat.at_least && spent[i] >= repeat.seconds) continue;
      all_done = false;
      const double seconds = round_seconds(enqueue[i], calls_per_round[i]);
      // Timestamps can be coarser than a tiny call; such a round is ignored.
      if (seconds > 0) best[i] = std::min(best[i], seconds / calls_per_round[i]);
      spent[i] += std::max(seconds, 1e-6);
    }
    if (all_done) break;
  }
  return best;
}

}  // namespace ridge
