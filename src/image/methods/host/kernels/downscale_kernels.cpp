// Vectorized means of 2x2 pixels, for downscaling by two.
#include <type_traits>

#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/downscale_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE T quarter(float sum) {
  return static_cast<T>((sum * 0.25f + 8388608.0f) - 8388608.0f);
}
template <class T>
HWY_INLINE void downscale_rest(const T* upper, const T* lower, std::size_t channels, std::size_t begin, std::size_t n,
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
// Divides sums of four values by 4, rounding half to even: adds 1, and 1 more if the quotient is odd.
template <class D, class V>
HWY_INLINE V quarters(D d, V s) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  return hn::ShiftRight<2>(hn::Add(hn::Add(s, one), hn::And(hn::ShiftRight<2>(s), one)));
}
void downscale_u8(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
                  std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  using V = hn::Vec<decltype(d)>;
  // Averages two vectors of the upper row (a, b) with two of the lower row (c, e) to one vector of results.
#if HWY_TARGET == HWY_NEON
  const auto averaged = [&](V a, V b, V c, V e) {  // (s + odd + 1) / 4, where odd is the last bit of s / 4
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
  const auto pairs = [&](V some) {  // sums of neighbouring bytes
    const auto v = hn::BitCast(d16, some);
    return hn::Add(hn::And(v, bytes), hn::ShiftRight<8>(v));
  };
  const auto averaged = [&](V a, V b, V c, V e) {
    const auto low = quarters(d16, hn::Add(pairs(a), pairs(c))), high = quarters(d16, hn::Add(pairs(b), pairs(e)));
    return hn::Combine(d, hn::DemoteTo(half, hn::BitCast(s16, high)), hn::DemoteTo(half, hn::BitCast(s16, low)));
  };
#endif
  if (channels == 1) {
    for (; i + lanes <= n; i += lanes) {
      const std::uint8_t *a = upper + 2 * i, *c = lower + 2 * i;
      hn::StoreU(averaged(hn::LoadU(d, a), hn::LoadU(d, a + lanes), hn::LoadU(d, c), hn::LoadU(d, c + lanes)), d,
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
      hn::StoreInterleaved3(averaged(a[0], b[0], c[0], e[0]), averaged(a[1], b[1], c[1], e[1]),
                            averaged(a[2], b[2], c[2], e[2]), d, out + 3 * i);
    }
  } else if (channels == 4) {
    for (; i + lanes <= n; i += lanes) {
      V a[4], b[4], c[4], e[4];
      const std::uint8_t *above = upper + 8 * i, *below = lower + 8 * i;
      hn::LoadInterleaved4(d, above, a[0], a[1], a[2], a[3]);
      hn::LoadInterleaved4(d, above + 4 * lanes, b[0], b[1], b[2], b[3]);
      hn::LoadInterleaved4(d, below, c[0], c[1], c[2], c[3]);
      hn::LoadInterleaved4(d, below + 4 * lanes, e[0], e[1], e[2], e[3]);
      hn::StoreInterleaved4(averaged(a[0], b[0], c[0], e[0]), averaged(a[1], b[1], c[1], e[1]),
                            averaged(a[2], b[2], c[2], e[2]), averaged(a[3], b[3], c[3], e[3]), d, out + 4 * i);
    }
  }
  downscale_rest(upper, lower, channels, i, n, out);
}
void downscale_u16(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
                   std::uint16_t* out) {
  downscale_rest(upper, lower, channels, 0, n, out);
}
void downscale_f32(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (channels == 1) {
#if HWY_TARGET == HWY_NEON  // deinterleaving loads take twice as long as pairwise additions
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
  downscale_rest(upper, lower, channels, i, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(downscale_u8);
HWY_EXPORT(downscale_u16);
HWY_EXPORT(downscale_f32);

void downscale_row(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
                   std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(downscale_u8)(upper, lower, channels, n, out);
}
void downscale_row(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
                   std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(downscale_u16)(upper, lower, channels, n, out);
}
void downscale_row(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(downscale_f32)(upper, lower, channels, n, out);
}

}  // namespace ridge::image
#endif
