#include "search/refine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ridge::search {
namespace {

// Sums of all channels for `count` times from `first`, each channel delayed by the nearest sample. Samples outside the
// plane are left out.
void sum_exactly(const RefineJob& job, double delay, std::size_t first, std::vector<float>& out) {
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::size_t c = 0; c < job.slope.size(); ++c) {
    const std::size_t from = first + static_cast<std::size_t>(std::lround(delay * job.slope[c]));
    if (from >= job.columns) continue;
    const std::size_t count = std::min(out.size(), job.columns - from);
    const std::uint8_t* in = job.plane + c * job.stride + from;
    for (std::size_t t = 0; t < count; ++t) out[t] += static_cast<float>(in[t]);
  }
}

// Best boxcar of the widths up to twice the detected one.
void best_boxcar(const RefineJob& job, double delay, std::size_t first, const std::vector<float>& series,
                 Refined& best) {
  std::vector<double> prefix(series.size() + 1, 0);
  for (std::size_t t = 0; t < series.size(); ++t)
    prefix[t + 1] = prefix[t] + (static_cast<double>(series[t]) - job.normal.mean) / job.normal.sigma;
  const std::size_t step = std::max<std::size_t>(1, job.width / 8);
  for (std::size_t w = job.narrowest; w <= std::min(2 * job.width, job.widest); w += step) {
    const double scale = 1 / std::sqrt(static_cast<double>(w));
    for (std::size_t t = 0; t + w <= series.size(); ++t) {
      const double snr = (prefix[t + w] - prefix[t]) * scale;
      if (snr > best.snr) best = {.delay = delay, .begin = first + t, .width = w, .snr = snr};
    }
  }
}

}  // namespace

Refined refine(const RefineJob& job) {
  const std::size_t margin = 2 * job.width + 2;
  const std::size_t first = job.begin > margin ? job.begin - margin : 0;
  std::vector<float> series(job.begin - first + job.width + margin);
  Refined best{.delay = job.delay, .begin = job.begin, .width = job.width, .snr = 0};
  const auto look = [&](double middle, double step, int steps) {
    for (int i = -steps; i <= steps; ++i) {
      const double delay = middle + step * i;
      if (delay < job.shortest || delay > job.longest) continue;
      sum_exactly(job, delay, first, series);
      best_boxcar(job, delay, first, series, best);
    }
  };
  // Two trials to each side in steps of a quarter of the pulse's width over the band, then an eighth of such a step.
  const int steps = std::clamp(static_cast<int>(std::ceil(4 * job.spacing / static_cast<double>(job.width))), 2, 16);
  look(job.delay, job.spacing / steps, 2 * steps);
  look(best.delay, job.spacing / steps / 8, 7);
  return best;
}

}  // namespace ridge::search
