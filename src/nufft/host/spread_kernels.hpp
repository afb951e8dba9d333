// Inner loops of spreading and interpolation, with the best instruction set of this processor.
#pragma once
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>

#include "nufft/kernel.hpp"

namespace ridge::nufft {

// A point in the order of the tiles.
template <class T>
struct SortedPoint {
  std::array<T, 3> s;   // argument of the kernel's polynomials per axis, in [-1, 1)
  std::uint32_t cell;   // first cell of its box in the tile's local grid
  std::uint32_t index;  // in the caller's arrays
};

// The kernel's polynomials, padded with zeros to whole vectors.
template <class T>
struct KernelTable {
  static constexpr std::size_t kMostTerms = kWidest + 3;
  std::size_t width = 0, terms = 0;                     // terms: degree + 1, highest power first
  alignas(64) T coefficient[kMostTerms][kWidest] = {};  // per cell
};

// Values (complex numbers or reals) of a cache line, which is at least as long as a vector.
inline constexpr std::size_t line_cells(std::size_t value_bytes) { return 64 / value_bytes; }

// Points of one tile and the tile's local grid, whose rows begin at a cache line. Strides are in values.
template <class T>
struct TileJob {
  const KernelTable<T>* table;
  const KernelTable<T>* slopes;  // derivatives by the coordinates, one table per axis, slowest first
  const SortedPoint<T>* points;
  std::size_t count;
  T* local;
  std::size_t axes;  // of the problem; the fastest axis is the last
  std::size_t row_stride, plane_stride;
};

// Places coordinates of one axis on the fine grid, cut into tiles of 2^shift cells: the first cell of each point's box
// and the argument of the kernel's polynomials. Coordinates are finite.
struct PlacedAxis {
  double cells, half_width;
  std::int32_t shift, last_tile;
  std::int32_t per_tile, per_part,
      per_cell;         // factors of the tile, of (cell in the tile) / 4 and of the cell in the tile
  std::int32_t* bin;    // += per_tile * tile + per_part * (cell in the tile / 4)
  std::int32_t* local;  // += per_cell * cell in the tile
};

// Strengths, values and cells are complex (interleaved) or real numbers.
template <class T>
struct SpreadKernels {
  void (*spread)(const TileJob<T>& job, const T* strengths);  // adds the points to the local grid
  void (*interpolate)(const TileJob<T>& job, T* values);      // sets the points' values
  // The same with the derivatives along each axis after them, slowest axis first; null for axes that do not exist.
  void (*slopes)(const TileJob<T>& job, const std::array<T*, 4>& values);
  void (*add)(const T* from, T* to, std::size_t count);  // to += from, `count` reals
  void (*place_float)(const float* x, std::size_t count, const PlacedAxis& axis, T* s);
  void (*place_double)(const double* x, std::size_t count, const PlacedAxis& axis, T* s);
};

template <class T>
SpreadKernels<T> spread_kernels(bool real = false);

}  // namespace ridge::nufft
