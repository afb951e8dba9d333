// Complex numbers as they lie in memory with plain NEON: a rotation by i costs an exchange of parts and a fused product
// with signs, a product an exchange and a product more than Armv8.3's.
#pragma once
#include "fft/host/short/policies.hpp"

namespace ridge::fft::shorts::neon {

// cos and sin of pi / 8, and sqrt(1/2): the constants of a butterfly of sixteen.
inline constexpr double kCos1 = 0.92387953251128675613, kSin1 = 0.38268343236508977173;
inline constexpr double kHalfRoot = 0.70710678118654752440;

struct FloatParts {
  using T = float;
  using V = float32x4_t;
  static constexpr size_t kLanes = 2;
  [[gnu::always_inline]] static V all(double value) { return vdupq_n_f32(static_cast<float>(value)); }
  [[gnu::always_inline]] static V load(const T* p) { return vld1q_f32(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { vst1q_f32(p, v); }
  [[gnu::always_inline]] static V add(V a, V b) { return vaddq_f32(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return vsubq_f32(a, b); }
  [[gnu::always_inline]] static V swapped(V a) { return vrev64q_f32(a); }
  [[gnu::always_inline]] static V real_parts(V a) { return vtrn1q_f32(a, a); }
  [[gnu::always_inline]] static V imaginary_parts(V a) { return vtrn2q_f32(a, a); }
  [[gnu::always_inline]] static V fused(V sum, V a, V b) { return vfmaq_f32(sum, a, b); }
  [[gnu::always_inline]] static V fused_away(V sum, V a, V b) { return vfmsq_f32(sum, a, b); }
  [[gnu::always_inline]] static V product(V a, V b) { return vmulq_f32(a, b); }
  [[gnu::always_inline]] static V low(V a, V b) {
    return vreinterpretq_f32_f64(vzip1q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  [[gnu::always_inline]] static V high(V a, V b) {
    return vreinterpretq_f32_f64(vzip2q_f64(vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b)));
  }
  template <bool kInverse>
  [[gnu::always_inline]] static V signs() {
    return kInverse ? V{-1, 1, -1, 1} : V{1, -1, 1, -1};
  }
};

struct DoubleParts {
  using T = double;
  using V = float64x2_t;
  static constexpr size_t kLanes = 1;
  [[gnu::always_inline]] static V all(double value) { return vdupq_n_f64(value); }
  [[gnu::always_inline]] static V load(const T* p) { return vld1q_f64(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { vst1q_f64(p, v); }
  [[gnu::always_inline]] static V add(V a, V b) { return vaddq_f64(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return vsubq_f64(a, b); }
  [[gnu::always_inline]] static V swapped(V a) { return vextq_f64(a, a, 1); }
  [[gnu::always_inline]] static V real_parts(V a) { return vdupq_laneq_f64(a, 0); }
  [[gnu::always_inline]] static V imaginary_parts(V a) { return vdupq_laneq_f64(a, 1); }
  [[gnu::always_inline]] static V fused(V sum, V a, V b) { return vfmaq_f64(sum, a, b); }
  [[gnu::always_inline]] static V fused_away(V sum, V a, V b) { return vfmsq_f64(sum, a, b); }
  [[gnu::always_inline]] static V product(V a, V b) { return vmulq_f64(a, b); }
  template <bool kInverse>
  [[gnu::always_inline]] static V signs() {
    return kInverse ? V{-1, 1} : V{1, -1};
  }
};

template <class Parts, bool kInverse>
struct Plain : Parts {
  using V = typename Parts::V;
  using T = typename Parts::T;
  struct Constants {
    V half;
  };
  [[gnu::always_inline]] static Constants constants() { return {Parts::all(kHalfRoot)}; }
  // Times i or -i, but for the exchange of the parts.
  [[gnu::always_inline]] static V signs() { return Parts::template signs<kInverse>(); }
  [[gnu::always_inline]] static V rotate(V a, V b) { return Parts::fused(a, Parts::swapped(b), signs()); }
  [[gnu::always_inline]] static V unrotate(V a, V b) { return Parts::fused_away(a, Parts::swapped(b), signs()); }
  // Roots are those of the forward transform; the inverse takes their conjugates.
  [[gnu::always_inline]] static V times_lanes(V w, V x) {
    const V crossed = Parts::product(signs(), Parts::imaginary_parts(w));
    return Parts::fused_away(Parts::product(x, Parts::real_parts(w)), Parts::swapped(x), crossed);
  }
  [[gnu::always_inline]] static V times_lanes(const T* w, V x) { return times_lanes(Parts::load(w), x); }
  // The same root in every lane.
  [[gnu::always_inline]] static V times_constant(V w, V x) { return times_lanes(w, x); }
  [[gnu::always_inline]] static V times(double re, double im, V x) {
    const V crossed = Parts::product(signs(), Parts::all(im));
    return Parts::fused_away(Parts::product(x, Parts::all(re)), Parts::swapped(x), crossed);
  }
  [[gnu::always_inline]] static V times_root1(V x, const Constants&) { return times(kCos1, -kSin1, x); }
  [[gnu::always_inline]] static V times_root3(V x, const Constants&) { return times(kSin1, -kCos1, x); }
  // a +- sqrt(1/2) b
  [[gnu::always_inline]] static void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    plus = Parts::fused(a, b, c.half);
    minus = Parts::fused_away(a, b, c.half);
  }
  [[gnu::always_inline]] static void rotate_half(V a, V b, const Constants& c, V& minus_i, V& plus_i) {
    const V scaled = Parts::product(b, c.half);
    minus_i = rotate(a, scaled);
    plus_i = unrotate(a, scaled);
  }
};

template <bool kInverse>
struct FloatPairs : Pairs<Plain<FloatParts, kInverse>> {};
template <bool kInverse>
struct Doubles : Ones<Plain<DoubleParts, kInverse>> {};

}  // namespace ridge::fft::shorts::neon
