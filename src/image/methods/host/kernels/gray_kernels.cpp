// Vectorized conversion of three or four channels to gray.
#include <cmath>
#include <type_traits>

#include <ridge/image/operators.hpp>
#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/gray_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float kRed = static_cast<float>(Gray::kWeights[0]), kGreen = static_cast<float>(Gray::kWeights[1]),
                kBlue = static_cast<float>(Gray::kWeights[2]);

template <class T>
HWY_INLINE T gray_of(const T* p) {
  const float v = std::fma(kRed, static_cast<float>(p[0]),
                           std::fma(kGreen, static_cast<float>(p[1]), kBlue * static_cast<float>(p[2])));
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    return static_cast<T>((v + 8388608.0f) - 8388608.0f);  // the weights' sum is 1, so the result is in range
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

// Gray of 16-bit values, computed in float and rounded to 16 bits.
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

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(gray_u8);
HWY_EXPORT(gray_u16);
HWY_EXPORT(gray_f32);

void gray_row(const std::uint8_t* in, std::size_t channels, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(gray_u8)(in, channels, n, out);
}
void gray_row(const std::uint16_t* in, std::size_t channels, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(gray_u16)(in, channels, n, out);
}
void gray_row(const float* in, std::size_t channels, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(gray_f32)(in, channels, n, out);
}

}  // namespace ridge::image
#endif
