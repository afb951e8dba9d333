// The dimension-lifted transpose of a row: N cells are seen as V rows of M = ceil(N / V) and transposed, so that vector
// j holds the cells j, M + j, 2 M + j, ... and x + 1 of every lane is vector j + 1. At the seams between lanes (before
// vector 0, after vector M - 1) a row has r more vectors, filled by shifting lanes. Unused cells of the last lane are
// padding.
#pragma once
#include <cstddef>

#include "stencil/host/kernels/linear_rows.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

class DltRows {
 public:
  // M must be at least the radius: see fits().
  DltRows(const Layout& layout, std::size_t lanes);
  static bool fits(const Layout& layout, std::size_t lanes);
  // The same problem on transposed rows: wider, with a radius of whole vectors along x.
  const Layout& layout() const { return lifted_; }
  std::size_t lanes() const { return lanes_; }

  // Position of a cell in a transposed row, also for cells up to the radius beyond the grid.
  std::ptrdiff_t place(std::ptrdiff_t cell) const;
  template <class T>
  void lift(const Grid<T>& grid, Grid<T>& lifted) const;
  template <class T>
  void lower(const Grid<T>& lifted, Grid<T>& grid) const;
  // Completes a row that was computed from end to end: restores fixed cells (from `before`, where they are the same)
  // and fills the border cells and the seams.
  template <class T>
  void repair(T* row, const T* before) const;

 private:
  Layout layout_, lifted_;
  std::size_t lanes_, length_;  // V, M
};

// --- kernels on transposed rows (dlt_kernels-inl.hpp): a step along x is a whole vector --------------------------

// Lanes of the vectors that the kernels use on this machine.
template <class T>
std::size_t dlt_lanes();
// A plain loop, vectorized by the compiler for this machine; in[i] already points dx vectors further.
template <class T>
SumTerms<T> dlt_compiler_kernel();
// As SumShape with explicit SIMD; common inputs of adjacent cells and rows are loaded once. Null if there is no such
// kernel.
template <class T>
SumShape<T> dlt_simd_kernel(ShapeName shape, std::size_t rows);

}  // namespace ridge::stencil
