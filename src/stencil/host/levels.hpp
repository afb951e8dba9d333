// A grid on the host as the kernels want it: two time levels and the coefficients, every row aligned, with room beyond
// both ends for the cells the border makes up along x. Along y and z nothing is copied: a table of row pointers maps
// what lies outside.
#pragma once
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// How rows lie in memory, in cells; the same for both levels and the coefficients.
struct RowFrame {
  RowFrame(const Layout& layout, std::size_t element_bytes);
  std::size_t pad = 0;    // before x = 0: at least the radius, whole cache lines
  std::size_t pitch = 0;  // from a row to the next; not a multiple of 4 KiB, where sets of caches would collide
  std::size_t lines = 0;  // rows from a plane to the next: one to spare where planes would collide
  std::size_t field = 0;  // from a field to the next
};

template <class T>
class Levels {
 public:
  // Filled by the layout's threads with the rows they will compute, so that memory lies near them.
  Levels(const Layout& layout, const Grid<T>& grid, const Grid<T>* coefficients);

  const Layout& layout() const { return layout_; }
  const RowFrame& frame() const { return frame_; }
  T* current() { return current_; }  // the newest level
  T* next() { return next_; }        // the one to write; fixed borders are right in both
  const T* coefficients() const { return coefficients_.data(); }
  void swap() { std::swap(current_, next_); }
  T* row(T* level, std::size_t field, std::size_t z, std::size_t y) const { return level + at(field, z, y); }
  const T* row(const T* level, std::size_t field, std::size_t z, std::size_t y) const {
    return level + at(field, z, y);
  }
  // Makes up the cells beyond the ends of a row that was just written; nothing at fixed sides.
  void close_row(T* row) const;
  void read(Grid<T>& grid) const;
  void get(const Box& box, T* cells) const;  // of all fields, from current()
  void put(const Box& box, const T* cells);  // into current(), and into next(), whose fixed borders it may touch
  double change(Norm norm) const;            // from next() to current(), which must be one step apart

 private:
  std::size_t at(std::size_t field, std::size_t z, std::size_t y) const {
    return field * frame_.field + (z * frame_.lines + y) * frame_.pitch + frame_.pad;
  }
  std::size_t at(std::size_t field, std::size_t row) const {  // of all rows, counted through z and y
    return at(field, row / layout_.shape[1], row % layout_.shape[1]);
  }
  void fill(T* level, const Grid<T>& grid) const;

  Layout layout_;
  RowFrame frame_;
  std::vector<std::size_t> left_, right_;  // which cell stands for x = -1, -2, ... and for x = size, size + 1, ...
  base::AlignedArray<T> one_, two_, coefficients_;
  T* current_;
  T* next_;
};

// The rows thread k owns, of all rows counted through z and y: in every loop and when memory is first touched.
inline base::Share rows_of(const Layout& layout, std::size_t thread, std::size_t threads) {
  return base::share(layout.rows(), thread, threads);
}

// The pointers a Rows<T> is made of, for one thread.
template <class T>
class RowTable {
 public:
  // For up to `most` output rows at once.
  RowTable(const Layout& layout, std::size_t most);
  // Output rows y .. y + count - 1 of plane z, from level `from` to level `to`.
  const Rows<T>& at(const Levels<T>& levels, const T* from, T* to, std::size_t z, std::size_t y, std::size_t count);

 private:
  void fill(std::vector<const T*>& table, const Levels<T>& levels, const T* from, std::size_t fields, std::size_t z,
            std::size_t y, std::size_t count) const;
  std::vector<const T*> in_, coefficients_;
  std::vector<T*> out_;
  Rows<T> rows_;
};

}  // namespace ridge::stencil
