// Temporal blocking on the host: overlapped tiles that stream the outer axis through several time steps at once.
//
// A tile of the grid is swept along its outer axis (z in 3D, y in 2D) once, and every stage of the sweep is a time
// step: stage 1 reads the old level, the last stage writes the new one, and what lies between them lives in rings of a
// few rows (3D: planes) a stage, small enough for the core's own cache. Stage s works a radius behind stage s - 1, so
// that it reads what was written just before. Neighbouring tiles overlap by depth x radius cells, which both compute:
// no tile waits for another, and threads meet once in `depth` steps.
#pragma once
#include <cstddef>
#include <cstdint>

#include "stencil/host/levels.hpp"
#include "stencil/host/linear_rows.hpp"

namespace ridge::stencil {

// What is computed at a time, and how. Sizes are of the cells a tile gives, without its overlap; 0: the whole axis.
struct TimeTiling {
  std::size_t depth = 1;   // time steps a sweep
  std::size_t width = 0;   // cells along x
  std::size_t height = 0;  // 3D: rows along y
  std::size_t length = 0;  // cells along the outer axis
  std::size_t tick = 1;    // rows (3D: planes) a stage advances at a time
  std::size_t rows = 1;    // rows along y computed together
  std::size_t planes = 1;  // 3D: planes computed together, where there is a kernel for such blocks
  std::size_t threads = 1;
  bool prefetch = false;  // the old level's rows, a tick ahead
  bool within = false;    // 3D, whole planes: the same, but by the kernels on their way, a line now and then
};

template <class T>
struct SweepKernels {
  RowKernel<T> rows;  // any number of rows along y
  RowKernel<T> last;  // the same for the last stage, which writes the new level: it may stream
  // 3D: `planes` x `rows` rows at once, where there is such a kernel; its tables hold planes - 1 more planes:
  // in[(field * (2 rz + planes) + plane) * (2 ry + rows) + row], out[(field * planes + plane) * rows + row].
  RowKernel<T> block = {}, block_last = {};
  // 3D, one field: a row of one plane, or of `planes` planes at once, where rows are not cut along x. Such a "row" is a
  // whole plane: its kernel may compute what lies between the rows.
  RowKernel<T> plane = {}, plane_last = {}, planes = {}, planes_last = {};
  // Not 0: numbers beyond the range asked for may be computed too, up to multiples of this, so that stores are aligned.
  std::size_t vector = 0;
  bool streams = false;  // `last` needs streaming_fence()
};

// One kind of sweep over one layout. Unchanging; called by any number of threads for different levels.
template <class T>
class TimeSweep {
 public:
  TimeSweep(const Layout& layout, const TimeTiling& tiling, SweepKernels<T> kernels);
  // Takes `count` steps, any number: sweeps of `depth`, then one of what is left.
  void steps(Levels<T>& levels, std::size_t count) const;
  // Bytes of rings a thread holds.
  static std::size_t ring_bytes(const Layout& layout, const TimeTiling& tiling);
  // Cells computed over cells wanted, in a sweep of `depth`.
  static double redundancy(const Layout& layout, const TimeTiling& tiling);

 private:
  void sweep(Levels<T>& levels, std::size_t depth) const;

  Layout layout_;
  TimeTiling tiling_;
  SweepKernels<T> kernels_;
};

}  // namespace ridge::stencil
