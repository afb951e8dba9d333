// Loops of host variants that take one step at a time.
#include "stencil/host/row_variants/row_variant.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/threads.hpp"
#include "stencil/host/schedule.hpp"

namespace ridge::stencil {

// Remaining blocks of each thread's rows in a step.
template <class T>
class RowVariant<T>::Pieces {
 public:
  Pieces(std::size_t threads, std::size_t pieces) : next_(threads), pieces_(pieces) {}
  void refill() {
    for (Counter& counter : next_) counter.value.store(0, std::memory_order_relaxed);
  }
  // The thread's own blocks first, because it touched their memory first, then those of other threads.
  template <class Work>
  void take(const Layout& layout, std::size_t thread, const Work& work) {
    const std::size_t threads = next_.size();
    for (std::size_t i = 0; i < threads; ++i) {
      const std::size_t owner = (thread + i) % threads;
      const base::Share all = rows_of(layout, owner, threads);
      for (std::size_t piece; (piece = next_[owner].value.fetch_add(1, std::memory_order_relaxed)) < pieces_;) {
        const base::Share part = base::share(all.end - all.begin, piece, pieces_);
        work(base::Share{all.begin + part.begin, all.begin + part.end});
      }
    }
  }

 private:
  struct alignas(base::kAlignment) Counter {
    std::atomic<std::size_t> value{0};
  };
  std::vector<Counter> next_;
  std::size_t pieces_;
};

template <class T>
void RowVariant<T>::steps(Levels<T>& levels, std::size_t count) const {
  const Layout& layout = this->layout();
  const bool columns = layout.rows() < 2 * loops_.threads;  // too few rows to divide: divide x
  std::vector<RowTable<T>> tables;                          // never copied: they contain pointers to themselves
  tables.reserve(loops_.threads);
  for (std::size_t thread = 0; thread < loops_.threads; ++thread) tables.emplace_back(layout, loops_.rows);
  Pieces pieces(loops_.threads, loops_.pieces);
  Shares guided(Schedule::guided, layout.rows(), loops_.threads);
  for (std::size_t step = 0; step < count; ++step) {
    pieces.refill();
    guided.refill();
    base::parallel(loops_.threads, [&](std::size_t thread, std::size_t threads) {
      if (columns) {
        thread_columns(levels, tables[thread], thread, threads);
      } else if (loops_.pieces > 0) {
        pieces.take(layout, thread, [&](const base::Share& share) { thread_rows(levels, tables[thread], share); });
      } else if (layout.schedule == Schedule::guided) {
        guided.take(thread, [&](const base::Share& share) { thread_rows(levels, tables[thread], share); });
      } else {
        thread_rows(levels, tables[thread], rows_of(layout, thread, threads));
      }
      if (loops_.fence) streaming_fence();
    });
    if (columns) close_rows(levels);
    levels.swap();
  }
}

// Outer loop over blocks of y, inner loop over planes: the rows of three planes that a block reads stay in the cache.
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
  if (loops_.flat && y_begin < y_end) {
    // Rows at the sides of the grid read across the border, not a pitch away.
    const auto reach = static_cast<std::size_t>(layout.radius[1]);
    const std::size_t first = std::max(y_begin, reach), last = std::min(y_end, layout.shape[1] - reach);
    if (first < last) {
      flat_rows(levels, table, z, {first, last});
      block(levels, table, {plane + y_begin, plane + first}, z, y_begin, first);
      y_begin = last;
    }
  }
  const std::size_t width = loops_.width == 0 ? layout.shape[2] : loops_.width;
  for (std::size_t x = layout.begin[2]; x < layout.end[2]; x += width) {
    const std::size_t end = std::min(x + width, layout.end[2]);
    for (std::size_t y = y_begin; y < y_end;) {
      // Two rows or one where fewer than the kernel's number remain: kernels exist for 1, 2 and 4.
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

// Computes rows of a plane, none of them at a side of the grid, as one long row.
template <class T>
void RowVariant<T>::flat_rows(Levels<T>& levels, RowTable<T>& table, std::size_t z, const base::Share& rows) const {
  const Layout& layout = this->layout();
  const std::size_t count = rows.end - rows.begin, pitch = levels.frame().pitch;
  Rows<T> work = table.at(levels, levels.current(), levels.next(), z, rows.begin, 1);
  work.begin = layout.begin[2];
  work.end = (count - 1) * pitch + layout.end[2];
  kernel_(work);
  const T* from = levels.row(levels.current(), 0, z, rows.begin);
  T* to = work.out[0];
  for (std::size_t i = 0; i < count; ++i, from += pitch, to += pitch) {
    for (std::size_t x = 0; x < layout.begin[2]; ++x) to[x] = from[x];
    for (std::size_t x = layout.end[2]; x < layout.shape[2]; ++x) to[x] = from[x];
    levels.close_row(to);
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
                   const KernelChoice<T>& choice, RowLoops loops, double accesses, double efficiency) {
  if (layout.schedule != Schedule::automatic) loops.pieces = layout.schedule == Schedule::dynamic ? kPieces : 0;
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
  parameter("flat", loops.flat, 0);
  parameter("pieces", loops.pieces, 0);
  add_schedule(candidate, layout);
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
                                RowLoops, double, double);
template Entry<double> row_entry(const std::string&, const Update<double>&, const Layout&, const KernelChoice<double>&,
                                 RowLoops, double, double);
template Entry<std::int32_t> row_entry(const std::string&, const Update<std::int32_t>&, const Layout&,
                                       const KernelChoice<std::int32_t>&, RowLoops, double, double);
template Entry<std::uint8_t> row_entry(const std::string&, const Update<std::uint8_t>&, const Layout&,
                                       const KernelChoice<std::uint8_t>&, RowLoops, double, double);

}  // namespace ridge::stencil
