#include "stencil/host/row_variant.hpp"

#include <algorithm>
#include <cstdint>

#include "base/threads.hpp"

namespace ridge::stencil {

template <class T>
void RowVariant<T>::steps(Levels<T>& levels, std::size_t count) const {
  const Layout& layout = this->layout();
  const bool columns = layout.rows() < 2 * loops_.threads;  // too few rows to share: share x
  std::vector<RowTable<T>> tables;                          // never copied: they point into themselves
  tables.reserve(loops_.threads);
  for (std::size_t thread = 0; thread < loops_.threads; ++thread) tables.emplace_back(layout, loops_.rows);
  for (std::size_t step = 0; step < count; ++step) {
    base::parallel(loops_.threads, [&](std::size_t thread, std::size_t threads) {
      if (columns) {
        thread_columns(levels, tables[thread], thread, threads);
      } else {
        thread_rows(levels, tables[thread], rows_of(layout, thread, threads));
      }
      if (loops_.fence) streaming_fence();
    });
    if (columns) close_rows(levels);
    levels.swap();
  }
}

// Blocks of y outside, planes within: what a block reads of three planes stays in the cache until it is read again.
template <class T>
void RowVariant<T>::thread_rows(Levels<T>& levels, RowTable<T>& table, const base::Share& share) const {
  const Layout& layout = this->layout();
  const std::size_t height = loops_.height == 0 ? layout.shape[1] : loops_.height;
  const std::size_t first = std::max(layout.begin[0], share.begin / layout.shape[1]);
  const std::size_t last = std::min(layout.end[0], (share.end + layout.shape[1] - 1) / layout.shape[1]);
  for (std::size_t y = layout.begin[1]; y < layout.end[1]; y += height) {
    for (std::size_t z = first; z < last; ++z) block(levels, table, share, z, y, std::min(y + height, layout.end[1]));
  }
}

// Rows of one plane that the thread owns, in blocks along x.
template <class T>
void RowVariant<T>::block(Levels<T>& levels, RowTable<T>& table, const base::Share& share, std::size_t z,
                          std::size_t y_begin, std::size_t y_end) const {
  const Layout& layout = this->layout();
  const std::size_t plane = z * layout.shape[1];
  y_begin = std::max(y_begin, share.begin > plane ? share.begin - plane : 0);
  y_end = std::min(y_end, share.end > plane ? share.end - plane : 0);
  const std::size_t width = loops_.width == 0 ? layout.shape[2] : loops_.width;
  for (std::size_t x = layout.begin[2]; x < layout.end[2]; x += width) {
    const std::size_t end = std::min(x + width, layout.end[2]);
    for (std::size_t y = y_begin; y < y_end;) {
      // Two rows or one where fewer than the kernel's are left: kernels exist for 1, 2 and 4.
      std::size_t count = loops_.rows;
      while (count > y_end - y) count /= 2;
      Rows<T> rows = table.at(levels, levels.current(), levels.next(), z, y, count);
      rows.begin = x;
      rows.end = end;
      kernel_(rows);
      if (end == layout.end[2]) {
        for (std::size_t i = 0; i < count * layout.fields; ++i) levels.close_row(rows.out[i]);
      }
      y += count;
    }
  }
}

template <class T>
void RowVariant<T>::thread_columns(Levels<T>& levels, RowTable<T>& table, std::size_t thread,
                                   std::size_t threads) const {
  const Layout& layout = this->layout();
  const base::Share share = base::share(layout.end[2] - layout.begin[2], thread, threads, 64 / sizeof(T));
  if (share.begin == share.end) return;
  for (std::size_t z = layout.begin[0]; z < layout.end[0]; ++z) {
    for (std::size_t y = layout.begin[1]; y < layout.end[1]; ++y) {
      Rows<T> rows = table.at(levels, levels.current(), levels.next(), z, y, 1);
      rows.begin = layout.begin[2] + share.begin;
      rows.end = layout.begin[2] + share.end;
      kernel_(rows);
    }
  }
}

template <class T>
void RowVariant<T>::close_rows(Levels<T>& levels) const {
  const Layout& layout = this->layout();
  for (std::size_t field = 0; field < layout.fields; ++field) {
    for (std::size_t z = 0; z < layout.shape[0]; ++z) {
      for (std::size_t y = 0; y < layout.shape[1]; ++y) levels.close_row(levels.row(levels.next(), field, z, y));
    }
  }
}

template <class T>
Entry<T> row_entry(const std::string& variant, const Update<T>& update, const Layout& layout,
                   const KernelChoice<T>& choice, const RowLoops& loops, double accesses, double efficiency) {
  Entry<T> entry;
  planner::Candidate& candidate = entry.candidate;
  candidate.variant = variant;
  candidate.parameters = {{"kernel", choice.name}};
  const auto parameter = [&](const char* name, std::size_t value, std::size_t unset) {
    if (value != unset) candidate.parameters.push_back({name, std::to_string(value)});
  };
  parameter("rows", loops.rows, 1);
  parameter("width", loops.width, 0);
  parameter("height", loops.height, 0);
  parameter("threads", loops.threads, 0);
  candidate.cost = step_cost(update, layout, accesses, efficiency);
  candidate.cost.threads = loops.threads;
  candidate.cost.launches = loops.threads > 1 ? 1 : 0;
  entry.exact = choice.exact;
  entry.build = [layout, kernel = choice.kernel, loops]() -> std::shared_ptr<const Variant<T>> {
    return std::make_shared<RowVariant<T>>(layout, kernel, loops);
  };
  entry.sample = [cells = static_cast<double>(layout.cells()), kernel = choice.kernel,
                  loops](const Layout& part) -> Sample<T> {
    return {std::make_shared<RowVariant<T>>(part, kernel, loops), cells / static_cast<double>(part.cells())};
  };
  return entry;
}

template class RowVariant<float>;
template class RowVariant<double>;
template class RowVariant<std::int32_t>;
template class RowVariant<std::uint8_t>;
template Entry<float> row_entry(const std::string&, const Update<float>&, const Layout&, const KernelChoice<float>&,
                                const RowLoops&, double, double);
template Entry<double> row_entry(const std::string&, const Update<double>&, const Layout&, const KernelChoice<double>&,
                                 const RowLoops&, double, double);
template Entry<std::int32_t> row_entry(const std::string&, const Update<std::int32_t>&, const Layout&,
                                       const KernelChoice<std::int32_t>&, const RowLoops&, double, double);
template Entry<std::uint8_t> row_entry(const std::string&, const Update<std::uint8_t>&, const Layout&,
                                       const KernelChoice<std::uint8_t>&, const RowLoops&, double, double);

}  // namespace ridge::stencil
