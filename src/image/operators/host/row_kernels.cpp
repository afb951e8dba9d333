#include "image/operators/host/row_kernels.hpp"

#include "image/flow/constants.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/operators/host/row_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using F = hn::Vec<D>;

// Buffers have room for a whole vector behind their end: the last one writes there.
void weighted(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    F a = hn::Zero(d), b = hn::Zero(d), c = hn::Zero(d), e = hn::Zero(d);
    for (std::size_t k = 0; k < taps; ++k) {
      const float* p = from[k] + i;
      const F w = hn::Set(d, weights[k]);
      a = hn::MulAdd(hn::LoadU(d, p), w, a);
      b = hn::MulAdd(hn::LoadU(d, p + lanes), w, b);
      c = hn::MulAdd(hn::LoadU(d, p + 2 * lanes), w, c);
      e = hn::MulAdd(hn::LoadU(d, p + 3 * lanes), w, e);
    }
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + lanes);
    hn::StoreU(c, d, out + i + 2 * lanes);
    hn::StoreU(e, d, out + i + 3 * lanes);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < taps; ++k) sum += from[k][i] * weights[k];
    out[i] = sum;
  }
}

// Values enter one after the other; once more are held than the median needs, the least and the greatest leave.
template <class V>
HWY_INLINE V select_median(V* held, std::size_t taps, const auto& next) {
  const std::size_t first = taps / 2 + 2 < taps ? taps / 2 + 2 : taps;
  std::size_t count = first;
  for (std::size_t k = 0; k < first; ++k) held[k] = next(k);
  for (std::size_t k = first;; ++k) {
    for (std::size_t i = 1; i < count; ++i) {  // the least to the front
      const V low = hn::Min(held[0], held[i]);
      held[i] = hn::Max(held[0], held[i]);
      held[0] = low;
    }
    for (std::size_t i = 1; i + 1 < count; ++i) {  // the greatest to the end
      const V high = hn::Max(held[count - 1], held[i]);
      held[i] = hn::Min(held[count - 1], held[i]);
      held[count - 1] = high;
    }
    if (count <= 3) return count == 1 ? held[0] : held[1];
    held[0] = next(k);  // both leave: the next value takes the first's place
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

void rounded(float* values, std::size_t n, float most) {
  for (std::size_t i = 0; i < n; ++i) {
    float x = values[i] > 0 ? values[i] : 0;  // NaN too
    x = x < most ? x : most;
    values[i] = (x + 8388608.0f) - 8388608.0f;
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
    apart = hn::MulAdd(x, x, apart);
  }
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

void divided(float* values, const float* by, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] /= by[i];
}

template <class T>
HWY_INLINE void unpack_row(const T* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  const auto plane = [&]<std::size_t kChannels>() {
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t k = 0; k < kChannels; ++k) out[k * stride + c] = static_cast<float>(in[c * kChannels + k]);
    }
  };
  switch (channels) {
    case 1:
      return plane.template operator()<1>();
    case 2:
      return plane.template operator()<2>();
    case 3:
      return plane.template operator()<3>();
    default:
      return plane.template operator()<4>();
  }
}
template <class T>
HWY_INLINE void pack_row(const float* in, std::size_t stride, std::size_t channels, std::size_t n, T* out) {
  const auto plane = [&]<std::size_t kChannels>() {
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t k = 0; k < kChannels; ++k) out[c * kChannels + k] = static_cast<T>(in[k * stride + c]);
    }
  };
  switch (channels) {
    case 1:
      return plane.template operator()<1>();
    case 2:
      return plane.template operator()<2>();
    case 3:
      return plane.template operator()<3>();
    default:
      return plane.template operator()<4>();
  }
}
void unpack_u8(const std::uint8_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  unpack_row(in, channels, n, out, stride);
}
void unpack_u16(const std::uint16_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  unpack_row(in, channels, n, out, stride);
}
void unpack_f32(const float* in, std::size_t channels, std::size_t n, float* out, std::size_t stride) {
  unpack_row(in, channels, n, out, stride);
}
void pack_u8(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint8_t* out) {
  pack_row(in, stride, channels, n, out);
}
void pack_u16(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint16_t* out) {
  pack_row(in, stride, channels, n, out);
}
void pack_f32(const float* in, std::size_t stride, std::size_t channels, std::size_t n, float* out) {
  pack_row(in, stride, channels, n, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(weighted);
HWY_EXPORT(median);
HWY_EXPORT(rounded);
HWY_EXPORT(one_tap);
HWY_EXPORT(divided);
HWY_EXPORT(unpack_u8);
HWY_EXPORT(unpack_u16);
HWY_EXPORT(unpack_f32);
HWY_EXPORT(pack_u8);
HWY_EXPORT(pack_u16);
HWY_EXPORT(pack_f32);

void weighted_sum(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(weighted)(from, weights, taps, out, n);
}
void median_of(const float* const* from, std::size_t taps, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(median)(from, taps, out, n);
}
void round_to(float* values, std::size_t n, float most) { HWY_DYNAMIC_DISPATCH(rounded)(values, n, most); }
void bilateral_tap(const BilateralTap& tap, std::size_t n) { HWY_DYNAMIC_DISPATCH(one_tap)(tap, n); }
void divide(float* values, const float* by, std::size_t n) { HWY_DYNAMIC_DISPATCH(divided)(values, by, n); }
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

}  // namespace ridge::image
#endif
