// Twiddles and transposes of the two-step transform in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/two_step_kernels.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on
#include <hwy/cache_control.h>

#include <cstdint>
#include <cstring>

#include "fft/host/two_step_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::HWY_NAMESPACE {
namespace {

#include "fft/host/prime/complex-inl.hpp"

constexpr size_t kLineBytes = 64;

template <class T>
bool whole_lines(const T* p, size_t stride) {
  return reinterpret_cast<std::uintptr_t>(p) % kLineBytes == 0 && stride * 2 * sizeof(T) % kLineBytes == 0;
}

template <bool kConjugate, class T>
HWY_INLINE void twiddle_one(const T* x, const T* c, const T* f, T* out) {
  const T wr = c[0] * f[0] - c[1] * f[1], wi = c[0] * f[1] + c[1] * f[0];
  const T s = kConjugate ? -wi : wi, a = x[0], b = x[1];
  out[0] = a * wr - b * s;
  out[1] = b * wr + a * s;
}

#if HWY_TARGET != HWY_SCALAR

template <bool kStream, class T>
HWY_INLINE void put(Vector<T> v, T* p) {
  if constexpr (kStream) hn::Stream(v, Tag<T>(), p);
  if constexpr (!kStream) hn::StoreU(v, Tag<T>(), p);
}

template <bool kConjugate, bool kStream, class T>
void twiddle_full(const T* from, size_t rows, const T* coarse, const T* fine, T* to, size_t to_stride) {
  const Tag<T> d;
  constexpr size_t L = kLanes<T>, kWidth = 2 * kStripWidth;
  const Vector<T> real_signs = hn::OddEven(hn::Zero(d), hn::Set(d, T(-0.0)));
  for (size_t r = 0; r < rows; ++r, from += kWidth, fine += kWidth, to += 2 * to_stride) {
    const Vector<T> cr = hn::Set(d, coarse[2 * r]);
    const Vector<T> ci = hn::Xor(hn::Set(d, coarse[2 * r + 1]), real_signs);
#pragma GCC unroll 16
    for (size_t j = 0; j < kWidth; j += L) {
      const Vector<T> f = hn::LoadU(d, fine + j), x = hn::LoadU(d, from + j);
      const Vector<T> w = hn::MulAdd(hn::Reverse2(d, f), ci, hn::Mul(f, cr));
      const Vector<T> wr = hn::DupEven(w), wi = hn::Xor(hn::DupOdd(w), real_signs);
      put<kStream, T>(times<kConjugate, T>(x, wr, wi), to + j);
    }
  }
}

// Transposes a square of points, one cache line wide, in registers.
template <class T>
struct SquareTranspose;

// A complex float is as wide as a double.
template <>
struct SquareTranspose<float> {
  static constexpr size_t kPointsWide = kPoints<float>;
  template <bool kStream>
  static HWY_INLINE void run(const float* from, size_t from_stride, float* to, size_t to_stride) {
    constexpr size_t P = kPointsWide;
    const Tag<float> f;
    const Tag<double> d;
    Vector<double> v[P];
#pragma GCC unroll 16
    for (size_t i = 0; i < P; ++i) v[i] = hn::BitCast(d, hn::LoadU(f, from + 2 * from_stride * i));
    if constexpr (P > 1) {
#pragma GCC unroll 8
      for (size_t i = 0; i < P; i += 2) {
        const auto a = v[i], b = v[i + 1];
        v[i] = hn::InterleaveLower(d, a, b);
        v[i + 1] = hn::InterleaveUpper(d, a, b);
      }
    }
    blocks<P>(v);
#pragma GCC unroll 16
    for (size_t i = 0; i < P; ++i) put<kStream, float>(hn::BitCast(f, v[i]), to + 2 * to_stride * i);
  }
  // Blocks of two points.
  template <size_t P>
  static HWY_INLINE void blocks([[maybe_unused]] Vector<double>* v) {
    [[maybe_unused]] const Tag<double> d;
    if constexpr (P >= 4) {
#pragma GCC unroll 8
      for (size_t i = 0; i < P / 2; ++i) {
        const auto a = v[i], b = v[i + P / 2];
        v[i] = hn::ConcatLowerLower(d, b, a);
        v[i + P / 2] = hn::ConcatUpperUpper(d, b, a);
      }
    }
    if constexpr (P >= 8) {
      static_assert(P == 8);
#pragma GCC unroll 8
      for (size_t i = 0; i < P; ++i) {
        if ((i & 2) != 0) continue;
        const auto a = v[i], b = v[i + 2];
        v[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        v[i + 2] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      }
    }
  }
};

template <>
struct SquareTranspose<double> {
  static constexpr size_t kPointsWide = kPoints<double>;
  template <bool kStream>
  static HWY_INLINE void run(const double* from, size_t from_stride, double* to, size_t to_stride) {
    constexpr size_t P = kPointsWide;
    const Tag<double> d;
    Vector<double> v[P];
#pragma GCC unroll 8
    for (size_t i = 0; i < P; ++i) v[i] = hn::LoadU(d, from + 2 * from_stride * i);
    if constexpr (P >= 2) {
#pragma GCC unroll 8
      for (size_t i = 0; i < P / 2; ++i) {
        const auto a = v[i], b = v[i + P / 2];
        v[i] = hn::ConcatLowerLower(d, b, a);
        v[i + P / 2] = hn::ConcatUpperUpper(d, b, a);
      }
    }
    if constexpr (P >= 4) {
#pragma GCC unroll 8
      for (size_t i = 0; i < P; i += 2) {
        const auto a = v[i], b = v[i + 1];
        v[i] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        v[i + 1] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < P; ++i) put<kStream, double>(v[i], to + 2 * to_stride * i);
  }
};

// Processes the whole width of a strip for a few points at a time, so that rows are written as completely as possible.
template <bool kStream, class T>
void transpose_full(const T* from, size_t from_stride, size_t count, T* to, size_t to_stride) {
  constexpr size_t P = SquareTranspose<T>::kPointsWide;
  for (size_t k = 0; k < count; k += P) {
#pragma GCC unroll 1
    for (size_t r = 0; r < kStripWidth; r += P) {
      SquareTranspose<T>::template run<kStream>(from + 2 * (r * from_stride + k), from_stride,
                                                to + 2 * (k * to_stride + r), to_stride);
    }
  }
}

#endif

template <bool kConjugate, class T>
void twiddle_any(const T* from, size_t rows, size_t width, const T* coarse, const T* fine, T* to, size_t to_stride,
                 bool stream) {
#if HWY_TARGET != HWY_SCALAR
  if (width == kStripWidth) {
    stream&& whole_lines(to, to_stride) ? twiddle_full<kConjugate, true>(from, rows, coarse, fine, to, to_stride)
                                        : twiddle_full<kConjugate, false>(from, rows, coarse, fine, to, to_stride);
    return;
  }
#endif
  (void)stream;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t j = 0; j < width; ++j) {
      const size_t at = 2 * (r * kStripWidth + j);
      twiddle_one<kConjugate>(from + at, coarse + 2 * r, fine + at, to + 2 * (r * to_stride + j));
    }
  }
}

template <class T>
void twiddle(bool conjugate, const T* from, size_t rows, size_t width, const T* coarse, const T* fine, T* to,
             size_t to_stride, bool stream) {
  conjugate ? twiddle_any<true>(from, rows, width, coarse, fine, to, to_stride, stream)
            : twiddle_any<false>(from, rows, width, coarse, fine, to, to_stride, stream);
}

template <class T>
void transpose(const T* from, size_t from_stride, size_t count, size_t width, T* to, size_t to_stride, bool stream) {
  size_t k = 0;
#if HWY_TARGET != HWY_SCALAR
  if (width == kStripWidth) {
    k = count / SquareTranspose<T>::kPointsWide * SquareTranspose<T>::kPointsWide;
    stream&& whole_lines(to, to_stride) ? transpose_full<true>(from, from_stride, k, to, to_stride)
                                        : transpose_full<false>(from, from_stride, k, to, to_stride);
  }
#endif
  (void)stream;
  for (; k < count; ++k) {
    for (size_t r = 0; r < width; ++r) {
      to[2 * (k * to_stride + r)] = from[2 * (r * from_stride + k)];
      to[2 * (k * to_stride + r) + 1] = from[2 * (r * from_stride + k) + 1];
    }
  }
}

template <class T>
void stream_copy(const T* from, size_t count, T* to) {
  count *= 2;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t L = kLanes<T>;
  while (i < count && reinterpret_cast<std::uintptr_t>(to + i) % (L * sizeof(T)) != 0) to[i] = from[i], ++i;
  for (; i + L <= count; i += L) hn::Stream(hn::LoadU(d, from + i), d, to + i);
#endif
  for (; i < count; ++i) to[i] = from[i];
}

void finish_streams() { hwy::FlushStream(); }

TwoStepKernels<float> float_kernels() { return {twiddle<float>, transpose<float>, stream_copy<float>, finish_streams}; }
TwoStepKernels<double> double_kernels() {
  return {twiddle<double>, transpose<double>, stream_copy<double>, finish_streams};
}

}  // namespace
}  // namespace ridge::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft {
HWY_EXPORT(float_kernels);
HWY_EXPORT(double_kernels);
template <>
const TwoStepKernels<float>& two_step_kernels<float>() {
  static const TwoStepKernels<float> chosen = HWY_DYNAMIC_DISPATCH(float_kernels)();
  return chosen;
}
template <>
const TwoStepKernels<double>& two_step_kernels<double>() {
  static const TwoStepKernels<double> chosen = HWY_DYNAMIC_DISPATCH(double_kernels)();
  return chosen;
}
}  // namespace ridge::fft
#endif
