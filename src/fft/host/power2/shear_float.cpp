// Float lines for Arm cores without complex instructions. A rotation by theta is three shears, r += a i, i += b r, r +=
// a i with a = -tan(theta / 2) and b = sin(theta): three fused operations in place, where a product takes four and a
// move. Angles must be small, so columns of the upper half count as negative (j - J), and so do results of radix 16
// from the eighth on; the last pass corrects its output. NEON arithmetic shares two pipes with the stores, so radix 16
// processes its rows in two halves, loading them twice, and never spills.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "fft/host/power2/engines.hpp"

namespace ridge::fft::power2 {
namespace {

#define RIDGE_INLINE [[gnu::always_inline]] static inline

using V = float32x4_t;
struct Four {  // four complex numbers, real and imaginary parts separate
  V r, i;
};

RIDGE_INLINE Four operator+(Four a, Four b) { return {vaddq_f32(a.r, b.r), vaddq_f32(a.i, b.i)}; }
RIDGE_INLINE Four operator-(Four a, Four b) { return {vsubq_f32(a.r, b.r), vsubq_f32(a.i, b.i)}; }
RIDGE_INLINE Four minus_i(Four a, Four b) { return {vaddq_f32(a.r, b.i), vsubq_f32(a.i, b.r)}; }
RIDGE_INLINE Four plus_i(Four a, Four b) { return {vsubq_f32(a.r, b.i), vaddq_f32(a.i, b.r)}; }
RIDGE_INLINE Four load(const float* p) { return {vld1q_f32(p), vld1q_f32(p + 4)}; }
RIDGE_INLINE void store(float* p, Four x) {
  vst1q_f32(p, x.r);
  vst1q_f32(p + 4, x.i);
}
template <bool kInverseTransform>
RIDGE_INLINE void store_joined(float* p, Four x) {
  const V first = kInverseTransform ? x.i : x.r, second = kInverseTransform ? x.r : x.i;
  V low, high;  // assembly, because compilers generate the slower ST2
  asm("zip1 %0.4s,%2.4s,%3.4s\n\tzip2 %1.4s,%2.4s,%3.4s" : "=&w"(low), "=w"(high) : "w"(first), "w"(second));
  vst1q_f32(p, low);
  vst1q_f32(p + 4, high);
}

RIDGE_INLINE Four rotate(Four x, V a, V b) {
  x.r = vfmaq_f32(x.r, x.i, a);
  x.i = vfmaq_f32(x.i, x.r, b);
  x.r = vfmaq_f32(x.r, x.i, a);
  return x;
}
// Rotates by the angle, or with kBack by the opposite angle.
template <bool kBack>
RIDGE_INLINE Four rotate_either(Four x, V a, V b) {
  if constexpr (!kBack) return rotate(x, a, b);
  x.r = vfmsq_f32(x.r, x.i, a);
  x.i = vfmsq_f32(x.i, x.r, b);
  x.r = vfmsq_f32(x.r, x.i, a);
  return x;
}
template <int kPair>
RIDGE_INLINE Four rotate_lane(Four x, V w) {
  x.r = vfmaq_laneq_f32(x.r, x.i, w, 2 * kPair);
  x.i = vfmaq_laneq_f32(x.i, x.r, w, 2 * kPair + 1);
  x.r = vfmaq_laneq_f32(x.r, x.i, w, 2 * kPair);
  return x;
}

// Two columns of four interleaved rows: radix 4, where -i is one reversal, because the unzips that split parts and
// transpose lanes also sort d +- reversed(d'). The inverse exchanges real and imaginary parts here and in store_joined.
template <bool kInverseTransform>
RIDGE_INLINE void first_four(const float* p0, const float* p1, const float* p2, const float* p3, Four& c0, Four& c1) {
  const V x0 = vld1q_f32(p0), x1 = vld1q_f32(p1), x2 = vld1q_f32(p2), x3 = vld1q_f32(p3);
  const V s0 = vaddq_f32(x0, x2), d0 = vsubq_f32(x0, x2), s1 = vaddq_f32(x1, x3), d1 = vsubq_f32(x1, x3);
  const V e = vrev64q_f32(d1);
  const V o0 = vaddq_f32(s0, s1), o2 = vsubq_f32(s0, s1), p = vaddq_f32(d0, e), q = vsubq_f32(d0, e);
  const V ra = kInverseTransform ? vuzp2q_f32(o0, p) : vuzp1q_f32(o0, p);
  const V rb = kInverseTransform ? vuzp2q_f32(o2, q) : vuzp1q_f32(o2, q);
  const V ia = kInverseTransform ? vuzp1q_f32(o0, q) : vuzp2q_f32(o0, q);
  const V ib = kInverseTransform ? vuzp1q_f32(o2, p) : vuzp2q_f32(o2, p);
  c0 = {vuzp1q_f32(ra, rb), vuzp1q_f32(ia, ib)};
  c1 = {vuzp2q_f32(ra, rb), vuzp2q_f32(ia, ib)};
}

// First pass, radix 4: column j of J, rows a J + j; results of a column are contiguous. Upper columns count as j - J,
// so that their points are rows 1 to 4: row 0 wraps to row 4.
template <bool kInverseTransform, size_t N>
[[gnu::noinline]] void first4(const float* x, float* __restrict y, const float* t) {
  constexpr size_t J = N / 4;
  for (size_t half = 0; half < 2; ++half) {
    const float* b1 = half == 0 ? x + 2 * J : x + J;
    const float* b0 = half == 0 ? x : x + 2 * N - J;
    for (size_t j = 0; j < J / 2; j += 8) {
      Four c[8];
#pragma GCC unroll 4
      for (size_t u = 0; u < 8; u += 2) {
        const size_t d = 2 * u;
        first_four<kInverseTransform>(b0 + d, b1 + d, b1 + 2 * J + d, b1 + 4 * J + d, c[u], c[u + 1]);
      }
#pragma GCC unroll 8
      for (size_t u = 0; u < 8; ++u) store(y + 8 * u, rotate(c[u], vld1q_f32(t + 8 * u), vld1q_f32(t + 8 * u + 4)));
      b1 += 16, b0 += 16, y += 64, t += 64;
    }
  }
}

// First pass, radix 16. Lower and upper columns share one table, read forwards and then backwards.
template <bool kInverseTransform, size_t N, bool kBack>
RIDGE_INLINE void first16_half(const float* x, float* __restrict y, const float* t, const float* constants) {
  constexpr size_t J = N / 16;
  const V a1 = vld1q_f32(constants), b1 = vld1q_f32(constants + 4), a2 = vld1q_f32(constants + 8);
  const V b2 = vld1q_f32(constants + 12), a3 = vld1q_f32(constants + 16), b3 = vld1q_f32(constants + 20);
  const float* second = kBack ? x + J : x + 2 * J;
  const float* top = kBack ? x + 2 * N - J : x;
  if (kBack) y += 32 * (J / 2), t += 32 * (J / 2);
  for (size_t j = 0; j < J / 2; j += 2) {
    Four g[2][4];
    const float* const p = second;
    first_four<kInverseTransform>(top, p + 6 * J, p + 14 * J, p + 22 * J, g[0][0], g[1][0]);
    first_four<kInverseTransform>(p + 2 * J, p + 10 * J, p + 18 * J, p + 26 * J, g[0][2], g[1][2]);
    first_four<kInverseTransform>(p, p + 8 * J, p + 16 * J, p + 24 * J, g[0][1], g[1][1]);
    first_four<kInverseTransform>(p + 28 * J, p + 4 * J, p + 12 * J, p + 20 * J, g[0][3], g[1][3]);
#pragma GCC unroll 2
    for (size_t c = 0; c < 2; ++c) {
      const Four u0 = g[c][0], u1 = rotate(g[c][1], a1, b1), u2 = rotate(g[c][2], a2, b2), u3 = rotate(g[c][3], a3, b3);
      const Four s0 = u0 + u2, d0 = u0 - u2, s1 = u1 + u3, d1 = u1 - u3;
      const float* const w = kBack ? t - 32 * c : t + 32 * c;
      float* const o = y + 32 * c;
      store(o + 16, rotate_either<kBack>(s0 + s1, vld1q_f32(w + 16), vld1q_f32(w + 20)));
      store(o + 24, rotate_either<kBack>(minus_i(d0, d1), vld1q_f32(w + 24), vld1q_f32(w + 28)));
      store(o, rotate_either<kBack>(s0 - s1, vld1q_f32(w), vld1q_f32(w + 4)));
      store(o + 8, rotate_either<kBack>(plus_i(d0, d1), vld1q_f32(w + 8), vld1q_f32(w + 12)));
    }
    second += 4, top += 4, y += 64;
    t = kBack ? t - 64 : t + 64;
  }
}
template <bool kInverseTransform, size_t N>
[[gnu::noinline]] void first16(const float* x, float* __restrict y, const float* t, const float* constants) {
  first16_half<kInverseTransform, N, false>(x, y, t, constants);
  first16_half<kInverseTransform, N, true>(x, y, t, constants);
}

// Row 0 may have another address than the stride implies.
struct FromRows {
  const float *first, *second;
  size_t step;
  [[gnu::always_inline]] const float* operator()(size_t a) const { return a == 0 ? first : second + step * (a - 1); }
  [[gnu::always_inline]] void again() { asm("" : "+r"(first), "+r"(second)); }  // forces the values to be loaded again
};
struct ToRotated {
  float* o;
  const float* t;
  size_t step;
  template <size_t K>
  [[gnu::always_inline]] void at(Four x) const {
    if constexpr (K != 0) x = rotate_lane<K & 1>(x, vld1q_f32(t + 4 * (K / 2)));
    store(o + ((K + 8) & 15) * step, x);
  }
};
template <bool kInverseTransform>
struct ToUser {
  float *first, *second;
  size_t step;
  template <size_t K>
  [[gnu::always_inline]] void at(Four x) const {
    store_joined<kInverseTransform>(K == 0 ? first : second + step * (K - 1), x);
  }
};

// w1: shears of 2 pi / 16 (lanes 0, 1) and of 2 pi / 8 (2, 3); w3: of 3 * 2 pi / 16.
template <class To>
RIDGE_INLINE void sixteen(FromRows row, const To& to, V w1, V w3) {
  {
    Four e[4], f[4];
#pragma GCC unroll 4
    for (size_t g = 0; g < 4; ++g) {
      const Four s0 = load(row(g)) + load(row(g + 8)), s1 = load(row(g + 4)) + load(row(g + 12));
      e[g] = s0 + s1, f[g] = s0 - s1;
    }
    Four s0 = e[0] + e[2], d0 = e[0] - e[2], s1 = e[1] + e[3], d1 = e[1] - e[3];
    to.template at<0>(s0 + s1);
    to.template at<8>(s0 - s1);
    to.template at<4>(minus_i(d0, d1));
    to.template at<12>(plus_i(d0, d1));
    const Four v1 = rotate_lane<1>(f[1], w1), v3 = rotate_lane<1>(f[3], w1);
    s0 = minus_i(f[0], f[2]), d0 = plus_i(f[0], f[2]), s1 = minus_i(v1, v3), d1 = plus_i(v1, v3);
    to.template at<2>(s0 + s1);
    to.template at<10>(s0 - s1);
    to.template at<6>(minus_i(d0, d1));
    to.template at<14>(plus_i(d0, d1));
  }
  row.again();
  {
    Four e[4], f[4];
#pragma GCC unroll 4
    for (size_t g = 0; g < 4; ++g) {
      const Four d0 = load(row(g)) - load(row(g + 8)), d1 = load(row(g + 4)) - load(row(g + 12));
      e[g] = minus_i(d0, d1), f[g] = plus_i(d0, d1);
    }
    Four v1 = rotate_lane<0>(e[1], w1), v2 = rotate_lane<1>(e[2], w1), v3 = rotate_lane<0>(e[3], w3);
    Four s0 = e[0] + v2, d0 = e[0] - v2, s1 = v1 + v3, d1 = v1 - v3;
    to.template at<1>(s0 + s1);
    to.template at<9>(s0 - s1);
    to.template at<5>(minus_i(d0, d1));
    to.template at<13>(plus_i(d0, d1));
    v1 = rotate_lane<0>(f[1], w3), v2 = rotate_lane<1>(f[2], w1), v3 = rotate_lane<0>(f[3], w1);
    s0 = minus_i(f[0], v2), d0 = plus_i(f[0], v2), s1 = v1 - v3, d1 = v1 + v3;
    to.template at<3>(s0 + s1);
    to.template at<11>(s0 - s1);
    to.template at<7>(minus_i(d0, d1));
    to.template at<15>(plus_i(d0, d1));
  }
}

// Radix 8 in registers.
template <class To>
RIDGE_INLINE void eight_of(const Four* v, const To& to, V w1) {
  Four s[4], d[4];
#pragma GCC unroll 4
  for (size_t g = 0; g < 4; ++g) s[g] = v[g] + v[g + 4], d[g] = v[g] - v[g + 4];
  Four a = s[0] + s[2], b = s[0] - s[2], c = s[1] + s[3], e = s[1] - s[3];
  to.template at<0>(a + c);
  to.template at<4>(a - c);
  to.template at<2>(minus_i(b, e));
  to.template at<6>(plus_i(b, e));
  const Four v1 = rotate_lane<1>(d[1], w1), v3 = rotate_lane<1>(d[3], w1);
  a = minus_i(d[0], d[2]), b = plus_i(d[0], d[2]), c = minus_i(v1, v3), e = plus_i(v1, v3);
  to.template at<1>(a + c);
  to.template at<5>(a - c);
  to.template at<3>(minus_i(b, e));
  to.template at<7>(plus_i(b, e));
}

// Middle pass, radix 16: S results are done, J columns are left after it.
template <size_t J, size_t S>
[[gnu::noinline]] void middle16(const float* y, float* __restrict z, const float* t, const float* roots) {
  const V w1 = vld1q_f32(roots), w3 = vld1q_f32(roots + 4);
  constexpr size_t step = 2 * S * J;
  for (size_t j = 0; j < J; ++j) {
    const bool upper = j >= J / 2;
    const float* second = y + 2 * S * j + (upper ? 0 : step);
    const float* first = y + 2 * S * j + (upper ? 15 * step : 0);
    for (size_t k = 0; k < S; k += 4) {
      sixteen(FromRows{first, second, step}, ToRotated{z, t, 2 * S}, w1, w3);
      first += 8, second += 8, z += 8;
    }
    z += 2 * S * 15, t += 32;
  }
}

// Last pass, S columns of R rows. Outputs are stored `shift` places earlier; the first `shift` wrap to the end.
template <bool kInverseTransform, size_t R, size_t S>
[[gnu::noinline]] void last(const float* z, float* __restrict out, const float* roots, size_t shift) {
  [[maybe_unused]] const V w1 = vld1q_f32(roots), w3 = vld1q_f32(roots + 4);
  for (size_t k = 0; k < S; k += 4, z += 8) {
    float* const second = out + 2 * (S + k - shift);
    const ToUser<kInverseTransform> to{k < shift ? out + 2 * (S * R + k - shift) : out + 2 * (k - shift), second,
                                       2 * S};
    if constexpr (R == 16) {
      sixteen(FromRows{z, z + 2 * S, 2 * S}, to, w1, w3);
    } else if constexpr (R == 8) {
      Four v[8];
#pragma GCC unroll 8
      for (size_t g = 0; g < 8; ++g) v[g] = load(z + 2 * S * g);
      eight_of(v, to, w1);
    } else {
      const Four x0 = load(z), x1 = load(z + 2 * S), x2 = load(z + 4 * S), x3 = load(z + 6 * S);
      const Four s0 = x0 + x2, d0 = x0 - x2, s1 = x1 + x3, d1 = x1 - x3;
      to.template at<0>(s0 + s1);
      to.template at<1>(minus_i(d0, d1));
      to.template at<2>(s0 - s1);
      to.template at<3>(plus_i(d0, d1));
    }
  }
}

// Tables: twenty-four constants of a first radix 16, eight roots, the first pass; then one table per middle pass.
struct ShearTables {
  const float *constants, *roots, *first;
  [[gnu::always_inline]] explicit ShearTables(const float* const* t)
      : constants(t[0]), roots(t[0] + 24), first(t[0] + 32) {}
};

// 8, 16 and 32 points in registers: radix 4 across the columns, then 2, 4 or 8 down.
template <bool kInverseTransform, size_t N>
struct ShearWhole {
  static void run(const float* in, size_t in_distance, float* out, size_t out_distance, size_t count,
                  const float* const* tables, float*) {
    constexpr size_t kColumns = N / 4, row = 2 * kColumns;
    const ShearTables t(tables);
    const V w1 = vld1q_f32(t.roots);
    for (; count > 0; --count, in += 2 * in_distance, out += 2 * out_distance) {
      Four v[kColumns];
#pragma GCC unroll 4
      for (size_t j = 0; j < kColumns; j += 2) {
        const float* const p = in + 2 * j;
        if (N == 8 || j < kColumns / 2) {
          first_four<kInverseTransform>(p, p + row, p + 2 * row, p + 3 * row, v[j], v[j + 1]);
        } else {
          first_four<kInverseTransform>(p + 3 * row, p, p + row, p + 2 * row, v[j], v[j + 1]);
        }
      }
#pragma GCC unroll 8
      for (size_t j = 1; j < kColumns; ++j) {
        v[j] = rotate(v[j], vld1q_f32(t.first + 8 * j), vld1q_f32(t.first + 8 * j + 4));
      }
      const ToUser<kInverseTransform> to{out, out + 8, 8};
      if constexpr (N == 8) {
        to.template at<0>(v[0] + v[1]);
        to.template at<1>(v[0] - v[1]);
      } else if constexpr (N == 16) {
        const Four s0 = v[0] + v[2], d0 = v[0] - v[2], s1 = v[1] + v[3], d1 = v[1] - v[3];
        to.template at<0>(s0 + s1);
        to.template at<1>(minus_i(d0, d1));
        to.template at<2>(s0 - s1);
        to.template at<3>(plus_i(d0, d1));
      } else {
        eight_of(v, to, w1);
      }
    }
  }
};

template <bool kInverseTransform, size_t A, size_t B, size_t C = 1, size_t D = 1>
struct ShearLine {
  static constexpr size_t N = A * B * C * D;
  static void run(const float* in, size_t in_distance, float* out, size_t out_distance, size_t count,
                  const float* const* tables, float* scratch) {
    const ShearTables t(tables);
    float* const z = scratch + 2 * N + 32;  // equal indices of the two buffers do not share an L1 set
    constexpr size_t one = A == 16 ? 8 : 0;
    for (; count > 0; --count, in += 2 * in_distance, out += 2 * out_distance) {
      // Out of place the output is the first buffer of long lines, which saves L1.
      float* const y = N >= 2048 && in != out ? out : scratch;
      if (N <= 512 && count > 1) {
        for (size_t p = 0; p < 2 * N; p += 16) __builtin_prefetch(in + 2 * in_distance + p);
      }
      if constexpr (A == 4) first4<kInverseTransform, N>(in, y, t.first);
      if constexpr (A == 16) first16<kInverseTransform, N>(in, y, t.first, t.constants);
      if constexpr (C == 1) {
        last<kInverseTransform, B, A>(y, out, t.roots, one);
      } else {
        static_assert(B == 16);
        middle16<C * D, A>(y, z, tables[1], t.roots);
        if constexpr (D == 1) {
          last<kInverseTransform, C, A * B>(z, out, t.roots, one + 8 * A);
        } else {
          static_assert(C == 16);
          middle16<D, A * B>(z, scratch, tables[2], t.roots);
          last<kInverseTransform, D, A * B * C>(scratch, out, t.roots, one + 8 * A + 8 * A * B);
        }
      }
    }
  }
};

template <size_t N>
constexpr Line<float> shear_whole() {
  return {N,
          4,
          {4, N / 4, 0, 0},
          {ShearWhole<false, N>::run, ShearWhole<true, N>::run},
          {nullptr, nullptr},
          1,
          LineTableKind::shears_whole};
}
template <size_t A, size_t B, size_t C = 1, size_t D = 1>
constexpr Line<float> shear_line() {
  return {A * B * C * D,
          4,
          {A, B, C == 1 ? 0 : C, D == 1 ? 0 : D},
          {ShearLine<false, A, B, C, D>::run, ShearLine<true, A, B, C, D>::run},
          {nullptr, nullptr},
          1,
          LineTableKind::shears};
}

// For each length the fastest first, measured with a prototype on a Neoverse N1.
constexpr Line<float> kShearLines[] = {
    shear_whole<8>(),           shear_whole<16>(),       shear_whole<32>(),       shear_line<4, 16>(),
    shear_line<16, 4>(),        shear_line<16, 8>(),     shear_line<16, 16>(),    shear_line<4, 16, 8>(),
    shear_line<4, 16, 16>(),    shear_line<16, 16, 4>(), shear_line<16, 16, 8>(), shear_line<16, 16, 16>(),
    shear_line<4, 16, 16, 8>(),
};

}  // namespace

Items<Line<float>> shear_lines() { return items(kShearLines); }

}  // namespace ridge::fft::power2
#endif
