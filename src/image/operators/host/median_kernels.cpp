#include "image/operators/host/median_kernels.hpp"

#include <utility>

#include "image/operators/median_network.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_SSSE3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/operators/host/median_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE void sort(V& low, V& high) {
  const V least = hn::Min(low, high);
  high = hn::Max(low, high);
  low = least;
}
template <class V>
HWY_INLINE V middle(V a, V b, V c) {
  return hn::Max(hn::Min(a, b), hn::Min(hn::Max(a, b), c));
}

// Columns are sorted once for the three windows that have them.
template <class T>
HWY_INLINE void median_3(const T* const* rows, std::size_t step, T* out, std::size_t n, T* columns) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), wide = n + 2 * step, stride = (wide + 2 * lanes + 63) / 64 * 64;
  T *low = columns, *mid = columns + stride, *high = columns + 2 * stride;
  for (std::size_t i = 0; i < wide; i += lanes) {
    auto a = hn::LoadU(d, rows[0] + i - step), b = hn::LoadU(d, rows[1] + i - step),
         c = hn::LoadU(d, rows[2] + i - step);
    sort(a, b);
    sort(b, c);
    sort(a, b);
    hn::StoreU(a, d, low + i);
    hn::StoreU(b, d, mid + i);
    hn::StoreU(c, d, high + i);
  }
  for (std::size_t i = 0; i < n; i += lanes) {
    const auto least =
        hn::Max(hn::Max(hn::LoadU(d, low + i), hn::LoadU(d, low + i + step)), hn::LoadU(d, low + i + 2 * step));
    const auto most =
        hn::Min(hn::Min(hn::LoadU(d, high + i), hn::LoadU(d, high + i + step)), hn::LoadU(d, high + i + 2 * step));
    const auto centre = middle(hn::LoadU(d, mid + i), hn::LoadU(d, mid + i + step), hn::LoadU(d, mid + i + 2 * step));
    hn::StoreU(middle(least, centre, most), d, out + i);
  }
}

inline constexpr MedianNetwork kNetwork25 = median_network(25);

template <std::size_t kAt, class V>
HWY_INLINE void exchange(V* held) {
  constexpr Exchange each = kNetwork25.exchanges[kAt];
  if constexpr (each.keeps_low && each.keeps_high) {
    sort(held[each.low], held[each.high]);
  } else if constexpr (each.keeps_low) {
    held[each.low] = hn::Min(held[each.low], held[each.high]);
  } else {
    held[each.high] = hn::Max(held[each.low], held[each.high]);
  }
}

template <class T>
HWY_INLINE void median_5(const T* const* rows, std::size_t step, T* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < n; i += lanes) {
    hn::Vec<decltype(d)> held[25];
    HWY_UNROLL(25)
    for (std::size_t k = 0; k < 25; ++k) held[k] = hn::LoadU(d, rows[k / 5] + i + k % 5 * step - 2 * step);
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) { (exchange<kAt>(held), ...); }
    (std::make_index_sequence<kNetwork25.count>());
    hn::StoreU(held[12], d, out + i);
  }
}

template <class T>
void median(const T* const* rows, std::size_t radius, std::size_t step, T* out, std::size_t n, T* columns) {
  if (radius != 1) return median_5(rows, step, out, n);
  // Strips whose rows and sorted columns stay in the nearest cache.
  constexpr std::size_t kStrip = 4096 / sizeof(T);
  for (std::size_t begin = 0; begin < n; begin += kStrip) {
    const T* const some[3] = {rows[0] + begin, rows[1] + begin, rows[2] + begin};
    median_3(some, step, out + begin, n - begin < kStrip ? n - begin : kStrip, columns);
  }
}
void median_u8(const std::uint8_t* const* rows, std::size_t radius, std::size_t step, std::uint8_t* out, std::size_t n,
               std::uint8_t* columns) {
  median(rows, radius, step, out, n, columns);
}
void median_u16(const std::uint16_t* const* rows, std::size_t radius, std::size_t step, std::uint16_t* out,
                std::size_t n, std::uint16_t* columns) {
  median(rows, radius, step, out, n, columns);
}
void median_f32(const float* const* rows, std::size_t radius, std::size_t step, float* out, std::size_t n,
                float* columns) {
  median(rows, radius, step, out, n, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(median_u8);
HWY_EXPORT(median_u16);
HWY_EXPORT(median_f32);

template <>
void median_row(const std::uint8_t* const* rows, std::size_t radius, std::size_t step, std::uint8_t* out, std::size_t n,
                std::uint8_t* columns) {
  HWY_DYNAMIC_DISPATCH(median_u8)(rows, radius, step, out, n, columns);
}
template <>
void median_row(const std::uint16_t* const* rows, std::size_t radius, std::size_t step, std::uint16_t* out,
                std::size_t n, std::uint16_t* columns) {
  HWY_DYNAMIC_DISPATCH(median_u16)(rows, radius, step, out, n, columns);
}
template <>
void median_row(const float* const* rows, std::size_t radius, std::size_t step, float* out, std::size_t n,
                float* columns) {
  HWY_DYNAMIC_DISPATCH(median_f32)(rows, radius, step, out, n, columns);
}

}  // namespace ridge::image
#endif
