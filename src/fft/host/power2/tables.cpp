// Fills the twiddle tables of all engines in the order of their passes.
#include "fft/host/power2/tables.hpp"

#include <cmath>
#include <utility>

namespace ridge::fft::power2 {

namespace {

// Order of points in an inner vector wider than 128 bits: see Split::point().
template <class T>
size_t lane_point(size_t lane, size_t lanes, bool split) {
  return split && lanes * sizeof(T) > 16 ? (lane % 2) * (lanes / 2) + lane / 2 : lane;
}

// Order of points in a vector of the tangent lines: see Tangent::point().
template <class T>
size_t tangent_point(size_t lane, size_t lanes) {
  constexpr size_t kBlock = 16 / sizeof(T), kHalf = kBlock / 2;
  const size_t block = lane / kBlock, within = lane % kBlock;
  return lanes == 1 ? 0 : within < kHalf ? block * kHalf + within : lanes / 2 + block * kHalf + (within - kHalf);
}

// w = c (1 + i t), the tangent rounded once.
template <class T>
void tangent_and_cosine(const Point<DoubleDouble>& w, T& t, T& c) {
  // Replaces a zero cosine: small enough to vanish when added, and its tangent allows numbers up to 1e29 (1e290 in
  // double).
  constexpr double kNothing = sizeof(T) == sizeof(float) ? 1e-9 : 1e-17;
  if (w.re.high < kNothing && w.re.high > -kNothing) {
    c = T(kNothing);
    t = static_cast<T>(w.im.high / kNothing);
    return;
  }
  const double first = w.im.high / w.re.high;
  const double rest = std::fma(-first, w.re.high, w.im.high) + (w.im.low - first * w.re.low);
  t = static_cast<T>(first + rest / w.re.high);
  c = static_cast<T>(w.re.high + w.re.low);
}

}  // namespace

template <class T>
Table<T> tangent_twiddles(const Roots<T>& roots, size_t radix, size_t before, size_t lanes) {
  const size_t pairs = radix == 2 ? 1 : radix / 2, step = roots.length() / (before * radix);
  Table<T> table(before * 2 * pairs);
  T* out = table.data();
  for (size_t first = 0; first < before; first += lanes, out += 2 * pairs * lanes) {
    for (size_t l = 0; l < lanes; ++l) {
      const size_t s = first + tangent_point<T>(l, lanes);
      T* entry = out + l;
      for (size_t groups = 1; 2 * groups <= radix; groups *= 2) {
        const size_t apart = radix / (2 * groups), angles = groups == 1 ? 1 : groups / 2;
        for (size_t k = 0; k < angles; ++k, entry += 2 * lanes) {
          tangent_and_cosine(roots.wide(step * apart * (s + k * before)), entry[0], entry[lanes]);
        }
      }
    }
  }
  return table;
}

template <class T>
Table<T> step_twiddles(const Roots<T>& roots, size_t n, size_t rows, size_t count, size_t lanes) {
  const size_t step = roots.length() / n;
  Table<T> table(2 * rows * count);
  T* out = table.data();
  for (size_t first = 0; first < rows; first += lanes) {
    for (size_t r = 0; r < count; ++r, out += 2 * lanes) {
      for (size_t l = 0; l < lanes; ++l) {
        const std::complex<T> w = roots.at(step * r * (first + tangent_point<T>(l, lanes)));
        out[l] = w.real();
        out[lanes + l] = w.imag();
      }
    }
  }
  return table;
}

namespace {

// Shears of the rotation by theta = -2 pi steps / order: -tan(theta / 2) and sin(theta). |theta| < pi.
template <class T>
void shears(const Roots<T>& roots, std::ptrdiff_t steps, size_t order, T& a, T& b) {
  const size_t step = roots.length() / order;
  const Point<DoubleDouble> w = roots.wide(step * (static_cast<size_t>(steps) & (order - 1)));
  a = static_cast<T>(-w.im.high / (1 + w.re.high));
  b = static_cast<T>(w.im.high);
}

}  // namespace

template <class T>
Table<T> shear_first(const Roots<T>& roots, size_t n, size_t radix) {
  // Eight points have no sixteenth roots and need none.
  const Roots<T> sixteenth(16);
  const std::ptrdiff_t J = static_cast<std::ptrdiff_t>(n / radix), columns = radix == 16 ? J / 2 + 1 : J;
  Table<T> table(32 + 2 * radix * static_cast<size_t>(columns));
  T* out = table.data();
  for (const std::ptrdiff_t g : {1, 2, -1}) {
    for (std::ptrdiff_t l = 0; l < 4; ++l) shears(sixteenth, g * l, 16, out[l], out[4 + l]);
    out += 8;
  }
  shears(sixteenth, 1, 16, out[0], out[1]);
  shears(sixteenth, 2, 16, out[2], out[3]);
  shears(sixteenth, 3, 16, out[4], out[5]);
  out[6] = out[7] = 0;
  out += 8;
  for (std::ptrdiff_t j = 0; j < columns; ++j) {
    const std::ptrdiff_t column = radix == 16 || n == 8 || j < J / 2 ? j : j - J;
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(radix); k += 4, out += 8) {
      for (std::ptrdiff_t l = 0; l < 4; ++l) {
        shears(roots, column * (k + l - (radix == 16 ? 8 : 0)), n, out[l], out[4 + l]);
      }
    }
  }
  return table;
}

template <class T>
Table<T> shear_middle(const Roots<T>& roots, size_t n) {
  Table<T> table(2 * n);
  T* out = table.data();
  const std::ptrdiff_t J = static_cast<std::ptrdiff_t>(n / 16);
  for (std::ptrdiff_t j = 0; j < J; ++j) {
    for (std::ptrdiff_t k = 0; k < 16; ++k, out += 2) {
      shears(roots, (j < J / 2 ? j : j - J) * (k < 8 ? k : k - 16), n, out[0], out[1]);
    }
  }
  return table;
}

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
  // Factors of the second half within a vector, before the halves separate: roots of the order of its points.
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
  if (line.tables == LineTableKind::registers || line.tables == LineTableKind::pairs ||
      line.tables == LineTableKind::none)
    return;
  if (line.tables == LineTableKind::tangents || line.tables == LineTableKind::tangents_whole) {
    size_t before = line.radices[0];
    for (size_t i = 1; i < kMaxPasses && line.radices[i] != 0; before *= line.radices[i], ++i) {
      add(tangent_twiddles(roots, line.radices[i], before, line.lanes));
    }
    return;
  }
  if (line.tables == LineTableKind::tangents_square) {
    const size_t *r = line.radices, rows = r[0] * r[1], frequencies = rows * (r[4] == 0 ? 1 : r[4]);
    add(tangent_twiddles(roots, r[1], r[0], 1));
    add(tangent_twiddles(roots, r[2], frequencies, line.lanes));
    add(tangent_twiddles(roots, r[3], r[2], 1));
    add(step_twiddles(roots, n, frequencies, r[3], line.lanes));
    if (r[4] != 0) add(tangent_twiddles(roots, r[4], rows, line.lanes));
    return;
  }
  if (line.tables == LineTableKind::shears || line.tables == LineTableKind::shears_whole) {
    add(shear_first(roots, n, line.radices[0]));
    for (size_t i = 1; i + 1 < kMaxPasses && line.radices[i + 1] != 0; ++i) {
      n /= line.radices[i - 1];
      add(shear_middle(roots, n));
    }
    return;
  }
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
