// Conversion of floats to integers with rounding half to even and clamping to the depth. NaN becomes 0: min() passes it
// on, and its conversion gives the lowest integer. Included once per Highway target.
#if defined(RIDGE_IMAGE_NARROW) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_IMAGE_NARROW
#undef RIDGE_IMAGE_NARROW
#else
#define RIDGE_IMAGE_NARROW
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ridge::image {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::Vec<hn::ScalableTag<float>>;
using Bytes = hn::Vec<hn::ScalableTag<std::uint8_t>>;
using Words = hn::Vec<hn::ScalableTag<std::uint16_t>>;

HWY_INLINE hn::Vec<hn::ScalableTag<std::int32_t>> whole(Floats v, float most) {
  return hn::NearestInt(hn::Min(hn::Set(hn::ScalableTag<float>(), most), v));
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// The plain conversion suffices: values that are too large were clamped, and the lowest integer is below 0 like all
// negative values.
HWY_INLINE __m512i converted(Floats v, float most) {
  return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(most), v.raw));
}
HWY_INLINE Bytes narrowed_u8(Floats a, Floats b, Floats c, Floats e) {
  const __m512i low = _mm512_packus_epi32(converted(a, 255.0f), converted(b, 255.0f));
  const __m512i high = _mm512_packus_epi32(converted(c, 255.0f), converted(e, 255.0f));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return Bytes{_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high))};
}
HWY_INLINE Words narrowed_u16(Floats a, Floats b) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  return Words{_mm512_permutexvar_epi64(order, _mm512_packus_epi32(converted(a, 65535.0f), converted(b, 65535.0f)))};
}
#else
HWY_INLINE Bytes narrowed_u8(Floats a, Floats b, Floats c, Floats e) {
  const hn::ScalableTag<std::int16_t> d16;
  const hn::Half<decltype(d16)> half16;
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Half<decltype(d8)> half8;
  const auto words = [&](Floats low, Floats high) {
    return hn::Combine(d16, hn::DemoteTo(half16, whole(high, 255.0f)), hn::DemoteTo(half16, whole(low, 255.0f)));
  };
  return hn::Combine(d8, hn::DemoteTo(half8, words(c, e)), hn::DemoteTo(half8, words(a, b)));
}
HWY_INLINE Words narrowed_u16(Floats a, Floats b) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Half<decltype(d16)> half;
  return hn::Combine(d16, hn::DemoteTo(half, whole(b, 65535.0f)), hn::DemoteTo(half, whole(a, 65535.0f)));
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image
HWY_AFTER_NAMESPACE();

#endif
