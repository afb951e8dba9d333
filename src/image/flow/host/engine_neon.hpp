// Vector operations of the flow kernels by NEON with byte dot products: |a - b|^2 of four-byte words in two
// instructions.
#pragma once
#include <arm_neon.h>

namespace ridge::image::flow {
namespace {

struct Engine {
  static constexpr int kLanes = 4;
  using F = float32x4_t;
  using W = uint8x16_t;
  using Four = float32x4_t;  // four weights, each of which multiplies a vector

  static F load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, F x) { vst1q_f32(p, x); }
  static F set(float x) { return vdupq_n_f32(x); }
  static F add(F a, F b) { return vaddq_f32(a, b); }
  static F sub(F a, F b) { return vsubq_f32(a, b); }
  static F mul(F a, F b) { return vmulq_f32(a, b); }
  static F max(F a, F b) { return vmaxq_f32(a, b); }
  static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
  static W words(const void* p) { return vld1q_u8(static_cast<const uint8_t*>(p)); }
  static W all(const uint32_t* word) { return vreinterpretq_u8_u32(vld1q_dup_u32(word)); }
  static W cells_of_four(const uint32_t* word) { return all(word); }  // each word of a row repeated four times

  // The dot product is accumulated onto the bits of 2^23: read as a float it is 2^23 + squares, without a conversion.
  static F lifted_squares(W a, W b) {
    const uint8x16_t d = vabdq_u8(a, b);
    return vreinterpretq_f32_u32(vdotq_u32(vdupq_n_u32(0x4b000000u), d, d));
  }
  // An integer's bits read as a float are squares * 2^-149; the factor below compensates for it.
  static constexpr float kSquaresUnit = 0x1p-126f;  // costs are scaled by 2^-23, which changes no comparison
  static F squares(W a, W b) {
    const uint8x16_t d = vabdq_u8(a, b);
    return vreinterpretq_f32_u32(vdotq_u32(vdupq_n_u32(0), d, d));
  }
  static F as_float(W a, W b) { return vsubq_f32(lifted_squares(a, b), vdupq_n_f32(8388608.0f)); }

  static Four four(const float* p) { return vld1q_f32(p); }
  template <int kLane>
  static F fma_one(F a, Four w, F c) {
    return vfmaq_laneq_f32(c, a, w, kLane);
  }
  // Shifts the bits of a float left: the integer part of 512 + x becomes the exponent.
  static F exponent_of(F z) { return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(z), 9)); }
  // Index of the first smallest value; count is a multiple of 4.
  static int first_least(const float* values, int count) {
    float32x4_t least = vld1q_f32(values);
    uint32x4_t index = vdupq_n_u32(0);
    for (int k = 4; k < count; k += 4) {
      const float32x4_t next = vld1q_f32(values + k);
      index = vbslq_u32(vcltq_f32(next, least), vdupq_n_u32(static_cast<uint32_t>(k)), index);
      least = vminq_f32(least, next);
    }
    constexpr uint32_t kLane[4] = {0, 1, 2, 3};
    const uint32x4_t place = vaddq_u32(index, vld1q_u32(kLane));
    const uint32x4_t there = vceqq_f32(least, vdupq_n_f32(vminvq_f32(least)));
    return static_cast<int>(vminvq_u32(vornq_u32(place, there)));
  }
  static F scale_by_bits(F p, F z) {  // p * 2^(low bits of z)
    return vreinterpretq_f32_u32(vaddq_u32(vreinterpretq_u32_f32(p), vshlq_n_u32(vreinterpretq_u32_f32(z), 23)));
  }
};

}  // namespace
}  // namespace ridge::image::flow
