// Sweeps of overlapped tiles over a grid: division into tiles, threads and ring sizes.
#include "stencil/host/temporal_tiles/overlapped_tiles.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "stencil/host/schedule.hpp"
#include "stencil/host/temporal_tiles/overlapped_tile.hpp"

namespace ridge::stencil {
namespace {

// Division of one axis into nearly equal parts, of whole cache lines along x, none smaller than the radius.
struct Cut {
  std::size_t size = 1, pieces = 1, grain = 1;
  Cut(std::size_t all, std::size_t wanted, std::size_t radius, std::size_t line) : size(all) {
    if (wanted == 0 || wanted >= all) return;
    grain = wanted >= line ? line : 1;
    pieces = (all + wanted - 1) / wanted;
    while (pieces > 1 && smallest() < std::max<std::size_t>(radius, 1)) --pieces;
  }
  base::Share piece(std::size_t index) const { return base::share(size, index, pieces, grain); }
  std::size_t smallest() const {
    const base::Share last = piece(pieces - 1);
    return last.end - last.begin;
  }
  std::size_t largest() const {
    const base::Share first = piece(0);
    return first.end - first.begin;
  }
};

struct Cuts {
  Cut z, y, x;
  Cuts(const Layout& layout, const TimeTiling& tiling)
      : z(cut(layout, 0, layout.dimensions == 3 ? tiling.length : 0)),
        y(cut(layout, 1, layout.dimensions == 3 ? tiling.height : tiling.length)),
        x(cut(layout, 2, tiling.width)) {}
  static Cut cut(const Layout& layout, std::size_t axis, std::size_t wanted) {
    const std::size_t line = axis == 2 ? std::max<std::size_t>(64 / layout.element_bytes, 1) : 1;
    return {layout.shape[axis], wanted, static_cast<std::size_t>(layout.radius[axis]), line};
  }
  std::size_t tiles() const { return z.pieces * y.pieces * x.pieces; }
  std::array<std::size_t, 3> pieces_of(std::size_t tile) const {
    return {tile / x.pieces / y.pieces, tile / x.pieces % y.pieces, tile % x.pieces};
  }
  template <class T>
  void run(OverlappedTile<T>& work, Levels<T>& levels, std::size_t depth, std::size_t tile) const {
    const auto [in_z, in_y, in_x] = pieces_of(tile);
    const base::Share a = z.piece(in_z), b = y.piece(in_y), c = x.piece(in_x);
    const auto cell = [](std::size_t k, std::size_t j, std::size_t i) {
      return Cell3{static_cast<std::ptrdiff_t>(k), static_cast<std::ptrdiff_t>(j), static_cast<std::ptrdiff_t>(i)};
    };
    work.run(levels, depth, cell(a.begin, b.begin, c.begin), cell(a.end, b.end, c.end));
  }
};

// The pieces of an axis that a piece reads, itself included.
std::vector<std::size_t> pieces_read(const Cut& cut, const Layout& layout, std::size_t axis, std::size_t piece,
                                     std::size_t depth) {
  const std::size_t reach = depth * static_cast<std::size_t>(layout.radius[axis]);
  const std::size_t beside = std::min(cut.pieces, (reach + cut.smallest() - 1) / cut.smallest());
  const bool periodic = layout.low[axis] == Border::periodic;
  std::vector<std::size_t> read;
  for (std::size_t i = 0; i <= 2 * beside; ++i) {
    const std::size_t place = piece + cut.pieces + i - beside;  // of three copies of the axis
    if (periodic || place / cut.pieces == 1) read.push_back(place % cut.pieces);
  }
  return read;
}

// Waits until the tiles that a tile reads have completed `sweeps` sweeps. They have then also read what it overwrites.
void wait_for_neighbours(const Cuts& cuts, const Layout& layout, std::size_t depth, std::size_t tile,
                         std::uint32_t sweeps, const Team& team) {
  const auto [in_z, in_y, in_x] = cuts.pieces_of(tile);
  for (const std::size_t z : pieces_read(cuts.z, layout, 0, in_z, depth)) {
    for (const std::size_t y : pieces_read(cuts.y, layout, 1, in_y, depth)) {
      for (const std::size_t x : pieces_read(cuts.x, layout, 2, in_x, depth)) {
        const std::atomic<std::uint32_t>& done = team.done[(z * cuts.y.pieces + y) * cuts.x.pieces + x];
        while (done.load(std::memory_order_acquire) < sweeps) std::this_thread::yield();
      }
    }
  }
}

}  // namespace

template <class T>
TimeSweep<T>::TimeSweep(const Layout& layout, const TimeTiling& tiling, SweepKernels<T> kernels)
    : layout_(layout), tiling_(tiling), kernels_(std::move(kernels)) {
  if (tiling_.planes <= 1) kernels_.block = nullptr;
  if (tiling_.planes > 1 && !kernels_.planes) kernels_.plane = nullptr;
  // Parts have nearly equal sizes, and the rings fit the largest.
  const Cuts cuts(layout_, tiling_);
  tiling_.width = cuts.x.largest();
  if (layout_.dimensions == 3) tiling_.height = cuts.y.largest();
  tiling_.length = layout_.dimensions == 3 ? cuts.z.largest() : cuts.y.largest();
}

template <class T>
void TimeSweep<T>::steps(Levels<T>& levels, std::size_t count) const {
  if (count == 0) return;
  if (levels.team() != nullptr) return steps_of_team(levels, count);
  for (std::size_t done = 0; done < count;) {
    const std::size_t depth = std::min(tiling_.depth, count - done);
    sweep(levels, depth);
    levels.swap();
    done += depth;
  }
  // Sweeps wrap x themselves; other variants expect the border cells to be filled.
  if (layout_.low[2] != Border::periodic || layout_.radius[2] == 0) return;
  base::parallel(tiling_.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = rows_of(layout_, thread, threads);
    for (std::size_t field = 0; field < layout_.fields; ++field) {
      for (std::size_t r = share.begin; r < share.end; ++r)
        levels.close_row(levels.row(levels.current(), field, r / layout_.shape[1], r % layout_.shape[1]));
    }
  });
}

template <class T>
void TimeSweep<T>::sweep(Levels<T>& levels, std::size_t depth) const {
  const Cuts cuts(layout_, tiling_);
  const std::size_t threads = std::min(tiling_.threads, cuts.tiles());
  Shares shares(layout_.schedule, cuts.tiles(), threads);
  base::parallel(threads, [&](std::size_t thread, std::size_t) {
    OverlappedTile<T> tile(layout_, tiling_, kernels_);
    shares.take(thread, [&](const base::Share& share) {
      for (std::size_t index = share.begin; index < share.end; ++index) cuts.run(tile, levels, depth, index);
    });
    if (kernels_.streams) streaming_fence();
  });
}

// Tiles of all sweeps are taken in order from one counter. A tile waits only for tiles taken before it, so there is no
// deadlock, and the processes meet only at the end.
template <class T>
void TimeSweep<T>::steps_of_team(Levels<T>& levels, std::size_t count) const {
  const Team& team = *levels.team();
  const Cuts cuts(layout_, tiling_);
  const std::size_t tiles = cuts.tiles(), sweeps = (count + tiling_.depth - 1) / tiling_.depth;
  if (tiles > team.done.size())
    throw Error(ErrorKind::internal,
                fmt::format("stencil: {} tiles, at most {} are expected", tiles, team.done.size()));
  base::parallel(team.threads, [&](std::size_t, std::size_t) {
    OverlappedTile<T> work(layout_, tiling_, kernels_);
    Levels<T> own(layout_, *levels.team(), levels.current(), levels.next());
    std::size_t swapped = 0;
    for (;;) {
      const std::uint64_t ticket = team.next->fetch_add(1, std::memory_order_relaxed);
      const std::size_t sweep = ticket / tiles, tile = ticket % tiles;
      if (sweep >= sweeps) break;
      for (; swapped < sweep; ++swapped) own.swap();
      wait_for_neighbours(cuts, layout_, tiling_.depth, tile, static_cast<std::uint32_t>(sweep), team);
      cuts.run(work, own, std::min(tiling_.depth, count - sweep * tiling_.depth), tile);
      if (kernels_.streams) streaming_fence();
      team.done[tile].store(static_cast<std::uint32_t>(sweep + 1), std::memory_order_release);
    }
  });
  if (sweeps % 2 == 1) levels.swap();
  team.barrier();
  if (team.rank == 0) {
    team.next->store(0, std::memory_order_relaxed);
    for (std::size_t tile = 0; tile < tiles; ++tile) team.done[tile].store(0, std::memory_order_relaxed);
  }
  team.barrier();
}

template <class T>
std::size_t TimeSweep<T>::ring_bytes(const Layout& layout, const TimeTiling& tiling) {
  const RingFrame frame(layout, tiling, sizeof(T));
  // Planes of a ring that only the current tick reads are in the shared buffers.
  const std::size_t kept = frame.stage == 0 ? 0 : (frame.planes - frame.planes / tiling.tick * frame.hot) * frame.plane;
  return (frame.shared + (tiling.depth - 1) * kept) * sizeof(T);
}

template <class T>
double TimeSweep<T>::redundancy(const Layout& layout, const TimeTiling& tiling) {
  const Cuts cuts(layout, tiling);
  double factor = 1;
  const auto along = [&](const Cut& cut, std::size_t axis) {
    const double overlap = static_cast<double>(tiling.depth - 1) * layout.radius[axis];
    const bool open = layout.low[axis] == Border::periodic;
    const double seams = static_cast<double>(cut.pieces - (open ? 0 : 1));
    factor *= 1 + overlap * seams / static_cast<double>(cut.size);
  };
  along(cuts.z, 0);
  along(cuts.y, 1);
  along(cuts.x, 2);
  return factor;
}

template class TimeSweep<float>;
template class TimeSweep<double>;
template class TimeSweep<std::int32_t>;
template class TimeSweep<std::uint8_t>;

}  // namespace ridge::stencil
