// Vectorized separable filters: weighted sums down columns and along rows of pixels of any depth, in float.
#include <cstring>

#include "image/methods/host/kernels/row_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/separable_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "image/methods/host/kernels/narrow-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using F = hn::Vec<D>;

template <class T>
HWY_INLINE F load_floats(const T* p) {
  const D d;
  if constexpr (std::is_same_v<T, float>) {
    return hn::LoadU(d, p);
  } else {
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<T, D>(), p)));
  }
}

// kVectors independent sums hide the latency of fused multiply-adds (latency times issue rate).
template <std::size_t kVectors, class T>
HWY_INLINE void sum_block(const T* const* from, const float* weights, std::size_t taps, float* out, std::size_t i) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  F sums[kVectors];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (std::size_t k = 0; k < taps; ++k) {
    const T* p = from[k] + i;
    const F w = hn::Set(d, weights[k]);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(load_floats(p + v * lanes), w, sums[v]);
  }
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + i + v * lanes);
}
// Buffers have space for a whole vector beyond their end, which the last iteration reads and writes.
template <class T>
HWY_INLINE void sum(const T* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes) sum_block<8>(from, weights, taps, out, i);
  for (; i < n; i += lanes) sum_block<1>(from, weights, taps, out, i);
}
void sum_u8(const std::uint8_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  sum(from, weights, taps, out, n);
}
void sum_u16(const std::uint16_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  sum(from, weights, taps, out, n);
}
void sum_f32(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  sum(from, weights, taps, out, n);
}

// Computes four output rows; each input row is loaded once for all of them.
template <std::size_t kVectors, class T>
HWY_INLINE void down_block(const T* const* rows, const float* weights, std::size_t taps, float* const* outs,
                           std::size_t i) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  F sums[4][kVectors];
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < 4; ++j) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) sums[j][v] = hn::Zero(d);
  }
  const auto add = [&]<std::size_t kFirst, std::size_t kEnd>(std::size_t t) {
    const T* row = rows[t] + i;
    F values[kVectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) values[v] = load_floats(row + v * lanes);
    HWY_UNROLL(4)
    for (std::size_t j = kFirst; j < kEnd; ++j) {
      const F w = hn::Set(d, weights[t - j]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < kVectors; ++v) sums[j][v] = hn::MulAdd(values[v], w, sums[j][v]);
    }
  };
  add.template operator()<0, 1>(0);
  add.template operator()<0, 2>(1);
  add.template operator()<0, 3>(2);
  for (std::size_t t = 3; t < taps; ++t) add.template operator()<0, 4>(t);
  add.template operator()<1, 4>(taps);
  add.template operator()<2, 4>(taps + 1);
  add.template operator()<3, 4>(taps + 2);
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < 4; ++j) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[j][v], d, outs[j] + i + v * lanes);
  }
}
template <class T>
HWY_INLINE void down(const T* const* rows, const float* weights, std::size_t taps, float* const* outs, std::size_t n) {
#if HWY_TARGET == HWY_NEON || HWY_TARGET <= HWY_AVX3
  constexpr std::size_t kVectors = 4;
#else
  constexpr std::size_t kVectors = 2;  // with 16 vector registers
#endif
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + kVectors * lanes <= n; i += kVectors * lanes) down_block<kVectors>(rows, weights, taps, outs, i);
  for (; i < n; i += lanes) down_block<1>(rows, weights, taps, outs, i);
}
void down_u8(const std::uint8_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
             std::size_t n) {
  down(rows, weights, taps, outs, n);
}
void down_u16(const std::uint16_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
              std::size_t n) {
  down(rows, weights, taps, outs, n);
}
void down_f32(const float* const* rows, const float* weights, std::size_t taps, float* const* outs, std::size_t n) {
  down(rows, weights, taps, outs, n);
}

constexpr std::size_t kAtOnce = 8;  // independent sums that hide the latency of multiply-adds

HWY_INLINE void store_rounded(const F* v, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  for (std::size_t k = 0; k < kAtOnce; k += 4)
    hn::StoreU(narrowed_u8(v[k], v[k + 1], v[k + 2], v[k + 3]), d, out + k / 4 * hn::Lanes(d));
}
HWY_INLINE void store_rounded(const F* v, std::uint16_t* out) {
  const hn::ScalableTag<std::uint16_t> d;
  for (std::size_t k = 0; k < kAtOnce; k += 2) hn::StoreU(narrowed_u16(v[k], v[k + 1]), d, out + k / 2 * hn::Lanes(d));
}
HWY_INLINE void store_rounded(const F* v, float* out) {
  const D d;
  for (std::size_t k = 0; k < kAtOnce; ++k) hn::StoreU(v[k], d, out + k * hn::Lanes(d));
}

template <class T>
HWY_INLINE void across_block(const float* line, const float* weights, std::size_t taps, std::size_t apart, T* out) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  F sums[kAtOnce];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kAtOnce; ++v) sums[v] = hn::Zero(d);
  for (std::size_t k = 0; k < taps; ++k) {
    const F w = hn::Set(d, weights[k]);
    const float* from = line + k * apart;
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kAtOnce; ++v) sums[v] = hn::MulAdd(hn::LoadU(d, from + v * lanes), w, sums[v]);
  }
  store_rounded(sums, out);
}
template <class T>
HWY_INLINE void across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                       T* out) {
  const std::size_t step = kAtOnce * hn::Lanes(D());
  std::size_t i = 0;
  for (; i + step <= n; i += step) across_block(line + i, weights, taps, apart, out + i);
  if (i < n) {
    HWY_ALIGN T last[kAtOnce * HWY_LANES(float)];
    across_block(line + i, weights, taps, apart, last);
    std::memcpy(out + i, last, (n - i) * sizeof(T));
  }
}
void across_u8(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
               std::uint8_t* out) {
  across(line, weights, taps, apart, n, out);
}
void across_u16(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                std::uint16_t* out) {
  across(line, weights, taps, apart, n, out);
}
void across_f32(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                float* out) {
  across(line, weights, taps, apart, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(sum_u8);
HWY_EXPORT(sum_u16);
HWY_EXPORT(sum_f32);
HWY_EXPORT(down_u8);
HWY_EXPORT(down_u16);
HWY_EXPORT(down_f32);
HWY_EXPORT(across_u8);
HWY_EXPORT(across_u16);
HWY_EXPORT(across_f32);

void weighted_sum(const std::uint8_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(sum_u8)(from, weights, taps, out, n);
}
void weighted_sum(const std::uint16_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(sum_u16)(from, weights, taps, out, n);
}
void weighted_sum(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(sum_f32)(from, weights, taps, out, n);
}
void weighted_sums_down(const std::uint8_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n) {
  HWY_DYNAMIC_DISPATCH(down_u8)(rows, weights, taps, outs, n);
}
void weighted_sums_down(const std::uint16_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n) {
  HWY_DYNAMIC_DISPATCH(down_u16)(rows, weights, taps, outs, n);
}
void weighted_sums_down(const float* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n) {
  HWY_DYNAMIC_DISPATCH(down_f32)(rows, weights, taps, outs, n);
}
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(across_u8)(line, weights, taps, apart, n, out);
}
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(across_u16)(line, weights, taps, apart, n, out);
}
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(across_f32)(line, weights, taps, apart, n, out);
}

}  // namespace ridge::image
#endif
