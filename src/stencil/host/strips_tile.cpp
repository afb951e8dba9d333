#include "stencil/host/strips_tile.hpp"

#include <algorithm>

namespace ridge::stencil {
namespace {

constexpr std::size_t kLine = 64;

std::size_t round_up(std::size_t value, std::size_t grain) { return (value + grain - 1) / grain * grain; }

std::size_t whole_or(std::size_t wanted, std::size_t all) { return wanted == 0 ? all : std::min(wanted, all); }

// Each thread's own, kept from sweep to sweep: zeros at first, then whatever the last tile left. Asked for in sizes
// that come in huge pages; what is not touched takes no memory.
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

StripAxis axis_of(const Layout& layout, std::size_t axis) {
  return {.size = static_cast<std::ptrdiff_t>(layout.shape[axis]),
          .radius = layout.radius[axis],
          .begin = static_cast<std::ptrdiff_t>(layout.begin[axis]),
          .end = static_cast<std::ptrdiff_t>(layout.end[axis]),
          .periodic = layout.low[axis] == Border::periodic};
}

}  // namespace

std::ptrdiff_t StripAxis::low(std::ptrdiff_t left) const {
  const std::ptrdiff_t wanted = tile_begin - left * radius;
  return periodic ? wanted : std::max<std::ptrdiff_t>(wanted, 0);
}

std::ptrdiff_t StripAxis::high(std::ptrdiff_t left) const {
  const std::ptrdiff_t wanted = tile_end + left * radius;
  return periodic ? wanted : std::min(wanted, size);
}

bool StripAxis::touches_side(std::ptrdiff_t left) const {
  return !periodic && (low(left) < std::max<std::ptrdiff_t>(begin, 1) || high(left) > std::min(end, size - 1));
}

std::ptrdiff_t StripAxis::source(std::ptrdiff_t index) const {
  if (index >= 0 && index < size) return index;
  if (periodic) return (index % size + size) % size;
  while (index < 0 || index >= size) index = index < 0 ? -1 - index : 2 * size - 1 - index;
  return index;
}

RingFrame::RingFrame(const Layout& layout, const Strips& strips, std::size_t element_bytes) {
  const std::size_t line = std::max<std::size_t>(kLine / element_bytes, 1);
  const std::size_t outer = layout.dimensions == 3 ? 0 : 1;
  const auto radius = [&](std::size_t axis) { return static_cast<std::size_t>(layout.radius[axis]); };
  const std::size_t overlap = round_up(strips.depth * radius(2), line) + round_up(radius(2), line);
  lead = overlap;
  pitch = lead + round_up(whole_or(strips.width, layout.shape[2]), line) + overlap + line;
  if (pitch / line % 2 == 0) pitch += line;  // rows start in different sets of a cache
  rows = layout.dimensions == 3 ? whole_or(strips.height, layout.shape[1]) + 2 * strips.depth * radius(1) : 1;
  planes = round_up(2 * radius(outer) + strips.tick, strips.tick);
  hot = strips.tick > 2 * radius(outer) ? strips.tick - 2 * radius(outer) : 0;
  plane = rows * pitch * layout.fields;
  stage = hot == strips.tick ? 0 : planes * plane;
  shared = 2 * hot * plane;
  cells = shared + strips.depth * stage;
}

template <class T>
StripTile<T>::StripTile(const Layout& layout, const Strips& strips, const StripKernels<T>& kernels)
    : layout_(layout),
      strips_(strips),
      kernels_(kernels),
      frame_(layout, strips, sizeof(T)),
      outer_index_(layout.dimensions == 3 ? 0 : 1),
      outer_(axis_of(layout, outer_index_)),
      middle_(axis_of(layout, 1 - outer_index_)),
      x_(axis_of(layout, 2)),
      tick_(static_cast<std::ptrdiff_t>(strips.tick)),
      memory_(thread_memory<T>(frame_.cells)) {
  const std::size_t window = static_cast<std::size_t>(2 * outer_.radius + tick_) *
                             (2 * static_cast<std::size_t>(middle_.radius) + strips.rows);
  in_.resize(window * layout.fields);
  coefficients_.resize(window * layout.coefficients);
  out_.resize(strips.tick * strips.rows * layout.fields);
}

template <class T>
void StripTile<T>::run(Levels<T>& levels, std::size_t depth, const Cell3& begin, const Cell3& end) {
  levels_ = &levels;
  current_ = levels.current();
  next_ = levels.next();
  grid_pitch_ = static_cast<std::ptrdiff_t>(levels.frame().pitch);
  depth_ = depth;
  const auto place = [&](StripAxis& axis, std::size_t index) {
    axis.tile_begin = begin[index];
    axis.tile_end = end[index];
  };
  place(outer_, outer_index_);
  place(middle_, 1 - outer_index_);
  place(x_, 2);
  base_ = outer_.low(left(0));
  origin_ = static_cast<std::ptrdiff_t>(frame_.lead) - x_.tile_begin -
            middle_.low(left(0)) * static_cast<std::ptrdiff_t>(frame_.pitch);
  loads_ = x_.periodic && (x_.low(left(0)) < 0 || x_.high(left(0)) > x_.size);
  for (std::ptrdiff_t tick = 0;; ++tick) {
    for (std::size_t s = loads_ ? 0 : 1; s <= depth; ++s) {
      if (strips_.prefetch && s > 0) prefetch(tick, s);
      const Range range{std::max(front(s, tick - 1), outer_.low(left(s))),
                        std::min(front(s, tick), outer_.high(left(s)))};
      if (range.begin < range.end) stage(s, range);
    }
    if (front(depth, tick) >= outer_.tile_end) break;
  }
}

// Rows of a stage: those of fixed borders are carried along, the others computed.
template <class T>
void StripTile<T>::stage(std::size_t s, Range outer) {
  const Range middle{middle_.low(left(s)), middle_.high(left(s))};
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

template <class T>
void StripTile<T>::compute(std::size_t s, Range outer, Range middle) {
  const RowKernel<T>& kernel = s == depth_ ? kernels_.last : kernels_.rows;
  const auto rows = static_cast<std::ptrdiff_t>(strips_.rows);
  if (outer_index_ == 1) {
    for (std::ptrdiff_t o = outer.begin; o < outer.end; o += rows)
      call(s, o, 0, std::min(rows, outer.end - o), 1, kernel);
    return;
  }
  if (kernels_.block && outer.end - outer.begin == tick_ && middle.end - middle.begin >= rows) {
    const RowKernel<T>& block = s == depth_ ? kernels_.block_last : kernels_.block;
    for (std::ptrdiff_t m = middle.begin; m < middle.end; m += rows) {
      // The last block overlaps the one before: the same values once more.
      call(s, outer.begin, std::min(m, middle.end - rows), tick_, rows, block);
    }
    return;
  }
  for (std::ptrdiff_t o = outer.begin; o < outer.end; ++o) {
    for (std::ptrdiff_t m = middle.begin; m < middle.end; m += rows)
      call(s, o, m, 1, std::min(rows, middle.end - m), kernel);
  }
}

// The x a stage computes. Between the first and the last, whole vectors from aligned places: what is beyond the range
// reads numbers nobody set, and nobody reads it.
template <class T>
typename StripTile<T>::Range StripTile<T>::computed_x(std::size_t s) const {
  Range range{x_.low(left(s)), x_.high(left(s))};
  if (kernels_.whole_vectors && s < depth_) {
    constexpr auto kCells = static_cast<std::ptrdiff_t>(std::max<std::size_t>(kLine / sizeof(T), 1));
    range.begin = x_.tile_begin - (x_.tile_begin - range.begin + kCells - 1) / kCells * kCells;
    range.end = x_.tile_begin + (range.end - x_.tile_begin + kCells - 1) / kCells * kCells;
    return range;
  }
  if (!x_.periodic) range = {std::max(range.begin, x_.begin), std::min(range.end, x_.end)};
  return range;
}

template <class T>
void StripTile<T>::call(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes, std::ptrdiff_t rows,
                        const RowKernel<T>& kernel) {
  const Range x = computed_x(s);
  if (x.begin < x.end) {
    gather(s, o, m, planes, rows, x.begin);
    // Rows are numbered along y: in 2D that is the outer axis.
    Rows<T> work{.in = in_.data(),
                 .coefficients = coefficients_.data(),
                 .out = out_.data(),
                 .count = static_cast<std::size_t>(outer_index_ == 1 ? planes : rows),
                 .begin = 0,
                 .end = static_cast<std::size_t>(x.end - x.begin)};
    if (layout_.coefficients == 0) {
      kernel(work);
    } else {
      // Coefficients have no copies beyond periodic sides, so a piece of x is computed for each turn round the axis.
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
  if (!x_.touches_side(left(s))) return;
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    for (std::ptrdiff_t i = o; i < o + planes; ++i) {
      for (std::ptrdiff_t j = m; j < m + rows; ++j) close(s, output_row(s, field, i, j), field, i, j);
    }
  }
}

// The tables of a call: rows by the address of their cell `x`.
template <class T>
void StripTile<T>::gather(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes, std::ptrdiff_t rows,
                          std::ptrdiff_t x) {
  const bool from_old = s == 1 && !loads_;
  const auto pitch = static_cast<std::ptrdiff_t>(frame_.pitch);
  auto in = in_.begin();
  auto out = out_.begin();
  for (std::size_t field = 0; field < layout_.fields; ++field) {
    const std::ptrdiff_t first = o - outer_.radius, last = o + planes + outer_.radius;
    Slot slot = from_old || (!outer_.periodic && first < 0) ? Slot{} : slot_of(s - 1, first);
    for (std::ptrdiff_t i = first; i < last; ++i) {
      const T* plane;
      if (from_old) {
        plane = old(current_, field, i);
      } else if (const std::ptrdiff_t at = outer_.inside(i); at == i) {
        if (i == 0) slot = slot_of(s - 1, 0);
        plane = ring(s - 1, field, slot);
        advance(slot);
      } else {
        plane = ring(s - 1, field, slot_of(s - 1, at));
      }
      for (std::ptrdiff_t j = m - middle_.radius; j < m + rows + middle_.radius; ++j)
        *in++ = plane + (from_old ? middle_.source(j) * grid_pitch_ : middle_.inside(j) * pitch) + x;
    }
    if (s == depth_) {
      for (std::ptrdiff_t i = o; i < o + planes; ++i) {
        for (std::ptrdiff_t j = m; j < m + rows; ++j) *out++ = output_row(s, field, i, j) + x;
      }
    } else {
      slot = slot_of(s, o);
      for (std::ptrdiff_t i = o; i < o + planes; ++i, advance(slot)) {
        T* plane = ring(s, field, slot) + x;
        for (std::ptrdiff_t j = m; j < m + rows; ++j) *out++ = plane + j * pitch;
      }
    }
  }
}

template <class T>
void StripTile<T>::gather_coefficients(std::ptrdiff_t o, std::ptrdiff_t m, std::ptrdiff_t planes, std::ptrdiff_t rows,
                                       std::ptrdiff_t x) {
  auto entry = coefficients_.begin();
  for (std::size_t field = 0; field < layout_.coefficients; ++field) {
    for (std::ptrdiff_t i = o - outer_.radius; i < o + planes + outer_.radius; ++i) {
      for (std::ptrdiff_t j = m - middle_.radius; j < m + rows + middle_.radius; ++j)
        *entry++ = old(levels_->coefficients(), field, i) + middle_.source(j) * grid_pitch_ + x;
    }
  }
}

template <class T>
T* StripTile<T>::output_row(std::size_t s, std::size_t field, std::ptrdiff_t o, std::ptrdiff_t m) const {
  if (s < depth_) return ring(s, field, slot_of(s, o)) + m * static_cast<std::ptrdiff_t>(frame_.pitch);
  const auto z = static_cast<std::size_t>(outer_index_ == 0 ? o : m);
  const auto y = static_cast<std::size_t>(outer_index_ == 0 ? m : o);
  return levels_->row(next_, field, z, y);
}

// A row that does not change, or the old level's for stage 0.
template <class T>
void StripTile<T>::keep(std::size_t s, std::ptrdiff_t o, std::ptrdiff_t m) {
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
      if (begin == 0) begin -= x_.radius;  // the old level's rows are closed
      if (end == x_.size) end += x_.radius;
      std::copy(from + begin, from + end, to + begin);
    }
  }
}

// What x borders make of a row just computed: fixed cells back, mirrored cells beyond the end.
template <class T>
void StripTile<T>::close(std::size_t s, T* row, std::size_t field, std::ptrdiff_t o, std::ptrdiff_t m) const {
  const std::ptrdiff_t begin = x_.low(left(s)), end = x_.high(left(s));
  const T* from = old(current_, field, o) + middle_.source(m) * grid_pitch_;
  const bool restores = s < depth_;  // fixed borders are right in both levels
  if (begin < x_.begin && restores) std::copy(from + begin, from + std::min(x_.begin, end), row + begin);
  if (end > x_.end && restores) std::copy(from + std::max(x_.end, begin), from + end, row + std::max(x_.end, begin));
  if (begin == 0 && x_.begin == 0) {
    for (std::ptrdiff_t k = 1; k <= x_.radius; ++k) row[-k] = row[x_.source(-k)];
  }
  if (end == x_.size && x_.end == x_.size) {
    for (std::ptrdiff_t k = 0; k < x_.radius; ++k) row[end + k] = row[x_.source(end + k)];
  }
}

// The old level's rows of the next tick, a share of them before each stage.
template <class T>
void StripTile<T>::prefetch(std::ptrdiff_t tick, std::size_t s) const {
  constexpr auto kCells = static_cast<std::ptrdiff_t>(std::max<std::size_t>(kLine / sizeof(T), 1));
  const std::ptrdiff_t x = std::max<std::ptrdiff_t>(x_.low(left(0)), 0);
  const std::ptrdiff_t lines = (std::min(x_.high(left(0)), x_.size) - x + kCells - 1) / kCells;
  const std::ptrdiff_t begin = std::max(front(0, tick), outer_.low(left(0)));
  const std::ptrdiff_t end = std::min(front(0, tick + 1), outer_.high(left(0)));
  const std::ptrdiff_t first = middle_.low(left(0)), rows = middle_.high(left(0)) - first;
  if (begin >= end) return;
  const auto stages = static_cast<std::ptrdiff_t>(depth_), at = static_cast<std::ptrdiff_t>(s);
  const std::ptrdiff_t all = (end - begin) * rows;  // rows to fetch, cut into as many pieces as there are stages
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

template <class T>
typename StripTile<T>::Slot StripTile<T>::slot_of(std::size_t s, std::ptrdiff_t o) const {
  const auto index = static_cast<std::uint32_t>(o - base_ + static_cast<std::ptrdiff_t>(s) * outer_.radius);
  return {index % static_cast<std::uint32_t>(tick_), index % static_cast<std::uint32_t>(frame_.planes)};
}

template <class T>
void StripTile<T>::advance(Slot& slot) const {
  if (++slot.within == strips_.tick) slot.within = 0;
  if (++slot.plane == frame_.planes) slot.plane = 0;
}

template <class T>
T* StripTile<T>::ring(std::size_t s, std::size_t field, Slot slot) const {
  const std::size_t cells = slot.within < frame_.hot ? ((s % 2) * frame_.hot + slot.within) * frame_.plane
                                                     : frame_.shared + s * frame_.stage + slot.plane * frame_.plane;
  return memory_ + cells + field * frame_.rows * frame_.pitch + origin_;
}

template <class T>
const T* StripTile<T>::old(const T* level, std::size_t field, std::ptrdiff_t o) const {
  const auto at = static_cast<std::size_t>(outer_.source(o));
  return outer_index_ == 0 ? levels_->row(level, field, at, 0) : levels_->row(level, field, 0, at);
}

template class StripTile<float>;
template class StripTile<double>;
template class StripTile<std::int32_t>;
template class StripTile<std::uint8_t>;

}  // namespace ridge::stencil
