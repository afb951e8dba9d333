#include "fft/host/power2/tables.hpp"

#include <utility>

namespace ridge::fft::power2 {

namespace {

// The order of points in an inner vector wider than 128 bits: see Split::point().
template <class T>
size_t lane_point(size_t lane, size_t lanes, bool split) {
  return split && lanes * sizeof(T) > 16 ? (lane % 2) * (lanes / 2) + lane / 2 : lane;
}

}  // namespace

template <class T>
Table<T> lane_twiddles(const Roots<T>& roots, size_t n, size_t radix, size_t lanes, bool split, bool folded) {
  const size_t step = roots.length() / n, count = n / radix;
  Table<T> table(2 * count * (radix - 1));
  T* out = table.data();
  for (size_t p = 0; p < count; p += lanes) {
    for (size_t k = 1; k < radix; ++k, out += 2 * lanes) {
      for (size_t l = 0; l < lanes; ++l) {
        const std::complex<T> w = roots.at(step * (p + lane_point<T>(l, lanes, split && folded)) * k);
        out[split ? l : 2 * l] = w.real();
        out[split ? lanes + l : 2 * l + 1] = w.imag();
      }
    }
  }
  return table;
}

template <class T>
Table<T> neighbour_twiddles(const Roots<T>& roots, size_t n, size_t radix) {
  const size_t step = roots.length() / n, count = n / radix;
  Table<T> table(2 * count * (radix - 1));
  T* out = table.data();
  for (size_t p = 0; p < count; p += 2) {
    for (size_t k = 1; k < radix; ++k, out += 4) {
      const std::complex<T> even = roots.at(step * p * k), odd = roots.at(step * (p + 1) * k);
      out[0] = even.real(), out[1] = odd.real(), out[2] = even.imag(), out[3] = odd.imag();
    }
  }
  return table;
}

template <class T>
Table<T> shared_twiddles(const Roots<T>& roots, size_t n, size_t radix, size_t first, size_t copies) {
  const size_t step = roots.length() / n, count = n / radix;
  Table<T> table(2 * (count - first) * (radix - 1) * copies);
  T* out = table.data();
  for (size_t p = first; p < count; ++p) {
    for (size_t k = 1; k < radix; ++k) {
      const std::complex<T> w = roots.at(step * p * k);
      for (size_t i = 0; i < copies; ++i) {
        *out++ = w.real();
        *out++ = w.imag();
      }
    }
  }
  return table;
}

template <class T>
Table<T> register_twiddles(const Roots<T>& roots, size_t n) {
  constexpr size_t kLanes = 16;
  const size_t rows = n < kLanes ? 0 : n / kLanes - 1;
  Table<T> table(2 * kLanes * (rows + 3));
  T* out = table.data();
  const auto put = [&](size_t row, size_t order, size_t cycle) {
    for (size_t l = 0; l < kLanes; ++l) {
      const std::complex<T> w = roots.at(roots.length() / order * (row * (l % cycle) % order));
      out[l] = w.real();
      out[kLanes + l] = w.imag();
    }
    out += 2 * kLanes;
  };
  for (size_t k = 1; k <= rows; ++k) put(k, n, kLanes);
  const size_t order = n < kLanes ? n : kLanes;
  for (size_t a = 1; a < 4; ++a) put(a, order, n < kLanes ? 2 : 4);
  return table;
}

template <class T>
Table<T> pair_twiddles(const Roots<T>& roots, size_t n, size_t points) {
  const size_t rows = n / points;
  Table<T> table(4 * points * rows);
  T* out = table.data();
  const auto put = [&](size_t p, std::complex<T> w) {
    out[2 * p] = out[2 * p + 1] = w.real();
    out[2 * points + 2 * p] = -w.imag();
    out[2 * points + 2 * p + 1] = w.imag();
  };
  // Within a vector, the second half's factors before the halves part: roots of the order of its points.
  for (size_t p = 0; p < points; ++p) put(p, roots.at(p < points / 2 ? 0 : (p - points / 2) * rows));
  for (size_t r = 1; r < rows; ++r) {
    out += 4 * points;
    for (size_t p = 0; p < points; ++p) put(p, roots.at(r * p));
  }
  return table;
}

template <class T>
void LineTables<T>::add(Table<T> table) {
  tables_.push_back(std::move(table));
  pointers_.push_back(tables_.back().data());
}

template <class T>
LineTables<T>::LineTables(const Engine<T>& engine, const Line<T>& line, const Roots<T>& roots) {
  size_t n = line.length;
  if (line.tables == LineTableKind::registers) add(register_twiddles(roots, n));
  if (line.tables == LineTableKind::pairs) add(pair_twiddles(roots, n, line.lanes));
  if (line.tables == LineTableKind::registers || line.tables == LineTableKind::pairs) return;
  const bool eights = line.tables == LineTableKind::eights;
  for (size_t i = 0; i + 1 < kMaxPasses && line.radices[i + 1] != 0; n /= line.radices[i], ++i) {
    if (i == 0) add(lane_twiddles(roots, n, line.radices[i], line.lanes, engine.split, !eights));
    if (i == 1 && eights) add(neighbour_twiddles(roots, n, line.radices[i]));
    if (i > 1 || (i == 1 && !eights)) add(shared_twiddles(roots, n, line.radices[i], 1, engine.copies));
  }
}

template <class T>
LineTables<T>::LineTables(const Engine<T>& engine, size_t length, const size_t* radices, const Roots<T>& roots) {
  for (size_t i = 0; i + 1 < kMaxPasses && radices[i + 1] != 0; length /= radices[i], ++i) {
    add(shared_twiddles(roots, length, radices[i], 1, engine.copies));
  }
}

template Table<float> lane_twiddles(const Roots<float>&, size_t, size_t, size_t, bool, bool);
template Table<double> lane_twiddles(const Roots<double>&, size_t, size_t, size_t, bool, bool);
template Table<float> shared_twiddles(const Roots<float>&, size_t, size_t, size_t, size_t);
template Table<double> shared_twiddles(const Roots<double>&, size_t, size_t, size_t, size_t);
template Table<float> neighbour_twiddles(const Roots<float>&, size_t, size_t);
template Table<double> neighbour_twiddles(const Roots<double>&, size_t, size_t);
template Table<float> register_twiddles(const Roots<float>&, size_t);
template Table<double> register_twiddles(const Roots<double>&, size_t);
template Table<float> pair_twiddles(const Roots<float>&, size_t, size_t);
template Table<double> pair_twiddles(const Roots<double>&, size_t, size_t);
template class LineTables<float>;
template class LineTables<double>;

}  // namespace ridge::fft::power2
