// What Rader, Bluestein and the direct sum do to points between transforms, in the widest vectors of this machine.
#pragma once
#include <complex>
#include <cstddef>

#include "base/aligned.hpp"

namespace ridge::fft::prime {

// Complex factors, each part written twice (re, re and -im, im): a product is then three operations on interleaved
// points for any vector width, with no shuffle of the factors.
template <class T>
struct DoubledTable {
  DoubledTable() = default;
  explicit DoubledTable(std::size_t count) : re(2 * count), im(2 * count) {}
  void set(std::size_t k, std::complex<T> w) {
    re[2 * k] = re[2 * k + 1] = w.real();
    im[2 * k] = -w.imag();
    im[2 * k + 1] = w.imag();
  }
  base::AlignedArray<T> re, im;
};

// Points are re, im pairs of T; `conjugate` takes the factors' conjugates.
template <class T>
struct Pointwise {
  // out[k] = x[k] * w[k]; out may be x.
  void (*multiply)(bool conjugate, const T* x, const T* w_re, const T* w_im, T* out, std::size_t count);
  // x[k] *= w[min(k, count - k)]: half a table for a spectrum that is its own mirror image.
  void (*multiply_symmetric)(bool conjugate, T* x, const T* w_re, const T* w_im, std::size_t count);
  // An odd number of points by definition, with DirectTable's factors; scratch: 2 * (n - 1) of T.
  void (*direct)(bool inverse, const T* in, T* out, std::size_t n, const T* table, std::size_t columns, T* scratch);
  // `strip` columns of n points side by side, the sums down the columns. Factors cos, sin of 2 pi j k / n, column k of
  // them after column k - 1; scratch: 2 * strip * n of T.
  void (*direct_strip)(bool inverse, const T* in, std::size_t in_stride, T* out, std::size_t out_stride, std::size_t n,
                       const T* factors, T* scratch);
  // result[k] = sum over j < rows of pairs[j] * table[j][k], part by part.
  void (*pair_sums)(const T* pairs, std::size_t rows, const T* table, std::size_t columns, T* result);
  std::size_t points;  // in a vector
  std::size_t strip;   // columns
};

template <class T>
const Pointwise<T>& pointwise();

// Vectors of columns that a sum is kept in at once.
inline constexpr std::size_t kBlockVectors = 4;

}  // namespace ridge::fft::prime
