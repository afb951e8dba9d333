#include "image/operators/host/native_kernels.hpp"

#include <cmath>
#include <limits>

#include "image/operators/settings.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/operators/host/native_kernels.cpp"
#include <hwy/foreach_target.h>
//
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

void sums_u8(const std::uint8_t* in, std::size_t n, const std::uint32_t* above, std::uint32_t* out) {
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
// Three bytes a pixel: channel by channel through memory that stays in the nearest cache.
HWY_INLINE void block_of_three(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch) {
  constexpr std::size_t kSide = 16;
  const hn::FixedTag<std::uint8_t, kSide> d;
  HWY_ALIGN std::uint8_t planes[3][kSide * kSide], turned[3][kSide * kSide];
  for (std::size_t i = 0; i < kSide; ++i) {
    hn::Vec<decltype(d)> r, g, b;
    hn::LoadInterleaved3(d, reinterpret_cast<const std::uint8_t*>(in + i * in_pitch), r, g, b);
    hn::Store(r, d, planes[0] + i * kSide);
    hn::Store(g, d, planes[1] + i * kSide);
    hn::Store(b, d, planes[2] + i * kSide);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    block_of<std::uint8_t>(reinterpret_cast<const std::byte*>(planes[k]), kSide,
                           reinterpret_cast<std::byte*>(turned[k]), kSide);
  }
  for (std::size_t i = 0; i < kSide; ++i) {
    auto* to = reinterpret_cast<std::uint8_t*>(out + static_cast<std::ptrdiff_t>(i) * out_pitch);
    hn::StoreInterleaved3(hn::Load(d, turned[0] + i * kSide), hn::Load(d, turned[1] + i * kSide),
                          hn::Load(d, turned[2] + i * kSide), d, to);
  }
}
void block(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return block_of<std::uint8_t>(in, in_pitch, out, out_pitch);
    case 2:
      return block_of<std::uint16_t>(in, in_pitch, out, out_pitch);
    case 3:
      return block_of_three(in, in_pitch, out, out_pitch);
    case 4:
      return block_of<std::uint32_t>(in, in_pitch, out, out_pitch);
    default:
      return block_of<std::uint64_t>(in, in_pitch, out, out_pitch);
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
HWY_EXPORT(means_u16);
HWY_EXPORT(means_u32);
HWY_EXPORT(sums_u8);
HWY_EXPORT(block);

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
void mean_row(const std::uint16_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(means_u16)(sums, factor, n, out);
}
void mean_row(const std::uint32_t* sums, float factor, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(means_u32)(sums, factor, n, out);
}
void sum_row(const std::uint8_t* in, std::size_t n, const std::uint32_t* above, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(sums_u8)(in, n, above, out);
}
void transpose_block(const std::byte* in, std::size_t in_pitch, std::byte* out, std::ptrdiff_t out_pitch,
                     std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(block)(in, in_pitch, out, out_pitch, bytes);
}

}  // namespace ridge::image
#endif
