// Vectors shifted by one cell to the left or right, made in registers from aligned ones where the instruction set can
// shift across a whole vector: with 64-byte vectors every unaligned load of a stencil would straddle two cache lines.
#if defined(RIDGE_LANE_SHIFT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_LANE_SHIFT_INL_HPP
#undef RIDGE_LANE_SHIFT_INL_HPP
#else
#define RIDGE_LANE_SHIFT_INL_HPP
#endif
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3

constexpr bool kLaneShifts = true;
using FloatVector = hwy::HWY_NAMESPACE::Vec512<float>;
using DoubleVector = hwy::HWY_NAMESPACE::Vec512<double>;

// Lanes from kFirst on of `low`, followed by the first lanes of `high`.
template <int kFirst>
HWY_INLINE FloatVector Joined(FloatVector low, FloatVector high) {
  return FloatVector{
      _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(high.raw), _mm512_castps_si512(low.raw), kFirst))};
}
template <int kFirst>
HWY_INLINE DoubleVector Joined(DoubleVector low, DoubleVector high) {
  return DoubleVector{
      _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(high.raw), _mm512_castpd_si512(low.raw), kFirst))};
}

// The vector at from + dx, dx in -1, 0, 1, made from the vectors at `from` and next to it.
template <int kDx, class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadShifted(D d, const hwy::HWY_NAMESPACE::TFromD<D>* from) {
  constexpr int kLanes = static_cast<int>(hwy::HWY_NAMESPACE::MaxLanes(D()));
  static_assert(kDx >= -1 && kDx <= 1);
  const auto here = hwy::HWY_NAMESPACE::LoadU(d, from);
  if constexpr (kDx < 0) {
    return Joined<kLanes - 1>(hwy::HWY_NAMESPACE::LoadU(d, from - kLanes), here);
  } else if constexpr (kDx > 0) {
    return Joined<1>(here, hwy::HWY_NAMESPACE::LoadU(d, from + kLanes));
  } else {
    return here;
  }
}

#else

constexpr bool kLaneShifts = false;
template <int kDx, class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadShifted(D d, const hwy::HWY_NAMESPACE::TFromD<D>* from) {
  return hwy::HWY_NAMESPACE::LoadU(d, from + kDx);
}

#endif

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
