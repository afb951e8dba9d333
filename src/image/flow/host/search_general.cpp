// Plain search of the flow for any radius and reach, on the host.
#include "image/flow/host/host_flow.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "image/flow/reference.hpp"
#include "image/flow/weights.hpp"

namespace ridge::image::flow {
namespace {

int squares(std::uint32_t a, std::uint32_t b) {
  int sum = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int d = static_cast<int>(a >> shift & 255u) - static_cast<int>(b >> shift & 255u);
    sum += d * d;
  }
  return sum;
}

}  // namespace

void search_general(const SearchJob& job, int radius, int reach, int begin, int end) {
  SearchWeights formula(1, 1);
  formula.color_slope = job.color_slope;
  formula.space_slope = job.space_slope;
  const int side = 2 * radius + 1;
  std::vector<float> weights(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  const auto at = [](const Words& words, int r, int c) { return words.cells + r * words.pitch + c; };
  for (int r = begin; r < std::min(end, job.rows); ++r) {
    for (int c = 0; c < job.columns; ++c) {
      const std::ptrdiff_t place = std::ptrdiff_t{r} * job.columns + c;
      if (job.mask[place] == 0) continue;
      auto weight = weights.begin();
      for (int i = -radius; i <= radius; ++i) {
        for (int j = -radius; j <= radius; ++j) {
          *weight++ = formula.at(squares(*at(job.from, r, c), *at(job.from, r + i, c + j)), i, j);
        }
      }
      const int y0 = r + start_of(job.u[place], r, job.rows), x0 = c + start_of(job.v[place], c, job.columns);
      float least = std::numeric_limits<float>::max();
      int best_y = y0, best_x = x0;
      for (int y = std::max(0, y0 - reach); y <= std::min(job.rows - 1, y0 + reach); ++y) {
        for (int x = std::max(0, x0 - reach); x <= std::min(job.columns - 1, x0 + reach); ++x) {
          float cost = 0;
          weight = weights.begin();
          for (int i = -radius; i <= radius; ++i) {
            const std::uint32_t *a = at(job.from, r + i, c - radius), *b = at(job.to, y + i, x - radius);
            for (int j = 0; j < side; ++j) cost = std::fma(*weight++, static_cast<float>(squares(a[j], b[j])), cost);
          }
          if (cost < least || (cost == least && y == y0 && x == x0)) {
            least = cost;
            best_y = y;
            best_x = x;
          }
        }
      }
      job.u[place] = static_cast<float>(best_y - r);
      job.v[place] = static_cast<float>(best_x - c);
    }
  }
}

}  // namespace ridge::image::flow
