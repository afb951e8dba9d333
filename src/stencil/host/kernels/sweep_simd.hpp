// SIMD kernels of sweeps over linear updates, dispatched by instruction set at run time: unrolled shapes, blocks of
// adjacent output rows, each summed in memory order.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// A block of planes x rows output rows of one field: in[plane * (2 ry + rows) + row] is the window, which extends one
// radius beyond the block, and out[plane * rows + row] the block; rows are given by the address of their cell x = 0.
// Data needed soon are prefetched one line at a time: many at once would fill the miss buffers that the sums need.
template <class T>
using SumBlock = void (*)(const T* const* in, const T* weights, T* const* out, std::size_t begin, std::size_t end,
                          const T* ahead, std::size_t ahead_lines);

enum class KnownShape {
  none,
  line_1,
  line_2,
  star_2d_1,
  star_2d_2,
  star_2d_4,
  box_2d_1,
  star_3d_1,
  star_3d_2,
  star_3d_3,
  star_3d_4,
  box_3d_1
};

// The shape of terms in memory order, as the generators list them; `none` for others.
KnownShape known_shape(const std::vector<Term>& terms);

// Null if there is no such kernel. One plane: 1 or 4 rows; two planes (3D, radius 1): 1 or 2 rows. `streaming`: all
// output rows have the same alignment, and stores are non-temporal where available.
template <class T>
SumBlock<T> sweep_sum(KnownShape shape, std::size_t planes, std::size_t rows, bool streaming);

// Lines that this thread's next call for a whole plane may prefetch.
template <class T>
struct Ahead {
  const T* at = nullptr;
  std::size_t lines = 0;
};
template <class T>
Ahead<T>& fetch_ahead() {
  thread_local Ahead<T> ahead;
  return ahead;
}

// Cells per vector.
template <class T>
std::size_t sweep_vector();

}  // namespace ridge::stencil
