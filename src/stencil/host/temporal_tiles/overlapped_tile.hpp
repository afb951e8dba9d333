// One tile of a sweep: the memory of its rows and the order of its stages.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "stencil/host/temporal_tiles/overlapped_tiles.hpp"

namespace ridge::stencil {

using Cell3 = std::array<std::ptrdiff_t, 3>;

// An axis of the grid in a sweep.
struct TileAxis {
  std::ptrdiff_t size = 1, radius = 0;
  std::ptrdiff_t begin = 0, end = 1;  // the cells that change
  bool periodic = false;
  std::ptrdiff_t tile_begin = 0, tile_end = 1;

  // Range that the stage `left` steps before the last computes. Beyond a periodic side it includes copies of the
  // opposite side's cells; otherwise it ends with the grid.
  std::ptrdiff_t low(std::ptrdiff_t left) const;
  std::ptrdiff_t high(std::ptrdiff_t left) const;
  bool kept(std::ptrdiff_t index) const { return !periodic && (index < begin || index >= end); }
  bool touches_side(std::ptrdiff_t left) const;  // fixed or mirrored cells are in or next to the computed range
  // The grid cell that is read for this index, at any distance outside the grid.
  std::ptrdiff_t source(std::ptrdiff_t index) const;
  // The cell of the tile that is read for this index: mirrored, never wrapped.
  std::ptrdiff_t inside(std::ptrdiff_t index) const { return periodic ? index : source(index); }
};

// Sizes of a thread's rings in cells, sufficient for every tile of a sweep.
struct RingFrame {
  RingFrame(const Layout& layout, const TimeTiling& tiling, std::size_t element_bytes);
  std::size_t lead = 0;    // before the tile's first x, whole cache lines
  std::size_t pitch = 0;   // between rows
  std::size_t rows = 1;    // per plane
  std::size_t planes = 1;  // per ring of a stage (2D: rows)
  std::size_t hot = 0;     // planes of a tick that the next tick does not read: they share two small buffers
  std::size_t plane = 0, stage = 0,
              shared = 0;  // cells: of a plane with all fields, a stage's ring, the shared buffers
  std::size_t cells = 0;
};

template <class T>
class OverlappedTile {
 public:
  OverlappedTile(const Layout& layout, const TimeTiling& tiling, const SweepKernels<T>& kernels);
  // Computes cells [begin, end) of levels.next(), `depth` steps after levels.current().
  void run(Levels<T>& levels, std::size_t depth, const Cell3& begin, const Cell3& end);

 private:
  struct Range {
    std::ptrdiff_t begin, end;
  };
  // Range of the current tile that a stage computes.
  struct Span {
    Range outer, middle, x;
    Range computed;  // along x, as passed to the kernels
    bool closes;     // x borders must be applied afterwards
  };
  void stage(std::size_t stage, Range outer);
  void compute(std::size_t stage, Range outer, Range middle);
  void call(std::size_t stage, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes, std::ptrdiff_t rows,
            const RowKernel<T>& kernel);
  void call_plane(std::size_t stage, std::ptrdiff_t o, std::ptrdiff_t planes, Range middle);
  void keep(std::size_t stage, std::ptrdiff_t o, std::ptrdiff_t m);
  struct Table {
    std::vector<const T*> in{};
    std::vector<T*> out{};
  };
  const Table& table_of(std::size_t stage, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes,
                        std::ptrdiff_t rows);
  void gather(Table& table, std::size_t stage, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes,
              std::ptrdiff_t rows, std::ptrdiff_t x);
  void find_planes(std::size_t stage, Range outer);
  void gather_coefficients(std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes, std::ptrdiff_t rows,
                           std::ptrdiff_t x);
  void close(std::size_t stage, T* row, std::size_t field, std::ptrdiff_t o, std::ptrdiff_t m) const;
  void prefetch(std::ptrdiff_t tick, std::size_t stage) const;
  void announce(std::size_t stage, std::ptrdiff_t call, std::ptrdiff_t calls) const;
  Range computed_x(std::size_t stage) const;

  // Position of a plane (2D: row) in the rings: its number within its tick, and within its stage's ring.
  struct Slot {
    std::size_t within = 0, plane = 0;
  };
  Slot slot_of(std::size_t stage, std::ptrdiff_t o) const;
  // A plane is identified by the address of its cell m = 0, x = 0.
  T* ring(std::size_t stage, std::size_t field, Slot slot) const;
  const T* old(const T* level, std::size_t field, std::ptrdiff_t o) const;
  T* new_plane(std::size_t field, std::ptrdiff_t o) const;
  std::ptrdiff_t front(std::size_t stage, std::ptrdiff_t tick) const {
    return base_ + (tick + 1) * tick_ - static_cast<std::ptrdiff_t>(stage) * outer_.radius;
  }
  std::ptrdiff_t left(std::size_t stage) const { return static_cast<std::ptrdiff_t>(depth_ - stage); }

  const Layout& layout_;
  const TimeTiling& tiling_;
  const SweepKernels<T>& kernels_;
  RingFrame frame_;
  std::size_t outer_index_;  // 0: z, 1: y
  TileAxis outer_, middle_, x_;
  std::ptrdiff_t tick_;
  T* memory_;
  std::ptrdiff_t grid_pitch_ = 0;
  Table table_;
  std::vector<const T*> coefficients_, in_planes_;
  std::vector<T*> out_planes_;

  // State of the current tile.
  Levels<T>* levels_ = nullptr;
  const T* current_ = nullptr;
  T* next_ = nullptr;
  std::size_t depth_ = 1;
  std::vector<Span> spans_;
  std::vector<Table> kept_;                         // by stage and slot
  Range found_{0, 0};                               // range that in_planes_ and out_planes_ hold
  std::ptrdiff_t base_ = 0, origin_ = 0, now_ = 0;  // now_: the current tick
  bool loads_ = false;  // stage 0 has a ring too: the old level's rows are too short for the periodic overlap
};

}  // namespace ridge::stencil
