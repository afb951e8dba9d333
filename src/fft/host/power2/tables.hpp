// Twiddle tables in the order in which the passes read them.
#pragma once
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "fft/host/power2/engine.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::power2 {

// Roots of unity whose order is a power of two.
template <class T>
class Roots {
 public:
  explicit Roots(std::size_t n) : roots_(n) {}  // a power of two
  std::complex<T> at(std::size_t k) const { return roots_.at(k & (length() - 1)); }
  Point<DoubleDouble> wide(std::size_t k) const { return roots_.wide(k & (length() - 1)); }
  std::size_t length() const { return roots_.order(); }

 private:
  AnyRoots<T> roots_;
};

template <class T>
using Table = base::AlignedArray<T>;

// W_n^(p k) for groups of `lanes` neighbouring p below n / radix, then k = 1 .. radix - 1, then the lanes, in the order
// of an inner vector unless it is not folded.
template <class T>
Table<T> lane_twiddles(const Roots<T>& roots, size_t n, size_t radix, size_t lanes, bool split, bool folded = true);

// W_n^(p k) for two neighbouring p, then k = 1 .. radix - 1: both real parts, both imaginary parts.
template <class T>
Table<T> neighbour_twiddles(const Roots<T>& roots, size_t n, size_t radix);

// W_n^(p k) for p = first .. n / radix - 1, then k = 1 .. radix - 1, each `copies` times.
template <class T>
Table<T> shared_twiddles(const Roots<T>& roots, size_t n, size_t radix, size_t first, size_t copies);

// For lines that stay in registers, sixteen lanes: W_n^(k l) for k = 1 .. n / 16 - 1, then W_16^(a (l % 4)) for a = 1
// .. 3; of eight points W_8^(a (l % 2)) alone.
template <class T>
Table<T> register_twiddles(const Roots<T>& roots, size_t n);

// For lines of interleaved points in vectors of `points` each. First the factors within a vector, then W_n^(r p) for
// r = 1 .. n / points - 1: real parts twice over, then imaginary ones likewise with the first of two negated.
template <class T>
Table<T> pair_twiddles(const Roots<T>& roots, size_t n, size_t points);

// For tangent butterflies of `radix` after `before` frequencies: t and c of every twiddle of a row, `lanes` frequencies
// at a time in the order of their vectors, or one after another with one lane.
template <class T>
Table<T> tangent_twiddles(const Roots<T>& roots, size_t radix, size_t before, size_t lanes);

// W_n^(r k) for blocks of `lanes` frequencies k < rows, then r < count: the lanes' real parts, their imaginary parts.
template <class T>
Table<T> step_twiddles(const Roots<T>& roots, size_t n, size_t rows, size_t count, size_t lanes);

// For shear lines: twenty-four constants, eight roots, the first pass of radix 4 or 16.
template <class T>
Table<T> shear_first(const Roots<T>& roots, size_t n, size_t radix);
// A middle pass of radix 16 with n points left.
template <class T>
Table<T> shear_middle(const Roots<T>& roots, size_t n);

// Tables of a line or a column line, as pointers in the order its functions expect. Radices are zero-terminated.
template <class T>
class LineTables {
 public:
  LineTables() = default;
  LineTables(const Engine<T>& engine, const Line<T>& line, const Roots<T>& roots);
  // Columns: all lanes share the twiddles of every pass.
  LineTables(const Engine<T>& engine, size_t length, const size_t* radices, const Roots<T>& roots);
  const T* const* data() const { return pointers_.data(); }

 private:
  void add(Table<T> table);
  std::vector<Table<T>> tables_;
  std::vector<const T*> pointers_;
};

}  // namespace ridge::fft::power2
