#include <algorithm>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <ridge/stencil.hpp>

#include "base/aligned.hpp"
#include "base/threads.hpp"

namespace ridge::stencil {
namespace {

[[noreturn]] void refuse_grid(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "stencil grid: " + what);
}

std::size_t count_cells(const std::vector<std::size_t>& shape, std::size_t fields, std::size_t element) {
  if (shape.empty() || shape.size() > 3)
    refuse_grid(fmt::format("{} sizes; grids have 1 to 3 dimensions", shape.size()));
  if (fields == 0) refuse_grid("no fields");
  std::size_t cells = 1, total = 0;
  for (const std::size_t side : shape) {
    if (side == 0) refuse_grid(fmt::format("a side of 0 cells in {}", fmt::join(shape, " x ")));
    if (__builtin_mul_overflow(cells, side, &cells))
      refuse_grid(fmt::format("{} is too large", fmt::join(shape, " x ")));
  }
  if (__builtin_mul_overflow(cells, fields, &total) || __builtin_mul_overflow(total, element, &total) ||
      total > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    refuse_grid(fmt::format("{} cells of {} fields are too large", fmt::join(shape, " x "), fields));
  return cells;
}

template <class T>
std::shared_ptr<T> allocate(std::size_t count) {
  auto memory = base::allocate_aligned(count * sizeof(T));
  T* data = static_cast<T*>(memory.release());
  return std::shared_ptr<T>(data, base::FreeAligned());
}

// By all threads where there is much of it: most of the time goes into pages that are touched first.
template <class T, class Work>
void in_pieces(std::size_t count, const Work& work) {
  constexpr std::size_t kMuch = std::size_t{1} << 22;
  if (count * sizeof(T) < kMuch) return work(0, count);
  base::parallel(0, [&](std::size_t thread, std::size_t threads) {
    const base::Share mine = base::share(count, thread, threads, 4096 / sizeof(T));
    work(mine.begin, mine.end);
  });
}

}  // namespace

const char* to_string(Border border) {
  switch (border) {
    case Border::fixed:
      return "fixed";
    case Border::mirror:
      return "mirror";
    case Border::periodic:
      return "periodic";
  }
  return "unknown";
}

template <class T>
Grid<T>::Grid(std::vector<std::size_t> shape, std::size_t fields)
    : shape_(std::move(shape)),
      fields_(fields),
      cells_(count_cells(shape_, fields, sizeof(T))),
      data_(allocate<T>(cells_ * fields)) {
  in_pieces<T>(cells_ * fields_,
               [&](std::size_t begin, std::size_t end) { std::fill(data_.get() + begin, data_.get() + end, T{}); });
}

template <class T>
Grid<T>::Grid(const Grid& other)
    : shape_(other.shape_),
      fields_(other.fields_),
      cells_(other.cells_),
      data_(allocate<T>(other.cells_ * other.fields_)) {
  in_pieces<T>(cells_ * fields_, [&](std::size_t begin, std::size_t end) {
    std::copy(other.data_.get() + begin, other.data_.get() + end, data_.get() + begin);
  });
}

template <class T>
Grid<T>& Grid<T>::operator=(const Grid& other) {
  if (this != &other) *this = Grid(other);
  return *this;
}

template <class T>
void Grid<T>::from_structures(std::span<const T> cells) {
  if (cells.size() != cells_ * fields_)
    refuse_grid(fmt::format("{} values for {} cells of {} fields", cells.size(), cells_, fields_));
  for (std::size_t f = 0; f < fields_; ++f) {
    T* to = data_.get() + f * cells_;
    for (std::size_t i = 0; i < cells_; ++i) to[i] = cells[i * fields_ + f];
  }
}

template <class T>
void Grid<T>::to_structures(std::span<T> cells) const {
  if (cells.size() != cells_ * fields_)
    refuse_grid(
        fmt::format("room for {} values, {} cells of {} fields are to be written", cells.size(), cells_, fields_));
  for (std::size_t f = 0; f < fields_; ++f) {
    const T* from = data_.get() + f * cells_;
    for (std::size_t i = 0; i < cells_; ++i) cells[i * fields_ + f] = from[i];
  }
}

template class Grid<float>;
template class Grid<double>;
template class Grid<std::int32_t>;
template class Grid<std::uint8_t>;

}  // namespace ridge::stencil
