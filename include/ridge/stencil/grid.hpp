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

// Cells of `fields` fields, a field after the other, rows packed; or cells where a caller has them. Copying a Grid
// copies its cells into packed memory of the copy's own.
template <class T>
class Grid {
 public:
  explicit Grid(std::vector<std::size_t> shape, std::size_t fields = 1);  // zeros
  // Over a caller's memory, without a copy: plans read cells there and write them back. Strides are in elements,
  // between fields and then along each axis of the shape, negative ones too; none: packed. An image with a pitch has
  // {0, pitch, 1}, an array of structures {1, width * fields, fields}. `owner` is let go with the last Grid that was
  // moved from this one; without an owner the caller keeps the memory alive.
  // Error{invalid_argument} without an address, for another number of strides, and where two cells could be one
  // element.
  static Grid over(T* cells, std::vector<std::size_t> shape, std::size_t fields = 1,
                   const std::vector<std::ptrdiff_t>& strides = {}, std::shared_ptr<void> owner = nullptr);
  Grid(const Grid& other);
  Grid& operator=(const Grid& other);
  Grid(Grid&&) noexcept = default;
  Grid& operator=(Grid&&) noexcept = default;
  // Cells of a grid of the same shape and fields, into this one's memory, wherever that is.
  void copy(const Grid& other);
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t fields() const { return fields_; }
  std::size_t cells() const { return cells_; }  // of one field
  // In elements, between fields and along z, y, x; 0 for axes the grid does not have.
  const std::array<std::ptrdiff_t, 4>& strides() const { return strides_; }
  bool packed() const { return packed_; }  // as a grid's own memory is
  T* data() { return data_.get(); }        // the first cell
  const T* data() const { return data_.get(); }
  // Error{invalid_argument} where cells are not packed.
  std::span<T> field(std::size_t index = 0) { return all().subspan(index * cells_, cells_); }
  std::span<const T> field(std::size_t index = 0) const { return all().subspan(index * cells_, cells_); }
  std::span<T> all() {
    if (!packed_) refuse_span();
    return {data_.get(), cells_ * fields_};
  }
  std::span<const T> all() const {
    if (!packed_) refuse_span();
    return {data_.get(), cells_ * fields_};
  }
  // Of the first field, unchecked.
  T& operator()(std::size_t x) { return data_.get()[at(0, 0, x)]; }
  T& operator()(std::size_t y, std::size_t x) { return data_.get()[at(0, y, x)]; }
  T& operator()(std::size_t z, std::size_t y, std::size_t x) { return data_.get()[at(z, y, x)]; }
  const T& operator()(std::size_t x) const { return data_.get()[at(0, 0, x)]; }
  const T& operator()(std::size_t y, std::size_t x) const { return data_.get()[at(0, y, x)]; }
  const T& operator()(std::size_t z, std::size_t y, std::size_t x) const { return data_.get()[at(z, y, x)]; }
  // Arrays of structures, the fields of a cell side by side: turned at the boundary, since kernels want fields apart.
  // Error where the span does not hold cells() * fields() values.
  void from_structures(std::span<const T> cells);
  void to_structures(std::span<T> cells) const;

 private:
  Grid(std::shared_ptr<T> data, std::vector<std::size_t> shape, std::size_t fields,
       const std::vector<std::ptrdiff_t>& strides);
  std::ptrdiff_t at(std::size_t z, std::size_t y, std::size_t x) const {
    return static_cast<std::ptrdiff_t>(z) * strides_[1] + static_cast<std::ptrdiff_t>(y) * strides_[2] +
           static_cast<std::ptrdiff_t>(x) * strides_[3];
  }
  [[noreturn]] static void refuse_span();

  std::vector<std::size_t> shape_;
  std::size_t fields_, cells_;
  std::array<std::ptrdiff_t, 4> strides_{};
  bool packed_ = true;
  std::shared_ptr<T> data_;
};

// Cells from `begin` on, z, y, x; axes a grid does not have are 0 and 1.
struct Box {
  std::array<std::size_t, 3> begin{0, 0, 0}, extent{1, 1, 1};
  std::size_t cells() const { return extent[0] * extent[1] * extent[2]; }
};

}  // namespace ridge::stencil
