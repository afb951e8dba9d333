// Memory layout of a grid on the host: two time levels and the coefficients, every row aligned, with space beyond both
// ends for border cells along x. Along y and z no border cells are stored: a table of row pointers applies the border
// mapping.
#pragma once
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "base/threads.hpp"
#include "stencil/host/team.hpp"
#include "stencil/layout.hpp"

namespace ridge::stencil {

// Row layout in cells; the same for both levels and the coefficients.
struct RowFrame {
  RowFrame(const Layout& layout, std::size_t element_bytes);
  std::size_t pad = 0;    // before x = 0: at least the radius, whole cache lines
  std::size_t pitch = 0;  // between rows; not a multiple of 4 KiB, to avoid cache set conflicts
  std::size_t lines = 0;  // rows between planes: one extra row where planes would conflict in the cache
  std::size_t field = 0;  // between fields
};

template <class T>
class Levels {
 public:
  // The layout's threads fill the rows that they will compute, so that first touch places memory near them.
  Levels(const Layout& layout, const Grid<T>& grid, const Grid<T>* coefficients);
  // Of a grid without coefficients that the processes of a team share: two arrays of elements() zeros, set by put().
  Levels(const Layout& layout, Team& team, T* one, T* two);
  static std::size_t elements(const Layout& layout);
  Team* team() const { return team_; }  // null: only this process computes

  const Layout& layout() const { return layout_; }
  const RowFrame& frame() const { return frame_; }
  T* current() { return current_; }  // the newest level
  T* next() { return next_; }        // the level to write; fixed borders are valid in both
  const T* coefficients() const { return coefficients_.data(); }
  void swap() { std::swap(current_, next_); }
  T* row(T* level, std::size_t field, std::size_t z, std::size_t y) const { return level + at(field, z, y); }
  const T* row(const T* level, std::size_t field, std::size_t z, std::size_t y) const {
    return level + at(field, z, y);
  }
  // Fills the border cells beyond both ends of a row that was just written; nothing at fixed sides.
  void close_row(T* row) const;
  void read(Grid<T>& grid) const;
  void get(const Box& box, T* cells) const;  // of all fields, from current()
  void put(const Box& box, const T* cells);  // into current(), and into next() because of its fixed borders
  double change(Norm norm) const;            // from next() to current(), which must be one step apart

 private:
  std::size_t at(std::size_t field, std::size_t z, std::size_t y) const {
    return field * frame_.field + (z * frame_.lines + y) * frame_.pitch + frame_.pad;
  }
  std::size_t at(std::size_t field, std::size_t row) const {  // `row` counts through z and y
    return at(field, row / layout_.shape[1], row % layout_.shape[1]);
  }
  void fill(T* level, const Grid<T>& grid) const;
  void find_sources();

  Layout layout_;
  RowFrame frame_;
  std::vector<std::size_t> left_, right_;  // source cells for x = -1, -2, ... and for x = size, size + 1, ...
  base::AlignedArray<T> one_, two_, coefficients_;
  T* current_;
  T* next_;
  Team* team_ = nullptr;
};

// Rows that a thread owns, counted through z and y: in every loop and when memory is first touched.
inline base::Share rows_of(const Layout& layout, std::size_t thread, std::size_t threads) {
  return base::share(layout.rows(), thread, threads);
}

// Row pointers for a Rows<T>, per thread.
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

// Rounding of rows to whole cache lines.

constexpr std::size_t kLine = 64;  // bytes

constexpr std::size_t round_up(std::size_t value, std::size_t grain) { return (value + grain - 1) / grain * grain; }

}  // namespace ridge::stencil
