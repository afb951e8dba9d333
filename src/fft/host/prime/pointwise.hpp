// Pointwise operations of Rader, Bluestein and the direct sum between transforms, in the widest vectors of this
// machine.
#pragma once
#include <complex>
#include <cstddef>

#include "base/aligned.hpp"

namespace ridge::fft::prime {

// Complex factors with each part stored twice (re, re and -im, im): a product is then three operations on interleaved
// points for any vector width, without shuffling the factors.
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

// Points are re, im pairs of T; `conjugate` uses the conjugate factors.
template <class T>
struct Pointwise {
  // out[k] = x[k] * w[k]; out may be x.
  void (*multiply)(bool conjugate, const T* x, const T* w_re, const T* w_im, T* out, std::size_t count);
  // x[k] *= w[min(k, count - k)]: half a table for a symmetric spectrum.
  void (*multiply_symmetric)(bool conjugate, T* x, const T* w_re, const T* w_im, std::size_t count);
  // An odd number of points by definition, with DirectTable's factors; scratch: 2 * (n - 1) of T.
  void (*direct)(bool inverse, const T* in, T* out, std::size_t n, const T* table, std::size_t columns, T* scratch);
  // `strip` adjacent columns of n points, summed down the columns. Factors cos, sin of 2 pi j k / n, column by column;
  // scratch: 2 * strip * n of T.
  void (*direct_strip)(bool inverse, const T* in, std::size_t in_stride, T* out, std::size_t out_stride, std::size_t n,
                       const T* factors, T* scratch);
  // result[k] = sum over j < rows of pairs[j] * table[j][k], componentwise.
  void (*pair_sums)(const T* pairs, std::size_t rows, const T* table, std::size_t columns, T* result);
  std::size_t points;  // per vector
  std::size_t strip;   // columns per strip
};

template <class T>
const Pointwise<T>& pointwise();

// Vectors of columns that are summed at once.
inline constexpr std::size_t kBlockVectors = 4;

}  // namespace ridge::fft::prime
