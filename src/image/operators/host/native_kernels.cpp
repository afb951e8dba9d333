#include "image/operators/host/native_kernels.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "image/operators/settings.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/operators/host/native_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kRed = static_cast<float>(kGrayWeights[0]), kGreen = static_cast<float>(kGrayWeights[1]),
                kBlue = static_cast<float>(kGrayWeights[2]);

template <class T>
HWY_INLINE T gray_of(const T* p) {
  const float v = std::fma(kRed, static_cast<float>(p[0]),
                           std::fma(kGreen, static_cast<float>(p[1]), kBlue * static_cast<float>(p[2])));
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    return static_cast<T>((v + 8388608.0f) - 8388608.0f);  // weights sum to 1: never beyond the depth
  }
}

template <class D, class V>
HWY_INLINE V gray_vector(D d, V r, V g, V b) {
  return hn::MulAdd(hn::Set(d, kRed), r, hn::MulAdd(hn::Set(d, kGreen), g, hn::Mul(hn::Set(d, kBlue), b)));
}

template <class D, class V>
HWY_INLINE void load_colours(D d, const hn::TFromD<D>* p, std::size_t channels, V& r, V& g, V& b) {
  if (channels == 3) {
    hn::LoadInterleaved3(d, p, r, g, b);
  } else {
    V alpha;
    hn::LoadInterleaved4(d, p, r, g, b, alpha);
  }
}

// 16-bit lanes to a half vector of bytes, or 32-bit ones to 16, through float.
template <class D16, class V16>
HWY_INLINE V16 gray_words(D16 d16, V16 r, V16 g, V16 b) {
  const hn::RepartitionToWide<D16> du32;
  const hn::RebindToSigned<decltype(du32)> d32;
  const hn::RebindToFloat<decltype(du32)> df;
  const hn::Half<D16> half;
  const auto wide = [&](auto v) { return hn::ConvertTo(df, hn::PromoteTo(d32, v)); };
  const auto low =
      gray_vector(df, wide(hn::LowerHalf(half, r)), wide(hn::LowerHalf(half, g)), wide(hn::LowerHalf(half, b)));
  const auto high =
      gray_vector(df, wide(hn::UpperHalf(half, r)), wide(hn::UpperHalf(half, g)), wide(hn::UpperHalf(half, b)));
  return hn::Combine(d16, hn::DemoteTo(half, hn::NearestInt(high)), hn::DemoteTo(half, hn::NearestInt(low)));
}

void gray_u8(const std::uint8_t* in, std::size_t channels, std::size_t n, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::RepartitionToWide<decltype(d)> d16;
  const hn::Half<decltype(d)> half;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> r, g, b;
    load_colours(d, in + i * channels, channels, r, g, b);
    const auto words = [&](auto part) {
      const auto w =
          gray_words(d16, hn::PromoteTo(d16, part(r)), hn::PromoteTo(d16, part(g)), hn::PromoteTo(d16, part(b)));
      return hn::DemoteTo(half, hn::BitCast(hn::RebindToSigned<decltype(d16)>(), w));
    };
    const auto low = words([&](auto v) { return hn::LowerHalf(half, v); });
    const auto high = words([&](auto v) { return hn::UpperHalf(half, v); });
    hn::StoreU(hn::Combine(d, high, low), d, out + i);
  }
  for (; i < n; ++i) out[i] = gray_of(in + i * channels);
}
void gray_u16(const std::uint16_t* in, std::size_t channels, std::size_t n, std::uint16_t* out) {
  const hn::ScalableTag<std::uint16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> r, g, b;
    load_colours(d, in + i * channels, channels, r, g, b);
    hn::StoreU(gray_words(d, r, g, b), d, out + i);
  }
  for (; i < n; ++i) out[i] = gray_of(in + i * channels);
}
void gray_f32(const float* in, std::size_t channels, std::size_t n, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> r, g, b;
    load_colours(d, in + i * channels, channels, r, g, b);
    hn::StoreU(gray_vector(d, r, g, b), d, out + i);
  }
  for (; i < n; ++i) out[i] = gray_of(in + i * channels);
}

template <class T>
HWY_INLINE T quarter(float sum) {
  return static_cast<T>((sum * 0.25f + 8388608.0f) - 8388608.0f);
}
template <class T>
HWY_INLINE void halve_rest(const T* upper, const T* lower, std::size_t channels, std::size_t begin, std::size_t n,
                           T* out) {
  for (std::size_t i = begin; i < n; ++i) {
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t a = 2 * i * channels + c, b = a + channels;
      if constexpr (std::is_same_v<T, float>) {
        out[i * channels + c] = ((upper[a] + upper[b]) + (lower[a] + lower[b])) * 0.25f;
      } else {
        out[i * channels + c] =
            quarter<T>(static_cast<float>(upper[a] + upper[b]) + static_cast<float>(lower[a] + lower[b]));
      }
    }
  }
}
// Sums s of four, divided by 4, halves to even: s + 1 and one more where the result would be odd.
template <class D, class V>
HWY_INLINE V quarters(D d, V s) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  return hn::ShiftRight<2>(hn::Add(hn::Add(s, one), hn::And(hn::ShiftRight<2>(s), one)));
}
void halve_u8(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
              std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  using V = hn::Vec<decltype(d)>;
  // Of four vectors, two above and two below: a vector of the result.
#if HWY_TARGET == HWY_NEON
  const auto halved = [&](V a, V b, V c, V e) {  // (s + odd + 1) / 4, where odd is the last bit of s / 4
    const auto words = [](V above, V below) {
      const uint16x8_t sums = vpadalq_u8(vpaddlq_u8(above.raw), below.raw);
      return vrhaddq_u16(sums, vandq_u16(vshrq_n_u16(sums, 2), vdupq_n_u16(1)));
    };
    return V(vshrn_high_n_u16(vshrn_n_u16(words(a, c), 1), words(b, e), 1));
  };
#else
  const hn::RepartitionToWide<decltype(d)> d16;
  const hn::RebindToSigned<decltype(d16)> s16;
  const hn::Half<decltype(d)> half;
  const auto bytes = hn::Set(d16, std::uint16_t{255});
  const auto pairs = [&](V some) {  // neighbours' sums
    const auto v = hn::BitCast(d16, some);
    return hn::Add(hn::And(v, bytes), hn::ShiftRight<8>(v));
  };
  const auto halved = [&](V a, V b, V c, V e) {
    const auto low = quarters(d16, hn::Add(pairs(a), pairs(c))), high = quarters(d16, hn::Add(pairs(b), pairs(e)));
    return hn::Combine(d, hn::DemoteTo(half, hn::BitCast(s16, high)), hn::DemoteTo(half, hn::BitCast(s16, low)));
  };
#endif
  if (channels == 1) {
    for (; i + lanes <= n; i += lanes) {
      const std::uint8_t *a = upper + 2 * i, *c = lower + 2 * i;
      hn::StoreU(halved(hn::LoadU(d, a), hn::LoadU(d, a + lanes), hn::LoadU(d, c), hn::LoadU(d, c + lanes)), d,
                 out + i);
    }
  } else if (channels == 3) {
    for (; i + lanes <= n; i += lanes) {
      V a[3], b[3], c[3], e[3];
      const std::uint8_t *above = upper + 6 * i, *below = lower + 6 * i;
      hn::LoadInterleaved3(d, above, a[0], a[1], a[2]);
      hn::LoadInterleaved3(d, above + 3 * lanes, b[0], b[1], b[2]);
      hn::LoadInterleaved3(d, below, c[0], c[1], c[2]);
      hn::LoadInterleaved3(d, below + 3 * lanes, e[0], e[1], e[2]);
      hn::StoreInterleaved3(halved(a[0], b[0], c[0], e[0]), halved(a[1], b[1], c[1], e[1]),
                            halved(a[2], b[2], c[2], e[2]), d, out + 3 * i);
    }
  } else if (channels == 4) {
    for (; i + lanes <= n; i += lanes) {
      V a[4], b[4], c[4], e[4];
      const std::uint8_t *above = upper + 8 * i, *below = lower + 8 * i;
      hn::LoadInterleaved4(d, above, a[0], a[1], a[2], a[3]);
      hn::LoadInterleaved4(d, above + 4 * lanes, b[0], b[1], b[2], b[3]);
      hn::LoadInterleaved4(d, below, c[0], c[1], c[2], c[3]);
      hn::LoadInterleaved4(d, below + 4 * lanes, e[0], e[1], e[2], e[3]);
      hn::StoreInterleaved4(halved(a[0], b[0], c[0], e[0]), halved(a[1], b[1], c[1], e[1]),
                            halved(a[2], b[2], c[2], e[2]), halved(a[3], b[3], c[3], e[3]), d, out + 4 * i);
    }
  }
  halve_rest(upper, lower, channels, i, n, out);
}
void halve_u16(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
               std::uint16_t* out) {
  halve_rest(upper, lower, channels, 0, n, out);
}
void halve_f32(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (channels == 1) {
#if HWY_TARGET == HWY_NEON  // loads that take pairs apart take twice the time of these
    const float32x4_t quarter = vdupq_n_f32(0.25f);
    for (; i + 8 <= n; i += 8) {
      const float *a = upper + 2 * i, *c = lower + 2 * i;
      const float32x4_t first =
          vaddq_f32(vpaddq_f32(vld1q_f32(a), vld1q_f32(a + 4)), vpaddq_f32(vld1q_f32(c), vld1q_f32(c + 4)));
      const float32x4_t second =
          vaddq_f32(vpaddq_f32(vld1q_f32(a + 8), vld1q_f32(a + 12)), vpaddq_f32(vld1q_f32(c + 8), vld1q_f32(c + 12)));
      vst1q_f32(out + i, vmulq_f32(first, quarter));
      vst1q_f32(out + i + 4, vmulq_f32(second, quarter));
    }
#endif
    for (; i + lanes <= n; i += lanes) {
      hn::Vec<decltype(d)> a, b, c, e;
      hn::LoadInterleaved2(d, upper + 2 * i, a, b);
      hn::LoadInterleaved2(d, lower + 2 * i, c, e);
      hn::StoreU(hn::Mul(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Set(d, 0.25f)), d, out + i);
    }
  }
  halve_rest(upper, lower, channels, i, n, out);
}

template <class Sum>
HWY_INLINE void means(const Sum* sums, float factor, std::size_t n, std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const float v = static_cast<float>(static_cast<std::int32_t>(sums[i])) * factor + 8388608.0f;
    out[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(v - 8388608.0f));
  }
}
void means_u16(const std::uint16_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  means(sums, factor, n, out);
}
void means_u32(const std::uint32_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  means(sums, factor, n, out);
}

void followed(std::uint16_t* sums, const std::uint8_t* comes, const std::uint8_t* goes, std::size_t n) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto sum = hn::Add(hn::LoadU(d, sums + i), hn::PromoteTo(d, hn::LoadU(d8, comes + i)));
    if (goes != nullptr) sum = hn::Sub(sum, hn::PromoteTo(d, hn::LoadU(d8, goes + i)));
    hn::StoreU(sum, d, sums + i);
  }
  for (; i < n; ++i) sums[i] = static_cast<std::uint16_t>(sums[i] + comes[i] - (goes == nullptr ? 0 : goes[i]));
}
void windows_u16(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint16_t* out) {
  const hn::ScalableTag<std::uint16_t> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto sum = hn::LoadU(d, in + i);
    for (std::size_t k = 1; k < count; ++k) sum = hn::Add(sum, hn::LoadU(d, in + i + k * step));
    hn::StoreU(sum, d, out + i);
  }
}
void windows_u32(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint32_t* out) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<std::uint16_t, decltype(d)> d16;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    auto sum = hn::PromoteTo(d, hn::LoadU(d16, in + i));
    for (std::size_t k = 1; k < count; ++k) sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(d16, in + i + k * step)));
    hn::StoreU(sum, d, out + i);
  }
}

// Sums from the left, on top of the row above.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// A vector of sums from as many values: `prefix` sums those of each channel; then the last ones of each so far go to
// all places of their channel.
template <std::size_t kChannels, std::size_t kLanes>
struct Turns {
  std::uint32_t last[16] = {};
  constexpr Turns() {
    for (std::size_t i = 0; i < kLanes; ++i) last[i] = static_cast<std::uint32_t>(kLanes - kChannels + i % kChannels);
  }
};
// Which of four bytes count for each place: those at it and before it, of its channel.
template <std::size_t kChannels>
struct Triangle {
  alignas(64) std::int8_t bytes[4][64] = {};
  constexpr Triangle() {
    for (std::size_t part = 0; part < 4; ++part) {
      for (std::size_t at = 0; at < 64; ++at) {
        const std::size_t to = at / 4, from = 4 * part + at % 4;
        bytes[part][at] = from <= to && (to - from) % kChannels == 0 ? 1 : 0;
      }
    }
  }
};
template <std::size_t kChannels>
HWY_INLINE void sums_of_bytes(const std::uint8_t* in, std::size_t n, const std::uint32_t* above, std::uint32_t* out) {
  static constexpr Turns<kChannels, 16> kTurns;
  static constexpr Triangle<kChannels> kTriangle;
  const __m512i last = _mm512_loadu_si512(kTurns.last), ones = _mm512_set1_epi16(1);
  const auto part = [&](const std::uint8_t* p, std::size_t k) {
    std::int32_t four;
    std::memcpy(&four, p + 4 * k, 4);
    return _mm512_maddubs_epi16(_mm512_set1_epi32(four), _mm512_load_si512(kTriangle.bytes[k]));
  };
  const auto prefix = [&](const std::uint8_t* p) {  // a word is the sum of at most 8 bytes
    const __m512i words =
        _mm512_add_epi16(_mm512_add_epi16(part(p, 0), part(p, 1)), _mm512_add_epi16(part(p, 2), part(p, 3)));
    return _mm512_madd_epi16(words, ones);
  };
  const std::size_t wide = n * kChannels;
  __m512i carried = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 16 <= wide; i += 16) {
    const __m512i sums = _mm512_add_epi32(prefix(in + i), carried);
    carried = _mm512_permutexvar_epi32(last, sums);
    _mm512_storeu_si512(out + i, _mm512_add_epi32(sums, _mm512_loadu_si512(above + i)));
  }
  if (i < wide) {
    std::uint8_t few[16] = {};
    std::memcpy(few, in + i, wide - i);
    const auto mask = static_cast<__mmask16>((1u << (wide - i)) - 1);
    const __m512i sums = _mm512_add_epi32(prefix(few), carried);
    _mm512_mask_storeu_epi32(out + i, mask, _mm512_add_epi32(sums, _mm512_maskz_loadu_epi32(mask, above + i)));
  }
}
HWY_INLINE __m512d eight_doubles(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
HWY_INLINE __m512d eight_doubles(const std::uint16_t* p) {
  return _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
template <std::size_t kChannels, class T>
HWY_INLINE void sums_of_doubles(const T* in, std::size_t n, const double* above, double* out) {
  static constexpr Turns<kChannels, 8> kTurns;
  const __m512i places = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i last = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(kTurns.last)));
  const auto before = [&](__m512d v, std::size_t distance) {
    const __m512i from = _mm512_sub_epi64(places, _mm512_set1_epi64(static_cast<long long>(distance)));
    return _mm512_maskz_permutexvar_pd(static_cast<__mmask8>(0xff << distance), from, v);
  };
  const auto prefix = [&](const T* p) {
    __m512d v = eight_doubles(p);
    v = _mm512_add_pd(v, before(v, kChannels));
    if constexpr (2 * kChannels < 8) v = _mm512_add_pd(v, before(v, 2 * kChannels));
    if constexpr (4 * kChannels < 8) v = _mm512_add_pd(v, before(v, 4 * kChannels));
    return v;
  };
  const std::size_t wide = n * kChannels;
  __m512d carried = _mm512_setzero_pd();
  std::size_t i = 0;
  for (; i + 8 <= wide; i += 8) {
    const __m512d sums = prefix(in + i);
    _mm512_storeu_pd(out + i, _mm512_add_pd(_mm512_add_pd(sums, carried), _mm512_loadu_pd(above + i)));
    if constexpr (8 % kChannels == 0) {  // the same places again: nothing waits for the sums but an addition
      carried = _mm512_add_pd(carried, _mm512_permutexvar_pd(last, sums));
    } else {
      carried = _mm512_permutexvar_pd(last, _mm512_add_pd(sums, carried));
    }
  }
  if (i < wide) {
    T few[8] = {};
    std::memcpy(few, in + i, (wide - i) * sizeof(T));
    const auto mask = static_cast<__mmask8>((1u << (wide - i)) - 1);
    const __m512d sums = _mm512_add_pd(prefix(few), carried);
    _mm512_mask_storeu_pd(out + i, mask, _mm512_add_pd(sums, _mm512_maskz_loadu_pd(mask, above + i)));
  }
}
template <std::size_t kChannels, class T, class Sum>
HWY_INLINE void sums_of(const T* in, std::size_t n, const Sum* above, Sum* out) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    sums_of_bytes<kChannels>(in, n, above, out);
  } else {
    sums_of_doubles<kChannels>(in, n, above, out);
  }
}
#else
template <std::size_t kChannels, class T, class Sum>
HWY_INLINE void sums_one_by_one(const T* in, std::size_t n, const Sum* above, Sum* out) {
  Sum sum[kChannels] = {};
  for (std::size_t i = 0; i < n * kChannels; i += kChannels) {
    for (std::size_t k = 0; k < kChannels; ++k) {
      sum[k] += static_cast<Sum>(in[i + k]);
      out[i + k] = above[i + k] + sum[k];
    }
  }
}
// Eight bytes at a time: sums of words, then of twice as wide ones.
HWY_INLINE void sums_of_eights(const std::uint8_t* in, std::size_t n, const std::uint32_t* above, std::uint32_t* out) {
  const hn::FixedTag<std::uint16_t, 8> d16;
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::FixedTag<std::uint8_t, 8> d8;
  const hn::Half<decltype(d16)> half;
  auto carried = hn::Zero(d32);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    auto v = hn::PromoteTo(d16, hn::LoadU(d8, in + i));
    v = hn::Add(v, hn::ShiftLeftLanes<1>(d16, v));
    v = hn::Add(v, hn::ShiftLeftLanes<2>(d16, v));
    v = hn::Add(v, hn::ShiftLeftLanes<4>(d16, v));
    const auto low = hn::Add(hn::PromoteTo(d32, hn::LowerHalf(half, v)), carried);
    const auto high = hn::Add(hn::PromoteTo(d32, hn::UpperHalf(half, v)), carried);
    hn::StoreU(hn::Add(low, hn::LoadU(d32, above + i)), d32, out + i);
    hn::StoreU(hn::Add(high, hn::LoadU(d32, above + i + 4)), d32, out + i + 4);
    carried = hn::Broadcast<3>(high);
  }
  std::uint32_t sum = hn::GetLane(carried);
  for (; i < n; ++i) out[i] = above[i] + (sum += in[i]);
}
template <std::size_t kChannels, class T, class Sum>
HWY_INLINE void sums_of(const T* in, std::size_t n, const Sum* above, Sum* out) {
  if constexpr (kChannels == 1 && std::is_same_v<T, std::uint8_t>) {
    sums_of_eights(in, n, above, out);
  } else {
    sums_one_by_one<kChannels>(in, n, above, out);
  }
}
#endif
template <class T, class Sum>
HWY_INLINE void sums_of_channels(const T* in, std::size_t n, std::size_t channels, const Sum* above, Sum* out) {
  switch (channels) {
    case 1:
      return sums_of<1>(in, n, above, out);
    case 2:
      return sums_of<2>(in, n, above, out);
    case 3:
      return sums_of<3>(in, n, above, out);
    default:
      return sums_of<4>(in, n, above, out);
  }
}
void sums_u8(const std::uint8_t* in, std::size_t n, std::size_t channels, const std::uint32_t* above,
             std::uint32_t* out) {
  sums_of_channels(in, n, channels, above, out);
}
void sums_u16(const std::uint16_t* in, std::size_t n, std::size_t channels, const double* above, double* out) {
  sums_of_channels(in, n, channels, above, out);
}
void sums_f32(const float* in, std::size_t n, std::size_t channels, const double* above, double* out) {
  sums_of_channels(in, n, channels, above, out);
}

void stored_past(const void* from, std::size_t bytes, std::byte* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* p = static_cast<const std::uint8_t*>(from);
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(out) % lanes;
  std::size_t i = beyond == 0 ? 0 : lanes - beyond;
  if (i > bytes) i = bytes;
  std::memcpy(out, p, i);
  for (; i + lanes <= bytes; i += lanes) hn::Stream(hn::LoadU(d, p + i), d, out + i);
  std::memcpy(out + i, p + i, bytes - i);
}

// Zipping a vector with the one half the block away, as often as halving takes, turns the block.
template <class T>
HWY_INLINE void block_of(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch) {
  constexpr std::size_t kSide = 16 / sizeof(T);
  const hn::FixedTag<T, kSide> d;
  hn::Vec<decltype(d)> a[kSide], b[kSide];
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kSide; ++i) a[i] = hn::LoadU(d, reinterpret_cast<const T*>(in + i * in_pitch));
  for (std::size_t step = 1; step < kSide; step *= 2) {
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kSide / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kSide / 2]);
    }
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kSide; ++i) a[i] = b[i];
  }
  HWY_UNROLL(16)
  for (std::size_t i = 0; i < kSide; ++i)
    hn::StoreU(a[i], d, reinterpret_cast<T*>(out + static_cast<std::ptrdiff_t>(i) * out_pitch));
}
// Three bytes a pixel: four pixels in each of four rows become words, the words turned, and 16 of a column bytes again.
HWY_INLINE void block_of_three(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch) {
  constexpr std::uint8_t kNo = 0x80;
  // Pixels from a vector's first byte on, and from its fifth on: the last four would else be read beyond the block.
  HWY_ALIGN static constexpr std::uint8_t kWords[2][16] = {
      {0, 1, 2, kNo, 3, 4, 5, kNo, 6, 7, 8, kNo, 9, 10, 11, kNo},
      {4, 5, 6, kNo, 7, 8, 9, kNo, 10, 11, 12, kNo, 13, 14, 15, kNo}};
  // Parts of a vector of bytes: from the words before, and from those behind.
  HWY_ALIGN static constexpr std::uint8_t kBytes[6][16] = {
      {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, 1, 2, 4},
      {5, 6, 8, 9, 10, 12, 13, 14, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, 0, 1, 2, 4, 5, 6, 8, 9},
      {10, 12, 13, 14, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},
      {kNo, kNo, kNo, kNo, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14}};
  const hn::FixedTag<std::uint8_t, 16> d8;
  const hn::FixedTag<std::uint32_t, 4> d32;
  const hn::FixedTag<std::uint64_t, 2> d64;
  using V8 = hn::Vec<decltype(d8)>;
  using V32 = hn::Vec<decltype(d32)>;
  for (std::size_t group = 0; group < 4; ++group) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(in) + (group < 3 ? 12 * group : 32);
    const V8 order = hn::Load(d8, kWords[group < 3 ? 0 : 1]);
    V8 columns[4][4];  // by column, then by four rows
    HWY_UNROLL(4)
    for (std::size_t four = 0; four < 4; ++four) {
      const auto words = [&](std::size_t row) {
        const V8 bytes = hn::LoadU(d8, from + (4 * four + row) * in_pitch);
        return hn::BitCast(d32, hn::TableLookupBytesOr0(bytes, order));
      };
      const V32 a = words(0), b = words(1), c = words(2), e = words(3);
      const auto ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
      const auto ce = hn::BitCast(d64, hn::InterleaveLower(d32, c, e));
      const auto ab_up = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
      const auto ce_up = hn::BitCast(d64, hn::InterleaveUpper(d32, c, e));
      columns[0][four] = hn::BitCast(d8, hn::InterleaveLower(d64, ab, ce));
      columns[1][four] = hn::BitCast(d8, hn::InterleaveUpper(d64, ab, ce));
      columns[2][four] = hn::BitCast(d8, hn::InterleaveLower(d64, ab_up, ce_up));
      columns[3][four] = hn::BitCast(d8, hn::InterleaveUpper(d64, ab_up, ce_up));
    }
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < 4; ++c) {
      auto* to = reinterpret_cast<std::uint8_t*>(out + static_cast<std::ptrdiff_t>(4 * group + c) * out_pitch);
      HWY_UNROLL(3)
      for (std::size_t k = 0; k < 3; ++k) {
        const V8 before = hn::TableLookupBytesOr0(columns[c][k], hn::Load(d8, kBytes[2 * k]));
        const V8 behind = hn::TableLookupBytesOr0(columns[c][k + 1], hn::Load(d8, kBytes[2 * k + 1]));
        hn::StoreU(hn::Or(before, behind), d8, to + 16 * k);
      }
    }
  }
}
template <std::size_t kBytes, class F>
HWY_INLINE void each_block(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across,
                           std::byte* out, std::ptrdiff_t out_pitch, const F& turn) {
  constexpr std::size_t kSide = kBytes == 3 ? 16 : 16 / kBytes;
  for (std::size_t x = 0; x < across; ++x) {
    for (std::size_t y = 0; y < down; ++y) {
      turn(in + y * kSide * in_pitch + x * kSide * kBytes, in_pitch,
           out + static_cast<std::ptrdiff_t>(x * kSide) * out_pitch + y * kSide * kBytes, out_pitch);
    }
  }
}
void blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
            std::ptrdiff_t out_pitch, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return each_block<1>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint8_t>(at...); });
    case 2:
      return each_block<2>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint16_t>(at...); });
    case 3:
      return each_block<3>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of_three(at...); });
    case 4:
      return each_block<4>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint32_t>(at...); });
    default:
      return each_block<8>(in, in_pitch, down, across, out, out_pitch,
                           [](auto... at) HWY_ATTR { block_of<std::uint64_t>(at...); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(gray_u8);
HWY_EXPORT(gray_u16);
HWY_EXPORT(gray_f32);
HWY_EXPORT(halve_u8);
HWY_EXPORT(halve_u16);
HWY_EXPORT(halve_f32);
HWY_EXPORT(followed);
HWY_EXPORT(windows_u16);
HWY_EXPORT(windows_u32);
HWY_EXPORT(means_u16);
HWY_EXPORT(means_u32);
HWY_EXPORT(sums_u8);
HWY_EXPORT(sums_u16);
HWY_EXPORT(sums_f32);
HWY_EXPORT(stored_past);
HWY_EXPORT(blocks);

void gray_row(const std::uint8_t* in, std::size_t channels, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(gray_u8)(in, channels, n, out);
}
void gray_row(const std::uint16_t* in, std::size_t channels, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(gray_u16)(in, channels, n, out);
}
void gray_row(const float* in, std::size_t channels, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(gray_f32)(in, channels, n, out);
}
void halve_row(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
               std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(halve_u8)(upper, lower, channels, n, out);
}
void halve_row(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
               std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(halve_u16)(upper, lower, channels, n, out);
}
void halve_row(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(halve_f32)(upper, lower, channels, n, out);
}
void follow_row(std::uint16_t* sums, const std::uint8_t* comes, const std::uint8_t* goes, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(followed)(sums, comes, goes, n);
}
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(windows_u16)(in, step, count, n, out);
}
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(windows_u32)(in, step, count, n, out);
}
void mean_row(const std::uint16_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(means_u16)(sums, factor, n, out);
}
void mean_row(const std::uint32_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(means_u32)(sums, factor, n, out);
}
void sum_row(const std::uint8_t* in, std::size_t n, std::size_t channels, const std::uint32_t* above,
             std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(sums_u8)(in, n, channels, above, out);
}
void sum_row(const std::uint16_t* in, std::size_t n, std::size_t channels, const double* above, double* out) {
  HWY_DYNAMIC_DISPATCH(sums_u16)(in, n, channels, above, out);
}
void sum_row(const float* in, std::size_t n, std::size_t channels, const double* above, double* out) {
  HWY_DYNAMIC_DISPATCH(sums_f32)(in, n, channels, above, out);
}
void store_past(const void* from, std::size_t bytes, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(stored_past)(from, bytes, to);
}
void end_stores_past() { hwy::FlushStream(); }
void transpose_blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
                      std::ptrdiff_t out_pitch, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(blocks)(in, in_pitch, down, across, out, out_pitch, bytes);
}

}  // namespace ridge::image
#endif
