// Ranges of spectra that missing samples affect.
#include <algorithm>

#include "filterbank/geometry.hpp"

namespace ridge::filterbank {

std::vector<SpectrumRange> flagged(const Problem& problem, std::span<const Hole> holes) {
  const Geometry g = resolve(problem);
  const std::uint64_t span = g.channels * g.taps;
  std::vector<SpectrumRange> ranges;
  for (const Hole& hole : holes) {
    if (hole.samples == 0) continue;
    // Spectrum t is affected if newest(t) = (t + 1) hop - 1 >= first and newest(t) - span < end.
    const std::uint64_t first = (hole.first - std::min<std::uint64_t>(hole.first, g.longest)) / g.hop;
    const std::uint64_t end = (hole.first + hole.samples + span - 1) / g.hop;
    if (!ranges.empty() && first <= ranges.back().end) {
      ranges.back().end = std::max(ranges.back().end, end);
    } else if (end > first) {
      ranges.push_back({first, end});
    }
  }
  return ranges;
}

}  // namespace ridge::filterbank
