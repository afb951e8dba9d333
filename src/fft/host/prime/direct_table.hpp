// Factors of the direct sums, in the order in which pointwise.cpp reads them.
#pragma once
#include <cstddef>

#include "base/aligned.hpp"
#include "fft/host/prime/pointwise.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::prime {

// Blocks of up to kBlockVectors vectors of columns k, each with one row per j. A row has `kinds` groups of vectors:
// `factor(kind, root)` gives the two parts for exp(-2 pi i j k / n).
template <class T, class Factor>
base::AlignedArray<T> direct_table(const AnyRoots<T>& roots, std::size_t columns, std::size_t kinds,
                                   const Factor& factor) {
  const std::size_t n = roots.order(), rows = (n - 1) / 2, points = pointwise<T>().points, vectors = columns / points;
  base::AlignedArray<T> table(2 * rows * columns * kinds);
  T* next = table.data();
  for (std::size_t v = 0; v < vectors; v += kBlockVectors) {
    const std::size_t first = 1 + v * points, last = 1 + std::min(v + kBlockVectors, vectors) * points;
    for (std::size_t j = 1; j <= rows; ++j) {
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (std::size_t k = first; k < last; ++k) {
          const std::complex<T> pair = factor(kind, roots.at(j * k % n));
          *next++ = pair.real();
          *next++ = pair.imag();
        }
      }
    }
  }
  return table;
}

// Columns 1 .. (n - 1) / 2, padded to whole vectors.
template <class T>
std::size_t direct_columns(std::size_t n) {
  const std::size_t points = pointwise<T>().points;
  return ((n - 1) / 2 + points - 1) / points * points;
}

}  // namespace ridge::fft::prime
