// Computation of one overlapped tile: its stages, rings, borders and prefetches.
#include "stencil/host/temporal_tiles/overlapped_tile.hpp"

#include <algorithm>

#include "stencil/host/kernels/sweep_simd.hpp"
#include "stencil/host/levels.hpp"

namespace ridge::stencil {
namespace {

std::size_t whole_or(std::size_t wanted, std::size_t all) { return wanted == 0 ? all : std::min(wanted, all); }

// Buffer of each thread, kept from sweep to sweep: initially zero, then with the values of the last tile. Allocated in
// sizes that use huge pages; untouched pages take no memory.
template <class T>
T* thread_memory(std::size_t cells) {
  constexpr std::size_t kHuge = (std::size_t{4} << 20) / sizeof(T);
  thread_local base::AlignedArray<T> memory;
  thread_local std::size_t zeroed = 0;
  if (memory.size() < cells) {
    memory = base::AlignedArray<T>(std::max(cells, kHuge));
    zeroed = 0;
  }
  if (zeroed < cells) {
    std::fill(memory.data() + zeroed, memory.data() + cells, T{});
    zeroed = cells;
  }
  return memory.data();
}

// Rows of the rings have the pitch of the levels' rows, so that a plane can be computed as one long row.
bool whole_rows(const Layout& layout, const TimeTiling& tiling) {
  return layout.dimensions == 3 && layout.low[2] != Border::periodic &&
         (tiling.width == 0 || tiling.width >= layout.shape[2]);
}

TileAxis axis_of(const Layout& layout, std::size_t axis) {
  return {.size = static_cast<std::ptrdiff_t>(layout.shape[axis]),
          .radius = layout.radius[axis],
          .begin = static_cast<std::ptrdiff_t>(layout.begin[axis]),
          .end = static_cast<std::ptrdiff_t>(layout.end[axis]),
          .periodic = layout.low[axis] == Border::periodic};
}

}  // namespace

std::ptrdiff_t TileAxis::low(std::ptrdiff_t left) const {
  const std::ptrdiff_t wanted = tile_begin - left * radius;
  return periodic ? wanted : std::max<std::ptrdiff_t>(wanted, 0);
}

std::ptrdiff_t TileAxis::high(std::ptrdiff_t left) const {
  const std::ptrdiff_t wanted = tile_end + left * radius;
  return periodic ? wanted : std::min(wanted, size);
}

bool TileAxis::touches_side(std::ptrdiff_t left) const {
  return !periodic && (low(left) < std::max<std::ptrdiff_t>(begin, 1) || high(left) > std::min(end, size - 1));
}

std::ptrdiff_t TileAxis::source(std::ptrdiff_t index) const {
  if (index >= 0 && index < size) return index;
  if (periodic) return (index % size + size) % size;
  while (index < 0 || index >= size) index = index < 0 ? -1 - index : 2 * size - 1 - index;
  return index;
}

RingFrame::RingFrame(const Layout& layout, const TimeTiling& tiling, std::size_t element_bytes) {
  const std::size_t line = std::max<std::size_t>(kLine / element_bytes, 1);
  const std::size_t outer = layout.dimensions == 3 ? 0 : 1;
  const auto radius = [&](std::size_t axis) { return static_cast<std::size_t>(layout.radius[axis]); };
  const std::size_t overlap = round_up(tiling.depth * radius(2), line) + round_up(radius(2), line);
  lead = overlap;
  pitch = lead + round_up(whole_or(tiling.width, layout.shape[2]), line) + overlap + line;
  if (pitch / line % 2 == 0) pitch += line;  // an odd number of lines, so that rows start in different cache sets
  if (whole_rows(layout, tiling)) {
    const RowFrame grid(layout, element_bytes);
    lead = grid.pad;
    pitch = grid.pitch;
  }
  rows = layout.dimensions == 3 ? whole_or(tiling.height, layout.shape[1]) + 2 * tiling.depth * radius(1) : 1;
  planes = round_up(2 * radius(outer) + tiling.tick, tiling.tick);
  hot = tiling.tick > 2 * radius(outer) ? tiling.tick - 2 * radius(outer) : 0;
  plane = rows * pitch * layout.fields;
  stage = hot == tiling.tick ? 0 : planes * plane;
  shared = 2 * hot * plane;
  cells = shared + tiling.depth * stage;
}

template <class T>
OverlappedTile<T>::OverlappedTile(const Layout& layout, const TimeTiling& tiling, const SweepKernels<T>& kernels)
    : layout_(layout),
      tiling_(tiling),
      kernels_(kernels),
      frame_(layout, tiling, sizeof(T)),
      outer_index_(layout.dimensions == 3 ? 0 : 1),
      outer_(axis_of(layout, outer_index_)),
      middle_(axis_of(layout, 1 - outer_index_)),
      x_(axis_of(layout, 2)),
      tick_(static_cast<std::ptrdiff_t>(tiling.tick)),
      memory_(thread_memory<T>(frame_.cells)) {
  const std::size_t most = std::max(tiling.tick, outer_index_ == 1 ? tiling.rows : 1);
  const std::size_t window = (2 * static_cast<std::size_t>(outer_.radius) + most) *
                             (2 * static_cast<std::size_t>(middle_.radius) + tiling.rows);
  table_.in.resize(window * layout.fields);
  table_.out.resize(tiling.tick * tiling.rows * layout.fields);
  coefficients_.resize(window * layout.coefficients);
  in_planes_.resize((2 * static_cast<std::size_t>(outer_.radius) + tiling.tick) * layout.fields);
  out_planes_.resize(tiling.tick * layout.fields);
}

template <class T>
void OverlappedTile<T>::run(Levels<T>& levels, std::size_t depth, const Cell3& begin, const Cell3& end) {
  levels_ = &levels;
  current_ = levels.current();
  next_ = levels.next();
  grid_pitch_ = static_cast<std::ptrdiff_t>(levels.frame().pitch);
  depth_ = depth;
  const auto place = [&](TileAxis& axis, std::size_t index) {
    axis.tile_begin = begin[index];
    axis.tile_end = end[index];
  };
  place(outer_, outer_index_);
  place(middle_, 1 - outer_index_);
  place(x_, 2);
  base_ = outer_.low(left(0));
  origin_ = static_cast<std::ptrdiff_t>(frame_.lead) - x_.tile_begin -
            middle_.low(left(0)) * static_cast<std::ptrdiff_t>(frame_.pitch);
  kept_.assign(outer_index_ == 1 ? depth * frame_.planes : 0, {});
  spans_.clear();
  for (std::size_t s = 0; s <= depth; ++s) {
    const Range outer{outer_.low(left(s)), outer_.high(left(s))}, middle{middle_.low(left(s)), middle_.high(left(s))},
        x{x_.low(left(s)), x_.high(left(s))};
    spans_.push_back({outer, middle, x, computed_x(s), x_.touches_side(left(s))});
  }
  loads_ = x_.periodic && (x_.low(left(0)) < 0 || x_.high(left(0)) > x_.size);
  for (std::ptrdiff_t tick = 0;; ++tick) {
    now_ = tick;
    for (std::size_t s = loads_ ? 0 : 1; s <= depth; ++s) {
      if (tiling_.prefetch && s > 0) prefetch(tick, s);
      const Range range{std::max(front(s, tick - 1), spans_[s].outer.begin),
                        std::min(front(s, tick), spans_[s].outer.end)};
      if (range.begin < range.end) stage(s, range);
    }
    if (front(depth, tick) >= outer_.tile_end) break;
  }
}

// Computes the rows of a stage; those of fixed borders are copied.
template <class T>
void OverlappedTile<T>::stage(std::size_t s, Range outer) {
  const Range middle = spans_[s].middle;
  Range inner = middle, run = outer;
  if (s > 0 && !middle_.periodic) {
    inner = {std::max(middle.begin, middle_.begin), std::min(middle.end, middle_.end)};
  }
  if (s > 0 && !outer_.periodic) run = {std::max(outer.begin, outer_.begin), std::min(outer.end, outer_.end)};
  const bool keeps = s < depth_ && (s == 0 || run.begin > outer.begin || run.end < outer.end ||
                                    inner.begin > middle.begin || inner.end < middle.end);
  if (keeps) {
    for (std::ptrdiff_t o = outer.begin; o < outer.end; ++o) {
      const bool whole = s == 0 || outer_.kept(o);
      for (std::ptrdiff_t m = middle.begin; m < middle.end; ++m) {
        if (whole || middle_.kept(m)) keep(s, o, m);
      }
    }
  }
  if (s > 0 && run.begin < run.end && inner.begin < inner.end) compute(s, run, inner);
}

// In 3D the outer loop is over rows and the inner one over the planes of a tick, so that inputs common to adjacent
// planes are still in the first-level cache.
template <class T>
void OverlappedTile<T>::compute(std::size_t s, Range outer, Range middle) {
  const RowKernel<T>& kernel = s == depth_ ? kernels_.last : kernels_.rows;
  const auto rows = static_cast<std::ptrdiff_t>(tiling_.rows), planes = static_cast<std::ptrdiff_t>(tiling_.planes);
  find_planes(s, outer);
  if (outer_index_ == 1) {
    for (std::ptrdiff_t o = outer.begin; o < outer.end; o += rows)
      call(s, o, 0, std::min(rows, outer.end - o), 1, kernel);
    return;
  }
  if (kernels_.plane && whole_rows(layout_, tiling_)) {
    // Rows whose neighbouring rows are not one pitch away (beyond a side of the plane) are computed one by one.
    const bool from_old = s == 1 && !loads_;
    Range inner = middle;
    if (from_old || !middle_.periodic) {
      inner = {std::max(middle.begin, middle_.radius), std::min(middle.end, middle_.size - middle_.radius)};
      inner.end = std::max(inner.begin, inner.end);
    }
    for (std::ptrdiff_t o = outer.begin; o < outer.end;) {
      const std::ptrdiff_t count = o + planes <= outer.end ? planes : 1;
      if (tiling_.within) announce(s, (o - outer.begin) / planes, (outer.end - outer.begin + planes - 1) / planes);
      if (inner.begin < inner.end) call_plane(s, o, count, inner);
      fetch_ahead<T>() = {};
      for (std::ptrdiff_t i = o; i < o + count; ++i) {
        for (std::ptrdiff_t m = middle.begin; m < std::min(inner.begin, middle.end); ++m) call(s, i, m, 1, 1, kernel);
        for (std::ptrdiff_t m = std::max(inner.end, inner.begin); m < middle.end; ++m) call(s, i, m, 1, 1, kernel);
      }
      o += count;
    }
    return;
  }
  const bool blocks = kernels_.block && middle.end - middle.begin >= rows;
  const RowKernel<T>& block = s == depth_ ? kernels_.block_last : kernels_.block;
  for (std::ptrdiff_t m = middle.begin; m < middle.end; m += rows) {
    std::ptrdiff_t o = outer.begin;
    // The last block overlaps the previous one and computes the same values again.
    for (; blocks && o + planes <= outer.end; o += planes)
      call(s, o, std::min(m, middle.end - rows), planes, rows, block);
    for (; o < outer.end; ++o) call(s, o, m, 1, std::min(rows, middle.end - m), kernel);
  }
}

// Range of x that a stage computes. Inner stages compute whole aligned vectors: cells beyond the range are computed
// from undefined values and never read.
template <class T>
typename OverlappedTile<T>::Range OverlappedTile<T>::computed_x(std::size_t s) const {
  Range range{x_.low(left(s)), x_.high(left(s))};
  if (kernels_.vector > 0 && s < depth_) {
    const auto cells = static_cast<std::ptrdiff_t>(kernels_.vector);
    range.begin = x_.tile_begin - (x_.tile_begin - range.begin + cells - 1) / cells * cells;
    range.end = x_.tile_begin + (range.end - x_.tile_begin + cells - 1) / cells * cells;
    return range;
  }
  if (!x_.periodic) range = {std::max(range.begin, x_.begin), std::min(range.end, x_.end)};
  return range;
}

template <class T>
void OverlappedTile<T>::call(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes,
                             std::ptrdiff_t rows, const RowKernel<T>& kernel) {
  const Range x = spans_[s].computed;
  if (x.begin < x.end) {
    const Table& table = table_of(s, o, m, planes, rows);
    // Rows are numbered along y, which is the outer axis in 2D.
    Rows<T> work{.in = table.in.data(),
                 .coefficients = coefficients_.data(),
                 .out = table.out.data(),
                 .count = static_cast<std::size_t>(outer_index_ == 1 ? planes : rows),
                 .begin = 0,
                 .end = static_cast<std::size_t>(x.end - x.begin)};
    if (layout_.coefficients == 0) {
      kernel(work);
    } else {
      // Coefficients have no copies beyond periodic sides, so each period of the axis is computed separately.
      for (std::ptrdiff_t begin = x.begin; begin < x.end;) {
        const std::ptrdiff_t at = x_.periodic ? x_.source(begin) : begin;
        const std::ptrdiff_t end = x_.periodic ? std::min(x.end, begin + x_.size - at) : x.end;
        gather_coefficients(o, m, planes, rows, x.begin + at - begin);
        work.begin = static_cast<std::size_t>(begin - x.begin);
        work.end = static_cast<std::size_t>(end - x.begin);
        kernel(work);
        begin = end;
      }
    }
  }
  if (!spans_[s].closes) return;
  auto out = table_of(s, o, m, planes, rows).out.begin();
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    for (std::ptrdiff_t i = o; i < o + planes; ++i) {
      for (std::ptrdiff_t j = m; j < m + rows; ++j) close(s, *out++ - x.begin, field, i, j);
    }
  }
}

// Computes the rows of a plane as one long row; the padding between them is computed too and restored afterwards.
template <class T>
void OverlappedTile<T>::call_plane(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t planes, Range middle) {
  const bool several = planes > 1;
  const RowKernel<T>& kernel = s == depth_ ? (several ? kernels_.planes_last : kernels_.plane_last)
                                           : (several ? kernels_.planes : kernels_.plane);
  const auto pitch = static_cast<std::ptrdiff_t>(frame_.pitch);
  gather(table_, s, o, middle.begin, planes, 1, 0);
  kernel({.in = table_.in.data(),
          .out = table_.out.data(),
          .count = 1,
          .begin = 0,
          .end = static_cast<std::size_t>((middle.end - 1 - middle.begin) * pitch + x_.size)});
  // Fixed cells are the same in every step: they are copied from the plane just read, which is still cached.
  const std::ptrdiff_t window = 2 * middle_.radius + 1;
  for (std::ptrdiff_t i = 0; i < planes; ++i) {
    const T* from = table_.in[static_cast<std::size_t>((i + outer_.radius) * window + middle_.radius)];
    T* row = table_.out[static_cast<std::size_t>(i)];
    for (std::ptrdiff_t m = middle.begin; m < middle.end; ++m, row += pitch, from += pitch) {
      for (std::ptrdiff_t x = 0; x < x_.begin; ++x) row[x] = from[x];
      for (std::ptrdiff_t x = x_.end; x < x_.size; ++x) row[x] = from[x];
      if (x_.begin == 0) {
        for (std::ptrdiff_t k = 1; k <= x_.radius; ++k) row[-k] = row[x_.source(-k)];
      }
      if (x_.end == x_.size) {
        for (std::ptrdiff_t k = 0; k < x_.radius; ++k) row[x_.size + k] = row[x_.source(x_.size + k)];
      }
    }
  }
}

// Pointer tables of a call. In 2D those of inner stages repeat with the period of the rings and are kept.
template <class T>
const typename OverlappedTile<T>::Table& OverlappedTile<T>::table_of(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m,
                                                                     std::ptrdiff_t planes, std::ptrdiff_t rows) {
  const bool inside = outer_.periodic || (o >= outer_.radius && o + planes + outer_.radius <= outer_.size);
  const bool whole = outer_index_ == 1 && planes == static_cast<std::ptrdiff_t>(tiling_.rows);
  if (!(inside && whole && s < depth_ && (s > 1 || loads_))) {
    gather(table_, s, o, m, planes, rows, spans_[s].computed.begin);
    return table_;
  }
  Table& table = kept_[s * frame_.planes + slot_of(s, o).plane];
  if (table.in.empty()) {
    table = table_;
    gather(table, s, o, m, planes, rows, spans_[s].computed.begin);
  }
  return table;
}

// Pointers to rows, by the address of their cell `x`.
template <class T>
void OverlappedTile<T>::gather(Table& table, std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes,
                               std::ptrdiff_t rows, std::ptrdiff_t x) {
  const bool from_old = s == 1 && !loads_;
  const auto ring_pitch = static_cast<std::ptrdiff_t>(frame_.pitch);
  auto in = table.in.begin();
  auto out = table.out.begin();
  const std::ptrdiff_t found = found_.end - found_.begin, first = o - found_.begin;
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    const auto at = static_cast<std::ptrdiff_t>(field);
    auto from = in_planes_.begin() + at * (found + 2 * outer_.radius) + first;
    for (std::ptrdiff_t i = 0; i < planes + 2 * outer_.radius; ++i, ++from) {
      for (std::ptrdiff_t j = m - middle_.radius; j < m + rows + middle_.radius; ++j)
        *in++ = *from + (from_old ? middle_.source(j) * grid_pitch_ : middle_.inside(j) * ring_pitch) + x;
    }
    auto to = out_planes_.begin() + at * found + first;
    for (std::ptrdiff_t i = 0; i < planes; ++i, ++to) {
      for (std::ptrdiff_t j = m; j < m + rows; ++j) *out++ = *to + j * (s == depth_ ? grid_pitch_ : ring_pitch) + x;
    }
  }
}

// The planes (2D: rows) that a stage reads and writes in a tick.
template <class T>
void OverlappedTile<T>::find_planes(std::size_t s, Range outer) {
  found_ = outer;
  auto in = in_planes_.begin();
  auto out = out_planes_.begin();
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    for (std::ptrdiff_t i = outer.begin - outer_.radius; i < outer.end + outer_.radius; ++i)
      *in++ = s == 1 && !loads_ ? old(current_, field, i) : ring(s - 1, field, slot_of(s - 1, outer_.inside(i)));
    for (std::ptrdiff_t i = outer.begin; i < outer.end; ++i)
      *out++ = s == depth_ ? new_plane(field, i) : ring(s, field, slot_of(s, i));
  }
}

template <class T>
void OverlappedTile<T>::gather_coefficients(std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes,
                                            std::ptrdiff_t rows, std::ptrdiff_t x) {
  auto entry = coefficients_.begin();
  for (std::size_t field = 0; field < layout_.coefficients; ++field) {
    for (std::ptrdiff_t i = o - outer_.radius; i < o + planes + outer_.radius; ++i) {
      for (std::ptrdiff_t j = m - middle_.radius; j < m + rows + middle_.radius; ++j)
        *entry++ = old(levels_->coefficients(), field, i) + middle_.source(j) * grid_pitch_ + x;
    }
  }
}

// Copies a row that does not change, or, for stage 0, a row of the old level.
template <class T>
void OverlappedTile<T>::keep(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m) {
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    const T* from = old(current_, field, o) + middle_.source(m) * grid_pitch_;
    T* to = ring(s, field, slot_of(s, o)) + m * static_cast<std::ptrdiff_t>(frame_.pitch);
    std::ptrdiff_t begin = x_.low(left(s)), end = x_.high(left(s));
    if (x_.periodic) {
      while (begin < end) {
        const std::ptrdiff_t at = x_.source(begin), count = std::min(x_.size - at, end - begin);
        std::copy_n(from + at, count, to + begin);
        begin += count;
      }
    } else {
      if (begin == 0) begin -= x_.radius;  // the old level's rows include their border cells
      if (end == x_.size) end += x_.radius;
      std::copy(from + begin, from + end, to + begin);
    }
  }
}

// Applies the x borders to a row just computed: restores fixed cells and fills mirrored cells beyond the end.
template <class T>
void OverlappedTile<T>::close(std::size_t s, T* row, std::size_t field, std::ptrdiff_t o, std::ptrdiff_t m) const {
  const auto [begin, end] = spans_[s].x;
  if (s < depth_ && (begin < x_.begin || end > x_.end)) {  // the levels themselves hold the right fixed borders
    const T* from = old(current_, field, o) + middle_.source(m) * grid_pitch_;
    for (std::ptrdiff_t x = begin; x < std::min(x_.begin, end); ++x) row[x] = from[x];
    for (std::ptrdiff_t x = std::max(x_.end, begin); x < end; ++x) row[x] = from[x];
  }
  if (begin == 0 && x_.begin == 0) {
    for (std::ptrdiff_t k = 1; k <= x_.radius; ++k) row[-k] = row[x_.source(-k)];
  }
  if (end == x_.size && x_.end == x_.size) {
    for (std::ptrdiff_t k = 0; k < x_.radius; ++k) row[end + k] = row[x_.source(end + k)];
  }
}

// Prefetches the old level's rows of the next tick, a share before each stage.
template <class T>
void OverlappedTile<T>::prefetch(std::ptrdiff_t tick, std::size_t s) const {
  constexpr auto kCells = static_cast<std::ptrdiff_t>(std::max<std::size_t>(kLine / sizeof(T), 1));
  const std::ptrdiff_t x = std::max<std::ptrdiff_t>(x_.low(left(0)), 0);
  const std::ptrdiff_t lines = (std::min(x_.high(left(0)), x_.size) - x + kCells - 1) / kCells;
  const std::ptrdiff_t begin = std::max(front(0, tick), outer_.low(left(0)));
  const std::ptrdiff_t end = std::min(front(0, tick + 1), outer_.high(left(0)));
  const std::ptrdiff_t first = middle_.low(left(0)), rows = middle_.high(left(0)) - first;
  if (begin >= end) return;
  const auto stages = static_cast<std::ptrdiff_t>(depth_), at = static_cast<std::ptrdiff_t>(s);
  const std::ptrdiff_t all = (end - begin) * rows;  // rows to prefetch, divided into as many parts as there are stages
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    std::ptrdiff_t line = all * lines * (at - 1) / stages;
    const std::ptrdiff_t last = all * lines * at / stages;
    while (line < last) {
      const std::ptrdiff_t row = line / lines, column = line % lines, count = std::min(lines - column, last - line);
      const T* from = old(current_, field, begin + row / rows) + middle_.source(first + row % rows) * grid_pitch_ + x;
      for (std::ptrdiff_t k = column; k < column + count; ++k) __builtin_prefetch(from + k * kCells, 0, 2);
      line += count;
    }
  }
}

// Tells the kernel which lines of the next tick's planes to prefetch in this call, one of `calls` of the stage.
template <class T>
void OverlappedTile<T>::announce(std::size_t s, std::ptrdiff_t call, std::ptrdiff_t calls) const {
  constexpr auto kCells = static_cast<std::ptrdiff_t>(std::max<std::size_t>(kLine / sizeof(T), 1));
  const std::ptrdiff_t begin = std::max(front(0, now_), outer_.low(left(0)));
  const std::ptrdiff_t end = std::min(front(0, now_ + 1), outer_.high(left(0)));
  if (begin >= end) return;
  const std::ptrdiff_t m = std::max<std::ptrdiff_t>(middle_.low(left(0)), 0);
  const std::ptrdiff_t rows = std::min(middle_.high(left(0)), middle_.size) - m;
  const std::ptrdiff_t lines = ((rows - 1) * grid_pitch_ + x_.size + kCells - 1) / kCells;  // consecutive
  const std::ptrdiff_t all = (end - begin) * lines, shares = static_cast<std::ptrdiff_t>(depth_) * calls;
  const std::ptrdiff_t share = static_cast<std::ptrdiff_t>(s - 1) * calls + call;
  const std::ptrdiff_t first = all * share / shares, last = all * (share + 1) / shares;
  const std::ptrdiff_t count = std::min(last - first, lines - first % lines);  // up to the end of the plane
  fetch_ahead<T>() = {old(current_, 0, begin + first / lines) + m * grid_pitch_ + first % lines * kCells,
                      static_cast<std::size_t>(count)};
}

template <class T>
typename OverlappedTile<T>::Slot OverlappedTile<T>::slot_of(std::size_t s, std::ptrdiff_t o) const {
  const auto index = static_cast<std::uint32_t>(o - base_ + static_cast<std::ptrdiff_t>(s) * outer_.radius);
  return {index % static_cast<std::uint32_t>(tick_), index % static_cast<std::uint32_t>(frame_.planes)};
}

template <class T>
T* OverlappedTile<T>::ring(std::size_t s, std::size_t field, Slot slot) const {
  const std::size_t cells = slot.within < frame_.hot ? ((s % 2) * frame_.hot + slot.within) * frame_.plane
                                                     : frame_.shared + s * frame_.stage + slot.plane * frame_.plane;
  return memory_ + cells + field * frame_.rows * frame_.pitch + origin_;
}

template <class T>
const T* OverlappedTile<T>::old(const T* level, std::size_t field, std::ptrdiff_t o) const {
  const auto at = static_cast<std::size_t>(outer_.source(o));
  return outer_index_ == 0 ? levels_->row(level, field, at, 0) : levels_->row(level, field, 0, at);
}

template <class T>
T* OverlappedTile<T>::new_plane(std::size_t field, std::ptrdiff_t o) const {
  const auto at = static_cast<std::size_t>(o);
  return outer_index_ == 0 ? levels_->row(next_, field, at, 0) : levels_->row(next_, field, 0, at);
}

template class OverlappedTile<float>;
template class OverlappedTile<double>;
template class OverlappedTile<std::int32_t>;
template class OverlappedTile<std::uint8_t>;

}  // namespace ridge::stencil
