// Transposition of rows to and from the dimension-lifted layout, and its border cells.
#include "papers/stencil/dlt_rows.hpp"

namespace ridge::stencil {

DltRows::DltRows(const Layout& layout, std::size_t lanes)
    : layout_(layout), lifted_(layout), lanes_(lanes), length_((layout.shape[2] + lanes - 1) / lanes) {
  lifted_.shape[2] = length_ * lanes_;
  lifted_.radius[2] = layout.radius[2] * static_cast<int>(lanes_);
  lifted_.begin[2] = 0;
  lifted_.end[2] = lifted_.shape[2];
  lifted_.low[2] = lifted_.high[2] = Border::mirror;  // so that the seams hold finite values before the first repair
}

bool DltRows::fits(const Layout& layout, std::size_t lanes) {
  return (layout.shape[2] + lanes - 1) / lanes >= static_cast<std::size_t>(layout.radius[2]);
}

std::ptrdiff_t DltRows::place(std::ptrdiff_t cell) const {
  const auto length = static_cast<std::ptrdiff_t>(length_), lanes = static_cast<std::ptrdiff_t>(lanes_);
  if (cell < 0) return cell * lanes;  // lane 0 before vector 0
  if (cell >= length * lanes)
    return (cell - (lanes - 1) * length) * lanes + lanes - 1;  // the last lane, after the last vector
  return cell % length * lanes + cell / length;
}

template <class T>
void DltRows::lift(const Grid<T>& grid, Grid<T>& lifted) const {
  const std::size_t width = layout_.shape[2];
  for (std::size_t row = 0; row < layout_.rows(); ++row) {
    const T* from = grid.field(0).data() + row * width;
    T* to = lifted.field(0).data() + row * lifted_.shape[2];
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      for (std::size_t j = 0; j < length_; ++j) {
        const std::size_t cell = lane * length_ + j;
        to[j * lanes_ + lane] = cell < width ? from[cell] : T{0};
      }
    }
  }
}

template <class T>
void DltRows::lower(const Grid<T>& lifted, Grid<T>& grid) const {
  const std::size_t width = layout_.shape[2];
  for (std::size_t row = 0; row < layout_.rows(); ++row) {
    const T* from = lifted.field(0).data() + row * lifted_.shape[2];
    T* to = grid.field(0).data() + row * width;
    for (std::size_t cell = 0; cell < width; ++cell) to[cell] = from[cell % length_ * lanes_ + cell / length_];
  }
}

template <class T>
void DltRows::repair(T* row, const T* before) const {
  const auto width = static_cast<std::ptrdiff_t>(layout_.shape[2]);
  const auto radius = static_cast<std::ptrdiff_t>(layout_.radius[2]);
  const auto lanes = static_cast<std::ptrdiff_t>(lanes_), length = static_cast<std::ptrdiff_t>(length_);
  for (auto cell = std::ptrdiff_t{0}; cell < static_cast<std::ptrdiff_t>(layout_.begin[2]); ++cell)
    row[place(cell)] = before[place(cell)];
  for (auto cell = static_cast<std::ptrdiff_t>(layout_.end[2]); cell < width; ++cell)
    row[place(cell)] = before[place(cell)];
  // Beyond the grid: ghost cells may be in the padding of the last lane, so they precede the seams that copy it.
  for (std::ptrdiff_t k = 0; k < radius; ++k) {
    row[place(width + k)] = row[place(static_cast<std::ptrdiff_t>(layout_.source(2, width + k)))];
    row[place(-1 - k)] = row[place(static_cast<std::ptrdiff_t>(layout_.source(2, -1 - k)))];
  }
  for (std::ptrdiff_t k = 1; k <= radius; ++k) {
    T* left = row - k * lanes;
    T* right = row + (length - 1 + k) * lanes;
    for (std::ptrdiff_t lane = 1; lane < lanes; ++lane) left[lane] = row[(length - k) * lanes + lane - 1];
    for (std::ptrdiff_t lane = 0; lane + 1 < lanes; ++lane) right[lane] = row[(k - 1) * lanes + lane + 1];
  }
}

template void DltRows::lift(const Grid<float>&, Grid<float>&) const;
template void DltRows::lift(const Grid<double>&, Grid<double>&) const;
template void DltRows::lower(const Grid<float>&, Grid<float>&) const;
template void DltRows::lower(const Grid<double>&, Grid<double>&) const;
template void DltRows::repair(float*, const float*) const;
template void DltRows::repair(double*, const double*) const;

}  // namespace ridge::stencil
