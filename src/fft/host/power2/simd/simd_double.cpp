// Lines of double in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/simd/simd_double.cpp"
// Highway requires this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/host/power2/engines.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/simd/simd-inl.hpp"
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/short_lines-inl.hpp"
#include "fft/host/power2/simd/simd_lines-inl.hpp"
#if HWY_TARGET == HWY_AVX3
#include "fft/host/power2/pairs-inl.hpp"
#endif
// clang-format on

// For each length the fastest first, measured with NEON; lines narrower than the vectors come after the full ones.
constexpr Line<double> kLines[] = {
#if HWY_TARGET == HWY_AVX3
    pair_line<double, 4>(),     pair_line<double, 8>(),      pair_line<double, 16>(),  pair_line<double, 32>(),
#else
    short_line<double, 4>(),    short_line<double, 8>(),     short_line<double, 16>(), line<double, 8, 8, 8, 4>(),
#endif
    short_line<double, 2>(),    line<double, 4, 4>(),        line<double, 8, 4>(),     line<double, 8, 8>(),
    line<double, 16, 8>(),      line<double, 8, 8, 4>(),     line<double, 16, 16>(),   line<double, 8, 8, 8>(),
    line<double, 16, 8, 4>(),   line<double, 8, 8, 4, 4>(),  line<double, 8, 8, 16>(), line<double, 16, 8, 8>(),
    line<double, 16, 16, 8>(),  line<double, 16, 8, 8, 4>(),
#if HWY_TARGET != HWY_AVX3
    line<double, 8, 8, 8, 8>(),  // faster than the previous one, but too inexact for Bluestein's error bound
#endif
    line<double, 16, 16, 16>(),
};

Items<Line<double>> lines() { return items(kLines); }

}  // namespace
}  // namespace ridge::fft::power2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::power2 {
HWY_EXPORT(lines);
template <>
Items<Line<double>> simd_lines<double>() {
  return HWY_DYNAMIC_DISPATCH(lines)();
}
}  // namespace ridge::fft::power2
#endif
