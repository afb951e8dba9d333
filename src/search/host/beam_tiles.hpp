// Tiles of the samples of all stations, for the beams of the host.
#pragma once
#include <algorithm>
#include <cstddef>

#include <ridge/search/beams.hpp>

#include "base/threads.hpp"
#include "search/host/rows.hpp"

namespace ridge::search {

// Calls use(tile, channel, first time, times) for tiles of at most kBeamTile times, by several threads. `load`, with
// the same arguments, fills the tile of a thread before. Each thread has the tiles of whole sums of `integrate` times.
template <class Tile, class Load, class Use>
void each_tile(const BeamProblem& p, const Load& load, const Use& use) {
  const std::size_t runs = p.times / p.integrate, jobs = p.channels * runs;
  base::parallel(p.threads, [&](std::size_t thread, std::size_t of) {
    const base::Share mine = base::share(jobs, thread, of);
    if (mine.begin == mine.end) return;
    Tile tile(p.stations);
    for (std::size_t job = mine.begin; job < mine.end;) {
      // Short integrations share a tile.
      const std::size_t channel = job / runs, bin = job % runs;
      const std::size_t together =
          std::clamp<std::size_t>(kBeamTile / p.integrate, 1, std::min(runs - bin, mine.end - job));
      const std::size_t begin = bin * p.integrate, end = (bin + together) * p.integrate;
      for (std::size_t t0 = begin; t0 < end; t0 += kBeamTile) {
        const std::size_t count = std::min(kBeamTile, end - t0);
        load(tile, channel, t0, count);
        use(tile, channel, t0, count);
      }
      job += together;
    }
  });
}

// Adds the powers of `count` times from t0 on to the sums of `integrate` times each in `row`.
inline void add_powers(const float* power, std::size_t t0, std::size_t count, std::size_t integrate, float* row) {
  constexpr std::size_t kParts = 8;  // independent sums
  for (std::size_t t = 0, bin = t0 / integrate; t < count; ++bin) {
    const std::size_t end = std::min(count, (bin + 1) * integrate - t0);
    float parts[kParts] = {};
    for (; t + kParts <= end; t += kParts) {
      for (std::size_t k = 0; k < kParts; ++k) parts[k] += power[t + k];
    }
    float rest = 0;
    for (; t < end; ++t) rest += power[t];
    for (std::size_t half = kParts / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) parts[k] += parts[k + half];
    }
    row[bin] += parts[0] + rest;
  }
}

}  // namespace ridge::search
