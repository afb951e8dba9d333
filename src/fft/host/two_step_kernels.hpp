// SIMD kernels of the two-step transform: twiddles and transposition of strips of columns and rows.
#pragma once
#include <complex>
#include <cstddef>

namespace ridge::fft {

inline constexpr std::size_t kStripWidth = 16;  // columns or rows at once: 128 bytes of float

// Strides and counts in points. Points are re, im pairs of T. With `stream`, whole cache lines are written by
// non-temporal stores if the target's alignment allows it; `finish` makes them visible to other threads.
template <class T>
struct TwoStepKernels {
  // to[r * to_stride + j] = from[r * kStripWidth + j] * coarse[r] * fine[r * kStripWidth + j] for j < width; conjugated
  // factors on request.
  void (*twiddle)(bool conjugate, const T* from, std::size_t rows, std::size_t width, const T* coarse, const T* fine,
                  T* to, std::size_t to_stride, bool stream);
  // to[k * to_stride + r] = from[r * from_stride + k] for k < count and r < width.
  void (*transpose)(const T* from, std::size_t from_stride, std::size_t count, std::size_t width, T* to,
                    std::size_t to_stride, bool stream);
  // to[k] = from[k] by non-temporal stores.
  void (*stream)(const T* from, std::size_t count, T* to);
  void (*finish)();
};

template <class T>
const TwoStepKernels<T>& two_step_kernels();

}  // namespace ridge::fft
