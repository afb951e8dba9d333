// Cells on a structured grid, what lies beyond its sides, and parts of it.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ridge::stencil {

// What lies beyond a side of the grid.
enum class Border {
  fixed,   // Dirichlet: the outermost cells, as many layers as the stencil's radius along the axis, keep their values
  mirror,  // Neumann: the cell k beyond the side is the k-th cell inside it, u(-k) = u(k - 1), so nothing flows through
  periodic,  // the grid closes on itself; an axis is periodic on both sides or on neither
};
const char* to_string(Border border);

// Axes are ordered slowest first: {y, x} in 2D, {z, y, x} in 3D.
struct Borders {
  std::array<Border, 3> low{Border::fixed, Border::fixed, Border::fixed};
  std::array<Border, 3> high{Border::fixed, Border::fixed, Border::fixed};
  static Borders all(Border border) { return {{border, border, border}, {border, border, border}}; }
};

// Cells of `fields` fields, a field after the other, rows packed. Copying a Grid copies its cells.
template <class T>
class Grid {
 public:
  explicit Grid(std::vector<std::size_t> shape, std::size_t fields = 1);  // zeros
  Grid(const Grid& other);
  Grid& operator=(const Grid& other);
  Grid(Grid&&) noexcept = default;
  Grid& operator=(Grid&&) noexcept = default;
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t fields() const { return fields_; }
  std::size_t cells() const { return cells_; }  // of one field
  std::span<T> field(std::size_t index = 0) { return {data_.get() + index * cells_, cells_}; }
  std::span<const T> field(std::size_t index = 0) const { return {data_.get() + index * cells_, cells_}; }
  std::span<T> all() { return {data_.get(), cells_ * fields_}; }
  std::span<const T> all() const { return {data_.get(), cells_ * fields_}; }
  // Of the first field, unchecked.
  T& operator()(std::size_t x) { return data_.get()[x]; }
  T& operator()(std::size_t y, std::size_t x) { return data_.get()[y * shape_[1] + x]; }
  T& operator()(std::size_t z, std::size_t y, std::size_t x) {
    return data_.get()[(z * shape_[1] + y) * shape_[2] + x];
  }
  const T& operator()(std::size_t x) const { return data_.get()[x]; }
  const T& operator()(std::size_t y, std::size_t x) const { return data_.get()[y * shape_[1] + x]; }
  const T& operator()(std::size_t z, std::size_t y, std::size_t x) const {
    return data_.get()[(z * shape_[1] + y) * shape_[2] + x];
  }
  // Arrays of structures, the fields of a cell side by side: turned at the boundary, since kernels want fields apart.
  // Error where the span does not hold cells() * fields() values.
  void from_structures(std::span<const T> cells);
  void to_structures(std::span<T> cells) const;

 private:
  std::vector<std::size_t> shape_;
  std::size_t fields_, cells_;
  std::shared_ptr<T> data_;
};

// Cells from `begin` on, z, y, x; axes a grid does not have are 0 and 1.
struct Box {
  std::array<std::size_t, 3> begin{0, 0, 0}, extent{1, 1, 1};
  std::size_t cells() const { return extent[0] * extent[1] * extent[2]; }
};

}  // namespace ridge::stencil
