// Policies for plain NEON, without the complex instructions of Armv8.3.
#pragma once
#include "fft/host/short/plain.hpp"
#include "fft/host/short/policies.hpp"

namespace ridge::fft::shorts::neon {

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

template <bool kInverse>
struct FloatPairs : Pairs<Plain<FloatParts, kInverse>> {};
template <bool kInverse>
struct Doubles : Ones<Plain<DoubleParts, kInverse>> {};

}  // namespace ridge::fft::shorts::neon
