// Lines of float by tangents, for the vectors of AVX2 and AVX-512; elsewhere there are none. Compiled with contraction
// of products and sums (power2.cmake).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/tangent_float.cpp"
// The order Highway wants.
// clang-format off
#include "fft/host/power2/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <utility>

#include "fft/host/power2/tangent_engine.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Each builds on the one before.
// clang-format off
#include "fft/host/power2/tangent-inl.hpp"
#include "fft/host/power2/tangent_lines-inl.hpp"
// clang-format on

// Of each length the fastest first, as a prototype measured them.
constexpr Line<float> kTangentLines[] = {
    tangent_pairs_line<float, 8>(),
    tangent_pairs_line<float, 16>(),
#if HWY_TARGET == HWY_AVX3
    tangent_whole<float, 4, 8, 4>(),
    tangent_whole<float, 8, 8, 8>(),
    tangent_whole<float, 8, 16, 8>(),
    tangent_line<float, 16, 16, 16>(),
    tangent_line<float, 16, 16, 8, 4>(),
    tangent_line<float, 16, 16, 8, 8>(),
    tangent_line<float, 16, 16, 8, 16>(),
    tangent_line<float, 16, 16, 16, 16>(),
    tangent_square<float, 16, 16, 4, 16, 4>(),
    tangent_square<float, 16, 16, 8, 16, 4>(),
    tangent_square<float, 16, 16, 8, 16, 8>(),
    tangent_square<float, 16, 16, 16, 16, 8>(),
    tangent_square<float, 16, 16, 16, 16, 16>(),
#else
    tangent_whole<float, 4, 8, 4>(),
    tangent_whole<float, 8, 8, 8>(),
    tangent_whole<float, 8, 16, 8>(),
    tangent_line<float, 8, 8, 8, 4>(),
    tangent_line<float, 8, 8, 8, 8>(),
    tangent_line<float, 8, 8, 8, 16>(),
    tangent_square<float, 8, 8, 8, 8, 4>(),
    tangent_square<float, 8, 8, 8, 8, 8>(),
    tangent_square<float, 8, 16, 8, 8, 8>(),
    tangent_square<float, 8, 16, 8, 16, 8>(),
    tangent_square<float, 8, 16, 16, 16, 8>(),
    tangent_square<float, 8, 16, 16, 16, 16>(),
#endif
};

Items<Line<float>> tangent_lines_here() { return items(kTangentLines); }
#else
Items<Line<float>> tangent_lines_here() { return {nullptr, 0}; }
#endif

}  // namespace
}  // namespace ridge::fft::power2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::power2 {
HWY_EXPORT(tangent_lines_here);
template <>
Items<Line<float>> tangent_lines<float>() {
  return HWY_DYNAMIC_DISPATCH(tangent_lines_here)();
}
}  // namespace ridge::fft::power2
#endif
