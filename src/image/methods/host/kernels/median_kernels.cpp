// Vectorized 3x3 and 5x5 medians of a row.
#include "image/methods/host/kernels/median_kernels.hpp"

#include <cstring>
#include <utility>

#include "image/methods/median_network.hpp"

#include "base/simd_byte_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/methods/host/kernels/median_kernels.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
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

// Sorts each column once for the three windows that contain it. Works in strips that fit the L1 cache: first sorts a
// strip's columns, then computes its results up to `lag` values before its end.
template <class T>
HWY_INLINE void median_3(const MedianRow<T>& row, T* columns) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kStrip = kMedianStrip / sizeof(T);
  const std::size_t lanes = hn::Lanes(d), wide = row.wide, step = row.step;
  const std::size_t lag = lanes < 4 ? 4 : lanes;  // whole vectors, and at least one pixel
  T* const low = columns + kMedianMargin / sizeof(T);
  T *const mid = low + kMedianStride / sizeof(T), *const high = mid + kMedianStride / sizeof(T);
  const auto sorted = [&](V a, V b, V c, std::size_t at) HWY_ATTR {
    sort(a, b);
    sort(b, c);
    sort(a, b);
    hn::Store(a, d, low + at);
    hn::Store(b, d, mid + at);
    hn::Store(c, d, high + at);
  };
  const auto beyond = [&](const T(*values)[4], T* lows, T* mids, T* highs) {
    for (std::size_t c = 0; c < step; ++c) {
      const T x = values[0][c], y = values[1][c], z = values[2][c];
      const T least = y < x ? y : x, most = y < x ? x : y, rest = z < most ? z : most;
      highs[c] = z < most ? most : z;
      lows[c] = rest < least ? rest : least;
      mids[c] = rest < least ? least : rest;
    }
  };
  const auto result = [&](const T* lows, const T* mids, const T* highs) HWY_ATTR {
    const V least = hn::Max(hn::Max(hn::LoadU(d, lows - step), hn::LoadU(d, lows)), hn::LoadU(d, lows + step));
    const V most = hn::Min(hn::Min(hn::LoadU(d, highs - step), hn::LoadU(d, highs)), hn::LoadU(d, highs + step));
    return middle(least, middle(hn::LoadU(d, mids - step), hn::LoadU(d, mids), hn::LoadU(d, mids + step)), most);
  };
  for (std::size_t begin = 0; begin < wide; begin += kStrip) {
    const std::size_t n = wide - begin < kStrip ? wide - begin : kStrip, whole = n / lanes * lanes;
    const bool last = begin + n == wide;
    if (begin == 0) {
      beyond(row.before, low - step, mid - step, high - step);
    } else {  // keeps the sorted columns that the previous strip's last results and this strip's first results need
      for (T* array : {low, mid, high}) {
        T* const before = array - 2 * lag;
        for (std::size_t i = 0; i < 2 * lag; i += lanes) hn::Store(hn::Load(d, before + kStrip + i), d, before + i);
      }
    }
    const T *const a = row.rows[0] + begin, *const b = row.rows[1] + begin, *const c = row.rows[2] + begin;
    for (std::size_t i = 0; i < whole; i += lanes) {
      sorted(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i), i);
    }
    if (whole < n) {
      HWY_ALIGN T few[3][hn::MaxLanes(d)] = {};
      for (std::size_t k = 0; k < 3; ++k) std::memcpy(few[k], row.rows[k] + begin + whole, (n - whole) * sizeof(T));
      sorted(hn::Load(d, few[0]), hn::Load(d, few[1]), hn::Load(d, few[2]), whole);
    }
    if (last) beyond(row.behind, low + n, mid + n, high + n);
    const std::size_t to = last ? n + lag : n;  // end of the results, counted from `lag` before the strip
    std::size_t i = begin == 0 ? lag : 0;
    const T *const lows = low - lag, *const mids = mid - lag, *const highs = high - lag;
    T* const out = row.out + begin - lag;
    const T* const ahead = row.ahead + begin - lag;  // prefetched to L2, because the strip occupies L1
    for (; i + lanes <= to; i += lanes) {
      __builtin_prefetch(ahead + i, 0, 2);
      const V value = result(lows + i, mids + i, highs + i);
      row.nontemporal ? hn::Stream(value, d, out + i) : hn::StoreU(value, d, out + i);
    }
    if (i < to) {
      HWY_ALIGN T few[hn::MaxLanes(d)];
      hn::Store(result(lows + i, mids + i, highs + i), d, few);
      std::memcpy(out + i, few, (to - i) * sizeof(T));
    }
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

void median_3_u8(const MedianRow<std::uint8_t>& row, std::uint8_t* columns) { median_3(row, columns); }
void median_3_u16(const MedianRow<std::uint16_t>& row, std::uint16_t* columns) { median_3(row, columns); }
void median_3_f32(const MedianRow<float>& row, float* columns) { median_3(row, columns); }
void median_5_u8(const std::uint8_t* const* rows, std::size_t step, std::uint8_t* out, std::size_t n) {
  median_5(rows, step, out, n);
}
void median_5_u16(const std::uint16_t* const* rows, std::size_t step, std::uint16_t* out, std::size_t n) {
  median_5(rows, step, out, n);
}
void median_5_f32(const float* const* rows, std::size_t step, float* out, std::size_t n) {
  median_5(rows, step, out, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image {

HWY_EXPORT(median_3_u8);
HWY_EXPORT(median_3_u16);
HWY_EXPORT(median_3_f32);
HWY_EXPORT(median_5_u8);
HWY_EXPORT(median_5_u16);
HWY_EXPORT(median_5_f32);

void median_3_row(const MedianRow<std::uint8_t>& row, std::uint8_t* columns) {
  HWY_DYNAMIC_DISPATCH(median_3_u8)(row, columns);
}
void median_3_row(const MedianRow<std::uint16_t>& row, std::uint16_t* columns) {
  HWY_DYNAMIC_DISPATCH(median_3_u16)(row, columns);
}
void median_3_row(const MedianRow<float>& row, float* columns) { HWY_DYNAMIC_DISPATCH(median_3_f32)(row, columns); }
void median_5_row(const std::uint8_t* const* rows, std::size_t step, std::uint8_t* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(median_5_u8)(rows, step, out, n);
}
void median_5_row(const std::uint16_t* const* rows, std::size_t step, std::uint16_t* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(median_5_u16)(rows, step, out, n);
}
void median_5_row(const float* const* rows, std::size_t step, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(median_5_f32)(rows, step, out, n);
}

}  // namespace ridge::image
#endif
