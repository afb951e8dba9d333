// Pointwise operations and direct sums of prime-length transforms in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/prime/pointwise.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fft/host/prime/pointwise.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::prime::HWY_NAMESPACE {
namespace {

#include "fft/host/prime/complex-inl.hpp"

template <bool kConjugate, class T>
void multiply_all(const T* x, const T* re, const T* im, T* out, size_t count) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  for (; i + kLanes<T> <= 2 * count; i += kLanes<T>) {
    hn::StoreU(times<kConjugate, T>(hn::LoadU(d, x + i), hn::LoadU(d, re + i), hn::LoadU(d, im + i)), d, out + i);
  }
#endif
  for (; i < 2 * count; i += 2) times_one<kConjugate>(x + i, re + i, im + i, out + i);
}

template <class T>
void multiply(bool conjugate, const T* x, const T* re, const T* im, T* out, size_t count) {
  conjugate ? multiply_all<true>(x, re, im, out, count) : multiply_all<false>(x, re, im, out, count);
}

template <bool kConjugate, class T>
void multiply_mirrored(T* x, const T* re, const T* im, size_t count) {
  times_one<kConjugate>(x, re, im, x);
  size_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t kStep = kPoints<T>;
  for (; 2 * (k + kStep - 1) < count; k += kStep) {
    const auto wr = hn::LoadU(d, re + 2 * k), wi = hn::LoadU(d, im + 2 * k);
    T* low = x + 2 * k;
    T* high = x + 2 * (count - k - (kStep - 1));
    const auto a = times<kConjugate, T>(hn::LoadU(d, low), wr, wi);
    const auto b = times<kConjugate, T>(hn::LoadU(d, high), reverse_points<T>(wr), reverse_points<T>(wi));
    hn::StoreU(a, d, low);
    hn::StoreU(b, d, high);
  }
#endif
  for (; 2 * k < count; ++k) {
    times_one<kConjugate>(x + 2 * k, re + 2 * k, im + 2 * k, x + 2 * k);
    times_one<kConjugate>(x + 2 * (count - k), re + 2 * k, im + 2 * k, x + 2 * (count - k));
  }
  if (2 * k == count) times_one<kConjugate>(x + 2 * k, re + 2 * k, im + 2 * k, x + 2 * k);
}

template <class T>
void multiply_symmetric(bool conjugate, T* x, const T* re, const T* im, size_t count) {
  conjugate ? multiply_mirrored<true>(x, re, im, count) : multiply_mirrored<false>(x, re, im, count);
}

// Terms summed separately before they join the total: the error of one long chain of additions grows with its length,
// and at 251 points exceeded the limit of the longest transforms.
inline constexpr size_t kRun = 32;

// x[j] + x[n - j] and x[j] - x[n - j] for j = 1 .. (n - 1) / 2; out[0] is the sum of all.
template <class T>
void fold(const T* in, size_t n, T* sums, T* differences, T* zero) {
  const size_t half = (n - 1) / 2;
  size_t j = 1;
  T re = in[0], im = in[1];
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  auto total = hn::Zero(d);
  constexpr size_t kStep = kPoints<T>;
  for (; j + kStep - 1 <= half; j += kStep) {
    const auto a = hn::LoadU(d, in + 2 * j), b = reverse_points<T>(hn::LoadU(d, in + 2 * (n - j - (kStep - 1))));
    const auto s = hn::Add(a, b);
    total = hn::Add(total, s);
    hn::StoreU(s, d, sums + 2 * (j - 1));
    hn::StoreU(hn::Sub(a, b), d, differences + 2 * (j - 1));
  }
  HWY_ALIGN T lanes[kLanes<T>];
  hn::Store(total, d, lanes);
  for (size_t i = 0; i < kLanes<T>; i += 2) re += lanes[i], im += lanes[i + 1];
#endif
  for (; j <= half; ++j) {
    const T *a = in + 2 * j, *b = in + 2 * (n - j);
    T *s = sums + 2 * (j - 1), *e = differences + 2 * (j - 1);
    s[0] = a[0] + b[0], s[1] = a[1] + b[1];
    e[0] = a[0] - b[0], e[1] = a[1] - b[1];
    re += s[0], im += s[1];
  }
  zero[0] = re, zero[1] = im;
}

#if HWY_TARGET != HWY_SCALAR

// Columns k .. k + kVectors * kPoints: even parts in `even`, odd parts times -i in `odd`.
template <size_t kVectors, class T>
HWY_INLINE void direct_block(const T* x0, const T* sums, const T* differences, size_t rows, const T* table, size_t k,
                             size_t n, bool inverse, T* out) {
  const Tag<T> d;
  constexpr size_t L = kLanes<T>;
  Vector<T> even[kVectors], odd[kVectors], even_run[kVectors], odd_run[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) even[v] = same_point(x0), odd[v] = hn::Zero(d);
  for (size_t j = 0; j < rows;) {
    const size_t end = std::min(rows, j + kRun);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) even_run[v] = hn::Zero(d), odd_run[v] = hn::Zero(d);
    for (; j < end; ++j, table += 2 * kVectors * L) {
      const auto s = same_point(sums + 2 * j), e = same_point(differences + 2 * j);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) even_run[v] = hn::MulAdd(s, hn::LoadU(d, table + v * L), even_run[v]);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        odd_run[v] = hn::MulAdd(e, hn::LoadU(d, table + (kVectors + v) * L), odd_run[v]);
      }
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) even[v] = hn::Add(even[v], even_run[v]), odd[v] = hn::Add(odd[v], odd_run[v]);
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    const size_t first = k + v * kPoints<T>;
    const auto rotated = hn::Reverse2(d, odd[v]);
    const auto plus = hn::Add(even[v], rotated), minus = hn::Sub(even[v], rotated);
    hn::StoreU(inverse ? minus : plus, d, out + 2 * first);
    hn::StoreU(reverse_points<T>(inverse ? plus : minus), d, out + 2 * (n - first - (kPoints<T> - 1)));
  }
}

template <size_t kVectors, class T>
HWY_INLINE void pair_block(const T* pairs, size_t rows, const T* table, T* result) {
  const Tag<T> d;
  constexpr size_t L = kLanes<T>;
  Vector<T> sum[kVectors], run[kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (size_t j = 0; j < rows;) {
    const size_t end = std::min(rows, j + kRun);
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) run[v] = hn::Zero(d);
    for (; j < end; ++j, table += kVectors * L) {
      const auto x = same_point(pairs + 2 * j);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) run[v] = hn::MulAdd(x, hn::LoadU(d, table + v * L), run[v]);
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], run[v]);
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, result + v * L);
}

#endif

template <class T>
void direct(bool inverse, const T* in, T* out, size_t n, const T* table, size_t columns, T* scratch) {
  const size_t rows = (n - 1) / 2;
  T *sums = scratch, *differences = scratch + 2 * rows;
  const T x0[2] = {in[0], in[1]};
  fold(in, n, sums, differences, out);
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 1; k <= columns; ++k, table += 4 * rows) {
    T re = x0[0], im = x0[1], odd_re = 0, odd_im = 0;
    for (size_t j = 0; j < rows;) {
      T run[4] = {};
      for (const size_t end = std::min(rows, j + kRun); j < end; ++j) {
        const T *w = table + 4 * j, *s = sums + 2 * j, *e = differences + 2 * j;
        run[0] += s[0] * w[0], run[1] += s[1] * w[1], run[2] += e[0] * w[2], run[3] += e[1] * w[3];
      }
      re += run[0], im += run[1], odd_re += run[2], odd_im += run[3];
    }
    if (inverse) odd_re = -odd_re, odd_im = -odd_im;
    out[2 * k] = re + odd_im, out[2 * k + 1] = im + odd_re;
    out[2 * (n - k)] = re - odd_im, out[2 * (n - k) + 1] = im - odd_re;
  }
#else
  const size_t vectors = columns / kPoints<T>;
  for (size_t v = 0; v < vectors;) {
    const size_t block = std::min(vectors - v, kBlockVectors), k = 1 + v * kPoints<T>;
    switch (block) {
      case 1:
        direct_block<1>(x0, sums, differences, rows, table, k, n, inverse, out);
        break;
      case 2:
        direct_block<2>(x0, sums, differences, rows, table, k, n, inverse, out);
        break;
      case 3:
        direct_block<3>(x0, sums, differences, rows, table, k, n, inverse, out);
        break;
      default:
        direct_block<4>(x0, sums, differences, rows, table, k, n, inverse, out);
    }
    v += block;
    table += 2 * block * kLanes<T> * rows;
  }
#endif
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
inline constexpr size_t kStrip = 1;

template <class T>
void direct_strip(bool inverse, const T* in, size_t in_stride, T* out, size_t out_stride, size_t n, const T* factors,
                  T* scratch) {
  for (size_t j = 0; j < n; ++j) scratch[2 * j] = in[2 * j * in_stride], scratch[2 * j + 1] = in[2 * j * in_stride + 1];
  const size_t rows = (n - 1) / 2;
  T re = scratch[0], im = scratch[1];
  for (size_t j = 1; j < n; ++j) re += scratch[2 * j], im += scratch[2 * j + 1];
  out[0] = re, out[1] = im;
  for (size_t k = 1; k <= rows; ++k) {
    T even_re = scratch[0], even_im = scratch[1], odd_re = 0, odd_im = 0;
    for (size_t j = 1; j <= rows;) {
      T run[4] = {};
      for (const size_t end = std::min(rows + 1, j + kRun); j < end; ++j, factors += 2) {
        const T *a = scratch + 2 * j, *b = scratch + 2 * (n - j);
        run[0] += factors[0] * (a[0] + b[0]), run[1] += factors[0] * (a[1] + b[1]);
        run[2] += factors[1] * (a[0] - b[0]), run[3] += factors[1] * (a[1] - b[1]);
      }
      even_re += run[0], even_im += run[1], odd_re += run[2], odd_im += run[3];
    }
    if (inverse) odd_re = -odd_re, odd_im = -odd_im;
    T *low = out + 2 * k * out_stride, *high = out + 2 * (n - k) * out_stride;
    low[0] = even_re + odd_im, low[1] = even_im - odd_re;
    high[0] = even_re - odd_im, high[1] = even_im + odd_re;
  }
}

#else

// Two outputs and their mirrors at a time keep two sums per vector: as many as the registers hold.
inline constexpr size_t kStripVectors = HWY_ARCH_X86 && HWY_MAX_BYTES < 64 ? 2 : 4;
template <class T>
inline constexpr size_t kStrip = kStripVectors* kPoints<T>;

template <size_t kOutputs, class T>
HWY_INLINE void strip_outputs(bool inverse, const T* folded, size_t n, size_t k, const T* factors, T* out,
                              size_t out_stride) {
  const Tag<T> d;
  constexpr size_t L = kLanes<T>, W = kStripVectors;
  const size_t rows = (n - 1) / 2;
  // The registers hold the partial sums; the totals are in memory.
  HWY_ALIGN T even_sum[kOutputs * W * L], odd_sum[kOutputs * W * L];
  for (size_t o = 0; o < kOutputs; ++o) {
    for (size_t v = 0; v < W; ++v) {
      hn::Store(hn::LoadU(d, folded + v * L), d, even_sum + (o * W + v) * L);
      hn::Store(hn::Zero(d), d, odd_sum + (o * W + v) * L);
    }
  }
  Vector<T> even[kOutputs][W], odd[kOutputs][W];
  const T* row = folded + W * L;
  for (size_t j = 0; j < rows;) {
    const size_t end = std::min(rows, j + kRun);
#pragma GCC unroll 2
    for (size_t o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 4
      for (size_t v = 0; v < W; ++v) even[o][v] = hn::Zero(d), odd[o][v] = hn::Zero(d);
    }
    for (; j < end; ++j, row += 2 * W * L) {
#pragma GCC unroll 2
      for (size_t o = 0; o < kOutputs; ++o) {
        const auto c = hn::Set(d, factors[2 * (o * rows + j)]), s = hn::Set(d, factors[2 * (o * rows + j) + 1]);
#pragma GCC unroll 4
        for (size_t v = 0; v < W; ++v) even[o][v] = hn::MulAdd(c, hn::LoadU(d, row + v * L), even[o][v]);
#pragma GCC unroll 4
        for (size_t v = 0; v < W; ++v) odd[o][v] = hn::MulAdd(s, hn::LoadU(d, row + (W + v) * L), odd[o][v]);
      }
    }
#pragma GCC unroll 2
    for (size_t o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 4
      for (size_t v = 0; v < W; ++v) {
        T *e = even_sum + (o * W + v) * L, *f = odd_sum + (o * W + v) * L;
        even[o][v] = hn::Add(even[o][v], hn::Load(d, e)), odd[o][v] = hn::Add(odd[o][v], hn::Load(d, f));
        hn::Store(even[o][v], d, e);
        hn::Store(odd[o][v], d, f);
      }
    }
  }
  const auto signs = imaginary_signs<T>();
#pragma GCC unroll 2
  for (size_t o = 0; o < kOutputs; ++o) {
    T* low = out + 2 * (inverse ? n - k - o : k + o) * out_stride;
    T* high = out + 2 * (inverse ? k + o : n - k - o) * out_stride;
#pragma GCC unroll 4
    for (size_t v = 0; v < W; ++v) {
      const auto rotated = hn::Xor(hn::Reverse2(d, odd[o][v]), signs);  // times -i
      hn::StoreU(hn::Add(even[o][v], rotated), d, low + v * L);
      hn::StoreU(hn::Sub(even[o][v], rotated), d, high + v * L);
    }
  }
}

template <class T>
void direct_strip(bool inverse, const T* in, size_t in_stride, T* out, size_t out_stride, size_t n, const T* factors,
                  T* scratch) {
  const Tag<T> d;
  constexpr size_t L = kLanes<T>, W = kStripVectors;
  const size_t rows = (n - 1) / 2;
  Vector<T> total[W];
#pragma GCC unroll 4
  for (size_t v = 0; v < W; ++v) {
    total[v] = hn::LoadU(d, in + v * L);
    hn::StoreU(total[v], d, scratch + v * L);
  }
  T* row = scratch + W * L;
  for (size_t j = 1; j <= rows; ++j, row += 2 * W * L) {
    const T *a = in + 2 * j * in_stride, *b = in + 2 * (n - j) * in_stride;
#pragma GCC unroll 4
    for (size_t v = 0; v < W; ++v) {
      const auto x = hn::LoadU(d, a + v * L), y = hn::LoadU(d, b + v * L);
      const auto sum = hn::Add(x, y);
      total[v] = hn::Add(total[v], sum);
      hn::StoreU(sum, d, row + v * L);
      hn::StoreU(hn::Sub(x, y), d, row + (W + v) * L);
    }
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < W; ++v) hn::StoreU(total[v], d, out + v * L);
  size_t k = 1;
  for (; k + 1 <= rows; k += 2, factors += 4 * rows) {
    strip_outputs<2>(inverse, scratch, n, k, factors, out, out_stride);
  }
  if (k <= rows) strip_outputs<1>(inverse, scratch, n, k, factors, out, out_stride);
}

#endif

template <class T>
void pair_sums(const T* pairs, size_t rows, const T* table, size_t columns, T* result) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t k = 0; k < columns; ++k, table += 2 * rows) {
    T a = 0, b = 0;
    for (size_t j = 0; j < rows;) {
      T run[2] = {};
      for (const size_t end = std::min(rows, j + kRun); j < end; ++j) {
        run[0] += pairs[2 * j] * table[2 * j], run[1] += pairs[2 * j + 1] * table[2 * j + 1];
      }
      a += run[0], b += run[1];
    }
    result[2 * k] = a, result[2 * k + 1] = b;
  }
#else
  const size_t vectors = columns / kPoints<T>;
  for (size_t v = 0; v < vectors;) {
    const size_t block = std::min(vectors - v, kBlockVectors);
    T* to = result + v * kLanes<T>;
    switch (block) {
      case 1:
        pair_block<1>(pairs, rows, table, to);
        break;
      case 2:
        pair_block<2>(pairs, rows, table, to);
        break;
      case 3:
        pair_block<3>(pairs, rows, table, to);
        break;
      default:
        pair_block<4>(pairs, rows, table, to);
    }
    v += block;
    table += block * kLanes<T> * rows;
  }
#endif
}

template <class T>
const Pointwise<T>& functions() {
#if HWY_TARGET == HWY_SCALAR
  constexpr size_t kWidth = 1;
#else
  constexpr size_t kWidth = kPoints<T>;
#endif
  static constexpr Pointwise<T> kFunctions = {
      multiply<T>, multiply_symmetric<T>, direct<T>, direct_strip<T>, pair_sums<T>, kWidth, kStrip<T>};
  return kFunctions;
}

const Pointwise<float>& float_functions() { return functions<float>(); }
const Pointwise<double>& double_functions() { return functions<double>(); }

}  // namespace
}  // namespace ridge::fft::prime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::prime {
HWY_EXPORT(float_functions);
HWY_EXPORT(double_functions);
template <>
const Pointwise<float>& pointwise<float>() {
  return HWY_DYNAMIC_DISPATCH(float_functions)();
}
template <>
const Pointwise<double>& pointwise<double>() {
  return HWY_DYNAMIC_DISPATCH(double_functions)();
}
}  // namespace ridge::fft::prime
#endif
