// Grids: shapes, strides, copies and conversion to structures.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

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
  if (shape.empty() || shape.size() > 3) refuse_grid(fmt::format("grids need 1 to 3 dimensions, got {}", shape.size()));
  if (fields == 0) refuse_grid("at least 1 field is needed, got 0");
  std::size_t cells = 1, total = 0;
  for (const std::size_t side : shape) {
    if (side == 0)
      refuse_grid(fmt::format("every axis needs at least 1 cell: one of {} has 0 cells", fmt::join(shape, " x ")));
    if (__builtin_mul_overflow(cells, side, &cells))
      refuse_grid(fmt::format("{} cells are too large for any memory", fmt::join(shape, " x ")));
  }
  if (__builtin_mul_overflow(cells, fields, &total) || __builtin_mul_overflow(total, element, &total) ||
      total > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    refuse_grid(fmt::format("{} cells of {} fields are too large for any memory", fmt::join(shape, " x "), fields));
  return cells;
}

using Strides = std::array<std::ptrdiff_t, 4>;

// Strides of packed cells, in the order z, y, x.
Strides packed_strides(const std::vector<std::size_t>& shape, std::size_t cells) {
  Strides strides{};
  auto step = std::ptrdiff_t{1};
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[4 - shape.size() + axis] = step;
    step *= static_cast<std::ptrdiff_t>(shape[axis]);
  }
  strides[0] = static_cast<std::ptrdiff_t>(cells);
  return strides;
}

// Lengths of the fields, z, y and x.
std::array<std::size_t, 4> extents(const std::vector<std::size_t>& shape, std::size_t fields) {
  std::array<std::size_t, 4> lengths{fields, 1, 1, 1};
  std::copy(shape.begin(), shape.end(), lengths.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return lengths;
}

// Every stride must exceed the extent of the shorter ones, so that no two cells share an element.
void check_apart(const std::array<std::size_t, 4>& lengths, const Strides& strides, std::size_t element) {
  std::vector<std::pair<std::size_t, std::size_t>> steps;  // stride, length
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (lengths[axis] == 1) continue;
    const std::ptrdiff_t stride = strides[axis];
    steps.emplace_back(stride < 0 ? -static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride),
                       lengths[axis]);
  }
  std::sort(steps.begin(), steps.end());
  std::size_t reach = 0;  // distance from the lowest cell to the highest
  for (const auto& [stride, length] : steps) {
    if (stride <= reach)
      refuse_grid(fmt::format("strides {}: different cells would share an element", fmt::join(strides, ", ")));
    std::size_t more = 0;
    if (__builtin_mul_overflow(stride, length - 1, &more) || __builtin_add_overflow(reach, more, &reach) ||
        reach >= static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element)
      refuse_grid(fmt::format("strides {} exceed the address space", fmt::join(strides, ", ")));
  }
}

template <class T>
std::shared_ptr<T> allocate(std::size_t count) {
  auto memory = base::allocate_aligned(count * sizeof(T));
  T* data = static_cast<T*>(memory.release());
  return std::shared_ptr<T>(data, base::FreeAligned());
}

// Uses all threads for large copies: most of the time goes into first-touch page faults.
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
      strides_(packed_strides(shape_, cells_)),
      data_(allocate<T>(cells_ * fields)) {
  in_pieces<T>(cells_ * fields_,
               [&](std::size_t begin, std::size_t end) { std::fill(data_.get() + begin, data_.get() + end, T{}); });
}

template <class T>
Grid<T>::Grid(std::shared_ptr<T> data, std::vector<std::size_t> shape, std::size_t fields,
              const std::vector<std::ptrdiff_t>& strides)
    : shape_(std::move(shape)),
      fields_(fields),
      cells_(count_cells(shape_, fields, sizeof(T))),
      strides_(packed_strides(shape_, cells_)),
      data_(std::move(data)) {
  if (data_ == nullptr) refuse_grid("the data pointer is null");
  if (strides.empty()) return;
  if (strides.size() != shape_.size() + 1)
    refuse_grid(fmt::format("{} strides for {} axes: one for the fields and one per axis are needed", strides.size(),
                            shape_.size()));
  const auto lengths = extents(shape_, fields_);
  const Strides own = strides_;
  strides_[0] = strides[0];
  std::copy(strides.begin() + 1, strides.end(), strides_.end() - static_cast<std::ptrdiff_t>(shape_.size()));
  check_apart(lengths, strides_, sizeof(T));
  for (std::size_t axis = 0; axis < 4; ++axis) packed_ = packed_ && (lengths[axis] == 1 || strides_[axis] == own[axis]);
}

template <class T>
Grid<T> Grid<T>::over(T* cells, std::vector<std::size_t> shape, std::size_t fields,
                      const std::vector<std::ptrdiff_t>& strides, std::shared_ptr<void> owner) {
  return Grid(std::shared_ptr<T>(std::move(owner), cells), std::move(shape), fields, strides);
}

template <class T>
Grid<T>::Grid(const Grid& other)
    : shape_(other.shape_),
      fields_(other.fields_),
      cells_(other.cells_),
      strides_(packed_strides(shape_, cells_)),
      data_(allocate<T>(other.cells_ * other.fields_)) {
  copy(other);
}

template <class T>
void Grid<T>::copy(const Grid& other) {
  if (other.shape_ != shape_ || other.fields_ != fields_)
    refuse_grid(fmt::format("copying needs equal shapes and fields: {} with {} fields to {} with {}",
                            fmt::join(other.shape_, " x "), other.fields_, fmt::join(shape_, " x "), fields_));
  if (packed_ && other.packed_) {
    in_pieces<T>(cells_ * fields_, [&](std::size_t begin, std::size_t end) {
      std::copy(other.data() + begin, other.data() + end, data() + begin);
    });
    return;
  }
  const auto lengths = extents(shape_, fields_);
  const Strides &from = other.strides_, &to = strides_;
  for (std::size_t row = 0; row < lengths[0] * lengths[1] * lengths[2]; ++row) {
    const auto y = static_cast<std::ptrdiff_t>(row % lengths[2]), slab = static_cast<std::ptrdiff_t>(row / lengths[2]);
    const auto planes = static_cast<std::ptrdiff_t>(lengths[1]);
    const T* source = other.data() + slab / planes * from[0] + slab % planes * from[1] + y * from[2];
    T* target = data() + slab / planes * to[0] + slab % planes * to[1] + y * to[2];
    for (std::size_t x = 0; x < lengths[3]; ++x) {
      const auto at = static_cast<std::ptrdiff_t>(x);
      target[at * to[3]] = source[at * from[3]];
    }
  }
}

template <class T>
void Grid<T>::refuse_span() {
  refuse_grid("a span needs contiguous cells, this grid has strides");
}

template <class T>
Grid<T>& Grid<T>::operator=(const Grid& other) {
  if (this != &other) *this = Grid(other);
  return *this;
}

template <class T>
void Grid<T>::from_structures(std::span<const T> cells) {
  if (cells.size() != cells_ * fields_)
    refuse_grid(fmt::format("got {} values for {} cells of {} fields", cells.size(), cells_, fields_));
  if (!packed_) {
    Grid turned(shape_, fields_);
    turned.from_structures(cells);
    return copy(turned);
  }
  for (std::size_t f = 0; f < fields_; ++f) {
    T* to = data_.get() + f * cells_;
    for (std::size_t i = 0; i < cells_; ++i) to[i] = cells[i * fields_ + f];
  }
}

template <class T>
void Grid<T>::to_structures(std::span<T> cells) const {
  if (cells.size() != cells_ * fields_)
    refuse_grid(fmt::format("the output holds {} values; {} cells of {} fields need one value each", cells.size(),
                            cells_, fields_));
  if (!packed_) return Grid(*this).to_structures(cells);
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
