// Transforms strips of columns level by level, with the columns as lanes.
#include "fft/host/power2/columns.hpp"

#include <bit>
#include <cstring>

#include <ridge/error.hpp>

namespace ridge::fft::power2 {

namespace {

// A leaf of 256 rows by one cache line fills a quarter of a common L1; 512 if that saves a level.
constexpr int kLeafBits = 8;

// Radix 16 as long as it divides; the rest is left to the first pass, which reads the caller's rows.
std::vector<size_t> column_levels(size_t n) {
  const int bits = std::countr_zero(n);
  if (bits <= kLeafBits + 1) return {};
  int above = bits - kLeafBits;
  std::vector<size_t> levels;
  if (above % 4 >= 2) levels.push_back(size_t{1} << (above % 4));
  for (above /= 4; above > 0; --above) levels.push_back(16);
  return levels;
}

}  // namespace

template <class T>
Columns<T>::Columns(const Engine<T>& engine, size_t n) : engine_(engine), n_(n) {
  const std::vector<size_t> radices = column_levels(n);
  size_t leaf = n;
  for (const size_t radix : radices) leaf /= radix;
  for (const ColumnLine<T>& line : engine.column_lines) {
    if (line.length == leaf) line_ = &line;
  }
  for (const size_t radix : radices) {
    for (const ColumnLevel<T>& level : engine.column_levels) {
      if (level.radix == radix) levels_.push_back(&level);
    }
  }
  if (line_ == nullptr || levels_.size() != radices.size()) {
    throw Error(ErrorKind::internal, std::string("engine ") + engine.name + " lacks a column kernel");
  }
  const Roots<T> roots(n);
  line_tables_ = LineTables<T>(engine, line_->length, line_->radices, roots);
  if (radices.empty()) return;
  descent_ = Descent(radices, leaf * engine.strip, pad());
  size_t length = n;
  for (const size_t radix : radices) {
    level_tables_.push_back(shared_twiddles(roots, length, radix, 0, engine.copies));
    length /= radix;
  }
}

template <class T>
size_t Columns<T>::scratch() const {
  const size_t strip = engine_.strip;
  return work() + 2 * (line_->length * strip + pad()) + n_ * strip;
}

template <class T>
void Columns<T>::descend(int direction, size_t level, T* block, size_t output_block, size_t output_step, T* out,
                         size_t out_row, T* scratch) const {
  const size_t strip = engine_.strip;
  if (level == levels_.size()) {
    // Rows of the leaf go directly to their final positions: a row is a whole cache line, so no reordering is left.
    line_->leaf[direction](block, strip, out + 2 * out_row * output_block, out_row * descent_.blocks(),
                           line_tables_.data(), scratch);
    return;
  }
  const size_t radix = descent_.radix(level), stride = descent_.stride(level);
  if (level > 0) {
    const T* twiddles = level_tables_[level].data();
    for (const size_t run : descent_.runs(level)) {
      levels_[level]->inner[direction](block + 2 * run, strip, stride, block + 2 * run, stride, line_->length,
                                       twiddles);
      twiddles += 2 * line_->length * (radix - 1) * engine_.copies;
    }
  }
  for (size_t digit = 0; digit < radix; ++digit) {
    descend(direction, level + 1, block + 2 * stride * digit, output_block + digit * output_step, output_step * radix,
            out, out_row, scratch);
  }
}

template <class T>
void Columns<T>::run_strip(int direction, const T* in, size_t in_row, T* out, size_t out_row, T* scratch) const {
  if (levels_.empty()) {
    line_->run[direction](in, in_row, out, out_row, line_tables_.data(), scratch);
    return;
  }
  const size_t rows = n_ / descent_.radix(0);
  const size_t leaf = line_->length;
  const T* twiddles = level_tables_[0].data();
  for (size_t i = 0; i < descent_.runs(0).size(); ++i) {
    levels_[0]->outer[direction](in + 2 * in_row * leaf * i, in_row, rows * in_row, scratch + 2 * descent_.runs(0)[i],
                                 descent_.stride(0), leaf, twiddles);
    twiddles += 2 * leaf * (descent_.radix(0) - 1) * engine_.copies;
  }
  descend(direction, 0, scratch, 0, 1, out, out_row, scratch + 2 * work());
}

template <class T>
void Columns<T>::run(int direction, const T* in, size_t in_row, T* out, size_t out_row, size_t columns,
                     T* scratch) const {
  const size_t strip = engine_.strip;
  size_t c = 0;
  for (; c + strip <= columns; c += strip) run_strip(direction, in + 2 * c, in_row, out + 2 * c, out_row, scratch);
  if (c == columns) return;
  // A narrower last strip is processed as a full one next to the work area.
  const size_t rest = columns - c;
  T* const tile = scratch + 2 * (work() + 2 * (line_->length * strip + pad()));
  std::memset(tile, 0, 2 * sizeof(T) * n_ * strip);
  for (size_t p = 0; p < n_; ++p) {
    std::memcpy(tile + 2 * strip * p, in + 2 * (in_row * p + c), 2 * sizeof(T) * rest);
  }
  run_strip(direction, tile, strip, tile, strip, scratch);
  for (size_t p = 0; p < n_; ++p) {
    std::memcpy(out + 2 * (out_row * p + c), tile + 2 * strip * p, 2 * sizeof(T) * rest);
  }
}

template class Columns<float>;
template class Columns<double>;

}  // namespace ridge::fft::power2
