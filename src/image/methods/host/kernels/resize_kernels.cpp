// Vectorized horizontal resampling of float rows by permutations, rounded to the image's depth.
#include <algorithm>
#include <cstring>

#include "image/methods/host/kernels/row_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/resize_kernels.cpp"
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

std::size_t firsts_of(const std::int32_t* places, std::size_t n, std::vector<std::int32_t>& firsts) {
  const std::size_t lanes = hn::Lanes(D());
  firsts.clear();
  for (std::size_t i = 0; i < n + 3 * lanes; i += lanes) {  // a vector of bytes is made from four vectors of floats
    const auto [least, most] = std::minmax_element(places + i, places + i + lanes);
    if (*most - *least >= static_cast<std::int32_t>(lanes)) return 0;
    firsts.push_back(*least);
  }
  return lanes;
}

HWY_INLINE void store_values(const F* v, std::uint8_t* out) {
  hn::StoreU(narrowed_u8(v[0], v[1], v[2], v[3]), hn::ScalableTag<std::uint8_t>(), out);
}
HWY_INLINE void store_values(const F* v, std::uint16_t* out) {
  hn::StoreU(narrowed_u16(v[0], v[1]), hn::ScalableTag<std::uint16_t>(), out);
}
HWY_INLINE void store_values(const F* v, float* out) { hn::StoreU(v[0], D(), out); }

// Computes one vector of T per line, from sizeof(float) / sizeof(T) vectors of floats.
template <std::size_t kLines, class T>
HWY_INLINE void picked(const float* const* lines, const PickedValues& table, std::size_t i, T* const* outs,
                       std::size_t at) {
  constexpr std::size_t kVectors = sizeof(float) / sizeof(T);
  const D d;
  const hn::RebindToSigned<D> di;
  const std::size_t lanes = hn::Lanes(d);
  F sums[kLines][kVectors];
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t here = i + v * lanes;
    const std::int32_t first = table.firsts[here / lanes];
    const auto pick = hn::IndicesFromVec(d, hn::Sub(hn::LoadU(di, table.places + here), hn::Set(di, first)));
    const std::ptrdiff_t from = first - table.origin;
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < kLines; ++j) sums[j][v] = hn::Zero(d);
    for (std::size_t k = 0; k < table.taps; ++k) {
      const F w = hn::LoadU(d, table.weights + k * table.stride + here);
      HWY_UNROLL(4)
      for (std::size_t j = 0; j < kLines; ++j) {
        const F window = hn::LoadU(d, lines[j] + from + static_cast<std::ptrdiff_t>(k * table.apart));
        sums[j][v] = hn::MulAdd(hn::TableLookupLanes(window, pick), w, sums[j][v]);
      }
    }
  }
  HWY_UNROLL(4)
  for (std::size_t j = 0; j < kLines; ++j) store_values(sums[j], outs[j] + at);
}
template <std::size_t kLines, class T>
HWY_INLINE void picked_lines(const float* const* lines, const PickedValues& table, T* const* outs, std::size_t n) {
  const std::size_t step = hn::Lanes(hn::ScalableTag<T>());
  std::size_t i = 0;
  for (; i + step <= n; i += step) picked<kLines>(lines, table, i, outs, i);
  if (i < n) {
    HWY_ALIGN T last[kLines][HWY_LANES(T)];
    T* few[kLines];
    for (std::size_t j = 0; j < kLines; ++j) few[j] = last[j];
    picked<kLines>(lines, table, i, few, 0);
    for (std::size_t j = 0; j < kLines; ++j) std::memcpy(outs[j] + i, last[j], (n - i) * sizeof(T));
  }
}
template <class T>
HWY_INLINE void values_of(const float* const* lines, std::size_t count, const PickedValues& table, T* const* outs,
                          std::size_t n) {
  static_assert(kResampledRows == 4);
#if HWY_TARGET == HWY_NEON || HWY_TARGET <= HWY_AVX3  // these have 32 vector registers
  if (count == 4) return picked_lines<4>(lines, table, outs, n);
#endif
  for (std::size_t j = 0; j < count; ++j) picked_lines<1>(lines + j, table, outs + j, n);
}
void values_u8(const float* const* lines, std::size_t count, const PickedValues& table, std::uint8_t* const* outs,
               std::size_t n) {
  values_of(lines, count, table, outs, n);
}
void values_u16(const float* const* lines, std::size_t count, const PickedValues& table, std::uint16_t* const* outs,
                std::size_t n) {
  values_of(lines, count, table, outs, n);
}
void values_f32(const float* const* lines, std::size_t count, const PickedValues& table, float* const* outs,
                std::size_t n) {
  values_of(lines, count, table, outs, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(firsts_of);
HWY_EXPORT(values_u8);
HWY_EXPORT(values_u16);
HWY_EXPORT(values_f32);

std::size_t vectors_of_places(const std::int32_t* places, std::size_t n, std::vector<std::int32_t>& firsts) {
  return HWY_DYNAMIC_DISPATCH(firsts_of)(places, n, firsts);
}
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, std::uint8_t* const* outs,
                     std::size_t n) {
  HWY_DYNAMIC_DISPATCH(values_u8)(lines, count, table, outs, n);
}
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table,
                     std::uint16_t* const* outs, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(values_u16)(lines, count, table, outs, n);
}
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, float* const* outs,
                     std::size_t n) {
  HWY_DYNAMIC_DISPATCH(values_f32)(lines, count, table, outs, n);
}

}  // namespace ridge::image
#endif
