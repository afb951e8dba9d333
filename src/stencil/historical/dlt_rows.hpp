// The dimension-lifted transpose of a row: N cells seen as V rows of M = ceil(N / V), transposed, so that vector j
// holds the cells j, M + j, 2 M + j ... and x + 1 of every lane is vector j + 1. Where lanes meet (before vector 0,
// behind vector M - 1) a row keeps r more vectors, filled by shifting lanes; what N leaves of the last lane is padding.
#pragma once
#include <cstddef>

#include "stencil/layout.hpp"

namespace ridge::stencil {

class DltRows {
 public:
  // M must be at least the radius: fits() says so.
  DltRows(const Layout& layout, std::size_t lanes);
  static bool fits(const Layout& layout, std::size_t lanes);
  // The same problem on transposed rows: wider, and with a radius of whole vectors along x.
  const Layout& layout() const { return lifted_; }
  std::size_t lanes() const { return lanes_; }

  // Where a cell is in a transposed row; cells up to the radius beyond the grid have a place too.
  std::ptrdiff_t place(std::ptrdiff_t cell) const;
  template <class T>
  void lift(const Grid<T>& grid, Grid<T>& lifted) const;
  template <class T>
  void lower(const Grid<T>& lifted, Grid<T>& grid) const;
  // After a row was computed from end to end: fixed cells again (from `before`, where they are the same), the cells the
  // border makes up, and the seams.
  template <class T>
  void repair(T* row, const T* before) const;

 private:
  Layout layout_, lifted_;
  std::size_t lanes_, length_;  // V, M
};

}  // namespace ridge::stencil
