// Vectorized row kernels of a pyramid level.
#include <cstring>

#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/pyramid_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D16 = hn::ScalableTag<std::uint16_t>;
using D8 = hn::Repartition<std::uint8_t, D16>;
using V16 = hn::Vec<D16>;
using V8 = hn::Vec<D8>;

template <std::size_t kChannels>
HWY_INLINE void load_pixels(const std::uint8_t* p, V8* v) {
  const D8 d;
  if constexpr (kChannels == 1) v[0] = hn::LoadU(d, p);
  if constexpr (kChannels == 3) hn::LoadInterleaved3(d, p, v[0], v[1], v[2]);
  if constexpr (kChannels == 4) hn::LoadInterleaved4(d, p, v[0], v[1], v[2], v[3]);
}
// a + 4 b + 6 c + 4 d + e of 16-bit words; the bytes at even and odd positions are processed separately.
HWY_INLINE V16 smoothed(V16 ends, V16 beside, V16 middle) {
  const V16 four = hn::ShiftLeft<2>(hn::Add(beside, middle));
  return hn::Add(hn::Add(ends, four), hn::Add(middle, middle));
}

template <std::size_t kChannels>
HWY_INLINE void down_of(const std::uint8_t* const* rows, std::size_t n, std::uint16_t* sums, std::size_t stride) {
  const D16 d;
  const std::size_t lanes = hn::Lanes(d);
  const V16 low = hn::Set(d, std::uint16_t{255});
  const auto even = [&](V8 v) { return hn::And(hn::BitCast(d, v), low); };
  const auto odd = [&](V8 v) { return hn::ShiftRight<8>(hn::BitCast(d, v)); };
  for (std::size_t i = 0; i < n; i += lanes) {
    V8 v[5][kChannels];
    for (std::size_t k = 0; k < 5; ++k) load_pixels<kChannels>(rows[k] + 2 * i * kChannels, v[k]);
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kChannels; ++c) {
      const auto sum = [&](auto part) {
        return smoothed(hn::Add(part(v[0][c]), part(v[4][c])), hn::Add(part(v[1][c]), part(v[3][c])), part(v[2][c]));
      };
      hn::StoreU(sum(even), d, sums + c * stride + i);
      hn::StoreU(sum(odd), d, sums + (kChannels + c) * stride + i);
    }
  }
}
void down_rows(const std::uint8_t* const* rows, std::size_t channels, std::size_t n, std::uint16_t* sums,
               std::size_t stride) {
  if (channels == 1) return down_of<1>(rows, n, sums, stride);
  if (channels == 3) return down_of<3>(rows, n, sums, stride);
  down_of<4>(rows, n, sums, stride);
}

// One vector of a channel's pixels: sums with a total weight of 256 become bytes, rounded half to even.
HWY_INLINE V8 across_at(const std::uint16_t* even, const std::uint16_t* odd) {
  const D16 d;
  const D8 d8;
  const hn::Half<D8> half;
  const hn::RebindToSigned<D16> s16;
  const std::size_t lanes = hn::Lanes(d);
  const auto bytes = [&](std::size_t at) {
    const V16 here = hn::LoadU(d, even + at);
    const V16 ends = hn::Add(hn::LoadU(d, even + at - 1), hn::LoadU(d, even + at + 1));
    const V16 beside = hn::Add(hn::LoadU(d, odd + at - 1), hn::LoadU(d, odd + at));
    const V16 sum = smoothed(ends, beside, here);
    const V16 more = hn::And(hn::ShiftRight<8>(sum), hn::Set(d, std::uint16_t{1}));
    const V16 rounded = hn::ShiftRight<8>(hn::Add(hn::Add(sum, more), hn::Set(d, std::uint16_t{127})));
    return hn::DemoteTo(half, hn::BitCast(s16, rounded));
  };
  return hn::Combine(d8, bytes(lanes), bytes(0));
}
template <std::size_t kChannels>
HWY_INLINE void across_of(const std::uint16_t* sums, std::size_t stride, std::size_t n, std::uint8_t* out) {
  const D8 d8;
  const std::size_t lanes = hn::Lanes(d8);
  const auto make = [&](std::size_t i, std::uint8_t* to) {
    V8 v[kChannels];
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < kChannels; ++c)
      v[c] = across_at(sums + c * stride + i, sums + (kChannels + c) * stride + i);
    if constexpr (kChannels == 1) hn::StoreU(v[0], d8, to);
    if constexpr (kChannels == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d8, to);
    if constexpr (kChannels == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d8, to);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) make(i, out + i * kChannels);
  if (i < n) {
    HWY_ALIGN std::uint8_t last[kChannels * HWY_LANES(std::uint8_t)];
    make(i, last);
    std::memcpy(out + i * kChannels, last, (n - i) * kChannels);
  }
}
void across_rows(const std::uint16_t* sums, std::size_t channels, std::size_t stride, std::size_t n,
                 std::uint8_t* out) {
  if (channels == 1) return across_of<1>(sums, stride, n, out);
  if (channels == 3) return across_of<3>(sums, stride, n, out);
  across_of<4>(sums, stride, n, out);
}

// Single-channel floats: sums of five rows, then every second horizontal sum.
template <class D>
HWY_INLINE hn::Vec<D> smooth(D d, hn::Vec<D> ends, hn::Vec<D> beside, hn::Vec<D> middle) {
  return hn::MulAdd(middle, hn::Set(d, 6.0f / 16),
                    hn::MulAdd(beside, hn::Set(d, 4.0f / 16), hn::Mul(ends, hn::Set(d, 1.0f / 16))));
}
void down_floats(const float* const* rows, std::size_t n, float* sums) {
  const auto at = [&](auto d, std::size_t i) {
    const auto row = [&](std::size_t k) { return hn::LoadU(d, rows[k] + i); };
    hn::StoreU(smooth(d, hn::Add(row(0), row(4)), hn::Add(row(1), row(3)), row(2)), d, sums + i);
  };
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    at(d, i);
    at(d, i + lanes);
  }
  for (; i < n; ++i) at(hn::CappedTag<float, 1>(), i);
}
void across_floats(const float* sums, std::size_t n, float* out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<decltype(d)> before, left, here, right, after, unused;
    hn::LoadInterleaved2(d, sums + 2 * i - 2, before, left);
    hn::LoadInterleaved2(d, sums + 2 * i, here, right);
    hn::LoadInterleaved2(d, sums + 2 * i + 2, after, unused);
    hn::StoreU(smooth(d, hn::Add(before, after), hn::Add(left, right), here), d, out + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < n; ++i) {
    const float* s = sums + 2 * i;
    hn::StoreU(smooth(one, hn::Set(one, s[-2] + s[2]), hn::Set(one, s[-1] + s[1]), hn::Set(one, s[0])), one, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(down_rows);
HWY_EXPORT(across_rows);
HWY_EXPORT(down_floats);
HWY_EXPORT(across_floats);

void pyramid_down(const std::uint8_t* const* rows, std::size_t channels, std::size_t n, std::uint16_t* sums,
                  std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(down_rows)(rows, channels, n, sums, stride);
}
void pyramid_across(const std::uint16_t* sums, std::size_t channels, std::size_t stride, std::size_t n,
                    std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(across_rows)(sums, channels, stride, n, out);
}
void pyramid_down(const float* const* rows, std::size_t n, float* sums) {
  HWY_DYNAMIC_DISPATCH(down_floats)(rows, n, sums);
}
void pyramid_across(const float* sums, std::size_t n, float* out) { HWY_DYNAMIC_DISPATCH(across_floats)(sums, n, out); }

}  // namespace ridge::image
#endif
