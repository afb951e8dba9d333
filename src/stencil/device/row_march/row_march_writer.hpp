// Writer of the row_march kernels; row_march_kernel.hpp explains the method.
#pragma once
#include <string>

#include "stencil/device/row_march/row_march_kernel.hpp"

namespace ridge::stencil {

inline bool has_border(const Borders& borders, std::size_t axis, Border kind) {
  return borders.low[axis] == kind || borders.high[axis] == kind;
}

// Axes of Borders are those of the grid: {y, x}. row_march_rows.cpp processes rows, row_march_memory.cpp loads and
// stores them, row_march_codegen.cpp marches over them.
class RowMarchWriter {
 public:
  explicit RowMarchWriter(const RowMarchKernel& kernel)
      : kernel_(kernel),
        scaling_(kernel.scaling()),
        radius_x_(kernel.weights.radius[2]),
        radius_y_(kernel.weights.radius[1]) {}
  std::string text();
  // Weights and growth as kernel parameters, each after `before`.
  std::string numbers(const std::string& before) const;
  // Local memory of the kernel as part of a joined one.
  int local_reals() const;
  bool restores_rows() const;

 private:
  std::string locals() const;
  // Growth of the scaled field after s steps.
  std::string growth() const;
  bool is_unit(const Weight& weight) const;
  static std::string plus(int value);
  std::string cell(int dx) const;
  std::string sum(int index) const;
  // Adds the arrived row, as neighbour dy of another row, to `start`.
  std::string added(std::string start, int dy) const;
  bool fixed_x() const;
  std::string frozen_cells() const;
  // Assigns `value` to `target`; a cell of a fixed border keeps its value.
  std::string assign(const std::string& target, const std::string& value, int dy) const;
  std::string target(int dy) const;
  std::string ordinary_row(const std::string& indent) const;
  bool rows_have_borders() const;
  // Before a row near the upper or lower border is added: fixed rows get their values back; contributions from before
  // the first row are dropped; rows below the last contribute nothing.
  std::string before_border_row(const std::string& indent) const;
  // After a row near a mirror: adds its image too.
  std::string after_border_row(const std::string& indent) const;
  std::string vector_type() const;
  int vector() const;
  // Reads CELLS cells at `from` into row u of `ahead`.
  std::string load(const std::string& from, bool vectors, const std::string& indent) const;
  std::string scaled(int offset) const;
  std::string store(const std::string& to, const std::string& indent) const;
  std::string mirrored_columns() const;
  std::string border_places() const;
  // Address of the row that is read as row `index` of the march.
  std::string border_row_address(const std::string& index, const std::string& indent) const;
  int vector_bytes(int n) const;
  // True if finished rows are reordered before they are stored: if a lane has more cells than a vector, the vectors
  // that lanes store together would not be contiguous.
  bool staged() const;
  // The march reads a few rows more than it needs; rows below the grid repeat its last row.
  static std::string next_row(const std::string& index, const std::string& indent);
  // Starts the copy of a row into slot u of the ring. Away from borders lanes copy contiguous vectors, whichever lane
  // uses them; near borders each lane copies its own cells, which may come from the other end of the row.
  std::string ring_copy(const std::string& index, const std::string& indent) const;
  std::string ring_read(const std::string& indent) const;
  std::string staged_store(const std::string& indent, const std::string& when) const;
  std::string load_ahead(const std::string& index, const std::string& indent) const;
  std::string stage() const;
  // Start of reading and writing.
  std::string places() const;
  std::string empty_sums() const;
  std::string store_ready_row(const std::string& indent) const;
  // Pieces of the two sides that no upper or lower border reaches march without testing for one.
  std::string marches();
  std::string march() const;
  const RowMarchKernel& kernel_;
  Scaling scaling_;
  int radius_x_, radius_y_;
  bool near_rows_ = true;  // the march being written may meet the upper or lower border
};

}  // namespace ridge::stencil
