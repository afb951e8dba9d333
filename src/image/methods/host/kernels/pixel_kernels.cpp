// Vectorized conversion between interleaved pixels and float planes, with rounding and clamping.
#include <cstring>

#include "image/methods/host/kernels/row_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/pixel_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "image/methods/host/kernels/narrow-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;

// Loads or stores one vector of pixels per channel.
template <std::size_t kChannels, class DT, class V>
HWY_INLINE void load_channels(DT d, const hn::TFromD<DT>* p, V* v) {
  if constexpr (kChannels == 1) v[0] = hn::LoadU(d, p);
  if constexpr (kChannels == 2) hn::LoadInterleaved2(d, p, v[0], v[1]);
  if constexpr (kChannels == 3) hn::LoadInterleaved3(d, p, v[0], v[1], v[2]);
  if constexpr (kChannels == 4) hn::LoadInterleaved4(d, p, v[0], v[1], v[2], v[3]);
}
template <std::size_t kChannels, class DT, class V>
HWY_INLINE void store_channels(DT d, hn::TFromD<DT>* p, const V* v) {
  if constexpr (kChannels == 1) hn::StoreU(v[0], d, p);
  if constexpr (kChannels == 2) hn::StoreInterleaved2(v[0], v[1], d, p);
  if constexpr (kChannels == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, p);
  if constexpr (kChannels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, p);
}
template <class F>
HWY_INLINE void for_channels(std::size_t channels, const F& f) {
  switch (channels) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    default:
      return f.template operator()<4>();
  }
}

// Converts a vector of integers to sizeof(float) / sizeof(T) vectors of floats.
template <class V8>
HWY_INLINE void widen_u8(V8 v, float* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Half<decltype(d)> half;
  const hn::Half<decltype(half)> quarter;
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto store = [&](auto part, std::size_t at) {
    hn::StoreU(hn::ConvertTo(df, hn::PromoteTo(DI(), part)), df, out + at * lanes);
  };
  const auto low = hn::LowerHalf(half, v), high = hn::UpperHalf(half, v);
  store(hn::LowerHalf(quarter, low), 0);
  store(hn::UpperHalf(quarter, low), 1);
  store(hn::LowerHalf(quarter, high), 2);
  store(hn::UpperHalf(quarter, high), 3);
}
template <class V16>
HWY_INLINE void widen_u16(V16 v, float* out) {
  const hn::ScalableTag<std::uint16_t> d;
  const hn::Half<decltype(d)> half;
  const DF df;
  hn::StoreU(hn::ConvertTo(df, hn::PromoteTo(DI(), hn::LowerHalf(half, v))), df, out);
  hn::StoreU(hn::ConvertTo(df, hn::PromoteTo(DI(), hn::UpperHalf(half, v))), df, out + hn::Lanes(df));
}

template <class T, class Widen>
HWY_INLINE void unpack_row(const T* in, std::size_t channels, std::size_t n, float* out, std::size_t stride,
                           const Widen& widen) {
  for_channels(channels, [&]<std::size_t kChannels>() {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      hn::Vec<decltype(d)> v[kChannels];
      load_channels<kChannels>(d, in + i * kChannels, v);
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < kChannels; ++k) widen(v[k], out + k * stride + i);
    }
    for (; i < n; ++i) {
      for (std::size_t k = 0; k < kChannels; ++k) out[k * stride + i] = static_cast<float>(in[i * kChannels + k]);
    }
  });
}
void unpack_u8(const std::uint8_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  unpack_row(in, channels, n, out, stride, [](auto v, float* to) { widen_u8(v, to); });
}
void unpack_u16(const std::uint16_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  unpack_row(in, channels, n, out, stride, [](auto v, float* to) { widen_u16(v, to); });
}
void unpack_f32(const float* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  if (channels == 1) {
    std::memcpy(out, in, n * sizeof(float));
    return;
  }
  unpack_row(in, channels, n, out, stride, [](auto v, float* to) { hn::StoreU(v, DF(), to); });
}

// Reads planes up to a vector beyond their end, but writes exactly n pixels.
template <class T, class Narrow>
HWY_INLINE void pack_row(const float* in, std::size_t stride, std::size_t channels, std::size_t n, T* out,
                         const Narrow& narrow) {
  for_channels(channels, [&]<std::size_t kChannels>() {
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    hn::Vec<decltype(d)> v[kChannels];
    const auto load = [&] {
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < kChannels; ++k) v[k] = narrow(in + k * stride + i);
    };
    for (; i + lanes <= n; i += lanes) {
      load();
      store_channels<kChannels>(d, out + i * kChannels, v);
    }
    if (i < n) {
      HWY_ALIGN T last[kChannels * HWY_LANES(T)];
      load();
      store_channels<kChannels>(d, last, v);
      std::memcpy(out + i * kChannels, last, (n - i) * kChannels * sizeof(T));
    }
  });
}
void pack_u8(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint8_t* out) {
  const DF d;
  const std::size_t lanes = hn::Lanes(d);
  pack_row(in, stride, channels, n, out, [&](const float* p) {
    return narrowed_u8(hn::LoadU(d, p), hn::LoadU(d, p + lanes), hn::LoadU(d, p + 2 * lanes),
                       hn::LoadU(d, p + 3 * lanes));
  });
}
void pack_u16(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint16_t* out) {
  const DF d;
  pack_row(in, stride, channels, n, out,
           [&](const float* p) { return narrowed_u16(hn::LoadU(d, p), hn::LoadU(d, p + hn::Lanes(d))); });
}
void pack_f32(const float* in, std::size_t stride, std::size_t channels, std::size_t n, float* out) {
  if (channels == 1) {
    std::memcpy(out, in, n * sizeof(float));
    return;
  }
  pack_row(in, stride, channels, n, out, [](const float* p) { return hn::LoadU(DF(), p); });
}

void rounded(float* values, std::size_t n, float most) {
  const DF d;
  const auto zero = hn::Zero(d);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto v = hn::ConvertTo(d, whole(hn::LoadU(d, values + i), most));
    hn::StoreU(hn::Max(v, zero), d, values + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(unpack_u8);
HWY_EXPORT(unpack_u16);
HWY_EXPORT(unpack_f32);
HWY_EXPORT(pack_u8);
HWY_EXPORT(pack_u16);
HWY_EXPORT(pack_f32);
HWY_EXPORT(rounded);

void unpack(const std::uint8_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(unpack_u8)(in, channels, n, out, stride);
}
void unpack(const std::uint16_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(unpack_u16)(in, channels, n, out, stride);
}
void unpack(const float* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(unpack_f32)(in, channels, n, out, stride);
}
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(pack_u8)(in, stride, channels, n, out);
}
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(pack_u16)(in, stride, channels, n, out);
}
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(in, stride, channels, n, out);
}
void round_to(float* values, std::size_t n, float most) { HWY_DYNAMIC_DISPATCH(rounded)(values, n, most); }

}  // namespace ridge::image
#endif
