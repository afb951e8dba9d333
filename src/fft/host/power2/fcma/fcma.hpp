// Complex arithmetic of Armv8.3 (FCMLA, FCADD): a vector holds interleaved re, im pairs, a rotation by i costs an
// addition, a product two multiplications, and only the first pass of a float line shuffles lanes.
#pragma once
#include <arm_neon.h>

#include <cstddef>

namespace ridge::fft::power2::fcma {

using std::size_t;

// cos and sin of pi / 8, and sqrt(1/2): the constants of a butterfly of sixteen.
inline constexpr double kCos1 = 0.92387953251128675613, kSin1 = 0.38268343236508977173;
inline constexpr double kHalfRoot = 0.70710678118654752440;

template <bool kInverseTransform>
struct Float {
  using T = float;
  using V = float32x4_t;
  using Core = Float;
  static constexpr size_t kLanes = 2, kSame = 4, kRegisters = 32, kStrip = 8;
  struct Constants {
    V root1, root3, half;
  };

  [[gnu::always_inline]] static Constants constants() {
    static constexpr float table[12] = {float(kCos1),     float(-kSin1),    float(kCos1),     float(-kSin1),
                                        float(kSin1),     float(-kCos1),    float(kSin1),     float(-kCos1),
                                        float(kHalfRoot), float(kHalfRoot), float(kHalfRoot), float(kHalfRoot)};
    const float* p = table;
    asm("" : "+r"(p));  // keeps the constants in registers; known values would be rebuilt in the loop
    return {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8)};
  }
  [[gnu::always_inline]] static V load(const T* p) { return vld1q_f32(p); }
  [[gnu::always_inline]] static V load_user(const T* p) { return vld1q_f32(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { vst1q_f32(p, v); }
  [[gnu::always_inline]] static void store_user(T* p, V v) { vst1q_f32(p, v); }
  [[gnu::always_inline]] static V add(V a, V b) { return vaddq_f32(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return vsubq_f32(a, b); }
  [[gnu::always_inline]] static V rotate(V a, V b) {
    return kInverseTransform ? vcaddq_rot90_f32(a, b) : vcaddq_rot270_f32(a, b);
  }
  [[gnu::always_inline]] static V unrotate(V a, V b) {
    return kInverseTransform ? vcaddq_rot270_f32(a, b) : vcaddq_rot90_f32(a, b);
  }
  // Adds the imaginary part of w times x; conjugated for the inverse, so that one table serves both directions.
  [[gnu::always_inline]] static V add_imaginary(V sum, V w, V x) {
    return kInverseTransform ? vcmlaq_rot270_f32(sum, w, x) : vcmlaq_rot90_f32(sum, w, x);
  }
  [[gnu::always_inline]] static V times_lanes(const T* w, V x) {
    const V v = vld1q_f32(w);
    return add_imaginary(vcmlaq_f32(vdupq_n_f32(0), v, x), v, x);
  }
  [[gnu::always_inline]] static V times_constant(V w, V x) { return add_imaginary(vmulq_laneq_f32(x, w, 0), w, x); }
  [[gnu::always_inline]] static V times_same(const T* w, V x) { return times_constant(vld1q_f32(w), x); }
  [[gnu::always_inline]] static V times_root1(V x, const Constants& c) { return times_constant(c.root1, x); }
  [[gnu::always_inline]] static V times_root3(V x, const Constants& c) { return times_constant(c.root3, x); }
  // a +- sqrt(1/2) b. A fused form would overwrite `a` and need a move instead of the product.
  [[gnu::always_inline]] static void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    const V t = vmulq_f32(b, c.half);
    plus = vaddq_f32(a, t);
    minus = vsubq_f32(a, t);
  }
  [[gnu::always_inline]] static void rotate_half(V a, V b, const Constants& c, V& minus_i, V& plus_i) {
    const V t = vmulq_f32(b, c.half);
    minus_i = rotate(a, t);
    plus_i = unrotate(a, t);
  }
  [[gnu::always_inline]] static V low(V a, V b) {
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  [[gnu::always_inline]] static V high(V a, V b) {
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  template <size_t R>
  [[gnu::always_inline]] static void store_transposed(T* y, const V* r) {
    if constexpr (R == 2) {
      store(y, low(r[0], r[1]));
      store(y + 4, high(r[0], r[1]));
    } else {
#pragma GCC unroll 16
      for (size_t k = 0; k < R; k += 4) {
        store(y + 2 * k, low(r[k], r[k + 1]));
        store(y + 2 * k + 4, low(r[k + 2], r[k + 3]));
        store(y + 2 * k + 2 * R, high(r[k], r[k + 1]));
        store(y + 2 * k + 2 * R + 4, high(r[k + 2], r[k + 3]));
      }
    }
  }
  // Converts `kLanes` transforms of N points to N vectors with one transform per lane, and back.
  template <size_t N>
  [[gnu::always_inline]] static void gather(const T* in, size_t distance, V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k < N; k += 2) {
      const V a = load(in + 2 * k), b = load(in + 2 * distance + 2 * k);
      r[k] = low(a, b);
      r[k + 1] = high(a, b);
    }
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter(T* out, size_t distance, const V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k < N; k += 2) {
      store(out + 2 * k, low(r[k], r[k + 1]));
      store(out + 2 * distance + 2 * k, high(r[k], r[k + 1]));
    }
  }
  [[gnu::always_inline]] static void transpose_tile(const T* const* source, size_t at, T* out, size_t row) {
#pragma GCC unroll 4
    for (size_t k = 0; k < 16; k += 4, out += 2 * row) {
      V v[8];
#pragma GCC unroll 8
      for (size_t i = 0; i < 8; ++i) v[i] = load(source[i] + at + k);
#pragma GCC unroll 4
      for (size_t i = 0; i < 8; i += 2) store(out + 2 * i, low(v[i], v[i + 1]));
#pragma GCC unroll 4
      for (size_t i = 0; i < 8; i += 2) store(out + row + 2 * i, high(v[i], v[i + 1]));
    }
  }
};

// One float transform at a time, in half of each register.
template <bool kInverseTransform>
struct FloatOne : Float<kInverseTransform> {
  using V = float32x4_t;
  using Core = FloatOne;
  static constexpr size_t kLanes = 1;
  [[gnu::always_inline]] static V load_user(const float* p) { return vcombine_f32(vld1_f32(p), vdup_n_f32(0)); }
  [[gnu::always_inline]] static void store_user(float* p, V v) { vst1_f32(p, vget_low_f32(v)); }
};

template <bool kInverseTransform>
struct Double {
  using T = double;
  using V = float64x2_t;
  using Core = Double;
  static constexpr size_t kLanes = 1, kSame = 2, kRegisters = 32, kStrip = 4;
  struct Constants {
    V root1, root3, half;
  };

  [[gnu::always_inline]] static Constants constants() {
    static constexpr double table[6] = {kCos1, -kSin1, kSin1, -kCos1, kHalfRoot, kHalfRoot};
    const double* p = table;
    asm("" : "+r"(p));
    return {vld1q_f64(p), vld1q_f64(p + 2), vld1q_f64(p + 4)};
  }
  [[gnu::always_inline]] static V load(const T* p) { return vld1q_f64(p); }
  [[gnu::always_inline]] static V load_user(const T* p) { return vld1q_f64(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { vst1q_f64(p, v); }
  [[gnu::always_inline]] static void store_user(T* p, V v) { vst1q_f64(p, v); }
  [[gnu::always_inline]] static V add(V a, V b) { return vaddq_f64(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return vsubq_f64(a, b); }
  [[gnu::always_inline]] static V rotate(V a, V b) {
    return kInverseTransform ? vcaddq_rot90_f64(a, b) : vcaddq_rot270_f64(a, b);
  }
  [[gnu::always_inline]] static V unrotate(V a, V b) {
    return kInverseTransform ? vcaddq_rot270_f64(a, b) : vcaddq_rot90_f64(a, b);
  }
  [[gnu::always_inline]] static V times_constant(V w, V x) {
    const V t = vmulq_laneq_f64(x, w, 0);
    return kInverseTransform ? vcmlaq_rot270_f64(t, w, x) : vcmlaq_rot90_f64(t, w, x);
  }
  [[gnu::always_inline]] static V times_lanes(const T* w, V x) { return times_constant(vld1q_f64(w), x); }
  [[gnu::always_inline]] static V times_same(const T* w, V x) { return times_constant(vld1q_f64(w), x); }
  [[gnu::always_inline]] static V times_root1(V x, const Constants& c) { return times_constant(c.root1, x); }
  [[gnu::always_inline]] static V times_root3(V x, const Constants& c) { return times_constant(c.root3, x); }
  [[gnu::always_inline]] static void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    const V t = vmulq_f64(b, c.half);
    plus = vaddq_f64(a, t);
    minus = vsubq_f64(a, t);
  }
  [[gnu::always_inline]] static void rotate_half(V a, V b, const Constants& c, V& minus_i, V& plus_i) {
    const V t = vmulq_f64(b, c.half);
    minus_i = rotate(a, t);
    plus_i = unrotate(a, t);
  }
  template <size_t R>
  [[gnu::always_inline]] static void store_transposed(T* y, const V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k < R; ++k) store(y + 2 * k, r[k]);
  }
  template <size_t N>
  [[gnu::always_inline]] static void gather(const T* in, size_t, V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k < N; ++k) r[k] = load(in + 2 * k);
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter(T* out, size_t, const V* r) {
#pragma GCC unroll 16
    for (size_t k = 0; k < N; ++k) store(out + 2 * k, r[k]);
  }
  [[gnu::always_inline]] static void transpose_tile(const T* const* source, size_t at, T* out, size_t row) {
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k, out += row) {
#pragma GCC unroll 4
      for (size_t i = 0; i < 4; ++i) store(out + 2 * i, load(source[i] + at + 2 * k));
    }
  }
};

}  // namespace ridge::fft::power2::fcma
