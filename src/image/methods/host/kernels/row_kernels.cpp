// Vectorized row kernels of the row-wise operators: weighted sums, resampling, gradients, medians, bilateral filters.
#include "image/methods/host/kernels/row_kernels.hpp"

#include "image/flow/constants.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/row_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using F = hn::Vec<D>;

// Weighted sums along a line. kVectors independent sums hide the latency of fused multiply-adds (latency times issue
// rate). Buffers have space for a whole vector beyond their end, which the last iteration reads and writes.
template <std::size_t kVectors>
HWY_INLINE void along_block(const float* line, const float* weights, std::size_t taps, float* out) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  F sums[kVectors];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (std::size_t k = 0; k < taps; ++k) {
    const F w = hn::Set(d, weights[k]);
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(hn::LoadU(d, line + k + v * lanes), w, sums[v]);
  }
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + v * lanes);
}
void weighted_along(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + 8 * lanes <= n; i += 8 * lanes) along_block<8>(line + i, weights, taps, out + i);
  for (; i < n; i += lanes) along_block<1>(line + i, weights, taps, out + i);
}

// Weighted sums at every second position: deinterleaves even and odd values and handles taps in pairs.
template <std::size_t kVectors>
HWY_INLINE void half_block(const float* line, const float* weights, std::size_t taps, float* out, std::size_t i) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  F sums[kVectors], a, b;
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  std::size_t k = 0;
  for (; k + 1 < taps; k += 2) {
    const F first = hn::Set(d, weights[k]), second = hn::Set(d, weights[k + 1]);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::LoadInterleaved2(d, line + 2 * (i + v * lanes) + k, a, b);
      sums[v] = hn::MulAdd(b, second, hn::MulAdd(a, first, sums[v]));
    }
  }
  if (k < taps) {
    const F last = hn::Set(d, weights[k]);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::LoadInterleaved2(d, line + 2 * (i + v * lanes) + k, a, b);
      sums[v] = hn::MulAdd(a, last, sums[v]);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + i + v * lanes);
}
void weighted_half(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) half_block<4>(line, weights, taps, out, i);
  for (; i < n; i += lanes) half_block<1>(line, weights, taps, out, i);
}

// Resampling. Neighbouring results read neighbouring positions: if the positions of a vector are within a few vectors,
// values are selected from registers; otherwise they are loaded one by one.
#if HWY_TARGET == HWY_NEON
// Enlarging: four neighbouring results start within four positions, so tap k of all four is within the vector that
// begins k positions later.
template <std::size_t kLines>
HWY_INLINE void resample_near(const float* const* lines, const Resampling& table, float* const* outs, std::size_t n) {
  const uint32x4_t each = vdupq_n_u32(0x04040404u), bytes = vdupq_n_u32(0x03020100u);
  for (std::size_t i = 0; i < n; i += 4) {
    const std::int32_t* place = table.places + i;
    const int32x4_t there = vsubq_s32(vld1q_s32(place), vdupq_n_s32(place[0]));
    const uint8x16_t pick = vreinterpretq_u8_u32(vmlaq_u32(bytes, vreinterpretq_u32_s32(there), each));
    float32x4_t sums[kLines];
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kLines; ++j) sums[j] = vdupq_n_f32(0);
    for (std::size_t k = 0; k < table.taps; ++k) {
      const float32x4_t w = vld1q_f32(table.weights + k * table.stride + i);
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) {
        const uint8x16_t window = vreinterpretq_u8_f32(vld1q_f32(lines[j] + place[0] + k));
        sums[j] = vfmaq_f32(sums[j], vreinterpretq_f32_u8(vqtbl1q_u8(window, pick)), w);
      }
    }
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kLines; ++j) vst1q_f32(outs[j] + i, sums[j]);
  }
}
template <int kRegisters, std::size_t kLines>
HWY_INLINE void resample_picked(const float* const* lines, const Resampling& table, float* const* outs, std::size_t n) {
  const uint32x4_t each = vdupq_n_u32(0x04040404u), bytes = vdupq_n_u32(0x03020100u);
  for (std::size_t i = 0; i < n; i += 4) {
    const std::int32_t* place = table.places + i;
    const int32x4_t there = vsubq_s32(vld1q_s32(place), vdupq_n_s32(place[0]));
    uint32x4_t pick = vmlaq_u32(bytes, vreinterpretq_u32_s32(there), each);
    const auto take = [&](auto held, auto at) {
      float32x4_t sums[kLines];
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) sums[j] = vdupq_n_f32(0);
      for (std::size_t k = 0; k < table.taps; ++k) {
        const float32x4_t w = vld1q_f32(table.weights + k * table.stride + i);
        HWY_UNROLL(4)
        for (std::size_t j = 0; j < kLines; ++j)
          sums[j] = vfmaq_f32(sums[j], vreinterpretq_f32_u8(at(held[j], vreinterpretq_u8_u32(pick))), w);
        pick = vaddq_u32(pick, each);
      }
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) vst1q_f32(outs[j] + i, sums[j]);
    };
    if constexpr (kRegisters == 2) {
      uint8x16x2_t held[kLines];
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) {
        const auto* window = reinterpret_cast<const uint8_t*>(lines[j] + place[0]);
        held[j] = {{vld1q_u8(window), vld1q_u8(window + 16)}};
      }
      take(held, [](const uint8x16x2_t& from, uint8x16_t at) { return vqtbl2q_u8(from, at); });
    } else {
      uint8x16x4_t held[kLines];
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) {
        const auto* window = reinterpret_cast<const uint8_t*>(lines[j] + place[0]);
        held[j] = {{vld1q_u8(window), vld1q_u8(window + 16), vld1q_u8(window + 32), vld1q_u8(window + 48)}};
      }
      take(held, [](const uint8x16x4_t& from, uint8x16_t at) { return vqtbl4q_u8(from, at); });
    }
  }
}
#else
// If a vector of results starts within one vector of positions, tap k is selected from the vector that begins k
// positions later; otherwise the taps are gathered.
template <std::size_t kLines>
HWY_INLINE void resample_vectors(const float* const* lines, const Resampling& table, float* const* outs,
                                 std::size_t n) {
  const D d;
  const hn::RebindToSigned<D> di;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += lanes) {
    const std::int32_t first = table.places[i];
    const auto places = hn::LoadU(di, table.places + i);
    F sums[kLines];
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kLines; ++j) sums[j] = hn::Zero(d);
    const auto add = [&](const auto& take) {
      for (std::size_t k = 0; k < table.taps; ++k) {
        const F w = hn::LoadU(d, table.weights + k * table.stride + i);
        HWY_UNROLL(4)
        for (std::size_t j = 0; j < kLines; ++j) sums[j] = hn::MulAdd(take(lines[j] + k), w, sums[j]);
      }
    };
    if (table.places[i + lanes - 1] < first + static_cast<std::int32_t>(lanes)) {
      const auto pick = hn::IndicesFromVec(d, hn::Sub(places, hn::Set(di, first)));
      add([&](const float* line) { return hn::TableLookupLanes(hn::LoadU(d, line + first), pick); });
    } else {
      add([&](const float* line) { return hn::GatherIndex(d, line, places); });
    }
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kLines; ++j) hn::StoreU(sums[j], d, outs[j] + i);
  }
}
#endif
void resampled(const float* const* lines, std::size_t count, const Resampling& table, float* const* outs,
               std::size_t n) {
#if HWY_TARGET == HWY_NEON
  if (table.span <= table.taps + 3) {
    for (; count >= 4; count -= 4, lines += 4, outs += 4) resample_near<4>(lines, table, outs, n);
    for (; count >= 3; count -= 3, lines += 3, outs += 3) resample_near<3>(lines, table, outs, n);
    for (; count > 0; --count, ++lines, ++outs) resample_near<1>(lines, table, outs, n);
  } else if (table.span <= 8) {
    for (; count >= 4; count -= 4, lines += 4, outs += 4) resample_picked<2, 4>(lines, table, outs, n);
    for (; count >= 3; count -= 3, lines += 3, outs += 3) resample_picked<2, 3>(lines, table, outs, n);
    for (; count > 0; --count, ++lines, ++outs) resample_picked<2, 1>(lines, table, outs, n);
  } else if (table.span <= 16) {
    for (; count >= 2; count -= 2, lines += 2, outs += 2) resample_picked<4, 2>(lines, table, outs, n);
    for (; count > 0; --count, ++lines, ++outs) resample_picked<4, 1>(lines, table, outs, n);
  }
  for (; count > 0; --count, ++lines, ++outs) {
    for (std::size_t i = 0; i < n; ++i) {
      const float* from = *lines + table.places[i];
      float sum = 0;
      for (std::size_t k = 0; k < table.taps; ++k) sum += from[k] * table.weights[k * table.stride + i];
      (*outs)[i] = sum;
    }
  }
#else
  for (; count >= 4; count -= 4, lines += 4, outs += 4) resample_vectors<4>(lines, table, outs, n);
  for (; count >= 3; count -= 3, lines += 3, outs += 3) resample_vectors<3>(lines, table, outs, n);
  for (; count > 0; --count, ++lines, ++outs) resample_vectors<1>(lines, table, outs, n);
#endif
}

// Vertical pass: sum of three rows weighted by `factors`, and the difference of the outer rows. Horizontal pass: x is
// the difference of the sums, y the weighted sum of the differences.
void gradients_down(const float* const* rows, const float* factors, float* smooth, float* apart, std::size_t n) {
  const D d;
  const F outer = hn::Set(d, factors[0]), middle = hn::Set(d, factors[1]);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const F a = hn::LoadU(d, rows[0] + i), b = hn::LoadU(d, rows[1] + i), c = hn::LoadU(d, rows[2] + i);
    hn::StoreU(hn::MulAdd(hn::Add(a, c), outer, hn::Mul(b, middle)), d, smooth + i);
    hn::StoreU(hn::Sub(c, a), d, apart + i);
  }
}
void gradients_across(const float* smooth, const float* apart, const float* factors, float* x, float* y,
                      std::size_t n) {
  const D d;
  const F outer = hn::Set(d, factors[0]), middle = hn::Set(d, factors[1]);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(hn::Sub(hn::LoadU(d, smooth + i + 1), hn::LoadU(d, smooth + i - 1)), d, x + i);
    const F ends = hn::Add(hn::LoadU(d, apart + i - 1), hn::LoadU(d, apart + i + 1));
    hn::StoreU(hn::MulAdd(ends, outer, hn::Mul(hn::LoadU(d, apart + i), middle)), d, y + i);
  }
}

void added(const float* more, float* sums, std::size_t n) {
  const D d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, more + i)), d, sums + i);
}

// Selection of the median with a shrinking buffer: the smallest and largest of the held values are discarded, and the
// next value is inserted.
template <class V>
HWY_INLINE V select_median(V* held, std::size_t taps, const auto& next) {
  const std::size_t first = taps / 2 + 2 < taps ? taps / 2 + 2 : taps;
  std::size_t count = first;
  for (std::size_t k = 0; k < first; ++k) held[k] = next(k);
  for (std::size_t k = first;; ++k) {
    for (std::size_t i = 1; i < count; ++i) {  // moves the smallest to the front
      const V low = hn::Min(held[0], held[i]);
      held[i] = hn::Max(held[0], held[i]);
      held[0] = low;
    }
    for (std::size_t i = 1; i + 1 < count; ++i) {  // moves the largest to the end
      const V high = hn::Max(held[count - 1], held[i]);
      held[i] = hn::Min(held[count - 1], held[i]);
      held[count - 1] = high;
    }
    if (count <= 3) return count == 1 ? held[0] : held[1];
    held[0] = next(k);  // discards both: the next value replaces the smallest
    --count;
  }
}

void median(const float* const* from, std::size_t taps, float* out, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  F held[16];
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(select_median(held, taps, [&](std::size_t k) { return hn::LoadU(d, from[k] + i); }), d, out + i);
  }
  const hn::CappedTag<float, 1> one;
  hn::Vec<decltype(one)> alone[16];
  for (; i < n; ++i) {
    hn::StoreU(select_median(alone, taps, [&](std::size_t k) { return hn::LoadU(one, from[k] + i); }), one, out + i);
  }
}

template <class D1>
HWY_INLINE hn::Vec<D1> exp2_of(D1 d, hn::Vec<D1> t) {
  const hn::RebindToUnsigned<D1> du;
  const auto rounder = hn::Set(d, flow::kRounder);
  t = hn::Max(t, hn::Set(d, -126.0f));
  const auto z = hn::Add(t, rounder), f = hn::Sub(t, hn::Sub(z, rounder));
  auto p = hn::Set(d, flow::kExp2[0]);
  for (int k = 1; k < 6; ++k) p = hn::MulAdd(f, p, hn::Set(d, flow::kExp2[k]));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, z))));
}

template <class D1>
HWY_INLINE void tap_at(D1 d, const BilateralTap& tap, std::size_t i) {
  auto apart = hn::Zero(d);
  for (std::size_t k = 0; k < tap.guide_channels; ++k) {
    const auto x = hn::Sub(hn::LoadU(d, tap.own[k] + i), hn::LoadU(d, tap.other[k] + i));
    apart = tap.absolute ? hn::Add(apart, hn::Abs(x)) : hn::MulAdd(x, x, apart);
  }
  if (tap.absolute) apart = hn::Mul(apart, apart);
  const auto w = exp2_of(d, hn::MulAdd(apart, hn::Set(d, tap.slope), hn::Set(d, tap.space)));
  for (std::size_t k = 0; k < tap.channels; ++k) {
    hn::StoreU(hn::MulAdd(w, hn::LoadU(d, tap.values[k] + i), hn::LoadU(d, tap.sums[k] + i)), d, tap.sums[k] + i);
  }
  hn::StoreU(hn::Add(w, hn::LoadU(d, tap.total + i)), d, tap.total + i);
}
void one_tap(const BilateralTap& tap, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) tap_at(d, tap, i);
  for (; i < n; ++i) tap_at(hn::CappedTag<float, 1>(), tap, i);
}

// 2^t for t >= -126. kTerms: terms of the polynomial; 4 terms have an error of 7.5e-5, which suffices for bytes.
template <std::size_t kTerms>
HWY_INLINE F weight_of(F t) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  constexpr float kFew[4] = {0.055171669f, 0.242611122f, 0.693260985f, 0.999928074f};
  const float* const terms = kTerms == 4 ? kFew : flow::kExp2;
  const F rounder = hn::Set(d, flow::kRounder), z = hn::Add(t, rounder), f = hn::Sub(t, hn::Sub(z, rounder));
  F p = hn::Set(d, terms[0]);
  HWY_UNROLL(6)
  for (std::size_t k = 1; k < kTerms; ++k) p = hn::MulAdd(f, p, hn::Set(d, terms[k]));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(hn::BitCast(du, z))));
}

// Computes all taps of some vectors of pixels at once, so that sums stay in registers. The image is its own guide.
template <std::size_t kChannels>
constexpr std::size_t kBilateralVectors = kChannels == 1 ? 4 : 2;
template <std::size_t kChannels, std::size_t kTerms, bool kAbsolute>
HWY_INLINE void whole_window(const BilateralWindow& window, float* const* outs, std::size_t i) {
  constexpr std::size_t kVectors = kBilateralVectors<kChannels>;
  const D d;
  const std::size_t lanes = hn::Lanes(d), side = 2 * window.radius + 1;
  const F slope = hn::Set(d, window.slope), least = hn::Set(d, -126.0f);
  F own[kChannels][kVectors], sums[kChannels][kVectors], total[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    total[v] = hn::Zero(d);
    for (std::size_t k = 0; k < kChannels; ++k) {
      own[k][v] = hn::LoadU(d, window.rows[window.radius * kChannels + k] + i + v * lanes);
      sums[k][v] = hn::Zero(d);
    }
  }
  for (std::size_t y = 0; y < side; ++y) {
    const float* rows[kChannels];
    for (std::size_t k = 0; k < kChannels; ++k) rows[k] = window.rows[y * kChannels + k] + i - window.radius;
    const std::size_t reach = window.reach[y];
    for (std::size_t x = window.radius - reach; x <= window.radius + reach; ++x) {
      const F space = hn::Set(d, window.space[y * side + x]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < kVectors; ++v) {
        F there[kChannels], apart;
        HWY_UNROLL(4)
        for (std::size_t k = 0; k < kChannels; ++k) {
          there[k] = hn::LoadU(d, rows[k] + x + v * lanes);
          const F off = hn::Sub(own[k][v], there[k]);
          if constexpr (kAbsolute) {
            apart = k == 0 ? hn::Abs(off) : hn::Add(hn::Abs(off), apart);
          } else {
            apart = k == 0 ? hn::Mul(off, off) : hn::MulAdd(off, off, apart);
          }
        }
        if constexpr (kAbsolute) apart = hn::Mul(apart, apart);
        F t = hn::MulAdd(apart, slope, space);
        if constexpr (kChannels > 1 || kTerms > 4) t = hn::Max(t, least);
        const F w = weight_of<kTerms>(t);
        HWY_UNROLL(4)
        for (std::size_t k = 0; k < kChannels; ++k) sums[k][v] = hn::MulAdd(w, there[k], sums[k][v]);
        total[v] = hn::Add(total[v], w);
      }
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t k = 0; k < kChannels; ++k) hn::StoreU(hn::Div(sums[k][v], total[v]), d, outs[k] + i + v * lanes);
  }
}
void bilateral_of(const BilateralWindow& window, std::size_t channels, float* const* outs, std::size_t n) {
  const auto row = [&]<std::size_t kChannels, std::size_t kTerms, bool kAbsolute = false>() {
    const std::size_t step = kBilateralVectors<kChannels> * hn::Lanes(D());
    for (std::size_t i = 0; i < n; i += step) whole_window<kChannels, kTerms, kAbsolute>(window, outs, i);
  };
  // `bytes` is set for one channel only if its exponents stay above -126, so that no clamp is needed.
  if (channels == 1) return window.bytes ? row.template operator()<1, 4>() : row.template operator()<1, 6>();
  if (window.absolute) return row.template operator()<3, 6, true>();
  return window.bytes ? row.template operator()<3, 4>() : row.template operator()<3, 6>();
}

void divided(float* values, const float* by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] /= by[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(median);
HWY_EXPORT(weighted_half);
HWY_EXPORT(resampled);
HWY_EXPORT(gradients_down);
HWY_EXPORT(gradients_across);
HWY_EXPORT(added);
HWY_EXPORT(weighted_along);
HWY_EXPORT(one_tap);
HWY_EXPORT(divided);
HWY_EXPORT(bilateral_of);

void median_of(const float* const* from, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(median)(from, taps, out, n);
}
void weighted_sum_half(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(weighted_half)(line, weights, taps, out, n);
}
void weighted_sum_along(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(weighted_along)(line, weights, taps, out, n);
}
void resample(const float* const* lines, std::size_t count, const Resampling& table, float* const* outs,
              std::size_t n) {
  HWY_DYNAMIC_DISPATCH(resampled)(lines, count, table, outs, n);
}
void gradient_down(const float* const* rows, const float* factors, float* smooth, float* apart, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(gradients_down)(rows, factors, smooth, apart, n);
}
void gradient_across(const float* smooth, const float* apart, const float* factors, float* x, float* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(gradients_across)(smooth, apart, factors, x, y, n);
}
void add_to(const float* more, float* sums, std::size_t n) { HWY_DYNAMIC_DISPATCH(added)(more, sums, n); }
void bilateral_tap(const BilateralTap& tap, std::size_t n) { HWY_DYNAMIC_DISPATCH(one_tap)(tap, n); }
void bilateral_row(const BilateralWindow& window, std::size_t channels, float* const* outs, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(bilateral_of)(window, channels, outs, n);
}
void divide(float* values, const float* by, std::size_t n) { HWY_DYNAMIC_DISPATCH(divided)(values, by, n); }

}  // namespace ridge::image
#endif
