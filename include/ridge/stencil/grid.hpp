// Structured grids: cells, border conditions and boxes.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ridge::stencil {

// Border condition of one side of the grid.
enum class Border {
  fixed,     // Dirichlet: the outermost cells, as many layers as the stencil's radius along the axis, keep their values
  mirror,    // Neumann: the k-th cell beyond the side equals the k-th cell inside it, u(-k) = u(k - 1): zero flux
  periodic,  // opposite sides are neighbours; an axis is periodic on both sides or on neither
};
const char* to_string(Border border);

// Axes are ordered slowest first: {y, x} in 2D, {z, y, x} in 3D.
struct Borders {
  std::array<Border, 3> low{Border::fixed, Border::fixed, Border::fixed};
  std::array<Border, 3> high{Border::fixed, Border::fixed, Border::fixed};
  static Borders all(Border border) { return {{border, border, border}, {border, border, border}}; }
};

// Cells of `fields` fields, field after field, rows packed; or a view of the caller's cells. Copying a Grid copies its
// cells into packed memory owned by the copy.
template <class T>
class Grid {
 public:
  explicit Grid(std::vector<std::size_t> shape, std::size_t fields = 1);  // zeros
  // A view of the caller's memory: plans read and write the cells in place. Strides are in elements, first between
  // fields and then along each axis of the shape; they may be negative. Empty: packed. An image with a pitch has {0,
  // pitch, 1}, an array of structures {1, width * fields, fields}. `owner` is released with the last Grid moved from
  // this one; without an owner the caller keeps the memory alive. Error{invalid_argument} for a null address, a wrong
  // number of strides, and cells that may overlap.
  static Grid over(T* cells, std::vector<std::size_t> shape, std::size_t fields = 1,
                   const std::vector<std::ptrdiff_t>& strides = {}, std::shared_ptr<void> owner = nullptr);
  Grid(const Grid& other);
  Grid& operator=(const Grid& other);
  Grid(Grid&&) noexcept = default;
  Grid& operator=(Grid&&) noexcept = default;
  // Copies the cells of a grid of the same shape and fields into this one's memory.
  void copy(const Grid& other);
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t fields() const { return fields_; }
  std::size_t cells() const { return cells_; }  // per field
  // In elements, between fields and along z, y, x; 0 for missing axes.
  const std::array<std::ptrdiff_t, 4>& strides() const { return strides_; }
  bool packed() const { return packed_; }  // as in a grid that owns its memory
  T* data() { return data_.get(); }        // the first cell
  const T* data() const { return data_.get(); }
  // Error{invalid_argument} if the cells are not packed.
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
  // Cells of the first field, unchecked.
  T& operator()(std::size_t x) { return data_.get()[at(0, 0, x)]; }
  T& operator()(std::size_t y, std::size_t x) { return data_.get()[at(0, y, x)]; }
  T& operator()(std::size_t z, std::size_t y, std::size_t x) { return data_.get()[at(z, y, x)]; }
  const T& operator()(std::size_t x) const { return data_.get()[at(0, 0, x)]; }
  const T& operator()(std::size_t y, std::size_t x) const { return data_.get()[at(0, y, x)]; }
  const T& operator()(std::size_t z, std::size_t y, std::size_t x) const { return data_.get()[at(z, y, x)]; }
  // Converts from and to arrays of structures, in which the fields of a cell are adjacent; kernels need separate
  // fields. Error unless the span has cells() * fields() values.
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

// A box of cells, starting at `begin` (z, y, x); missing axes are 0 and 1.
struct Box {
  std::array<std::size_t, 3> begin{0, 0, 0}, extent{1, 1, 1};
  std::size_t cells() const { return extent[0] * extent[1] * extent[2]; }
};

}  // namespace ridge::stencil
