// Operations for odd radices and odd numbers of points, based on the arithmetic of an instruction set (`Base`).
#pragma once
#include <arm_neon.h>

#include <cstddef>
#include <utility>

namespace ridge::fft::shorts {

using std::size_t;

// Two complex floats per vector.
template <class Base>
struct Pairs : Base {
  using T = float;
  using V = float32x4_t;
  [[gnu::always_inline]] static V pair(double re, double im) {
    const float a = static_cast<float>(re), b = static_cast<float>(im);
    return V{a, b, a, b};
  }
  [[gnu::always_inline]] static V multiply(V a, V b) { return vmulq_f32(a, b); }
  [[gnu::always_inline]] static V multiply_add(V sum, V a, V b) { return vfmaq_f32(sum, a, b); }
  [[gnu::always_inline]] static V multiply_subtract(V sum, V a, V b) { return vfmsq_f32(sum, a, b); }
  [[gnu::always_inline]] static V load_half(const T* p) { return vcombine_f32(vld1_f32(p), vdup_n_f32(0)); }
  [[gnu::always_inline]] static void store_half(T* p, V v) { vst1_f32(p, vget_low_f32(v)); }
  // One paired store (STP) takes one slot instead of two. Written as assembly because the compiler splits pairs.
  [[gnu::always_inline]] static void store_two(T* p, V a, V b) {
    struct [[gnu::may_alias]] Two {
      V a, b;
    };
    asm("stp %q1, %q2, %0" : "=Q"(*reinterpret_cast<Two*>(p)) : "w"(a), "w"(b));
  }
  // Combines half kA of a with half kB of b.
  template <size_t kA, size_t kB>
  [[gnu::always_inline]] static V combine_halves(V a, V b) {
    if constexpr (kA == 0 && kB == 0) return Base::low(a, b);
    if constexpr (kA == 1 && kB == 1) return Base::high(a, b);
    if constexpr (kA == 0 && kB == 1) {
      return vreinterpretq_f32_f64(vcopyq_laneq_f64(vreinterpretq_f64_f32(b), 0, vreinterpretq_f64_f32(a), 0));
    }
    if constexpr (kA == 1 && kB == 0) return vextq_f32(a, b, 2);
  }

  // Loads two transforms, one per lane.
  template <size_t N>
  [[gnu::always_inline]] static void gather_any(const T* in, size_t distance, V* r) {
    const T* const other = in + 2 * distance;
#pragma GCC unroll 16
    for (size_t k = 0; k + 1 < N; k += 2) {
      const V a = vld1q_f32(in + 2 * k), b = vld1q_f32(other + 2 * k);
      r[k] = Base::low(a, b);
      r[k + 1] = Base::high(a, b);
    }
    if constexpr (N % 2 == 1) r[N - 1] = vcombine_f32(vld1_f32(in + 2 * (N - 1)), vld1_f32(other + 2 * (N - 1)));
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_any(T* out, size_t distance, const V* r) {
    T* const other = out + 2 * distance;
#pragma GCC unroll 16
    for (size_t k = 0; k + 1 < N; k += 2) {
      vst1q_f32(out + 2 * k, Base::low(r[k], r[k + 1]));
      vst1q_f32(other + 2 * k, Base::high(r[k], r[k + 1]));
    }
    if constexpr (N % 2 == 1) {
      vst1_f32(out + 2 * (N - 1), vget_low_f32(r[N - 1]));
      vst1_f32(other + 2 * (N - 1), vget_high_f32(r[N - 1]));
    }
  }

  // As above if the second transform follows the first without a gap: 2 N points are N whole vectors.
  template <size_t N>
  [[gnu::always_inline]] static void gather_packed(const T* in, V* r) {
    gather_packed<N>(in, r, std::make_index_sequence<N>());
  }
  template <size_t N, size_t... k>
  [[gnu::always_inline]] static void gather_packed(const T* in, V* r, std::index_sequence<k...>) {
    const V v[N] = {Base::load(in + 4 * k)...};  // the intrinsic is a macro in clang, which does not accept a pack
    ((r[k] = combine_halves<k % 2, (k + N) % 2>(v[k / 2], v[(k + N) / 2])), ...);
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_packed(T* out, const V* r) {
    scatter_packed<N>(out, r, std::make_index_sequence<N>());
  }
  template <size_t N, size_t... i>
  [[gnu::always_inline]] static void scatter_packed(T* out, const V* r, std::index_sequence<i...>) {
    // Points 2 i and 2 i + 1 of both transforms in sequence.
    const V v[N] = {combine_halves<(2 * i) / N, (2 * i + 1) / N>(r[2 * i % N], r[(2 * i + 1) % N])...};
#pragma GCC unroll 16
    for (size_t j = 0; j + 1 < N; j += 2) store_two(out + 4 * j, v[j], v[j + 1]);
    if constexpr (N % 2 == 1) vst1q_f32(out + 4 * (N - 1), v[N - 1]);
  }
};

// One complex double per vector.
template <class Base>
struct Ones : Base {
  using T = double;
  using V = float64x2_t;
  [[gnu::always_inline]] static V pair(double re, double im) { return V{re, im}; }
  [[gnu::always_inline]] static V multiply(V a, V b) { return vmulq_f64(a, b); }
  [[gnu::always_inline]] static V multiply_add(V sum, V a, V b) { return vfmaq_f64(sum, a, b); }
  [[gnu::always_inline]] static V multiply_subtract(V sum, V a, V b) { return vfmsq_f64(sum, a, b); }
  [[gnu::always_inline]] static V load_half(const T* p) { return vld1q_f64(p); }
  [[gnu::always_inline]] static void store_half(T* p, V v) { vst1q_f64(p, v); }
  [[gnu::always_inline]] static void store_two(T* p, V a, V b) {
    struct [[gnu::may_alias]] Two {
      V a, b;
    };
    asm("stp %q1, %q2, %0" : "=Q"(*reinterpret_cast<Two*>(p)) : "w"(a), "w"(b));
  }
  template <size_t N>
  [[gnu::always_inline]] static void gather_any(const T* in, size_t, V* r) {
#pragma GCC unroll 32
    for (size_t k = 0; k < N; ++k) r[k] = vld1q_f64(in + 2 * k);
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_any(T* out, size_t, const V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k + 1 < N; k += 2) store_two(out + 2 * k, r[k], r[k + 1]);
    if constexpr (N % 2 == 1) vst1q_f64(out + 2 * (N - 1), r[N - 1]);
  }
};

}  // namespace ridge::fft::shorts
