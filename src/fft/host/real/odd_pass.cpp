// Real passes of odd radix in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/real/odd_pass.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/host/real/odd_pass.hpp"
#include "fft/host/real/constexpr_trigonometry.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::real::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, size_t kLanes, size_t P>
struct Columns {
  using D = hn::CappedTag<T, kLanes>;
  using V = hn::Vec<D>;
  static constexpr size_t H = P / 2;
  static HWY_INLINE V cosine(size_t turn) { return hn::Set(D(), kCosinesSines<T, P>[turn % P].cosine); }
  static HWY_INLINE V sine(size_t turn) { return hn::Set(D(), kCosinesSines<T, P>[turn % P].sine); }

  static HWY_INLINE void forward(const T* in, size_t m, T* first, T* rows, size_t stride, const T* cosines,
                                 const T* sines) {
    const D d;
    const V x = hn::LoadU(d, in);
    V a[H], b[H], total = x;
#pragma GCC unroll 8
    for (size_t r = 0; r < H; ++r) {
      const V u = hn::LoadU(d, in + (r + 1) * m), v = hn::LoadU(d, in + (P - 1 - r) * m);
      a[r] = hn::Add(u, v), b[r] = hn::Sub(v, u);
      total = hn::Add(total, a[r]);
    }
    hn::StoreU(total, d, first);
#pragma GCC unroll 8
    for (size_t t = 1; t <= H; ++t) {
      V re = x, im = hn::Mul(b[0], sine(t));
#pragma GCC unroll 8
      for (size_t r = 1; r <= H; ++r) {
        re = hn::MulAdd(a[r - 1], cosine(r * t), re);
        if (r > 1) im = hn::MulAdd(b[r - 1], sine(r * t), im);
      }
      const V c = hn::LoadU(d, cosines + (t - 1) * m), s = hn::LoadU(d, sines + (t - 1) * m);
      // Multiplies by c - i s.
      hn::StoreInterleaved2(hn::MulAdd(im, s, hn::Mul(re, c)), hn::NegMulAdd(re, s, hn::Mul(im, c)), d,
                            rows + 2 * (t - 1) * stride);
    }
  }

  static HWY_INLINE void inverse(const T* first, const T* rows, size_t stride, size_t m, const T* cosines,
                                 const T* sines, T* out) {
    const D d;
    const V x = hn::LoadU(d, first);
    V re[H], im[H], total = x;
#pragma GCC unroll 8
    for (size_t t = 0; t < H; ++t) {
      V u, v;
      hn::LoadInterleaved2(d, rows + 2 * t * stride, u, v);
      const V c = hn::LoadU(d, cosines + t * m), s = hn::LoadU(d, sines + t * m);
      // Multiplies by 2 (c + i s): the mirrored rows are not stored.
      const V p = hn::NegMulAdd(v, s, hn::Mul(u, c)), q = hn::MulAdd(u, s, hn::Mul(v, c));
      re[t] = hn::Add(p, p), im[t] = hn::Add(q, q);
      total = hn::Add(total, re[t]);
    }
    hn::StoreU(total, d, out);
#pragma GCC unroll 8
    for (size_t r = 1; r <= H; ++r) {
      V even = x, odd = hn::Mul(im[0], sine(r));
#pragma GCC unroll 8
      for (size_t t = 1; t <= H; ++t) {
        even = hn::MulAdd(re[t - 1], cosine(r * t), even);
        if (t > 1) odd = hn::MulAdd(im[t - 1], sine(r * t), odd);
      }
      hn::StoreU(hn::Sub(even, odd), d, out + r * m);
      hn::StoreU(hn::Add(even, odd), d, out + (P - r) * m);
    }
  }
};

// Input and output are different memory, so the last columns may be repeated to fill a vector.
template <class T, size_t P>
void forward(const T* in, size_t m, T* first, T* rows, size_t stride, const T* cosines, const T* sines) {
  constexpr size_t L = HWY_TARGET == HWY_SCALAR ? 1 : HWY_MAX_BYTES / sizeof(T);
  if (m < L) {
    for (size_t c = 0; c < m; ++c) {
      Columns<T, 1, P>::forward(in + c, m, first + c, rows + 2 * c, stride, cosines + c, sines + c);
    }
    return;
  }
  for (size_t c = 0;; c += L) {
    if (c + L > m) {
      if (c >= m) break;
      c = m - L;
    }
    Columns<T, L, P>::forward(in + c, m, first + c, rows + 2 * c, stride, cosines + c, sines + c);
  }
}

template <class T, size_t P>
void inverse(const T* first, const T* rows, size_t stride, size_t m, const T* cosines, const T* sines, T* out) {
  constexpr size_t L = HWY_TARGET == HWY_SCALAR ? 1 : HWY_MAX_BYTES / sizeof(T);
  if (m < L) {
    for (size_t c = 0; c < m; ++c) {
      Columns<T, 1, P>::inverse(first + c, rows + 2 * c, stride, m, cosines + c, sines + c, out + c);
    }
    return;
  }
  for (size_t c = 0;; c += L) {
    if (c + L > m) {
      if (c >= m) break;
      c = m - L;
    }
    Columns<T, L, P>::inverse(first + c, rows + 2 * c, stride, m, cosines + c, sines + c, out + c);
  }
}

template <class T>
OddPass<T> pass_of(size_t p) {
  switch (p) {
    case 3:
      return {3, forward<T, 3>, inverse<T, 3>};
    case 5:
      return {5, forward<T, 5>, inverse<T, 5>};
    case 7:
      return {7, forward<T, 7>, inverse<T, 7>};
    case 9:
      return {9, forward<T, 9>, inverse<T, 9>};
    case 11:
      return {11, forward<T, 11>, inverse<T, 11>};
    default:
      return {13, forward<T, 13>, inverse<T, 13>};
  }
}

OddPass<float> float_pass(size_t p) { return pass_of<float>(p); }
OddPass<double> double_pass(size_t p) { return pass_of<double>(p); }

}  // namespace
}  // namespace ridge::fft::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::real {
HWY_EXPORT(float_pass);
HWY_EXPORT(double_pass);
template <>
OddPass<float> odd_pass<float>(std::size_t p) {
  return HWY_DYNAMIC_DISPATCH(float_pass)(p);
}
template <>
OddPass<double> odd_pass<double>(std::size_t p) {
  return HWY_DYNAMIC_DISPATCH(double_pass)(p);
}
}  // namespace ridge::fft::real
#endif
