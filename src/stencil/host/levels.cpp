// Time levels of a grid on the host: padded rows, border cells, boxes and changes.
#include "stencil/host/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ridge::stencil {
namespace {

struct Partial {
  double largest = 0, squares = 0;
  bool nan = false;
};

template <class T>
void add_row(Partial& sum, const T* before, const T* after, std::size_t count) {
  double largest = 0, squares = 0;
  for (std::size_t x = 0; x < count; ++x) {
    const double difference = static_cast<double>(after[x]) - static_cast<double>(before[x]);
    largest = std::max(largest, std::fabs(difference));
    squares += difference * difference;
  }
  sum.nan = sum.nan || std::isnan(squares);
  sum.largest = std::max(sum.largest, largest);
  sum.squares += squares;
}

// Offset of the first cell of row r, in elements from the grid's first cell.
template <class T>
std::ptrdiff_t row_of(const Grid<T>& grid, const Layout& layout, std::size_t field, std::size_t r) {
  const auto z = static_cast<std::ptrdiff_t>(r / layout.shape[1]), y = static_cast<std::ptrdiff_t>(r % layout.shape[1]);
  return static_cast<std::ptrdiff_t>(field) * grid.strides()[0] + z * grid.strides()[1] + y * grid.strides()[2];
}

// Copies a row between memory with cells `step` apart and packed memory.
template <class T>
void gather_row(const T* from, std::ptrdiff_t step, std::size_t width, T* to) {
  if (step == 1) {
    std::copy_n(from, width, to);
  } else {
    for (std::size_t x = 0; x < width; ++x) to[x] = from[static_cast<std::ptrdiff_t>(x) * step];
  }
}
template <class T>
void scatter_row(const T* from, std::size_t width, T* to, std::ptrdiff_t step) {
  if (step == 1) {
    std::copy_n(from, width, to);
  } else {
    for (std::size_t x = 0; x < width; ++x) to[static_cast<std::ptrdiff_t>(x) * step] = from[x];
  }
}

}  // namespace

RowFrame::RowFrame(const Layout& layout, std::size_t element_bytes) {
  const std::size_t line = std::max<std::size_t>(kLine / element_bytes, 1);
  const auto radius = static_cast<std::size_t>(layout.radius[2]);
  pad = round_up(std::max<std::size_t>(radius, 1), line);
  pitch = pad + round_up(layout.shape[2] + radius, line);
  if (pitch * element_bytes % 4096 == 0) pitch += line;
  lines = layout.shape[1];
  if (layout.dimensions == 3 && lines * pitch * element_bytes % 4096 == 0) ++lines;
  field = layout.shape[0] * lines * pitch;
}

template <class T>
Levels<T>::Levels(const Layout& layout, const Grid<T>& grid, const Grid<T>* coefficients)
    : layout_(layout),
      frame_(layout, sizeof(T)),
      one_(elements(layout)),
      two_(elements(layout)),
      coefficients_(coefficients ? frame_.field * layout.coefficients + frame_.pad : 0),
      current_(one_.data()),
      next_(two_.data()) {
  find_sources();
  fill(current_, grid);
  fill(next_, grid);
  if (coefficients) fill(coefficients_.data(), *coefficients);
}

template <class T>
Levels<T>::Levels(const Layout& layout, Team& team, T* one, T* two)
    : layout_(layout), frame_(layout, sizeof(T)), current_(one), next_(two), team_(&team) {
  find_sources();
}

template <class T>
std::size_t Levels<T>::elements(const Layout& layout) {
  const RowFrame frame(layout, sizeof(T));
  return frame.field * layout.fields + frame.pad;
}

template <class T>
void Levels<T>::find_sources() {
  const auto size = static_cast<std::ptrdiff_t>(layout_.shape[2]);
  for (std::ptrdiff_t k = 0; k < layout_.radius[2]; ++k) {
    left_.push_back(layout_.source(2, -1 - k));
    right_.push_back(layout_.source(2, size + k));
  }
}

template <class T>
void Levels<T>::fill(T* level, const Grid<T>& grid) const {
  const std::size_t width = layout_.shape[2], fields = grid.fields();
  base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = rows_of(layout_, thread, threads);
    for (std::size_t field = 0; field < fields; ++field) {
      for (std::size_t r = share.begin; r < share.end; ++r) {
        T* row = level + at(field, r);
        T* start = row - frame_.pad;
        std::fill(start, row, T{});
        gather_row(grid.data() + row_of(grid, layout_, field, r), grid.strides()[3], width, row);
        std::fill(row + width, start + frame_.pitch, T{});
        // Fixed sides too: kernels may compute beyond them, and what they read must be finite.
        for (std::size_t k = 0; k < left_.size(); ++k) {
          row[-1 - static_cast<std::ptrdiff_t>(k)] = row[left_[k]];
          row[width + k] = row[right_[k]];
        }
        if (frame_.lines > layout_.shape[1] && (r + 1) % layout_.shape[1] == 0)
          std::fill_n(start + frame_.pitch, frame_.pitch, T{});
      }
    }
    if (thread + 1 == threads) std::fill_n(level + fields * frame_.field, frame_.pad, T{});
  });
}

template <class T>
void Levels<T>::close_row(T* row) const {
  const std::size_t width = layout_.shape[2];
  if (layout_.low[2] != Border::fixed) {
    for (std::size_t k = 0; k < left_.size(); ++k) row[-1 - static_cast<std::ptrdiff_t>(k)] = row[left_[k]];
  }
  if (layout_.high[2] != Border::fixed) {
    for (std::size_t k = 0; k < right_.size(); ++k) row[width + k] = row[right_[k]];
  }
}

template <class T>
void Levels<T>::read(Grid<T>& grid) const {
  const std::size_t width = layout_.shape[2];
  base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = rows_of(layout_, thread, threads);
    for (std::size_t field = 0; field < layout_.fields; ++field) {
      for (std::size_t r = share.begin; r < share.end; ++r) {
        T* to = grid.data() + row_of(grid, layout_, field, r);
        scatter_row(current_ + at(field, r), width, to, grid.strides()[3]);
      }
    }
  });
}

template <class T>
void Levels<T>::get(const Box& box, T* cells) const {
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    for (std::size_t z = box.begin[0]; z < box.begin[0] + box.extent[0]; ++z) {
      for (std::size_t y = box.begin[1]; y < box.begin[1] + box.extent[1]; ++y) {
        cells = std::copy_n(current_ + at(field, z, y) + box.begin[2], box.extent[2], cells);
      }
    }
  }
}

template <class T>
void Levels<T>::put(const Box& box, const T* cells) {
  const std::size_t width = layout_.shape[2];
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    for (std::size_t z = box.begin[0]; z < box.begin[0] + box.extent[0]; ++z) {
      for (std::size_t y = box.begin[1]; y < box.begin[1] + box.extent[1]; ++y, cells += box.extent[2]) {
        for (T* level : {current_, next_}) {
          T* row = level + at(field, z, y);
          std::copy_n(cells, box.extent[2], row + box.begin[2]);
          for (std::size_t k = 0; k < left_.size(); ++k) {
            row[-1 - static_cast<std::ptrdiff_t>(k)] = row[left_[k]];
            row[width + k] = row[right_[k]];
          }
        }
      }
    }
  }
}

template <class T>
double Levels<T>::change(Norm norm) const {
  std::vector<Partial> partials(layout_.threads);
  base::parallel(layout_.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = rows_of(layout_, thread, threads);
    Partial sum;
    for (std::size_t field = 0; field < layout_.fields; ++field) {
      for (std::size_t r = share.begin; r < share.end; ++r) {
        const std::size_t row = at(field, r);
        add_row(sum, next_ + row, current_ + row, layout_.shape[2]);
      }
    }
    partials[thread] = sum;
  });
  Partial all;
  for (const Partial& part : partials) {
    all.nan = all.nan || part.nan;
    all.largest = std::max(all.largest, part.largest);
    all.squares += part.squares;
  }
  if (all.nan) return std::numeric_limits<double>::quiet_NaN();
  if (norm == Norm::max) return all.largest;
  return std::sqrt(all.squares / static_cast<double>(layout_.cells() * layout_.fields));
}

template <class T>
RowTable<T>::RowTable(const Layout& layout, std::size_t most) {
  const std::size_t rows =
      (2 * static_cast<std::size_t>(layout.radius[0]) + 1) * (2 * static_cast<std::size_t>(layout.radius[1]) + most);
  in_.resize(rows * layout.fields);
  coefficients_.resize(rows * layout.coefficients);
  out_.resize(most * layout.fields);
  rows_.in = in_.data();
  rows_.coefficients = coefficients_.data();
  rows_.out = out_.data();
  rows_.begin = layout.begin[2];
  rows_.end = layout.end[2];
}

template <class T>
void RowTable<T>::fill(std::vector<const T*>& table, const Levels<T>& levels, const T* from, std::size_t fields,
                       std::size_t z, std::size_t y, std::size_t count) const {
  const Layout& layout = levels.layout();
  const std::ptrdiff_t rz = layout.radius[0], ry = layout.radius[1];
  const std::size_t lines = 2 * static_cast<std::size_t>(ry) + count;
  const bool inside = y >= static_cast<std::size_t>(ry) && y + static_cast<std::size_t>(ry) + count <= layout.shape[1];
  auto entry = table.begin();
  for (std::size_t field = 0; field < fields; ++field) {
    for (std::ptrdiff_t dz = -rz; dz <= rz; ++dz) {
      const std::size_t plane = layout.source(0, static_cast<std::ptrdiff_t>(z) + dz);
      if (inside) {
        const T* row = levels.row(from, field, plane, y - static_cast<std::size_t>(ry));
        for (std::size_t i = 0; i < lines; ++i, row += levels.frame().pitch) *entry++ = row;
      } else {
        for (std::ptrdiff_t dy = -ry; dy < ry + static_cast<std::ptrdiff_t>(count); ++dy)
          *entry++ = levels.row(from, field, plane, layout.source(1, static_cast<std::ptrdiff_t>(y) + dy));
      }
    }
  }
}

template <class T>
const Rows<T>& RowTable<T>::at(const Levels<T>& levels, const T* from, T* to, std::size_t z, std::size_t y,
                               std::size_t count) {
  const Layout& layout = levels.layout();
  fill(in_, levels, from, layout.fields, z, y, count);
  if (layout.coefficients > 0) fill(coefficients_, levels, levels.coefficients(), layout.coefficients, z, y, count);
  for (std::size_t field = 0; field < layout.fields; ++field) {
    for (std::size_t r = 0; r < count; ++r) out_[field * count + r] = levels.row(to, field, z, y + r);
  }
  rows_.count = count;
  return rows_;
}

template class Levels<float>;
template class Levels<double>;
template class Levels<std::int32_t>;
template class Levels<std::uint8_t>;
template class RowTable<float>;
template class RowTable<double>;
template class RowTable<std::int32_t>;
template class RowTable<std::uint8_t>;

}  // namespace ridge::stencil
