// The vector kernels of sweeps over linear updates, chosen for the instruction set at run time: shapes the compiler
// unrolls, blocks of neighbouring output rows, each summed in the order of memory.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

// A block of planes x rows output rows of one field: in[plane * (2 ry + rows) + row] is the window that reaches a
// radius beyond it, out[plane * rows + row] the block; rows by the address of their cell x = 0. Of what will be read
// soon a line is fetched now and then: many at once would fill the buffers that the sums' own misses need.
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
  star_3d_4,
  box_3d_1
};

// Terms in the order of memory, as the generators give them; `none` for any others.
KnownShape known_shape(const std::vector<Term>& terms);

// Null where there is none. One plane: 1 or 4 rows; two planes (3D, radius 1): 1 or 2 rows. `streaming`: output rows
// are aligned alike, and stores go past the caches where the machine can.
template <class T>
SumBlock<T> sweep_sum(KnownShape shape, std::size_t planes, std::size_t rows, bool streaming);

// What this thread's next call of a whole plane may fetch on its way.
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

// Cells of a vector.
template <class T>
std::size_t sweep_vector();

}  // namespace ridge::stencil
