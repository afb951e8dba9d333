// The text of the strip kernels, piece by piece. See row_march_kernel.hpp for the idea.
#pragma once
#include <string>

#include "stencil/device/row_march_kernel.hpp"

namespace ridge::stencil {

inline bool has_border(const Borders& borders, std::size_t axis, Border kind) {
  return borders.low[axis] == kind || borders.high[axis] == kind;
}

// Axes of Borders are those of the grid: {y, x}. What is done to rows stands in row_march_rows.cpp, how they come and
// go in row_march_memory.cpp, the march over them in row_march_codegen.cpp.
class RowMarchWriter {
 public:
  explicit RowMarchWriter(const RowMarchKernel& kernel)
      : kernel_(kernel),
        scaling_(kernel.scaling()),
        radius_x_(kernel.weights.radius[2]),
        radius_y_(kernel.weights.radius[1]) {}
  std::string text();
  // The weights and the growth that the kernel is given, each after `before`.
  std::string numbers(const std::string& before) const;
  // Local memory of the kernel as a part of a joined one.
  int local_reals() const;
  bool restores_rows() const;

 private:
  std::string locals() const;
  // How much the scaled field has grown after s steps.
  std::string growth() const;
  bool is_unit(const Weight& weight) const;
  static std::string plus(int value);
  std::string cell(int dx) const;
  std::string sum(int index) const;
  // The row that has arrived, seen from the row dy before it, added to `start`.
  std::string added(std::string start, int dy) const;
  bool fixed_x() const;
  std::string frozen_cells() const;
  // `target` gets `value`; a cell of a fixed border keeps what it has.
  std::string assign(const std::string& target, const std::string& value, int dy) const;
  std::string target(int dy) const;
  std::string ordinary_row(const std::string& indent) const;
  bool rows_have_borders() const;
  // Before a row near the upper or lower border is added: fixed rows get their values back, whatever was computed for
  // them; what came before the first row is forgotten; rows below the last add nothing.
  std::string before_border_row(const std::string& indent) const;
  // After a row near a mirror: its image is added too.
  std::string after_border_row(const std::string& indent) const;
  std::string vector_type() const;
  int vector() const;
  // Reads CELLS cells at `from` into row u of `ahead`.
  std::string load(const std::string& from, bool vectors, const std::string& indent) const;
  std::string scaled(int offset) const;
  std::string store(const std::string& to, const std::string& indent) const;
  std::string mirrored_columns() const;
  std::string border_places() const;
  // The address of the row that is read for row `index` of the march.
  std::string border_row_address(const std::string& index, const std::string& indent) const;
  int vector_bytes(int n) const;
  // Whether finished rows are put in order before they are stored: where a lane's cells are more than a vector, the
  // vectors that lanes store at once would not lie side by side.
  bool staged() const;
  // The march reads a few rows more than it needs; those below the grid are its last row again.
  static std::string next_row(const std::string& index, const std::string& indent);
  // Starts the copy of a row into slot u of the ring. Away from borders lanes copy vectors that lie side by side,
  // whoever needs them; near borders each lane copies its own cells, which may come from the other end of the row.
  std::string ring_copy(const std::string& index, const std::string& indent) const;
  std::string ring_read(const std::string& indent) const;
  std::string staged_store(const std::string& indent, const std::string& when) const;
  std::string load_ahead(const std::string& index, const std::string& indent) const;
  std::string stage() const;
  // Where reading and writing starts.
  std::string places() const;
  std::string empty_sums() const;
  std::string store_ready_row(const std::string& indent) const;
  // Pieces of the two sides that no upper or lower border reaches march without looking out for one.
  std::string marches();
  std::string march() const;
  const RowMarchKernel& kernel_;
  Scaling scaling_;
  int radius_x_, radius_y_;
  bool near_rows_ = true;  // whether the march being written may meet the upper or lower border
};

}  // namespace ridge::stencil
