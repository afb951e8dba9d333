// Variant "overlapped_tiles": the sweeps of overlapped_tiles.hpp, and the parameters worth timing. Model behind the
// list: rings should fill the core's private cache but not exceed it (twice the width at half the depth costs the
// same), the overlap is computed twice, and the number of tiles should be a multiple of the threads.
#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "machine/host/caches.hpp"
#include "stencil/host/host_variant.hpp"
#include "stencil/host/kernels/sweep_kernels.hpp"
#include "stencil/host/kernels/vector_program.hpp"
#include "stencil/host/two_stages/stages.hpp"
#include "stencil/time_levels.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {
namespace {

template <class T>
class OverlappedTiles final : public HostVariant<T> {
 public:
  OverlappedTiles(const Layout& layout, const TimeTiling& tiling, SweepKernels<T> kernels)
      : HostVariant<T>(layout), depth_(tiling.depth), sweep_(layout, tiling, std::move(kernels)) {}
  void steps(Levels<T>& levels, std::size_t count) const override { sweep_.steps(levels, count); }
  std::size_t depth() const override { return depth_; }

 private:
  std::size_t depth_;
  TimeSweep<T> sweep_;
};

struct Caches {
  std::size_t own = 0;   // bytes of the second-level cache per thread
  std::size_t near = 0;  // bytes of the first-level cache per thread
  std::size_t last = 0;  // bytes of the whole last-level cache
};

Caches caches_of(const Layout& layout) {
  Caches caches;
  const auto all = machine::host_caches();
  for (const machine::Cache& cache : all) {
    const std::size_t share = cache.size / std::min(std::max<std::size_t>(cache.shared_by, 1), layout.threads);
    if (cache.level == 1) caches.near = share;
    if (cache.level <= 2) caches.own = share;
  }
  caches.last = all.back().size;
  return caches;
}

std::size_t pieces(std::size_t all, std::size_t piece) { return piece == 0 ? 1 : (all + piece - 1) / piece; }

// Divides the outer axis so that every thread gets as many tiles, if the parts stay long compared with the overlap.
void share_out(const Layout& layout, TimeTiling& tiling) {
  const std::size_t outer = layout.dimensions == 3 ? 0 : 1;
  const std::size_t size = layout.shape[outer];
  const std::size_t across =
      pieces(layout.shape[2], tiling.width) * (layout.dimensions == 3 ? pieces(layout.shape[1], tiling.height) : 1);
  const std::size_t overlap = tiling.depth * static_cast<std::size_t>(layout.radius[outer]);
  const std::size_t most = std::max<std::size_t>(size / std::max<std::size_t>(8 * overlap, 1), 1);
  for (std::size_t cuts = 1; cuts <= std::min(most, tiling.threads); ++cuts) {
    if (across * cuts >= tiling.threads) tiling.length = (size + cuts - 1) / cuts;
    if (across * cuts % tiling.threads == 0) break;
  }
  if (tiling.length == 0 && most > 1)
    tiling.length = (size + std::min(most, tiling.threads) - 1) / std::min(most, tiling.threads);
}

// Four times as many tiles, if they stay long compared with the overlap: on a shared machine a core may run at half
// speed, and with one tile per thread all threads would wait for it.
std::size_t shorter(const Layout& layout, const TimeTiling& tiling) {
  const std::size_t outer = layout.dimensions == 3 ? 0 : 1;
  const std::size_t all = tiling.length == 0 ? layout.shape[outer] : tiling.length;
  const std::size_t overlap = tiling.depth * static_cast<std::size_t>(layout.radius[outer]);
  return std::max((all + 3) / 4, std::min(all, 16 * overlap));
}

// A depth, and the widest tile whose rings fit the cache.
template <class T>
TimeTiling fitted(const Layout& layout, TimeTiling tiling, std::size_t bytes) {
  const std::size_t line = 256;
  if (layout.dimensions == 3) {
    std::size_t height = layout.shape[1];
    const auto with = [&](std::size_t h, std::size_t w) {
      tiling.height = h;
      tiling.width = w;
      return TimeSweep<T>::ring_bytes(layout, tiling) <= bytes;
    };
    // Rows are not divided while a strip of them is at least four overlaps high.
    const std::size_t least = std::max<std::size_t>(4 * tiling.depth * static_cast<std::size_t>(layout.radius[1]), 8);
    for (std::size_t cuts = 2; height > least && !with(height, 0); ++cuts)
      height = std::max(least, (layout.shape[1] + cuts - 1) / cuts);
    std::size_t width = layout.shape[2];
    while (width > line && !with(height, width)) width = (width + 1) / 2;
    tiling.height = height >= layout.shape[1] ? 0 : height;
    tiling.width = width >= layout.shape[2] ? 0 : width;
  } else {
    std::size_t width = layout.shape[2];
    const auto least = std::max<std::size_t>(4 * tiling.depth * static_cast<std::size_t>(layout.radius[2]), line);
    const auto fits = [&] {
      tiling.width = width;
      return TimeSweep<T>::ring_bytes(layout, tiling) <= bytes;
    };
    while (width > least && !fits()) width = (width + 1) / 2;
    tiling.width = width >= layout.shape[2] ? 0 : width;
  }
  return tiling;
}

struct Size {
  std::size_t bytes = 0;  // of the rings
  bool more_tiles = false;
};

struct TileKernel {
  const char* name;
  bool simd, exact, streaming;
  bool vectors = false;
  double efficiency = 0.3;
};

template <class T>
Entry<T> entry_of(const Update<T>& update, const Layout& layout, const TimeTiling& tiling, const TileKernel& kernel) {
  Entry<T> entry;
  planner::Candidate& candidate = entry.candidate;
  candidate.variant = "overlapped_tiles";
  const auto add = [&](const char* name, std::size_t value) {
    if (value > 0) candidate.parameters.emplace_back(name, std::to_string(value));
  };
  candidate.parameters.emplace_back("kernel", kernel.name);
  add("depth", tiling.depth);
  add("width", tiling.width);
  add("height", tiling.height);
  add("length", tiling.length);
  add("tick", tiling.tick);
  add("rows", tiling.rows);
  if (tiling.planes > 1) add("planes", tiling.planes);
  if (tiling.prefetch) candidate.parameters.emplace_back("fetch", "ahead");
  if (tiling.within) candidate.parameters.emplace_back("fetch", "within");
  if (kernel.streaming) candidate.parameters.emplace_back("stores", "streaming");
  add_schedule(candidate, layout);
  add("threads", tiling.threads);
  candidate.cost = step_cost(update, layout, 2.0 / static_cast<double>(tiling.depth), kernel.efficiency,
                             TimeSweep<T>::redundancy(layout, tiling));
  candidate.cost.launches = 1.0 / static_cast<double>(tiling.depth);
  candidate.cost.threads = tiling.threads;
  entry.exact = kernel.exact;
  const auto kernels = [update, tiling, kernel] {
    return kernel.simd
               ? linear_sweep_kernels<T>(
                     update,
                     {.planes = tiling.planes, .rows = tiling.rows, .flat = true, .streaming = kernel.streaming})
               : general_sweep_kernels<T>(update, kernel.vectors);
  };
  entry.build = [layout, tiling, kernels] { return std::make_shared<OverlappedTiles<T>>(layout, tiling, kernels()); };
  // As many tiles as the whole grid has, but shorter; the cost of their additional overlap is subtracted.
  entry.sample = [layout, tiling, kernels](const Layout& part) -> Sample<T> {
    TimeTiling shorter = tiling;
    const std::size_t outer = layout.dimensions == 3 ? 0 : 1;
    if (tiling.length > 0) {
      const std::size_t tiles = pieces(layout.shape[outer], tiling.length);
      shorter.length = (part.shape[outer] + tiles - 1) / tiles;
    }
    const double cells = static_cast<double>(layout.cells()) / static_cast<double>(part.cells());
    return {std::make_shared<OverlappedTiles<T>>(part, shorter, kernels()),
            cells * TimeSweep<T>::redundancy(layout, tiling) / TimeSweep<T>::redundancy(part, shorter)};
  };
  return entry;
}

// Waves and similar systems overwrite their oldest level in place. Tiles, which carry all levels, were measured at 0.05
// of the arithmetic peak in 3D and 0.2 in 2D, below one step at a time in place.
template <class T>
bool is_in_place(const Update<T>& update) {
  if constexpr (!std::is_floating_point_v<T>) return false;
  const TimeLevels levels = time_levels(flatten(update.outputs));
  return !levels.pairs.empty() && levels.refusal.empty();
}

// Depths worth trying: the overlap grows with depth x radius, the traffic falls with the depth. A grid that fits the
// private caches only saves forks, so the planner's time is left to the plain variants.
std::vector<std::size_t> depths(const Layout& layout, bool cached) {
  const auto radius = static_cast<std::size_t>(std::max({layout.radius[0], layout.radius[1], layout.radius[2], 1}));
  std::vector<std::size_t> wanted;
  switch (layout.dimensions) {
    case 1:
      wanted = cached ? std::vector<std::size_t>{32, 16} : std::vector<std::size_t>{128, 64, 32};
      break;
    case 2:
      wanted = cached ? std::vector<std::size_t>{8, 4} : std::vector<std::size_t>{32, 16};
      break;
    default:
      wanted = cached ? std::vector<std::size_t>{4, 2} : std::vector<std::size_t>{6, 4};
      break;
  }
  for (std::size_t& depth : wanted) depth = std::max<std::size_t>(depth / radius, 2);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return wanted;
}

// 3D with many threads: one plane at a time, two, or four of which two share buffers. Prefetching a whole tick at once
// slowed these down; here the kernels prefetch while they compute.
std::vector<TimeTiling> kinds_of(const TimeTiling& tiling, bool many_planes) {
  if (!many_planes) return {tiling};
  std::vector<TimeTiling> kinds(3, tiling);
  for (TimeTiling& kind : kinds) kind.prefetch = false;
  kinds[0].tick = kinds[0].planes = 1;
  kinds[0].within = kinds[1].within = tiling.prefetch;
  kinds[2].tick = 4;
  return kinds;
}

}  // namespace

template <class T>
void list_host_overlapped_tiles(const Device&, const Update<T>& update, const Layout& layout,
                                std::vector<Entry<T>>& entries) {
  const Caches caches = caches_of(layout);
  const double both = 2.0 * static_cast<double>(layout.cells() * layout.fields * sizeof(T));
  const bool streams = std::is_floating_point_v<T> && kStreamingStores && both > static_cast<double>(caches.last);
  const bool cached = both < static_cast<double>(caches.own * layout.threads);
  std::vector<TileKernel> tile_kernels;
  if (update.linear) tile_kernels.push_back({"simd", true, update.sums_terms, streams, false, 0.5});
  if constexpr (std::is_floating_point_v<T>) {
    if (!update.linear)
      tile_kernels.push_back({"vector", false, !is_smooth(flatten(update.outputs)), false, true, 0.4});
  }
  if (!update.sums_terms) tile_kernels.push_back({"compiler", false, true, false});
  const bool in_place = !cached && is_in_place<T>(update);
  if (in_place) {
    for (TileKernel& kernel : tile_kernels) kernel.efficiency = layout.dimensions == 3 ? 0.04 : 0.2;
  }
  // Expressions with many copies of the same values: 5 of 160 GFLOP/s measured for elastic waves.
  if (layout.dimensions == 2 && layout.fields > 1 && find_stages(update.outputs).refusal.empty()) {
    for (TileKernel& kernel : tile_kernels) kernel.efficiency = 0.03;
  }
  const auto add = [&](const TimeTiling& tiling, const TileKernel& kernel) {
    if (TimeSweep<T>::redundancy(layout, tiling) > 3) return;
    Entry<T> entry = entry_of(update, layout, tiling, kernel);
    const auto same = [&](const Entry<T>& other) { return other.candidate.name() == entry.candidate.name(); };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(std::move(entry));
  };
  const std::size_t room = layout.dimensions == 1 ? caches.near * 3 / 4 : caches.own;
  for (const TileKernel& kernel : tile_kernels) {
    for (const std::size_t depth : depths(layout, cached)) {
      TimeTiling tiling{.depth = depth,
                        .rows = kernel.simd || kernel.vectors ? 4u : 2u,
                        .threads = layout.threads,
                        .prefetch = streams};
      tiling.tick = layout.dimensions == 2 ? 8 : 1;
      const bool flat = layout.dimensions == 3 && layout.radius[0] == 1 && kernel.simd;
      if (flat) tiling.tick = tiling.rows = tiling.planes = 2;
      // Rings that leave space for streaming data, rings that just fit, and undivided rows: long rows suit the hardware
      // prefetchers and may win although the rings are in the next cache level.
      const std::size_t beyond = layout.dimensions == 2 ? std::numeric_limits<std::size_t>::max() : 2 * room;
      std::vector<Size> sizes{{room / 2}, {room}, {beyond}};
      if (cached) {
        sizes = {{room}};
      } else if (layout.threads > 4) {
        sizes = {{room / 2}, {room / 2, true}, {room, true}};
        if (flat) sizes = {{depth > 4 ? room * 3 / 4 : room / 2, true}};  // in several orders
      }
      if (in_place && sizes.size() > 1) sizes = {sizes[1]};  // trials are left for the in-place variant
      for (const Size& size : sizes) {
        for (const TimeTiling& kind : kinds_of(tiling, flat && layout.threads > 4 && !cached)) {
          TimeTiling fitting = fitted<T>(layout, kind, size.bytes);
          share_out(layout, fitting);
          if (size.more_tiles) fitting.length = shorter(layout, fitting);
          add(fitting, kernel);
        }
      }
    }
  }
}

extern const Listers kHostOverlappedTiles{list_host_overlapped_tiles<float>, list_host_overlapped_tiles<double>,
                                          list_host_overlapped_tiles<std::int32_t>,
                                          list_host_overlapped_tiles<std::uint8_t>};

}  // namespace ridge::stencil
