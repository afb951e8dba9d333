// The pass between real samples and complex rows for odd lengths p * m.
#pragma once
#include <cstddef>

namespace ridge::fft::real {

// Samples x[r * m + c]. Rows t = 0 .. p / 2 hold sum over r of x[r m + c] exp(-2 pi i r t / p), times the twiddle
// exp(-2 pi i c t / n) for t > 0: row 0 real, the others re, im pairs `stride` points apart. Twiddles are two planes,
// (p / 2) * m cosines and as many sines of 2 pi c t / n, row by row.
template <class T>
struct OddPass {
  std::size_t p = 0;
  void (*forward)(const T* in, std::size_t m, T* first, T* rows, std::size_t stride, const T* cosines, const T* sines);
  // The inverse: from inverse transforms of rows to samples, unscaled.
  void (*inverse)(const T* first, const T* rows, std::size_t stride, std::size_t m, const T* cosines, const T* sines,
                  T* out);
};

inline constexpr std::size_t kOddFactors[] = {9, 5, 7, 3, 11, 13};  // best first
template <class T>
OddPass<T> odd_pass(std::size_t p);  // one of kOddFactors

}  // namespace ridge::fft::real
