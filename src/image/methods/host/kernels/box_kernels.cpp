// Vectorized row kernels of the box filter: column sums, sums along a row, means.

#include "image/methods/host/kernels/native_kernels.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/box_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(followed);
HWY_EXPORT(windows_u16);
HWY_EXPORT(windows_u32);
HWY_EXPORT(means_u16);
HWY_EXPORT(means_u32);

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

}  // namespace ridge::image
#endif
