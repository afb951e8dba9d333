// Computes the lower bound on a transform's time from the machine model.
#include "bench/floor.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/text.hpp"

namespace ridge::cli {

FftFloor fft_floor(const Device& device, double flops, double bytes, bool float64, std::size_t threads) {
  const machine::Ceilings ceilings = machine::ceilings(device);
  const double cores = static_cast<double>(std::max<std::size_t>(1, device.limits().compute_units));
  const bool everything = !device.is_host() || threads == 0 || static_cast<double>(threads) >= cores;
  const double all = float64 ? ceilings.flops_double : ceilings.flops_float;
  const double one = float64 ? ceilings.flops_double_one : ceilings.flops_float_one;
  const double used = static_cast<double>(threads);
  double peak = all;
  if (!everything) peak = std::min(all, one > 0 ? one * used : all / cores * used);

  FftFloor floor;
  floor.measured = ceilings.measured;
  if (peak > 0) floor.arithmetic_seconds = flops / peak;
  floor.peak = base::human_rate(peak, "FLOP/s");
  for (const machine::Level& level : ceilings.levels) {
    if (static_cast<double>(level.capacity) < bytes && level.name != ceilings.memory().name) continue;
    const double full = std::max(level.all.copy, level.all.copy_streaming);
    const double single = std::max(level.one.copy, level.one.copy_streaming);
    const double bandwidth = everything || single <= 0 ? full : std::min(full, single * used);
    if (bandwidth <= 0) continue;
    floor.memory_seconds = bytes / bandwidth;
    floor.level = fmt::format("{} at {}", level.name, base::human_rate(bandwidth, "B/s"));
    break;
  }
  return floor;
}

}  // namespace ridge::cli
