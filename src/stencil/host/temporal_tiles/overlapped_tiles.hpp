// Temporal blocking on the host: overlapped tiles that stream the outer axis through several time steps at once.
//
// A tile of the grid is swept once along its outer axis (z in 3D, y in 2D), and every stage of the sweep is a time
// step. Stage 1 reads the old level, the last stage writes the new one, and intermediate values are kept in rings of a
// few rows (3D: planes) per stage, small enough for the core's private cache. Stage s works one radius behind stage s -
// 1, so that it reads what was just written. Adjacent tiles overlap by depth x radius cells, which both compute: no
// tile waits for another, and threads synchronize once per `depth` steps.
#pragma once
#include <cstddef>
#include <cstdint>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/host/levels.hpp"

namespace ridge::stencil {

// Tile sizes and order of computation. Sizes are output cells of a tile, without its overlap; 0: the whole axis.
struct TimeTiling {
  std::size_t depth = 1;   // time steps per sweep
  std::size_t width = 0;   // cells along x
  std::size_t height = 0;  // 3D: rows along y
  std::size_t length = 0;  // cells along the outer axis
  std::size_t tick = 1;    // rows (3D: planes) a stage advances at a time
  std::size_t rows = 1;    // rows along y computed together
  std::size_t planes = 1;  // 3D: planes computed together, where such a kernel exists
  std::size_t threads = 1;
  bool prefetch = false;  // of the old level's rows, one tick ahead
  bool within = false;    // 3D, whole planes: prefetching by the kernels, one line at a time
};

template <class T>
struct SweepKernels {
  RowKernel<T> rows;  // any number of rows along y
  RowKernel<T> last;  // for the last stage, which writes the new level and may use streaming stores
  // 3D: `planes` x `rows` rows at once, where such a kernel exists; its tables hold planes - 1 more planes: in[(field *
  // (2 rz + planes) + plane) * (2 ry + rows) + row], out[(field * planes + plane) * rows + row].
  RowKernel<T> block = {}, block_last = {};
  // 3D, one field: a row of one plane, or of `planes` planes at once, where rows are not divided along x. Such a "row"
  // is a whole plane: its kernel may compute the padding between the rows.
  RowKernel<T> plane = {}, plane_last = {}, planes = {}, planes_last = {};
  // If not 0, the kernels may compute beyond the requested range, up to multiples of this, so that stores are aligned.
  std::size_t vector = 0;
  bool streams = false;  // `last` needs streaming_fence()
};

// A sweep with fixed parameters over one layout. Immutable; safe for concurrent use with different levels.
template <class T>
class TimeSweep {
 public:
  TimeSweep(const Layout& layout, const TimeTiling& tiling, SweepKernels<T> kernels);
  // Takes `count` steps: sweeps of `depth`, then one of the remainder.
  void steps(Levels<T>& levels, std::size_t count) const;
  // Bytes of rings per thread.
  static std::size_t ring_bytes(const Layout& layout, const TimeTiling& tiling);
  // Ratio of computed cells to output cells in a sweep of `depth`.
  static double redundancy(const Layout& layout, const TimeTiling& tiling);

 private:
  void sweep(Levels<T>& levels, std::size_t depth) const;
  void steps_of_team(Levels<T>& levels, std::size_t count) const;

  Layout layout_;
  TimeTiling tiling_;
  SweepKernels<T> kernels_;
};

}  // namespace ridge::stencil
