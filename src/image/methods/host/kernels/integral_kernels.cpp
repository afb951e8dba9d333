// Vectorized row kernel of the integral image.
#include <cstring>
#include <type_traits>

#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/integral_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Prefix sums of a row, added to the row above.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// `prefix` computes the sums of one vector per channel; permuting by `last` then broadcasts each channel's running
// total to all of its positions.
template <std::size_t kChannels, std::size_t kLanes>
struct LastOfChannel {
  std::uint32_t last[16] = {};
  constexpr LastOfChannel() {
    for (std::size_t i = 0; i < kLanes; ++i) last[i] = static_cast<std::uint32_t>(kLanes - kChannels + i % kChannels);
  }
};
// Selects for each position those of four bytes that are at or before it and belong to the same channel.
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
  static constexpr LastOfChannel<kChannels, 16> kLastOfChannel;
  static constexpr Triangle<kChannels> kTriangle;
  const __m512i last = _mm512_loadu_si512(kLastOfChannel.last), ones = _mm512_set1_epi16(1);
  const auto part = [&](const std::uint8_t* p, std::size_t k) {
    std::int32_t four;
    std::memcpy(&four, p + 4 * k, 4);
    return _mm512_maddubs_epi16(_mm512_set1_epi32(four), _mm512_load_si512(kTriangle.bytes[k]));
  };
  const auto prefix = [&](const std::uint8_t* p) {  // a 16-bit word sums at most 8 bytes
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
  static constexpr LastOfChannel<kChannels, 8> kLastOfChannel;
  const __m512i places = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i last = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLastOfChannel.last)));
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
    // Channel positions repeat, so only one addition depends on the previous vector.
    if constexpr (8 % kChannels == 0) {
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
// Processes eight bytes at a time: 16-bit prefix sums, then 32-bit totals.
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

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(sums_u8);
HWY_EXPORT(sums_u16);
HWY_EXPORT(sums_f32);

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

}  // namespace ridge::image
#endif
